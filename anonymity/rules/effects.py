"""What hiding did: sensitive rules still found, others lost, rules that were not there before.

The measures of Oliveira and Zaïane (2002): hiding failures, misses (lost rules) and artefacts (ghost
rules), and the number of items that were changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from coterie.anonymity.rules.mining import Rule


@dataclass(frozen=True)
class Effects:
    """`before` and `after` are numbers of rules that can be found."""

    before: int
    after: int
    failures: tuple[Rule, ...]
    lost: tuple[Rule, ...]
    ghosts: tuple[Rule, ...]


def effects(before: Collection[Rule], after: Collection[Rule], hidden: Sequence[Rule]) -> Effects:
    """Compares the rules of two tables.

    A rule whose items contain all those of a sensitive rule goes with it and is not counted as lost:
    where the set of a sensitive rule is no longer frequent, none that contains it can be.
    """
    old, new = set(before), set(after)

    def goes_with(rule: Rule) -> bool:
        return any(set(h.whole) <= set(rule.whole) for h in hidden)

    return Effects(
        len(old),
        len(new),
        tuple(sorted(set(hidden) & new)),
        tuple(sorted(rule for rule in old - new if not goes_with(rule))),
        tuple(sorted(new - old)),
    )
