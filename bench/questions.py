"""Questions without a joint table, beside the intersection that precedes them. Prints JSON.

Each part is one function in `PARTS`; without names all parts run. Parties are processes on this
machine over mTLS, with a record of each other's people already lined up: the intersection is
measured by `coterie bench intersect`.

    aggregate   number, sum and mean of a column of the first party by three columns (2, 5 and 15
                values): all at a second party; and one each at three parties
    identify    how many pairs of people each of 500 sets of 20 columns of three parties tells apart
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coterie.bench import _sessions
from coterie.bench._spent import Meter, combined

GROUPS = (2, 5, 15)
MINIMUM = 5
VALUES = (2, 2, 3, 5, 7, 8, 9, 12, 14, 16, 20, 30, 42, 50, 73, 94, 100, 366, 1000, 20_000)


def aggregate_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of the sums by group."""
    from coterie.anonymity.counts.hidden_cells import Holders, Table, plan
    from coterie.protocols.aggregates.aggregates import Aggregates
    from coterie.protocols.aggregates.group_tables import group_shares
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
        group = Aggregates(HiddenCounts(metered, names, servers, rng.fork("decide")))
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


def aggregate(quick: bool) -> list[dict[str, Any]]:
    """Sums by group, checked against NumPy's."""
    records = 20_000 if quick else 1_000_000
    return [_aggregate(records, owners) for owners in (("p1", "p1", "p1"), ("p0", "p1", "p2"))]


def _aggregate(records: int, holders: tuple[str, ...]) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, size, records) for name, size in _axes()}
    pay = rng.integers(0, 10_000_000, records).astype(np.uint64)
    owners = dict(zip(codes, holders, strict=True))
    parties = max(int(holder[1:]) for holder in holders) + 1
    arguments = [
        {
            "records": records,
            "owners": owners,
            "codes": {name: codes[name] for name, owner in owners.items() if owner == f"p{at}"},
            "rows": np.stack([np.ones_like(pay), pay], axis=1) if at == 0 else None,
        }
        for at in range(parties)
    ]
    runs = _sessions.run("coterie.bench.questions:aggregate_party", arguments)
    shown, *found = _found(runs)
    group = np.ravel_multi_index(tuple(codes.values()), GROUPS)
    counts = np.bincount(group, minlength=int(np.prod(GROUPS)))
    sums = np.bincount(group, pay, minlength=len(counts))
    if found != [counts[shown].tolist(), sums[shown].astype(int).tolist()]:
        raise SystemExit("the sums are not those of NumPy")
    return {
        "parties": parties, "records": records, "groups": len(counts), "shown": len(shown),
        **_totals(runs),
    }  # fmt: skip


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


def identify(quick: bool) -> dict[str, Any]:
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


PARTS: dict[str, Callable[[bool], Any]] = {"aggregate": aggregate, "identify": identify}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench questions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables")
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
        report[part] = PARTS[part](options.quick)
    print(json.dumps(report, indent=2))
    return 0
