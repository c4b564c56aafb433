"""Questions without a joint table, beside the intersection that precedes them. Prints JSON.

Each part is one function in `PARTS`; without names all parts run. Parties are processes on this
machine over mTLS, with a record of each other's people already lined up: the intersection is
measured by `coterie bench intersect`.

    aggregate   number, sum and mean of a column of the first party by three columns (2, 5 and 15
                values): all at a second party; and one each at three parties; the former also with
                noise of differential privacy in the sums
    mixed       the same question of a tenth of the records where each cell lies at one of two parties
    identify    how many pairs of people each of 500 sets of 20 columns of three parties tells apart
    regress     linear, logistic, support vector and survival models of 20 features of different
                people at three parties, beside scikit-learn and statsmodels on the pooled table
                and a logistic model of six of these features at three parties
    cluster     four clusters in three columns, the same beside scikit-learn, of different people
                at three parties and of columns at three parties
    rules       of Adult's categorical columns (--data DIR), support 5 %, confidence 80 %, three
                parties with a third of the people each, and with some of the columns each (that
                one with the intersection), beside mlxtend on the pooled table

The last three are whole jobs from columns of text on, without the network's certificates. What a
peer finds is compared with what the parties find.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Floats
from coterie.bench import _sessions
from coterie.bench._spent import Meter, Spent, combined
from coterie.bench.peers import question_jobs
from coterie.experiments.secure_data_integration.adult_data import add_data_option, adult_folder

GROUPS = (2, 5, 15)
MINIMUM = 5
MOST = 10_000_000  # of the numbers that are added up
EPSILON = Fraction(1)
Options = argparse.Namespace
VALUES = (2, 2, 3, 5, 7, 8, 9, 12, 14, 16, 20, 30, 42, 50, 73, 94, 100, 366, 1000, 20_000)


def aggregate_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of the sums by group."""
    from coterie.anonymity.counts.hidden_cells import Holders, Table, plan
    from coterie.protocols.aggregates.aggregates import Aggregates
    from coterie.protocols.aggregates.group_tables import group_shares
    from coterie.protocols.aggregates.noise import Noise, Query
    from coterie.protocols.aggregates.noisy_sums import noisy_sums
    from coterie.protocols.primitives.randomness import Random
    from coterie.protocols.statistics.contingency import Axis
    from coterie.protocols.statistics.hidden_counts import HiddenCounts
    from coterie.protocols.statistics.shared_counts import Transfers

    owners = argument["owners"]
    servers = (names[0], names[1])
    axes = [Axis(name, owners[name], size) for name, size in _axes()]
    table = Table(tuple(owners), GROUPS)
    components = plan([table], Holders(owners, servers))

    def work(records: int) -> list[list[int]]:
        rng = Random()
        rows = argument["rows"]
        codes = {name: column[:records] for name, column in argument["codes"].items()}
        share = group_shares(
            Transfers(metered, rng.fork("transfers")), names, servers, names[0], axes,
            codes, records, None if rows is None else rows[:records], 2, rng,
        )  # fmt: skip
        columns = [None, None] if share is None else list(share.reshape(table.cells, 2).T)
        decide = HiddenCounts(metered, names, servers, rng.fork("decide"))
        if argument["noisy"]:
            promise = Noise(EPSILON, Fraction(0))
            scales = promise.scales([Query(1, 1), Query(0, MOST)], table.cells)
            seen, numbers = noisy_sums(
                decide, columns, promise, scales, table.cells, MINIMUM, rng.fork("noise")
            )
            return [seen.tolist(), *(column.tolist() for column in numbers)]
        group = Aggregates(decide)
        shown = group.shown(components, columns[0], table.cells, MINIMUM)
        taken = [None if column is None else column[shown] for column in columns]
        opened = group.records(taken[0], len(shown)), group.sums(taken[1], len(shown))
        return [shown.tolist(), *(numbers.tolist() for numbers in opened)]

    meter = Meter(channel)
    metered = meter.channel
    work(1000)  # compiles
    found, spent = meter.measure(lambda: work(argument["records"]))
    return {**spent, "rounds": meter.wire.total.rounds, "found": found}


