"""Where the groups of two releases about the same people meet.

Somebody who finds a person's group in each of two releases knows that the person is in both, and the
two groups may have few people in common although each of them is large: the first step of an attack
on releases in sequence. `smallest_meeting` is the least number of people that a group of one release
and a group of the other have in common, if they have any, among people who are in both releases.
"""

from __future__ import annotations

import numpy as np

from coterie.anonymity.table.groups import group_numbers
from coterie.base.arrays import Codes
from coterie.base.distinct import distinct


def smallest_meeting(one: Codes, other: Codes) -> int | None:
    """The fewest people that two groups have in common, if any; None without any person.

    Each array has, for each person who is in both releases, the number of the person's group.
    """
    if not len(one):
        return None
    return int(np.bincount(group_numbers([one, other])).min())


def same_groups(one: Codes, other: Codes) -> bool:
    """Whether two people are in one group of the one release exactly if they are in the other."""
    meetings = len(distinct(group_numbers([one, other])))
    return meetings == len(distinct(one)) == len(distinct(other))
