"""Tables of `coterie bench questions`: what each writes of a saved result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.bench.saved_results.figures import shown
from coterie.bench.written_tables.form import table

_HEAD = ["seconds", "processor", "sent", "peak memory of a party"]


def _costs(entry: dict[str, Any]) -> list[str]:
    return [
        shown(entry["seconds"], " s"),
        shown(entry["cpu_seconds"], " s"),
        shown(entry["megabytes"], " MB"),
        shown(entry["peak_mb"], " MB"),
    ]


def _peer(entry: dict[str, Any]) -> list[str]:
    """Seconds and processor seconds of a peer, where there is one."""
    peer = entry.get("peer") or {}
    return [shown(peer.get(key), " s") for key in ("seconds", "cpu_seconds")]


def _beside(what: str, peer: str, rows: Sequence[tuple[str, dict[str, Any]]]) -> str:
    head = [what, *_HEAD, f"{peer}: seconds", "processor"]
    return table(head, [[name, *_costs(entry), *_peer(entry)] for name, entry in rows])


def aggregate(result: dict[str, Any]) -> str:
    rows = []
    for entry in result["aggregate"]:
        name = f"{entry['parties']} parties" + (", with noise" if entry["noise"] else "")
        rows.append((f"{shown(entry['records'])} records, {name}", entry))
    groups = shown(result["aggregate"][0]["groups"])
    return _beside(f"sums by three columns, {groups} groups", "DuckDB", rows)


def mixed(result: dict[str, Any]) -> str:
    entry = result["mixed"]
    what = f"{shown(entry['records'])} records, {shown(entry['groups'])} groups, 2 parties"
    return table(["sums where each cell lies anywhere", *_HEAD], [[what, *_costs(entry)]])


def identify(result: dict[str, Any]) -> str:
    entry = result["identify"]
    what = f"{shown(entry['sets'])} sets, {shown(entry['records'])} records, 3 parties"
    return table(["20 columns", *_HEAD], [[what, *_costs(entry)]])


def regress(result: dict[str, Any]) -> str:
    found = result["regress"]
    size = f"{shown(found['records'])} x {shown(found['features'])}"
    rows = [(f"{m}, {size}", found[m]) for m in ("linear", "ridge", "logistic", "svm", "cox")]
    divided = found["logistic of columns"]
    size = f"{shown(divided['records'])} x {shown(divided['features'])}"
    rows.append((f"logistic of divided columns, {size}, with the intersection", divided))
    return _beside("three parties", "one table", rows)


def cluster(result: dict[str, Any]) -> str:
    found = result["cluster"]
    divided = found["of columns"]
    rows = [
        (f"{shown(found['records'])} records", found),
        (f"{shown(divided['records'])} records, columns divided, with the intersection", divided),
    ]
    return _beside("four clusters, three parties", "scikit-learn", rows)


def rules(result: dict[str, Any]) -> str:
    found = result["rules"]
    rows = [
        (f"{partition}: {shown(found[partition]['rules'])} rules", found[partition])
        for partition in ("horizontal", "vertical")
    ]
    what = f"Adult, {shown(found['records'])} records, {shown(found['columns'])} columns"
    return _beside(f"{what}, three parties", "mlxtend", rows)


def predict(result: dict[str, Any]) -> str:
    found = result["predict"]
    size = f"{shown(found['records'])} people, {shown(found['columns'])} columns"
    rows = [
        [f"{what}, {size}", *_costs(found[kind])]
        for kind, what in (
            ("tree", "a tree"),
            ("bayesnet", "a naive net"),
            ("net", "a net with a table across parties"),
        )
        if kind in found  # results from before have no such net
    ]
    return table(["new people by a kept model, three parties", *_HEAD], rows)


def witness(result: dict[str, Any]) -> str:
    found = result["witness"]
    least = shown(found["people_of_a_group"])
    rows = [
        [f"{least} {what}: {shown(found[place]['groups'])} groups", *_costs(found[place])]
        for place, what in (
            (
                "in the population",
                f"of {shown(found['population'])} people, two parties and a witness",
            ),
            ("in the table", "records of the table, two parties"),
        )
    ]
    return table([f"{shown(found['records'])} records in groups of at least", *_HEAD], rows)
