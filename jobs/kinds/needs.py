"""What a job needs of one party, as its kind declares it: everything that a policy checks.

The declaration has four groups. A kind that leaves a group out is refused, because nobody can judge
what is not declared. Within a group, a key that is left out means that the job does nothing of it;
`exact` alone means the opposite, since an answer without noise is what a kind gives by default.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Protocol

from coterie.jobs.matching.identifiers import Matching

ANY_CLASSES = "*"


@dataclass(frozen=True)
class Columns:
    """The columns of one party's table that a job reads, and what becomes of them.

    used      columns that the job reads, besides identifiers
    released  those of `used` whose values, or exact sums over them, leave this party in any form
    raw       those of `released` that leave unchanged, record by record, in no group
    label     the column that the job makes its class: all parties learn it of every common record
    owes      whether the party must have `label`; if not, it brings the class where it can
    dropped   columns by whose values people are left out of the common records, or later so that
              others can tell who was
    """

    used: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    label: str | None = None
    owes: bool = False
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part, of, whole in (
            ("released", self.released, self.used),
            ("raw", self.raw, self.released),
            ("dropped", self.dropped, self.used),
        ):
            if beyond := set(of) - set(whole):
                raise ValueError(f"{part} names {', '.join(sorted(beyond))} too many")


@dataclass(frozen=True)
class Matched:
    """How a job matches the records of the parties.

    by      columns of this party's table by which records are matched; none: no matching
    reveal  what matching reveals, as in the key `reveal`; None: no matching
    pad_to  the number that hides how many records the party has; None: the others learn it
    digits  those of `by` of which only the digits are compared
    """

    by: tuple[str, ...] = ()
    reveal: str | None = None
    pad_to: int | None = None
    digits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Groups:
    """The groups of people that a job shows.

    smallest   the fewest people of a published group; None: no group is published
    k_map      the fewest people of a population in a published group that is counted there and not
               in the table; None: no group is
    together   whether released columns may be unique when several entries are put together, though
               each entry keeps its promise
    zeros      whether counts of zero are shown, so that hidden ones are known not to be zero
    slack      whether others learn at which smaller k more would be shown: that is the size of a
               group that is not shown
    scores     whether others learn a number about divisions that are not carried out
    proposals  whether the holders of sensitive columns see proposals that they may then reject
    exact_ends whether the release shows exact numbers of people as the ends of intervals
    records    whether each record is released in a group that others see, which `run` has to pass
               by `show_groups` before anything of it leaves
    """

    smallest: int | None = None
    k_map: int | None = None
    together: bool = False
    zeros: bool = False
    slack: bool = False
    scores: bool = False
    proposals: bool = False
    exact_ends: bool = False
    records: bool = False


@dataclass(frozen=True)
class Answers:
    """What a job tells, to whom, and who computes it.

    counted        the attributes, of any party, by which numbers of people or sums over people are
                   shown, or anything that is decided by such numbers; each with the classes in
                   which its values are counted: the cuts between them, "" for single values,
                   `ANY_CLASSES` if they need not be compared with the classes of other jobs
    exact          whether answers without noise combine this party's columns or rows with those of
                   others
    noise          epsilon and delta that the answer spends of the party's budget; None: it has no
                   noise of differential privacy, and spends nothing
    servers        parties that hold shares of what the others put in, and must not collude
    recipients     parties that receive the result besides the coordinator
    predicted_for  parties that learn a class of each common person that depends on this party's
                   columns
    keeps          the name under which the party keeps its part of a model; None: it keeps none
    model          the kept model that the job uses; None: it uses none
    contributes    whether the parties' contributions count in their ledgers
    thresholds     the keys by whose values something is shown or hidden, with their values: by a
                   series of them a hidden number could be found
    """

    counted: Mapping[str, str] = field(default_factory=dict)
    exact: bool = True
    noise: tuple[Fraction, Fraction] | None = None
    servers: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    predicted_for: tuple[str, ...] = ()
    keeps: str | None = None
    model: str | None = None
    contributes: bool = False
    thresholds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Needs:
    """Everything that a party's policy checks in a job.

    The groups below stand for a group that a kind has not declared: `undeclared` finds them.
    """

    columns: Columns = Columns()
    matching: Matched = Matched()
    groups: Groups = Groups()
    answers: Answers = Answers()

    @property
    def undeclared(self) -> list[str]:
        """The groups that the kind has left out."""
        return [one.name for one in fields(self) if getattr(self, one.name) is one.default]

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that the party's table must have."""
        label = (self.columns.label,) if self.columns.owes and self.columns.label else ()
        return tuple(dict.fromkeys([*self.matching.by, *self.columns.used, *label]))

    @property
    def optional(self) -> tuple[str, ...]:
        """The class, where the party brings it if it can."""
        columns = self.columns
        return (columns.label,) if columns.label and not columns.owes else ()

    @property
    def tells(self) -> bool:
        """Whether the job counts among the jobs whose number `policy.repeat` limits."""
        answers = self.answers
        return bool(answers.counted or answers.predicted_for or self.matching.by)


class _OfKind(Protocol):
    @property
    def kind(self) -> str: ...


def thresholds_of(job: _OfKind, *keys: str, **shared: object) -> dict[str, str]:
    """Thresholds of a job by the names of its fields; `shared` ones mean the same in every kind."""
    own = {f"{job.kind}.{key}": str(getattr(job, key)) for key in keys}
    return own | {key: str(value) for key, value in shared.items()}


class _Droppable(Protocol):
    @property
    def missing(self) -> str | None: ...


def matched(matching: Matching | None) -> Matched:
    """How a job matches records; None: it matches none."""
    if matching is None:
        return Matched()
    digits = [
        n for n, rules in matching.normalise.items() if any(r.name == "digits" for r in rules)
    ]
    return Matched(matching.columns, matching.reveal, matching.pad_to, tuple(digits))


def dropped_of(
    matching: Matching | None, attributes: Mapping[str, _Droppable], own: Collection[str]
) -> tuple[str, ...]:
    """The own columns without whose values a row is left out before records are matched."""
    if matching is None:
        return ()
    return tuple(n for n, a in attributes.items() if n in own and a.missing == "drop")