def _axes() -> list[tuple[str, int]]:
    return [(f"g{at}", size) for at, size in enumerate(GROUPS)]


def aggregate(quick: bool, options: Options) -> list[dict[str, Any]]:
    """Sums by group, checked against NumPy's."""
    records = 20_000 if quick else 1_000_000
    together, apart = ("p1", "p1", "p1"), ("p0", "p1", "p2")
    return [
        _aggregate(records, together),
        _aggregate(records, apart),
        _aggregate(records, together, noisy=True),
    ]


def _aggregate(records: int, holders: tuple[str, ...], noisy: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, size, records) for name, size in _axes()}
    pay = rng.integers(0, MOST, records).astype(np.uint64)
    owners = dict(zip(codes, holders, strict=True))
    parties = max(int(holder[1:]) for holder in holders) + 1
    arguments = [
        {
            "records": records,
            "owners": owners,
            "codes": {name: codes[name] for name, owner in owners.items() if owner == f"p{at}"},
            "rows": np.stack([np.ones_like(pay), pay], axis=1) if at == 0 else None,
            "noisy": noisy,
        }
        for at in range(parties)
    ]
    runs = _sessions.run("coterie.bench.questions:aggregate_party", arguments)
    shown, *found = _found(runs)
    group = np.ravel_multi_index(tuple(codes.values()), GROUPS)
    counts = np.bincount(group, minlength=int(np.prod(GROUPS)))
    sums = np.bincount(group, pay, minlength=len(counts))
    away = [
        np.abs(np.array(numbers) - exact[shown]).max() / unit
        for numbers, exact, unit in zip(found, (counts, sums), (1, MOST), strict=True)
    ]
    if max(away) > (1000 / EPSILON if noisy else 0):
        raise SystemExit("the sums are not those of NumPy")
    return {
        "parties": parties, "records": records, "groups": len(counts), "shown": len(shown),
        "noise": noisy, **_totals(runs),
    }  # fmt: skip


def mixed_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of sums over cells that lie at any party, and of the check of the cells."""
    from coterie.protocols.primitives.randomness import Random
    from coterie.protocols.statistics.contingency import Axis
    from coterie.protocols.statistics.hidden_counts import HiddenCounts
    from coterie.protocols.statistics.mixed_cells import held_once, pattern_sums
    from coterie.protocols.statistics.shared_counts import Transfers

    servers = (names[0], names[1])
    axes = [Axis(name, None, size) for name, size in _axes()]

    def work(records: int) -> list[int]:
        rng = Random()
        codes = {name: column[:records] for name, column in argument["codes"].items()}
        group = HiddenCounts(metered, names, servers, rng.fork("decide"))
        if not all(held_once(group, [column >= 0 for column in codes.values()], rng.fork("cells"))):
            raise SystemExit("a cell lies at both parties or at none")
        share = pattern_sums(
            Transfers(metered, rng.fork("transfers")), names, servers, axes, codes, records, rng,
            names, argument["rows"][:records], 2,
        )  # fmt: skip
        found: list[int] = group.added(share, 2 * int(np.prod(GROUPS)), np.uint64).tolist()
        return found

    meter = Meter(channel)
    metered = meter.channel
    work(1000)  # compiles
    found, spent = meter.measure(lambda: work(argument["records"]))
    return {**spent, "rounds": meter.wire.total.rounds, "found": found}


def mixed(quick: bool, options: Options) -> dict[str, Any]:
    """Sums by group over cells that lie at any of two parties, checked against NumPy's."""
    records = 2_000 if quick else 100_000
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, size, records) for name, size in _axes()}
    pay = rng.integers(0, MOST, records).astype(np.uint64)
    holder = {name: rng.integers(0, 2, records) for name in (*codes, "pay")}
    arguments = [
        {
            "records": records,
            "codes": {n: np.where(holder[n] == at, column, -1) for n, column in codes.items()},
            "rows": np.stack(
                [np.full(records, at == 0), np.where(holder["pay"] == at, pay, 0)], axis=1
            ).astype(np.uint64),
        }
        for at in range(2)
    ]
    runs = _sessions.run("coterie.bench.questions:mixed_party", arguments)
    group = np.ravel_multi_index(tuple(codes.values()), GROUPS)
    expected = np.zeros((int(np.prod(GROUPS)), 2), np.uint64)
    np.add.at(expected, group, np.stack([np.ones_like(pay), pay], axis=1))
    if _found(runs) != expected.reshape(-1).tolist():
        raise SystemExit("the sums are not those of NumPy")
    return {"parties": 2, "records": records, "groups": len(expected), **_totals(runs)}


