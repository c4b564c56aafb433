"""Hiding by unknowns: items become `?`, so that supports and confidences are intervals.

Paper: Saygin, Verykios and Clifton, Using unknowns to prevent discovery of association rules (2001);
20.4 of the chapter (paper 3). A rule is hidden when the least support that its transactions can have
lies a margin below s, or the least confidence, the least count(XY) over the largest count(X), lies a
margin below c. Items of Y become unknown in transactions that have all of X and Y until that is so.

If only items that are there became unknown, every `?` would reveal what it hides. So for every blocked
item as many transactions that lack it (`decoys` times) have an unknown in its place.

Guarantee: whoever counts what is certain does not find the rule, and both answers are possible behind
a `?`. It is no proof against guessing: the share of decoys is the chance that a `?` hides nothing.
Cost: a pass over the transactions for each rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.rules.mining import Rule
from coterie.base.arrays import Mask
from coterie.base.randomness import SYSTEM, Bytewise, uniform

_SLACK = 1e-9


def block(
    table: Mask,
    rules: Sequence[Rule],
    support: float,
    confidence: float,
    margin: float,
    decoys: float = 1.0,
    source: Bytewise = SYSTEM,
) -> Mask:
    """Which items become unknown in which transactions; `table` has a row for each item."""
    unknown = np.zeros_like(table)
    records = table.shape[1]
    for rule in sorted(rules):
        whole, premise = list(rule.whole), list(rule.premise)
        victim = max(rule.conclusion, key=lambda item: (int(table[item].sum()), -item))
        certain = table & ~unknown
        rows = np.flatnonzero(certain[whole].all(axis=0))
        most = int((table | unknown)[premise].all(axis=0).sum())
        enough = max(_below((support - margin) * records), _below((confidence - margin) * most))
        needed = max(len(rows) - enough, 0)
        if not needed:
            continue
        order = np.lexsort((rows, table[:, rows].sum(axis=0)))
        unknown[victim, rows[order[:needed]]] = True
        absent = np.flatnonzero(~table[victim] & ~unknown[victim])
        wanted = min(round(needed * decoys), len(absent))
        drawn = absent[np.argsort(uniform((len(absent),), source))[:wanted]]
        unknown[victim, drawn] = True
    return unknown


def _below(bound: float) -> int:
    """The largest whole number below a bound."""
    return max(int(np.ceil(bound - _SLACK)) - 1, 0)


def certain_confidence(table: Mask, unknown: Mask, rule: Rule) -> tuple[int, float]:
    """The least count of a rule, and its least confidence."""
    least = int((table & ~unknown)[list(rule.whole)].all(axis=0).sum())
    most = int((table | unknown)[list(rule.premise)].all(axis=0).sum())
    return least, least / most if most else 0.0
