"""What a new job and the jobs of the history would tell together about the same people.

`policy.repeat` asks: within its window,

- is a number told about fewer than `k` people, by adding and subtracting what is counted over the
  people of this job and of earlier ones (`anonymity.counts.linear_audit`)? Each attribute is asked by
  itself, because a table by several attributes tells their sums, too. The judgement depends on who
  was asked about what, never on an answer;
- was an attribute of people who are in both jobs counted in other classes? The differences between two
  such counts are counts of classes that nobody asked for, however few people they have;
- was an attribute of people who are in both jobs asked about with other thresholds (`minimum`, `k`,
  `dominance`, `support`)? What is hidden by the one and shown by the other lies between the two, and
  a series of thresholds finds every hidden number;
- do a group of this release and one of an earlier release meet in fewer than `k` people
  (`anonymity.risk.repeated_release`)? The same groups of the same people again tell nothing new;
- are there jobs about people who cannot be compared, since other columns identified them?
- has a partner brought other data to a column of an earlier job about some of these people, by the
  commitments of both jobs? One person in whom the two differ follows from the two answers. An answer
  with noise is not asked about this, nor a job of an earlier version, in which nobody committed;
- have there been as many jobs, or checks of the data, as `jobs` and `examinations` permit? Jobs that
  tell a class of each person (`predict`) are among them, and the other rules do not ask of them:
  their answer is about single people by design, and no number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie.anonymity.counts.linear_audit import TooManyQuestionsError, smallest_told
from coterie.anonymity.risk.repeated_release import same_groups, smallest_meeting
from coterie.base.arrays import Codes, Ints, Mask
from coterie.base.text import quoted_list
from coterie.jobs.kinds.needs import ANY_CLASSES
from coterie.party.history.releases import History, Remembered, unpacked
from coterie.party.settings import Repeat

_UNKNOWN = -1
REFUSAL = "policy.repeat: together with earlier jobs, this job would reveal too much"


@dataclass(frozen=True)
class Finding:
    """Something that speaks against a job: the rule, and a sentence for the steward."""

    rule: str
    words: str

    def as_fact(self) -> dict[str, Any]:
        return asdict(self)


def within(history: History, repeat: Repeat, job: str) -> list[Remembered]:
    """The earlier jobs of the window."""
    since = history.clock() - repeat.window
    return [one for one in history.entries() if one.time >= since and one.job != job]


def judge_number(
    history: History, repeat: Repeat, job: str, analyst: Collection[str], tells: bool
) -> list[Finding]:
    """Whether the window has room for one more job, if it `tells` something, and for checks.

    Jobs are counted over all coordinators, checks over those of the `analyst` who asks.
    """
    found = []
    if repeat.jobs is not None and tells:
        earlier = sum(one.tells for one in within(history, repeat, job))
        if earlier >= repeat.jobs:
            found.append(
                Finding("jobs", f"{earlier} jobs in the window, and {repeat.jobs} are permitted")
            )
    if repeat.examinations is not None:
        checks = history.examinations(analyst, repeat.window)
        if checks > repeat.examinations:
            words = (
                f"the data was checked {checks} times for {quoted_list(sorted(analyst))} in the "
                f"window, and "
                f"{repeat.examinations} times are permitted"
            )
            found.append(Finding("examinations", words))
    return found


def judge_people(
    history: History, repeat: Repeat, entry: Remembered, people: Ints
) -> list[Finding]:
    """What the numbers that the job asks for would tell together with earlier ones."""
    counted = entry.counted
    earlier = [one for one in within(history, repeat, entry.job) if counted.keys() & one.counted]
    known = [one for one in earlier if one.rows and one.by == entry.by]
    found: list[Finding] = []
    if unknown := [one for one in earlier if one not in known]:
        found.append(
            Finding(
                "identifiers",
                f"in {_jobs(unknown)} people were identified by other columns than "
                f"{quoted_list(entry.by)}, so that nobody knows who they were; name columns in "
                "policy.repeat.id",
            )
        )
    sets = _Sets(history, known, people)
    told: dict[tuple[str, ...], tuple[int | None, list[str]]] = {}
    for name in counted:
        same = [one for one in known if name in one.counted]
        key = tuple(sorted({one.rows for one in same}))
        if key not in told:
            told[key] = _fewest(sets, key, repeat.k), []
        told[key][1].append(name)
    for key, (few, names) in told.items():
        if few == _UNKNOWN:
            words = (
                f"numbers by {quoted_list(names)} were asked for of {len(key):,} other sets of people, "
                f"too many to see whether numbers about fewer than {repeat.k} follow"
            )
            found.append(Finding("differences", words))
        elif few is not None:
            words = f"numbers by {quoted_list(names)} would be told about {_people(few)}"
            by = f", by differences with {len(key)} earlier sets of people" if key else ""
            found.append(Finding("differences", f"{words}, fewer than {repeat.k}{by}"))
    return [*found, *_other_classes(entry, known, sets), *_other_thresholds(entry, known, sets)]


def _fewest(sets: _Sets, earlier: Sequence[str], k: int) -> int | None:
    """The fewest people about whom a number is told; `_UNKNOWN` if that would take too long to find."""
    try:
        return smallest_told(map(sets.of, earlier), sets.asked, k)
    except TooManyQuestionsError:
        return _UNKNOWN


def _other_classes(entry: Remembered, known: Sequence[Remembered], sets: _Sets) -> list[Finding]:
    found: dict[str, Remembered] = {}
    for one in known:
        for name in entry.counted.keys() & one.counted:
            pair = entry.counted[name], one.counted[name]
            if ANY_CLASSES in pair or pair[0] == pair[1] or name in found:
                continue
            if (sets.of(one.rows) & sets.asked).any():
                found[name] = one
    return [
        Finding(
            "classes",
            f"'{name}' of some of these people was counted in other classes in {_jobs([one])}; the "
            "differences are counts that nobody asked for",
        )
        for name, one in found.items()
    ]


def _other_thresholds(entry: Remembered, known: Sequence[Remembered], sets: _Sets) -> list[Finding]:
    for one in known:
        keys = changed_thresholds(entry.thresholds, one.thresholds)
        if keys and (sets.of(one.rows) & sets.asked).any():
            words = (
                f"{quoted_list(keys)} had other values in {_jobs([one])} about some of these people"
            )
            return [
                Finding("thresholds", f"{words}; what the one hides and the other shows is told")
            ]
    return []


def judge_inputs(
    history: History, repeat: Repeat, entry: Remembered, people: Ints
) -> list[Finding]:
    """Partners whose columns have changed since an earlier exact answer about some of these people.

    Nobody here can see by how many people a partner's column has changed, so it may be one, and the
    difference of the two answers is about that person.
    """
    earlier = [one for one in within(history, repeat, entry.job) if one.rows and one.by == entry.by]
    for one in earlier:
        if not entry.counted.keys() & one.counted:
            continue
        changed = changed_inputs(entry.inputs, one.inputs)
        if not changed:
            continue
        members = history.members(one.job)
        if members[people[people < len(members)]].any():
            words = (
                f"{quoted_list(changed)} had other data in {_jobs([one])} about some of these people; "
                "the difference of the two answers may be about one person"
            )
            return [Finding("inputs", words)]
    return []


def changed_inputs(
    now: Mapping[str, Mapping[str, str]], earlier: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """The partners, with a column each, that bring other data to a column of both jobs."""
    return [
        f"{name} ({column})"
        for name, columns in now.items()
        for column, digest in columns.items()
        if earlier.get(name, {}).get(column, digest) != digest
    ][:5]


def changed_thresholds(now: Mapping[str, str], earlier: Mapping[str, str]) -> list[str]:
    """The thresholds that two jobs both have, with different values."""
    return [key for key, value in now.items() if earlier.get(key, value) != value]


class _Sets:
    """The sets of people of earlier jobs, and of this one, with a place for each person of any.

    They are kept as bits, so that a thousand sets of a million people take a tenth of a gigabyte.
    """

    def __init__(self, history: History, known: Sequence[Remembered], people: Ints) -> None:
        jobs = {one.rows: one.job for one in known}
        self._bits = {rows: history.member_bits(job, rows) for rows, job in jobs.items()}
        room = max([int(people.max(initial=-1)) + 1, *(8 * len(b) for b in self._bits.values())])
        self.asked = np.zeros(room, np.bool_)
        self.asked[people] = True

    def of(self, rows: str) -> Mask:
        mask = unpacked(self._bits[rows])
        return np.pad(mask, (0, len(self.asked) - len(mask)))


def judge_groups(
    history: History,
    repeat: Repeat,
    entry: Remembered,
    people: Ints,
    groups: Mapping[str, Codes],
) -> list[Finding]:
    """Where the groups of this release and those of earlier ones meet in few people."""
    found = []
    for one in within(history, repeat, entry.job):
        if one.groups and one.by == entry.by and one.rows:
            least = _least_meeting(people, groups, *history.released(one.job))
            if least is not None and least < repeat.k:
                words = f"groups of this release and of {_jobs([one])} meet in {_people(least)}"
                found.append(Finding("groups", f"{words}, fewer than {repeat.k}"))
    return found


def _least_meeting(
    people: Ints, groups: Mapping[str, Codes], others: Ints, theirs: Mapping[str, Codes]
) -> int | None:
    """The fewest people in a meeting of two groups; None if nobody is in both, or nothing is new."""
    place = np.full(int(max(people.max(initial=-1), others.max(initial=-1))) + 1, -1)
    place[others] = np.arange(len(others))
    mine = np.flatnonzero(place[people] >= 0)
    if not len(mine):
        return None
    other = place[people[mine]]
    whole = len(mine) == len(people) == len(others)
    found = []
    for codes in groups.values():
        pairs = [(codes[mine], known[other]) for known in theirs.values()]
        if whole and any(same_groups(*pair) for pair in pairs):
            continue
        found += [smallest_meeting(*pair) for pair in pairs]
    return min((least for least in found if least is not None), default=None)


def compared(
    history: History,
    repeat: Repeat | None,
    job: str,
    counted: Mapping[str, str],
    people: Ints | None,
    by: Sequence[str],
) -> list[dict[str, Any]]:
    """How a job that waits compares with earlier ones: shared attributes, and shared people.

    `people` are those of the party's table now, of whom the job is about some; None: not known.
    """
    earlier = within(history, repeat, job) if repeat else history.entries()
    found = []
    for one in reversed([one for one in earlier if one.job != job]):
        both = None
        if people is not None and one.rows and list(by) == one.by:
            members = history.members(one.job)
            both = int(members[people[people < len(members)]].sum())
        again = [name for name in counted if name in one.counted]
        other = [
            n
            for n in again
            if ANY_CLASSES not in (p := {counted[n], one.counted[n]}) and len(p) > 1
        ]
        shown = {
            k: v
            for k, v in one.shown().items()
            if k in ("job", "name", "kind", "coordinator", "time", "people")
        }
        found.append({**shown, "still_here": both, "again": again, "other_classes": other})
    return found


def _jobs(entries: Sequence[Remembered]) -> str:
    first = entries[0]
    named = f"'{first.name}' ({first.job[:8]})"
    return named if len(entries) == 1 else f"{named} and {len(entries) - 1} other jobs"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number} people"