def identify_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of the separation of sets of columns."""
    from coterie.anonymity.risk.quasi_identifiers import possible
    from coterie.protocols.patterns.separation import separation
    from coterie.protocols.primitives.randomness import Random
    from coterie.protocols.statistics.hidden_counts import HiddenCounts
    from coterie.protocols.statistics.shared_counts import Transfers

    servers = (names[0], names[1])
    sizes = argument["sizes"]

    def work(most: int) -> list[float]:
        rng = Random()
        found = possible(sizes, 10 * argument["records"], 0.2, 4)[:most]
        group = HiddenCounts(metered, names, servers, rng.fork("decide"))
        return separation(
            Transfers(metered, rng.fork("transfers")), group, [one.columns for one in found],
            argument["owners"], argument["codes"], argument["records"], 1 << 14, 0.001, rng,
        ).ratios  # fmt: skip

    meter = Meter(channel)
    metered = meter.channel
    work(500)  # compiles
    found, spent = meter.measure(lambda: work(500))
    return {**spent, "rounds": meter.wire.total.rounds, "found": found}


def identify(quick: bool, options: Options) -> dict[str, Any]:
    """Sets of 20 columns of three parties that may single people out, on 16,384 pairs."""
    records = 20_000 if quick else 1_000_000
    rng = np.random.default_rng(1)
    sizes = {f"c{at}": size for at, size in enumerate(VALUES)}
    owners = {name: f"p{at % 3}" for at, name in enumerate(sizes)}
    codes = {name: rng.integers(0, size, records) for name, size in sizes.items()}
    arguments = [
        {
            "records": records,
            "sizes": sizes,
            "owners": owners,
            "codes": {name: codes[name] for name, owner in owners.items() if owner == f"p{at}"},
        }
        for at in range(3)
    ]
    runs = _sessions.run("coterie.bench.questions:identify_party", arguments)
    return {"parties": 3, "records": records, "sets": len(_found(runs)), **_totals(runs)}


def _job(kind: str, keys: str, tables: Sequence[Mapping[str, Array]], small: int) -> list[Any]:
    """What the parties report of a job; `small` records of each make it compile."""
    names = [f"p{at}" for at in range(len(tables))]
    text = question_jobs.job_text(kind, names, keys)
    whole = [question_jobs.as_text(table) for table in tables]
    arguments = [{"job": text, "table": t, "small": t.slice(0, small)} for t in whole]
    return _sessions.run("coterie.bench.peers.question_jobs:job_party", arguments)


def _beside(runs: Sequence[Any], peer: tuple[Any, Spent] | None) -> dict[str, Any]:
    told: dict[str, Any] = {**_totals(runs), "peer": None}
    if peer is not None:
        told["peer"] = {key: peer[1][key] for key in ("seconds", "cpu_seconds")}
    return told


def _apart(ours: Floats, theirs: Floats) -> float:
    """The largest difference, as a share of the largest number."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def regress(quick: bool, options: Options) -> dict[str, Any]:
    """Models of different people at three parties."""
    records = 9_000 if quick else 1_000_000
    table = question_jobs.people(records)
    tables = question_jobs.in_parts(table, 3)
    features = ", ".join(f"x{at}" for at in range(question_jobs.FEATURES))
    found: dict[str, Any] = {"parties": 3, "records": records, "features": 20}
    for model in ("linear", "logistic", "svm", "cox"):
        what = "time: days\nevent: died" if model == "cox" else "outcome: ill"
        what = "outcome: cost" if model == "linear" else what
        keys = f"partition: horizontal\nmodel: {model}\n{what}\nfeatures: [{features}]\n"
        runs = _job("regress", keys, tables, 1000)
        answer = _found(runs)
        peer = question_jobs.pooled_model(model, table)
        if model == "cox" and quick:  # statsmodels takes hours for a million records
            ends = [step["time"] for step in answer["survival"]]
            peer = question_jobs.pooled_cox(table, ends)
        found[model] = {**_beside(runs, peer), "iterations": answer["iterations"]}
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
    answer, peer = _found(runs), question_jobs.pooled_model("logistic", table, 6)
    found = {"records": records, "features": 6, **_beside(runs, peer)}
    if peer is not None:
        entries = answer["coefficients"].values()
        apart = [entry["value"] - due for entry, due in zip(entries, peer[0], strict=True)]
        errors = [entry["error"] for entry in entries]
        found["apart_in_errors"] = float(np.abs(np.array(apart) / errors).max())
        if found["apart_in_errors"] > answer["measures"]["approximation"]:
            raise SystemExit("the logistic model is further from the peer's than it says")
    return {**found, "approximation": answer["measures"]["approximation"]}


