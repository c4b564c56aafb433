"""`coterie verify` for the tree of `method: mondrian`, replayed on the release by code of its own.

Every record shows its final regions, so the release alone says to which part of each cut it went.
The tree is replayed from the first group on: the sizes, regions, scores and contributions that the
result lists must be those of the released records, and at the end the records of a group must show
the same values. Values of a column may overlap, unlike those of a specialization.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from coterie.anonymity.cuts.joined import joined
from coterie.anonymity.cuts.scoring import WIDTH
from coterie.anonymity.models.audit import Released, group_numbers
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.intervals import GAP, read_interval
from coterie.anonymity.table.taxonomy import TOP
from coterie.base.arrays import Array
from coterie.base.errors import VerificationError
from coterie.jobs.data.attributes import CutAttribute
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.integrate.verify_winners import plain_score, too_high

_SCALE = 1 << 30
_TRIES = 10_000  # other groups that a cut may be tried on


@dataclass(frozen=True)
class _Shape:
    """A region of numbers: its ends, whether the upper one belongs to it, and whether `?` does."""

    low: float
    high: float
    closed: bool
    gap: bool


@dataclass(frozen=True)
class Cutting:
    """What was cut, by which rule, and from which values on: of all columns, or of bounded ones."""

    attributes: Sequence[CutAttribute]
    requirements: Sequence[Requirement]
    rule: str = WIDTH
    class_name: str | None = None
    tight: bool = False
    starts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    weighted: bool = True  # whether the scores have the attributes' priorities


class _Domain:
    """The values of one attribute, as the job and the result have them."""

    def __init__(self, attribute: CutAttribute, tree: Sequence[Any], start: Sequence[str]) -> None:
        self.attribute = attribute
        self.where = f"column '{attribute.name}'"
        self._shapes: dict[str, _Shape | None] = {}
        self.taxonomy = attribute.taxonomy
        self.numbers = attribute.taxonomy is None and not attribute.flat
        limits = attribute.limits
        if self.numbers and limits is None:
            cut_here = [cut["region"] for cut in tree if cut["attribute"] == attribute.name]
            own = [self.read(text) for text in [*start, *cut_here]]
            spans = [one for one in own if isinstance(one, _Shape)]
            if spans:
                limits = min(s.low for s in spans), max(s.high for s in spans)
        self.limits = limits
        self._shown: Array | None = None  # the ends of the release's values

    def read(self, text: str) -> _Shape | None:
        """A text as a region of numbers; None for `?`."""
        if text not in self._shapes:
            self._shapes[text] = self._shape(text)
        return self._shapes[text]

    def _shape(self, text: str) -> _Shape | None:
        if text == GAP and self.attribute.gap:
            return None
        interval = read_interval(text, self.attribute.scale)
        if interval is not None:
            return _Shape(interval.low, interval.high, interval.closed, interval.gap)
        number = self.attribute.scale.read(text)
        if not math.isfinite(number):
            raise VerificationError(f"{self.where}: '{text}' is neither a number nor an interval")
        return _Shape(number, number, True, False)

    def check_shown(self, text: str, tight: bool) -> None:
        """A value of the release must be one of the taxonomy, or an interval within the range."""
        if self.attribute.flat:
            return
        if self.taxonomy is not None:
            if text not in self.taxonomy.labels:
                raise VerificationError(f"{self.where}: '{text}' is not in its taxonomy")
            if too_high(self.taxonomy, text, self.attribute.at_most):
                bounds = ", ".join(self.attribute.at_most)
                raise VerificationError(f"{self.where}: '{text}' is above the bounds {bounds}")
            return
        shape = self.read(text)
        if shape is None or self.limits is None:
            return
        low, high = self.limits
        if not low <= shape.low <= shape.high <= high:
            raise VerificationError(f"{self.where}: '{text}' is not within its range")
        if not tight and shape.closed and shape.high != high:
            raise VerificationError(f"{self.where}: '{text}' is closed and does not end the range")

    def covers(self, text: str, shown: str) -> bool:
        """Whether a value of the release lies within a region."""
        if self.attribute.flat:
            return text in (TOP, shown)
        if self.taxonomy is not None:
            first, last, labels = self.taxonomy.first, self.taxonomy.last, self.taxonomy.labels
            outer, inner = labels.index(text), labels.index(shown)
            return first[outer] <= first[inner] and last[inner] <= last[outer]
        outer_shape, inner_shape = self.read(text), self.read(shown)
        if outer_shape is None or inner_shape is None:
            return inner_shape is None and (outer_shape is None or outer_shape.gap)
        return (
            outer_shape.low <= inner_shape.low
            and inner_shape.high <= outer_shape.high
            and (inner_shape.gap <= outer_shape.gap)
        )

    def parts_of(self, values: Sequence[str], region: str, parts: Sequence[Any]) -> Array:
        """For each value of the release the part of a cut of the region to which it went, or -1."""
        if not self.numbers:
            return np.array([self._part_of(value, region, parts) for value in values], np.int64)
        if self._shown is None:
            shapes = [
                self.read(value) or _Shape(math.inf, math.inf, True, True) for value in values
            ]
            self._shown = np.array([(s.low, s.high, s.gap) for s in shapes])
        low, high, gap = self._shown.T
        whole, right = self.read(region), self.read(parts[1])
        start, end = (math.inf, -math.inf) if whole is None else (whole.low, whole.high)
        covered = (start <= low) & (high <= end) | np.isinf(low)
        covered &= (gap == 0) | (whole is None or whole.gap)
        return np.where(covered, low >= (math.inf if right is None else right.low), -1)

    def _part_of(self, shown: str, region: str, parts: Sequence[Any]) -> int:
        for number, part in enumerate(parts):
            if isinstance(part, dict):
                if shown == part["rest"]:
                    return number
            elif shown != region and self.covers(part, shown):
                return number
        return -1

    def check_cut(self, where: str, region: Any, parts: Sequence[Any]) -> None:
        """The parts of a cut must be children of the region, or two intervals that meet."""
        problem = VerificationError(f"{where}: {parts} are no parts of '{region}'")
        if not isinstance(region, str) or len(parts) < 2:
            raise problem
        if self.numbers:
            self._check_halves(problem, region, parts)
            return
        plain = [part for part in parts if isinstance(part, str)]
        rests = [part for part in parts if isinstance(part, dict)]
        if len(rests) > 1 or (rests and (rests[0] != {"rest": region} or parts[-1] != rests[0])):
            raise problem
        if self.attribute.flat:
            known = [part for part in plain if part != GAP]
            if region != TOP or TOP in plain or known != sorted(set(known)):
                raise problem
            return
        assert self.taxonomy is not None  # noqa: S101
        labels = self.taxonomy.labels
        below = [labels[c] for c in self.taxonomy.children[labels.index(region)]]
        if [part for part in below if part in plain] != plain:
            raise problem
        if rests and len(plain) > len(below) - 2:
            raise problem

    def _check_halves(self, problem: VerificationError, region: str, parts: Sequence[Any]) -> None:
        whole = self.read(region)
        if len(parts) != 2 or whole is None or not all(isinstance(p, str) for p in parts):
            raise problem
        left, right = (self.read(part) for part in parts)
        if left is None or left.low != whole.low or left.gap:
            raise problem
        if right is None:
            fits = whole.gap and (left.high, left.closed) == (whole.high, whole.closed)
        else:
            fits = left.high == right.low and not left.closed and left.low < right.low
            fits = fits and (right.high, right.closed, right.gap) == (
                whole.high, whole.closed, whole.gap,
            )  # fmt: skip
        if not fits:
            raise problem

    def width(self, region: Any) -> Fraction:
        text = region["rest"] if isinstance(region, dict) else region
        if self.attribute.flat:
            return Fraction(int(text == TOP))
        if self.taxonomy is not None:
            node = self.taxonomy.labels.index(text)
            leaves = self.taxonomy.last[node] - self.taxonomy.first[node]
            return Fraction(leaves - 1, max(len(self.taxonomy.leaves) - 1, 1))
        shape = self.read(text)
        if shape is None or self.limits is None or self.limits[0] == self.limits[1]:
            return Fraction(0)
        span = Fraction(self.limits[1]) - Fraction(self.limits[0])
        return (Fraction(shape.high) - Fraction(shape.low)) / span


def check_tree(
    job: IntegrateJob, result: Any, table: Mapping[str, Released], contributions: str
) -> None:
    """Replays the tree of a joint job; the parties' contributions are those of their own cuts."""
    tree = result["tree"]
    holders = {a.name: a.party for a in job.attributes if a.in_qid}
    totals = dict.fromkeys(job.record_holders, 0)
    records = len(next(iter(table.values())).codes)
    for number, cut in enumerate(tree):
        if cut["party"] != holders.get(cut["attribute"]):
            raise VerificationError(
                f"{RESULT}: cut {number + 1} is of no attribute of {cut['party']} in a qid"
            )
        totals[cut["party"]] += _bits(cut["sizes"], records)
    replay(cutting_of(job, result), tree, table)
    for party, total in totals.items():
        if result[contributions][party] != total / _SCALE:
            raise VerificationError(
                f"{RESULT}: {party} contributed {total / _SCALE}, not {result[contributions][party]}"
            )


