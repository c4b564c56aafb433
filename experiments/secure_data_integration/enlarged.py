"""Adult enlarged, and the requirements of paper 1 §7.3, for the experiment and the benchmark.

To enlarge the table, every further copy of a record gets a random value, of those that occur, in
about half of its attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.specialization.specialize import Labels, Requirement
from coterie.anonymity.table.columns import (
    Column,
    ContinuousColumn,
    IntervalTree,
    TaxonomyTree,
)
from coterie.experiments.secure_data_integration.adult_data import (
    NAMES,
    PARTY_A,
    PARTY_B,
    load_adult,
)
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.plan import Outcome, Plan
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random

K = 50
HOLDERS = {**dict.fromkeys(PARTY_A, "p0"), **dict.fromkeys(PARTY_B, "p1")}
Qids = list[list[str]]


def fresh(column: Column) -> Column:
    """The column with a new tree."""
    if isinstance(column, ContinuousColumn):
        return ContinuousColumn(column.name, column.codes, column.values, column.limits)
    return column


def load(folder: Path, records: int, names: tuple[str, ...]) -> tuple[dict[str, Column], Labels]:
    """Adult, or the enlarged table; every process gets the same columns."""
    adult = load_adult(folder)
    base = len(adult.target)
    copies = -(-records // base)
    columns: dict[str, Column] = {}
    for name in names:
        column = adult.column(name)
        if records > base:
            rng = np.random.default_rng(NAMES.index(name))
            codes = np.tile(column.codes, copies)[:records]
            for start in range(base, records, 1 << 20):
                part = codes[start : start + (1 << 20)]
                change = rng.random(len(part), np.float32) < 0.5
                drawn = rng.integers(0, column.size, len(part), np.uint32)
                part[change] = drawn[change].astype(codes.dtype)
            column.codes = codes
        columns[name] = column
    classes = np.tile(adult.classes.codes, copies)[:records]
    return columns, Labels(classes, adult.classes.values)


def requirements(qids: Qids) -> tuple[Requirement, ...]:
    return tuple(Requirement(tuple(qid), K) for qid in qids)


def random_qids(seed: int = 1, count: int = 30) -> list[Qids]:
    """§7.3: 3 to 7 QIDs, all of one length between 2 and 9; repeated ones are dropped."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        number, length = int(rng.integers(3, 8)), int(rng.integers(2, 10))
        drawn = {
            tuple(sorted(rng.choice(14, length, replace=False).tolist())) for _ in range(number)
        }
        found.append([[NAMES[i] for i in qid] for qid in sorted(drawn)])
    return found


def attributes_of(qids: Qids) -> list[str]:
    """The attributes of a requirement, in the order of Table 4."""
    return [name for name in NAMES if any(name in qid for qid in qids)]


def plan_of(names: list[str], qids: Qids, taxonomies: Any, limits: Any) -> Plan:
    """The joint specialization of two parties for a requirement of these QIDs."""
    trees = {
        name: TaxonomyTree(taxonomies[name]) if name in taxonomies else IntervalTree(*limits[name])
        for name in attributes_of(qids)
    }
    return Plan(
        tuple(names),
        trees,
        {name: HOLDERS[name] for name in trees},
        requirements(qids),
        tuple(names),
        "class",
        turns=True,
    )


def party_run(
    names: list[str],
    qids: Qids,
    columns: Mapping[str, Column],
    classes: Labels,
    taxonomies: Any,
    limits: Any,
) -> Callable[[Channel], Outcome]:
    """One party's run of Algorithm 1, ready to start: `columns` are its own."""
    mine = {name: fresh(columns[name]) for name in attributes_of(qids) if name in columns}
    plan = plan_of(names, qids, taxonomies, limits)
    labels, records = {"class": classes}, len(classes.codes)
    return lambda channel: integrate(channel, plan, mine, labels, records, Random())