def cluster(quick: bool, options: Options) -> dict[str, Any]:
    """Clusters of different people at three parties, and of columns at three parties."""
    records = 9_000 if quick else 1_000_000
    table = question_jobs.points(records)
    keys = "partition: horizontal\nattributes: {x0: {}, x1: {}, x2: {}}\nclusters: 4\n"
    runs = _job("cluster", keys, question_jobs.in_parts(table, 3), 1000)
    answer, peer = _found(runs), question_jobs.pooled_clusters(table)
    found = {"parties": 3, "records": records, **_beside(runs, peer)}
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
    divided = {"records": len(few["x0"]), **_beside(runs, peer), "iterations": 10}
    if peer is not None:
        divided["apart"] = _apart(np.array(_found(runs)["centres"]), peer[0])
    return {**found, "of columns": divided}


def rules(quick: bool, options: Options) -> dict[str, Any]:
    """Rules of Adult's categorical columns, by records and by columns of three parties."""
    table = question_jobs.adult(adult_folder(options.data), 2_000 if quick else None)
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
        ours = _found(runs)["rules"]
        found[partition] = {**_beside(runs, peer), "rules": len(ours)}
        sides = {
            tuple(frozenset(map(tuple, rule[side])) for side in ("if", "then")) for rule in ours
        }
        if peer is not None and sides != peer[0]:
            raise SystemExit("the rules are not mlxtend's")
    return found


def _found(runs: Sequence[Any]) -> Any:
    for run in runs:
        if isinstance(run, str):
            raise SystemExit(run)
    return runs[0]["found"]


def _totals(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    spent = combined(runs)
    return {
        "seconds": spent["seconds"],
        "cpu_seconds": spent["cpu_seconds"],
        "megabytes": spent["sent_bytes"] / 1e6,
        "rounds": max(run["rounds"] for run in runs),
    }


PARTS: dict[str, Callable[[bool, Options], Any]] = {
    "aggregate": aggregate,
    "mixed": mixed,
    "identify": identify,
    "regress": regress,
    "cluster": cluster,
    "rules": rules,
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench questions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables")
    add_data_option(parser)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; without, all of them")
    options = parser.parse_args(argv)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"'{min(unknown)}' is no part; there are {', '.join(PARTS)}")
    report: dict[str, Any] = {
        "bench": "questions",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }
    for part in options.parts or PARTS:
        report[part] = PARTS[part](options.quick, options)
    print(json.dumps(report, indent=2))
    return 0