def cutting_of(job: IntegrateJob, result: Any) -> Cutting:
    """What a joint job has cut."""
    attributes = [attribute for attribute in job.attributes if attribute.in_qid]
    if job.refine is not None:
        return Cutting(attributes, job.requirements, starts=result["cut"])
    starts = {
        a.name: [a.taxonomy.labels[node] for node in a.start[1]]
        for a in job.bounded
        if a.taxonomy is not None
    }
    return Cutting(attributes, job.requirements, job.rule, job.class_name, job.tight, starts)


def origins(
    cutting: Cutting, tree: Sequence[Any], table: Mapping[str, Released]
) -> dict[int, tuple[int, int] | None]:
    """Of each of the first cuts of a tree the cut and the part that its group is of."""
    domains = {a.name: _Domain(a, tree, cutting.starts.get(a.name, ())) for a in cutting.attributes}
    found: dict[int, tuple[int, int] | None] = {}
    for place, condition in enumerate(joined(cutting.requirements, list(domains))):
        replayed = _Replay(cutting, domains, table, condition.names)
        replayed.run([(n, cut) for n, cut in enumerate(tree) if cut["condition"] == place])
        found |= replayed.origins
    return found


def replay(cutting: Cutting, tree: Sequence[Any], table: Mapping[str, Released]) -> None:
    """Replays a tree on the release, which must end with the values that the release shows."""
    domains = {a.name: _Domain(a, tree, cutting.starts.get(a.name, ())) for a in cutting.attributes}
    for name, domain in domains.items():
        for value in table[name].values:
            domain.check_shown(value, cutting.tight)
    conditions = joined(cutting.requirements, list(domains))
    for number, cut in enumerate(tree):
        where = f"{RESULT}: cut {number + 1}"
        place, name = cut["condition"], cut["attribute"]
        if not (0 <= place < len(conditions) and name in conditions[place].names):
            raise VerificationError(f"{where} is of no attribute of its condition")
        domains[name].check_cut(where, cut["region"], cut["parts"])
        if len(cut["sizes"]) != len(cut["parts"]) or min(cut["sizes"]) < conditions[place].k:
            raise VerificationError(f"{where} has a part with fewer than k records")
    for place, condition in enumerate(conditions):
        mine = [(n, cut) for n, cut in enumerate(tree) if cut["condition"] == place]
        replayed = _Replay(cutting, domains, table, condition.names)
        replayed.run(sorted(mine, key=lambda one: (one[1]["level"], one[0])))
        replayed.check_end()


