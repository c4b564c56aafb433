"""Hiding by an integer programme: as few border sets lost as possible, then as few items removed.

Paper: Gkoulalas-Divanis and Verykios, An integer programming approach for frequent itemset hiding
(2006); 20.4 of the chapter (paper 3). The variables say whether an item of a sensitive set leaves a
transaction that has the whole set. Every sensitive set keeps fewer than s n transactions; every
maximal frequent set that is to be kept (the border) keeps at least s n, unless it is given up, which
costs more than all removals.

Guarantee: the sensitive sets are infrequent, no solution loses fewer sets of the border, and among
those none removes fewer items. Cost: exponential at worst, so for small tables only. The solver is
HiGHS in SciPy, which `pip install 'coterie[exact]'` brings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.rules.mining import Items, Rule, maximal
from coterie.base.arrays import Mask

MOST_VARIABLES = 20_000


class TooLargeError(ValueError):
    """The programme has more variables than the solver is given."""


def hide_exactly(
    table: Mask, rules: Sequence[Rule], least: int, kept: Sequence[Items], seconds: float = 60
) -> Mask:
    """The table without the removed items; raises `ImportError` where there is no solver."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    sensitive = _minimal([rule.whole for rule in rules])
    border = maximal(list(kept))
    cells = sorted({
        (row, item)
        for items in sensitive
        for row in np.flatnonzero(table[list(items)].all(axis=0)).tolist()
        for item in items
    })  # fmt: skip
    leaves = {cell: at for at, cell in enumerate(cells)}
    number = len(leaves)
    costs: list[float] = [1.0] * number
    entries: list[tuple[int, int, float]] = []
    lower: list[float] = []

    def variable(cost: float) -> int:
        costs.append(cost)
        return len(costs) - 1

    def at_least(terms: list[tuple[int, float]], bound: float) -> None:
        entries.extend((len(lower), column, value) for column, value in terms)
        lower.append(bound)

    for items in sensitive:
        rows = np.flatnonzero(table[list(items)].all(axis=0)).tolist()
        broken = []
        for row in rows:
            lost = variable(0.0)  # 1 only if an item of the set leaves the transaction
            at_least([*((leaves[row, item], 1.0) for item in items), (lost, -1.0)], 0.0)
            broken.append((lost, 1.0))
        if len(rows) >= least:
            at_least(broken, len(rows) - least + 1)
    for items in border:
        rows = np.flatnonzero(table[list(items)].all(axis=0)).tolist()
        at_risk = [row for row in rows if any((row, item) in leaves for item in items)]
        spare = len(rows) - least
        if not at_risk or len(at_risk) <= spare:
            continue
        given_up = variable(float(number + 1))
        hurt = []
        for row in at_risk:
            lost = variable(0.0)  # 1 if any item of the border set leaves the transaction
            for item in items:
                if (row, item) in leaves:
                    at_least([(lost, 1.0), (leaves[row, item], -1.0)], 0.0)
            hurt.append((lost, -1.0))
        at_least([*hurt, (given_up, float(len(rows)))], -float(spare))
        if len(costs) > MOST_VARIABLES:
            raise TooLargeError(f"{len(costs):,} variables, of {MOST_VARIABLES:,} at most")
    if not lower:
        return table.copy()
    places, columns, values = zip(*entries, strict=True)
    matrix = coo_array((values, (places, columns)), shape=(len(lower), len(costs)))
    answer = milp(
        np.array(costs),
        constraints=LinearConstraint(matrix.tocsr(), np.array(lower), np.inf),
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, 1),
        options={"time_limit": seconds},
    )
    if answer.x is None or answer.status != 0:
        raise TooLargeError(f"no answer after {seconds:g} seconds")
    result = table.copy()
    for (record, item), at in leaves.items():
        if answer.x[at] > 0.5:
            result[item, record] = False
    return result


def _minimal(sets: Sequence[Items]) -> list[Items]:
    """Those that contain no other one: hiding them hides all."""
    ordered = sorted({frozenset(items) for items in sets}, key=len)
    kept: list[frozenset[int]] = []
    for candidate in ordered:
        if not any(smaller <= candidate for smaller in kept):
            kept.append(candidate)
    return [tuple(sorted(items)) for items in kept]
