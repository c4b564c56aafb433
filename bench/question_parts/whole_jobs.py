"""The parts of `coterie bench questions` that are whole jobs, from columns of text on.

Each is run by processes of this machine, over mTLS, and beside a peer that has all records in one
place; a part ends with an error where the answers differ.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Floats
from coterie.bench import _sessions
from coterie.bench._spent import beside, found_of
from coterie.bench.peers import question_jobs


def _job(kind: str, keys: str, tables: Sequence[Mapping[str, Array]], small: int) -> list[Any]:
    """What the parties report of a job; `small` records of each make it compile."""
    names = [f"p{at}" for at in range(len(tables))]
    text = question_jobs.job_text(kind, names, keys)
    whole = [question_jobs.as_text(table) for table in tables]
    arguments = [{"job": text, "table": t, "small": t.slice(0, small)} for t in whole]
    return _sessions.run("coterie.bench.peers.question_jobs:job_party", arguments)


def _apart(ours: Floats, theirs: Floats) -> float:
    """The largest difference, as a share of the largest number."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def regress(quick: bool) -> dict[str, Any]:
    """Models of different people at three parties."""
    records = 9_000 if quick else 1_000_000
    table = question_jobs.people(records)
    tables = question_jobs.in_parts(table, 3)
    features = ", ".join(f"x{at}" for at in range(question_jobs.FEATURES))
    found: dict[str, Any] = {"parties": 3, "records": records, "features": 20}
    for model in ("linear", "ridge", "logistic", "svm", "cox"):
        what = "time: days\nevent: died" if model == "cox" else "outcome: ill"
        what = "outcome: cost" if model in ("linear", "ridge") else what
        what += f"\npenalty: {question_jobs.PENALTY}" if model == "ridge" else ""
        keys = f"partition: horizontal\nmodel: {model}\n{what}\nfeatures: [{features}]\n"
        runs = _job("regress", keys, tables, 1000)
        answer = found_of(runs)
        peer = question_jobs.pooled_model(model, table)
        if model == "cox" and quick:  # statsmodels takes hours for a million records
            ends = [step["time"] for step in answer["survival"]]
            peer = question_jobs.pooled_cox(table, ends)
        found[model] = {**beside(runs, peer), "iterations": answer["iterations"]}
        if peer is not None:
            ours = np.array([entry["value"] for entry in answer["coefficients"].values()])
            found[model]["apart"] = _apart(ours, peer[0])
            if found[model]["apart"] > (1e-6 if answer["settled"] else 1e-2):
                raise SystemExit(f"the {model} model is not the peer's")
    found["logistic of columns"] = _divided_logistic(quick)
    return found


def _by_columns(table: Mapping[str, Array], names: Sequence[str]) -> list[dict[str, Array]]:
    """Columns dealt out to three parties, with a number for each record."""
    ids = np.arange(len(table[names[0]]))
    return [{"ID": ids, **{name: table[name] for name in names[at::3]}} for at in range(3)]


def _divided_logistic(quick: bool) -> dict[str, Any]:
    """A logistic model of columns at three parties, with the intersection."""
    records = 400 if quick else 10_000
    table = question_jobs.people(records)
    names = [f"x{at}" for at in range(6)]
    places = ", ".join(f"{n}: {{party: p{at % 3}, range: [-8, 8]}}" for at, n in enumerate(names))
    keys = (
        f"id: ID\nmodel: logistic\noutcome: ill\nfeatures: [{', '.join(names)}]\n"
        f"attributes: {{{places}, ill: {{party: p0}}}}\n"
    )
    runs = _job("regress", keys, _by_columns(table, [*names, "ill"]), 100)
    answer, peer = found_of(runs), question_jobs.pooled_model("logistic", table, 6)
    found = {"records": records, "features": 6, **beside(runs, peer)}
    if peer is not None:
        entries = answer["coefficients"].values()
        apart = [entry["value"] - due for entry, due in zip(entries, peer[0], strict=True)]
        errors = [entry["error"] for entry in entries]
        found["apart_in_errors"] = float(np.abs(np.array(apart) / errors).max())
        if found["apart_in_errors"] > answer["measures"]["approximation"]:
            raise SystemExit("the logistic model is further from the peer's than it says")
    return {**found, "approximation": answer["measures"]["approximation"]}


def cluster(quick: bool) -> dict[str, Any]:
    """Clusters of different people at three parties, and of columns at three parties."""
    records = 9_000 if quick else 1_000_000
    table = question_jobs.points(records)
    keys = "partition: horizontal\nattributes: {x0: {}, x1: {}, x2: {}}\nclusters: 4\n"
    runs = _job("cluster", keys, question_jobs.in_parts(table, 3), 1000)
    answer, peer = found_of(runs), question_jobs.pooled_clusters(table)
    found = {"parties": 3, "records": records, **beside(runs, peer)}
    if peer is not None:
        found["apart"] = _apart(np.array(answer["centres"]), peer[0])
        if found["apart"] > 0.01:
            raise SystemExit("the clusters are not the peer's")
    found.update({"iterations": answer["iterations"], "settled": answer["settled"]})
    few = question_jobs.points(400 if quick else 10_000)
    places = ", ".join(f"x{at}: {{party: p{at}, range: [-15, 15]}}" for at in range(3))
    keys = f"id: ID\nattributes: {{{places}}}\nclusters: 4\n"
    runs = _job("cluster", keys, _by_columns(few, list(few)), 100)
    peer = question_jobs.pooled_clusters(few)
    divided = {"records": len(few["x0"]), **beside(runs, peer), "iterations": 10}
    if peer is not None:
        divided["apart"] = _apart(np.array(found_of(runs)["centres"]), peer[0])
    return {**found, "of columns": divided}


def rules(quick: bool, folder: Path) -> dict[str, Any]:
    """Rules of Adult's categorical columns, by records and by columns of three parties."""
    table = question_jobs.adult(folder, 2_000 if quick else None)
    names = list(question_jobs.CATEGORICAL)
    asked = "support: 0.05\nconfidence: 0.8\nlongest: 4\nminimum: 5\n"
    domains = ", ".join(f"{n}: {{values: {json.dumps(sorted(set(table[n])))}}}" for n in names)
    owners = {name: f"p{at % 3}" for at, name in enumerate(names)}
    places = ", ".join(f"{name}: {{party: {owner}}}" for name, owner in owners.items())
    by_columns = [
        {"ID": table["ID"], **{n: table[n] for n in names if owners[n] == f"p{at}"}}
        for at in range(3)
    ]
    by_records = question_jobs.in_parts({name: table[name] for name in names}, 3)
    peer = question_jobs.pooled_rules(table, 0.05, 0.8, 4)
    found: dict[str, Any] = {"parties": 3, "records": len(table["ID"]), "columns": len(names)}
    for partition, keys, tables in (
        ("horizontal", f"attributes: {{{domains}}}\n", by_records),
        ("vertical", f"id: ID\nattributes: {{{places}}}\n", by_columns),
    ):
        runs = _job("rules", f"partition: {partition}\n{keys}{asked}", tables, 300)
        ours = found_of(runs)["rules"]
        found[partition] = {**beside(runs, peer), "rules": len(ours)}
        sides = {
            tuple(frozenset(map(tuple, rule[side])) for side in ("if", "then")) for rule in ours
        }
        if peer is not None and sides != peer[0]:
            raise SystemExit("the rules are not mlxtend's")
    return found