@dataclass
class _Groups:
    """The open groups by number, the numbers of those with so many records, and their places.

    Places are the parts from the first group on; a level lists its cuts in the order of places.
    """

    rows: dict[int, Array] = field(default_factory=dict)
    by_size: dict[int, list[int]] = field(default_factory=dict)
    places: dict[int, tuple[int, ...]] = field(default_factory=dict)
    passed: tuple[int, ...] = ()  # the place of the last cut of a level

    def add(self, rows: Array, place: tuple[int, ...]) -> None:
        number = len(self.places)
        self.rows[number], self.places[number] = rows, place
        self.by_size.setdefault(len(rows), []).append(number)

    def cut(self, group: int, parts: Sequence[Array]) -> None:
        self.by_size[len(self.rows.pop(group))].remove(group)
        self.passed = place = self.places[group]
        for at, part in enumerate(parts):
            self.add(part, (*place, at))

    def waits(self, group: int) -> tuple[bool, tuple[int, ...]]:
        """Sorts groups of this level whose turn comes first before others."""
        place, done = self.places[group], len(self.passed)
        return place[:done] <= self.passed, place

    def copy(self) -> _Groups:
        sizes = {size: list(groups) for size, groups in self.by_size.items()}
        return _Groups(dict(self.rows), sizes, dict(self.places), self.passed)


