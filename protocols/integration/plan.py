"""The plan of a joint specialization, from the job, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coterie.anonymity.specialization.specialize import Labels, Requirement, Specializer
from coterie.anonymity.table.columns import Tree
from coterie.anonymity.table.scales import Scale


@dataclass(frozen=True)
class Plan:
    """The public input. `trees` and `holders` have the attributes of the QIDs in job order.

    A tree is None if the holder has yet to announce the span of its numbers.
    """

    names: tuple[str, ...]
    trees: Mapping[str, Tree | None]
    holders: Mapping[str, str]
    requirements: tuple[Requirement, ...]
    class_holders: tuple[str, ...] = ()
    class_name: str | None = None
    sensitive_holders: Mapping[str, str] | None = None
    rule: str = "gain-ratio"
    max_suppression: float = 0.0
    turns: bool = False  # whether a winner may continue while its candidates stay the best
    # How proposals are judged: on "shares" (nobody sees them) or by the "holder", as in the paper.
    conditions: str = "shares"
    # By attribute, the values that bounds require to specialize before the first round.
    starts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    # What the numbers of attributes without taxonomy stand for, and whether some may be missing.
    scales: Mapping[str, tuple[Scale, bool]] = field(default_factory=dict)
    slack: bool = False  # whether the parties open at which smaller k the run would differ
    refine: str | None = None  # what a second phase refines
    # With `method: mondrian`: the start values of bounded attributes, priorities, exact ends.
    start_values: Mapping[str, Sequence[int]] = field(default_factory=dict)
    priority: Mapping[str, float] = field(default_factory=dict)
    tight: bool = False
    # The party that counts the groups of entries with `k_map` in its population; not in `names`.
    witness: str | None = None


@dataclass(frozen=True)
class Slack:
    """The slack of an entry: the largest smaller k that changes the run, after how many steps, and
    the attribute of the step that differs."""

    permitted: int
    after: int
    attribute: str


@dataclass(frozen=True)
class Outcome:
    """The generalized table with its history, and each party's contribution (scores times 2^30)."""

    table: Specializer
    winners: list[str]  # the party of each specialization
    contributions: dict[str, int]
    classes: Labels | None
    refined: Mapping[str, int] | None = None  # the contributions of a second phase of columns
    slack: Sequence[Slack | None] = ()  # of each entry of the requirement, if the plan asks for it
