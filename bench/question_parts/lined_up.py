"""The parts of `coterie bench questions` on records that are lined up already.

Each is a protocol between processes of this machine, over mTLS: the intersection before it is
measured by `coterie bench intersect`. Answers are compared with those of the joined table.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Words
from coterie.bench import _sessions
from coterie.bench._spent import Meter, Spent, beside, found_of, totals
from coterie.bench.peers.question_jobs import pooled_sums

GROUPS = (2, 5, 15)
MINIMUM = 5
MOST = 10_000_000  # of the numbers that are added up
EPSILON = Fraction(1)
VALUES = (2, 2, 3, 5, 7, 8, 9, 12, 14, 16, 20, 30, 42, 50, 73, 94, 100, 366, 1000, 20_000)


def aggregate_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of the sums by group."""
    from coterie.anonymity.counts.hidden_cells import Holders, Table, plan
    from coterie.protocols.aggregates.aggregates import Aggregates
    from coterie.protocols.aggregates.noise import Noise, Query
    from coterie.protocols.aggregates.noisy_sums import noisy_sums
    from coterie.protocols.primitives.randomness import Random
    from coterie.protocols.statistics.hidden_counts import HiddenCounts
    from coterie.protocols.statistics.shared_counts import Transfers
    from coterie.protocols.statistics.shared_tables import Axis, JointTable, group_shares

    owners = argument["owners"]
    servers = (names[0], names[1])
    axes = [Axis(name, owners[name], size) for name, size in _axes()]
    table = Table(tuple(owners), GROUPS)
    components = plan([table], Holders(owners, servers))

    def work(records: int) -> list[list[int]]:
        rng = Random()
        rows = argument["rows"]
        codes = {name: column[:records] for name, column in argument["codes"].items()}
        mine = None if rows is None else rows[:records]
        counted = JointTable(names, servers, axes, codes, records)
        transfers = Transfers(metered, rng.fork("transfers"))
        share = group_shares(transfers, counted, names[0], mine, 2, rng)
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
    return meter.report(found, spent)


def _axes() -> list[tuple[str, int]]:
    return [(f"g{at}", size) for at, size in enumerate(GROUPS)]


def aggregate(quick: bool) -> list[dict[str, Any]]:
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
    runs = _sessions.run("coterie.bench.question_parts.lined_up:aggregate_party", arguments)
    shown, *found = found_of(runs)
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
        "noise": noisy, **beside(runs, _peer(codes, pay, counts, sums)),
    }  # fmt: skip


def _peer(
    codes: Mapping[str, Array], pay: Words, counts: Array, sums: Array
) -> tuple[Any, Spent] | None:
    """The same question of the joined table, asked by DuckDB."""
    peer = pooled_sums({**codes, "pay": pay}, list(codes), "pay")
    if peer is not None and peer[0] != [[*map(int, counts)], [*map(int, sums)]]:
        raise SystemExit("the sums are not those of DuckDB")
    return peer


def mixed_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of sums over cells that lie at any party, and of the check of the cells."""
    from coterie.protocols.primitives.randomness import Random
    from coterie.protocols.statistics.hidden_counts import HiddenCounts
    from coterie.protocols.statistics.mixed_cells import held_once
    from coterie.protocols.statistics.shared_counts import Transfers
    from coterie.protocols.statistics.shared_tables import Axis, JointTable, mixed_sums

    servers = (names[0], names[1])
    axes = [Axis(name, None, size) for name, size in _axes()]

    def work(records: int) -> list[int]:
        rng = Random()
        codes = {name: column[:records] for name, column in argument["codes"].items()}
        group = HiddenCounts(metered, names, servers, rng.fork("decide"))
        if not all(held_once(group, [column >= 0 for column in codes.values()], rng.fork("cells"))):
            raise SystemExit("a cell lies at both parties or at none")
        table = JointTable(names, servers, axes, codes, records)
        rows = argument["rows"][:records]
        share = mixed_sums(Transfers(metered, rng.fork("transfers")), table, rows, rng)
        found: list[int] = group.added(share, 2 * int(np.prod(GROUPS)), np.uint64).tolist()
        return found

    meter = Meter(channel)
    metered = meter.channel
    work(1000)  # compiles
    found, spent = meter.measure(lambda: work(argument["records"]))
    return meter.report(found, spent)


def mixed(quick: bool) -> dict[str, Any]:
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
    runs = _sessions.run("coterie.bench.question_parts.lined_up:mixed_party", arguments)
    group = np.ravel_multi_index(tuple(codes.values()), GROUPS)
    expected = np.zeros((int(np.prod(GROUPS)), 2), np.uint64)
    np.add.at(expected, group, np.stack([np.ones_like(pay), pay], axis=1))
    if found_of(runs) != expected.reshape(-1).tolist():
        raise SystemExit("the sums are not those of NumPy")
    return {"parties": 2, "records": records, "groups": len(expected), **totals(runs)}


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
        found = possible(sizes, 10 * argument["records"], 0.2, 4).sets[:most]
        group = HiddenCounts(metered, names, servers, rng.fork("decide"))
        return separation(
            Transfers(metered, rng.fork("transfers")), group, [one.columns for one in found],
            argument["owners"], argument["codes"], argument["records"], 1 << 14, 0.001, rng,
        ).ratios  # fmt: skip

    meter = Meter(channel)
    metered = meter.channel
    work(500)  # compiles
    found, spent = meter.measure(lambda: work(500))
    return meter.report(found, spent)


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
    runs = _sessions.run("coterie.bench.question_parts.lined_up:identify_party", arguments)
    return {"parties": 3, "records": records, "sets": len(found_of(runs)), **totals(runs)}
