"""Hiding rules: items are taken out of transactions until no sensitive rule can be found.

Papers: Atallah et al. (1999), Verykios et al. (2004), by support and by confidence; Sun and Yu (2005),
by the border; 20.4 of the chapter (paper 3), which removes whole transactions where these remove
single items.

* *By support*: an item of Y leaves count(XY) - ⌈s n⌉ + 1 of the transactions that have all of X and Y.
  *By confidence*: it leaves count(XY) - ⌈c count(X)⌉ + 1 of them. `fewest` does whichever is less.
  Transactions with the fewest items go first, then those that have the fewest frequent sets to be
  kept; the item of Y is the one with the greatest support.
* *By the border*: of all items of XY the one whose removal leaves the largest margin to the nearest of
  the maximal frequent sets that are to be kept (the border), in the transaction that has the fewest
  of the border sets with this item, chosen anew for every removal.

Guarantee: no sensitive rule reaches both thresholds any more. A rule stays hidden at these thresholds
and not below them; whoever knows the method may look for what is just below. Cost: n times the border.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.rules.mining import Items, Rule, count, least_count, maximal
from coterie.base.arrays import Mask

WAYS = ("fewest", "support", "confidence", "border", "exact", "blocking")


def removals(table: Mask, rule: Rule, least: int, confidence: float, way: str) -> int:
    """How many transactions must lose an item before a rule is hidden; 0 if it is hidden already."""
    together, premise = count(table, rule.whole), count(table, rule.premise)
    by_support = together - least + 1
    by_confidence = together - least_count(confidence, premise) + 1
    if by_support <= 0 or by_confidence <= 0:
        return 0
    needed = {"support": by_support, "border": by_support, "confidence": by_confidence}
    return needed.get(way, min(by_support, by_confidence))


def hide(
    table: Mask,
    rules: Sequence[Rule],
    least: int,
    confidence: float,
    way: str,
    kept: Sequence[Items],
) -> Mask:
    """The table without the removed items; `kept` are the frequent sets that should stay."""
    table = table.copy()
    ordered = sorted(rules, key=lambda rule: (-len(rule.whole), rule))
    border = maximal(list(kept)) if way == "border" else []
    # An item that leaves for one rule may be in the premise of another, whose confidence then rises:
    # the rules are looked at again until all of them are hidden.
    changed = True
    while changed:
        changed = False
        for rule in ordered:
            changed |= _hide_one(table, rule, least, confidence, way, kept, border)
    return table


def _hide_one(
    table: Mask,
    rule: Rule,
    least: int,
    confidence: float,
    way: str,
    kept: Sequence[Items],
    border: list[Items],
) -> bool:
    """Takes items out until one rule is hidden; whether anything had to be done."""
    needed = removals(table, rule, least, confidence, way)
    if not needed:
        return False
    if way == "border":
        _by_border(table, rule, least, needed, border)
        return True
    victim = max(rule.conclusion, key=lambda item: (int(table[item].sum()), -item))
    rows = np.flatnonzero(table[list(rule.whole)].all(axis=0))
    load = np.zeros(len(rows), np.int64)
    for items in kept:
        if victim in items:
            load += table[list(items)][:, rows].all(axis=0)
    order = np.lexsort((rows, load, table[:, rows].sum(axis=0)))
    table[victim, rows[order[:needed]]] = False
    return True


def _by_border(table: Mask, rule: Rule, least: int, needed: int, border: list[Items]) -> None:
    has = np.array([table[list(items)].all(axis=0) for items in border]).reshape(
        len(border), table.shape[1]
    )
    member = np.array([[item in items for item in rule.whole] for items in border], bool)
    member = member.reshape(len(border), len(rule.whole))
    for _ in range(needed):
        rows = np.flatnonzero(table[list(rule.whole)].all(axis=0))
        margins = has.sum(axis=1) - least
        room = [
            int(margins[member[:, j]].min()) if member[:, j].any() else table.shape[1]
            for j in range(len(rule.whole))
        ]
        chosen = int(np.argmax(room))
        hit = has[member[:, chosen]][:, rows]
        # Sets with the least margin weigh most: one transaction less may lose them.
        weights = 1 / (1 + np.maximum(margins[member[:, chosen]], 0))
        row = int(rows[np.argmin(weights @ hit)])
        table[rule.whole[chosen], row] = False
        has[member[:, chosen], row] = False
