"""The smallest sets of columns that tell records apart, by several measures.

A set is found by a search for the minimum key, by a greedy one, and in samples; `anonymity.risk` has
the guarantee of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.anonymity.risk.grouping import Sizes, pairs_within, whole
from coterie.anonymity.risk.keys import greedy_key, minimum_key
from coterie.anonymity.risk.ratios import ratios_of, separation_of
from coterie.anonymity.risk.sampled_keys import distinct_key, separation_key, share_set
from coterie.base.arrays import Codes
from coterie.onetable.coded import CodedTable
from coterie.onetable.inspection.settings import Settings

_SLACK = 0.02  # ε of sampled β-separation
SHARES = (0.9, 0.99, 0.999)  # β of the sets that separate so many pairs


def keys_of(
    table: CodedTable,
    names: Sequence[str],
    every: Sizes,
    settings: Settings,
    large: bool,
    notes: list[str],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """The smallest sets that tell records apart, by several measures."""
    codes, records = table.codes(names), table.records
    entries: list[dict[str, Any]] = []

    def add(how: str, chosen: Sequence[int], **more: Any) -> None:
        picked = [names[j] for j in chosen]
        if not picked:
            return
        ratios = ratios_of(table.codes(picked), records, settings.most)
        entries.append(
            {
                "how": how,
                "columns": picked,
                "distinct": ratios.distinct,
                "separation": ratios.separation,
                "uniques": ratios.uniques,
                **more,
            }
        )

    minimum = minimum_key(codes, records, len(every), most=settings.most)
    add("minimum", minimum.columns, at_least=minimum.at_least)
    if not minimum.exact:
        notes.append(
            f"the search for the minimum key was given up: {len(minimum.columns)} columns, "
            f"at least {minimum.at_least} are needed"
        )
    if large:
        notes.append("the greedy key was not looked for: the table is large")
    else:
        greedy = greedy_key(codes, records)
        add("greedy", greedy)
        for beta in SHARES:
            add("share", _prefix(codes, records, greedy, beta), beta=beta)
    if records > 1:
        given = {"epsilon": settings.epsilon, "delta": settings.delta}
        chosen = separation_key(codes, records, settings.epsilon, settings.delta, rng)
        add("separation", chosen, **given)
        add(
            "distinct",
            distinct_key(codes, records, 0.1, settings.delta, rng),
            epsilon=0.1,
            delta=settings.delta,
        )
        for beta in SHARES if large else ():
            chosen = share_set(codes, records, beta, _SLACK, settings.delta, rng)
            add("share", chosen, beta=beta, epsilon=_SLACK, delta=settings.delta)
    is_key = len(every) == records and minimum.exact
    return {
        "minimum_key": [names[j] for j in minimum.columns] if is_key else None,
        "keys": entries,
    }


def _prefix(
    codes: Sequence[Codes], records: int, order: Sequence[int], beta: float
) -> tuple[int, ...]:
    """As many columns of a greedy key as separate this share of all pairs."""
    groups = whole(records)
    for number, j in enumerate(order, 1):
        groups = groups.refined(codes[j])
        if separation_of(pairs_within(groups.sizes), records) >= beta:
            return tuple(order[:number])
    return ()