class _Replay:
    """The groups of one condition, as the release and the tree have them."""

    def __init__(
        self,
        cutting: Cutting,
        domains: Mapping[str, _Domain],
        table: Mapping[str, Released],
        names: Sequence[str],
    ) -> None:
        self._cutting, self._domains, self._table, self._names = cutting, domains, table, names
        self._part_codes: dict[tuple[str, str, str], Array] = {}
        self._tries = 0
        self._opened = self._first_groups()
        self.origins: dict[int, tuple[int, int] | None] = {}

    def run(self, cuts: Sequence[tuple[int, Any]]) -> None:
        """Makes all cuts; of several groups that one fits, others are tried if the first goes wrong.

        First another choice stays only if more cuts fit with it; if that fails, all are tried.
        """
        opened = self._opened.copy()
        if not self._made(cuts, thorough=False):
            self._opened, self._tries = opened, 0
            self._made(cuts, thorough=True)

    def _made(self, cuts: Sequence[tuple[int, Any]], thorough: bool) -> bool:
        """Whether all cuts could be made; a thorough search raises if not."""
        opened = self._opened
        made: dict[tuple[int, ...], int] = {}  # the cut of the group in a place
        choices: list[tuple[int, _Groups, list[tuple[int, list[Array]]]]] = []
        fresh = list(choices)  # those since the last other choice
        at = furthest = 0
        while at < len(cuts):
            if at and cuts[at][1]["level"] > cuts[at - 1][1]["level"]:
                opened.passed = ()
            fitting = self._fitting(opened, cuts[at][1])
            fitting.sort(key=lambda one: opened.waits(one[0]))
            if not fitting:
                self._tries += 1
                if thorough or at > furthest:
                    choices += fresh
                furthest, fresh = max(at, furthest), []
                if not choices or self._tries > _TRIES:
                    if not thorough:
                        return False
                    raise VerificationError(
                        f"{RESULT}: cut {cuts[furthest][0] + 1} is of no group of the release"
                    )
                at, opened, fitting = choices.pop()
                if others := fitting[1:]:
                    choices.append((at, opened.copy(), others))
            elif others := fitting[1:]:
                fresh.append((at, opened.copy(), others))
            group, parts = fitting[0]
            self._check_score(cuts[at], parts)
            number, place = cuts[at][0], opened.places[group]
            above = made.get(place[:-1])
            self.origins[number] = None if above is None else (above, place[-1])
            made[place] = number
            opened.cut(group, parts)
            at += 1
        self._opened = opened
        return True

    def check_end(self) -> None:
        """The records of a group must show the same values."""
        for rows in self._opened.rows.values():
            for name in self._names:
                codes = self._table[name].codes[rows]
                if (codes != codes[0]).any():
                    raise VerificationError(
                        f"{RESULT}: the tree leaves records together that show different values of "
                        f"'{name}'"
                    )

    def _first_groups(self) -> _Groups:
        """All records, or the records of each combination of start values."""
        records = len(self._table[self._names[0]].codes)
        starting = [
            in_start(self._domains[name], self._table[name], self._cutting.starts[name])
            for name in self._names
            if name in self._cutting.starts
        ]
        group = group_numbers(starting) if starting else np.zeros(records, np.int64)
        order = np.argsort(group, kind="stable")
        found = _Groups()
        for rows in np.split(order, np.cumsum(np.bincount(group))[:-1]):
            found.add(rows, (len(found.places),))
        return found

    def _fitting(self, opened: _Groups, cut: Any) -> list[tuple[int, list[Array]]]:
        """The groups that the cut may be of, each with its parts."""
        name, sizes = cut["attribute"], cut["sizes"]
        key = (name, cut["region"], repr(cut["parts"]))
        if key not in self._part_codes:
            values = self._table[name].values
            found = self._domains[name].parts_of(values, cut["region"], cut["parts"])
            self._part_codes[key] = found
        of_value = self._part_codes[key]
        fitting = []
        for number in opened.by_size.get(sum(sizes), ()):
            rows = opened.rows[number]
            codes = self._table[name].codes[rows]
            if of_value[codes[0]] < 0:  # most groups are elsewhere
                continue
            parts = of_value[codes]
            if (parts >= 0).all() and np.bincount(parts, minlength=len(sizes)).tolist() == sizes:
                fitting.append((number, [rows[parts == part] for part in range(len(sizes))]))
        return fitting

    def _check_score(self, numbered: tuple[int, Any], parts: Sequence[Array]) -> None:
        number, cut = numbered
        domain, cutting = self._domains[cut["attribute"]], self._cutting
        by_class: list[list[int]] = []
        if cutting.class_name is not None and cutting.rule != WIDTH:
            classes = self._table[cutting.class_name]
            count = len(classes.values)
            by_class = [np.bincount(classes.codes[p], minlength=count).tolist() for p in parts]
        if sum(any(column) for column in zip(*by_class, strict=True)) > 1:
            score = plain_score(cutting.rule, by_class)
        elif domain.numbers and domain.limits is None:
            return
        else:
            size = sum(cut["sizes"])
            whole = domain.width(cut["region"])
            lost = sum(
                n * (whole - domain.width(part))
                for n, part in zip(cut["sizes"], cut["parts"], strict=True)
            )
            pairs = size * size - sum(n * n for n in cut["sizes"])
            priority = domain.attribute.priority if cutting.weighted else 1
            score = round(Fraction(priority) * lost * size / pairs * _SCALE)
        if score / _SCALE != cut["score"]:
            raise VerificationError(
                f"{RESULT}: cut {number + 1} has the score {cut['score']}, the release gives "
                f"{score / _SCALE}"
            )


