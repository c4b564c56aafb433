"""Entries of a requirement that share an attribute, directly or through others, are one condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coterie.anonymity.specialization.specialize import Requirement


@dataclass(frozen=True)
class Joined:
    """The attributes in job order, the largest k, and the places of the entries."""

    names: tuple[str, ...]
    k: int
    places: tuple[int, ...]


def joined(requirements: Sequence[Requirement], names: Sequence[str]) -> list[Joined]:
    """The conditions, in the order of the first entry of each; `names` are in job order."""
    found: list[set[int]] = []
    for place, requirement in enumerate(requirements):
        touching = [
            one
            for one in found
            if any(set(requirements[p].qid) & set(requirement.qid) for p in one)
        ]
        found = [one for one in found if one not in touching]
        found.append({place}.union(*touching))
    parts = []
    for one in sorted(found, key=min):
        used = {name for place in one for name in requirements[place].qid}
        k = max(requirements[place].k for place in one)
        ordered = tuple(name for name in names if name in used)
        parts.append(Joined(ordered, k, tuple(sorted(one))))
    return parts