def in_start(domain: _Domain, column: Released, start: Sequence[str]) -> Released:
    """The column as it was before any cut, by the value that each value of the release came from."""
    found = []
    for value in column.values:
        above = [number for number, text in enumerate(start) if domain.covers(text, value)]
        if len(above) != 1:
            raise VerificationError(f"{domain.where}: '{value}' is in {len(above)} start values")
        found += above
    return Released(np.array(found, np.int64)[column.codes], tuple(start))


def before_cuts(
    attributes: Sequence[CutAttribute],
    cut: Mapping[str, Sequence[str]],
    table: Mapping[str, Released],
) -> dict[str, Released]:
    """The columns of a release as the cut of a specialization shows them."""
    return {
        a.name: in_start(_Domain(a, (), cut[a.name]), table[a.name], cut[a.name])
        for a in attributes
    }


def _bits(sizes: Sequence[int], records: int) -> int:
    """What a cut tells, in bits a record, times 2^30."""
    with localcontext() as context:
        context.prec = 60
        told = (_weight(sum(sizes)) - sum(map(_weight, sizes), Decimal(0))) / records
        return int((told * _SCALE).quantize(Decimal(1), ROUND_HALF_EVEN))


@functools.lru_cache(1 << 16)
def _weight(n: int) -> Decimal:
    """n log2 n, to as many digits as the context of `_bits` has."""
    return n * Decimal(n).ln() / Decimal(2).ln()
