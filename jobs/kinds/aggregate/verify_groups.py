"""Checks of the groups of an `aggregate` job for `coterie verify`.

The checks share no code with the protocols that add up or decide what to hide. From `result.json`
alone: the groups are all combinations of the values of `by`, each once; a group has a number for
every measure or none; numbers of records are at least the minimum, together at most all records, and
do not give away a hidden one (`verify_tables`); sums and means lie within the range of their columns,
and fit each other; quantiles are ends of buckets. Rounded numbers are checked to be multiples, and
within half of their base of what is possible.
With noise, numbers of records are at least the minimum, means lie within their range, and the result
names the noise that the job asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import HUGE, Claim, read_rows
from coterie.jobs.kinds.aggregate.job import PLACED, AggregateJob, Measure
from coterie.jobs.kinds.statistics.verify_tables import ClaimedTable, check_hidden
from coterie.protocols.aggregates.noise import Noise

_CLOSE = 1e-9  # relative difference of numbers that were rounded to floating point


@dataclass(frozen=True)
class ClaimedGroup:
    """A group of a result: its values of `by`, and its measures, None for those not shown."""

    claim: Claim
    values: tuple[str, ...]
    numbers: tuple[int | float | None, ...]

    @property
    def hidden(self) -> bool:
        return all(number is None for number in self.numbers)

    @property
    def name(self) -> str:
        return ", ".join(self.values) or "all records"

    @property
    def line(self) -> str:
        """The group for a person, on one line."""
        return f"{self.name}: {', '.join(shown(number) for number in self.numbers)}"


def shown(number: int | float | None) -> str:
    """A number for a person."""
    if number is None:
        return "-"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.6g}"


def read_groups(claim: Claim, job: AggregateJob) -> list[ClaimedGroup]:
    """The groups of a result; raises unless they have the form that the job asks for."""
    groups = []
    for item in claim.items():
        values = tuple(item.entry("by").texts())
        numbers = item.entry("measures")
        found = numbers.items()
        if len(values) != len(job.by) or len(found) != len(job.measures):
            raise item.error(
                f"must have {len(job.by)} values and {len(job.measures)} measures, as in the job"
            )
        read = [
            None
            if n.value is None
            else n.integer(largest=HUGE)
            if isinstance(n.value, int)
            else n.number()
            for n in found
        ]
        groups.append(ClaimedGroup(item, values, tuple(read)))
    domains = [
        tuple(dict.fromkeys(column)) for column in zip(*(g.values for g in groups), strict=True)
    ]
    if [group.values for group in groups] != list(product(*domains)) or not groups:
        raise claim.error("must have every combination of values once, in the order of the values")
    for name, domain in zip(job.by, domains, strict=True):
        declared = job.attributes[name].values
        if declared is not None and declared != domain:
            raise claim.error(f"'{name}' has other values than in the job")
    return groups


def verify_groups(job: AggregateJob, result: Claim, records: int) -> list[ClaimedGroup]:
    """The groups of a result; raises if a check fails."""
    claim = result.entry("groups")
    groups = read_groups(claim, job)
    for group in groups:
        if job.noise is not None:
            _verify_noisy(job, group, records)
        elif job.base is None:
            _verify_group(job, group, records)
        else:
            _verify_multiples(job, group, records, job.base)
    _verify_buckets(job, result, groups)
    counts = [at for at, measure in enumerate(job.measures) if measure.what == "count"]
    if counts and job.base is None and job.noise is None:
        _verify_counts(job, claim, groups, records, counts[0])
    return groups


def _verify_group(job: AggregateJob, group: ClaimedGroup, records: int) -> None:
    """Checks a group's own numbers: all or none are shown, within their bounds, and they fit."""
    if group.hidden:
        return
    known = {m: n for m, n in zip(job.measures, group.numbers, strict=True) if n is not None}
    missing = [m for m in job.measures if m not in known and m.what not in PLACED]
    if any(m.what in ("count", "sum") or job.minimum > 1 for m in missing):
        raise group.claim.error(f"shows some measures of {group.name} and hides others")
    count = known.get(Measure("count"))
    fewest = job.minimum if job.minimum > 1 else 0  # without a minimum empty groups are shown, too
    if count is not None and not fewest <= count <= records:
        raise group.claim.error(
            f"shows {count} records of {group.name}; the job hides those below {job.minimum}"
        )
    for name, item in job.measured.items():
        total, mean = known.get(Measure("sum", name)), known.get(Measure("mean", name))
        if mean is not None and not item.low <= mean <= item.high:
            raise group.claim.error(f"the mean of {name} of {group.name} is outside the range")
        if total is not None:
            most = count if count is not None else records
            least = count if count is not None else 0
            low = min(item.low * least, item.low * most)
            high = max(item.high * least, item.high * most)
            if not _near(low, total) <= total <= _near(high, total, up=True):
                raise group.claim.error(f"the sum of {name} of {group.name} is outside the range")
            if mean is not None and count and not _close(total, mean * count):
                raise group.claim.error(
                    f"sum, mean and number of records of {group.name} do not fit each other"
                )
        variance = known.get(Measure("variance", name))
        if variance is not None and not 0 <= variance <= (item.high - item.low) ** 2:
            raise group.claim.error(f"the variance of {name} of {group.name} is impossible")


def _verify_noisy(job: AggregateJob, group: ClaimedGroup, records: int) -> None:
    """Checks what must hold for a group's numbers in spite of their noise."""
    if group.hidden:
        return
    least = max(job.minimum, 1)
    for measure, number in zip(job.measures, group.numbers, strict=True):
        if number is None:
            if measure.what != "variance" or least > 1:
                raise group.claim.error(f"shows some measures of {group.name} and hides others")
            continue
        if measure.what == "count":
            if not isinstance(number, int) or number < least or (not job.by and number != records):
                raise group.claim.error(
                    f"shows {number} records of {group.name}, which cannot be with a minimum of {least}"
                )
            continue
        item = job.measured[measure.column]
        if measure.what == "mean" and not item.low <= number <= item.high:
            raise group.claim.error(
                f"the mean of {measure.column} of {group.name} is outside the range"
            )
        if measure.what == "variance" and number < 0:
            raise group.claim.error(f"the variance of {measure.column} of {group.name} is negative")


def verify_promise(noise: Noise, claim: Claim) -> None:
    """Checks that the result names the promise of the job."""
    named = {key: claim.entry(key).number() for key in ("epsilon", "delta")}
    if named != {"epsilon": float(noise.epsilon), "delta": float(noise.delta)}:
        raise claim.error("is another promise than the job's")


def _verify_multiples(job: AggregateJob, group: ClaimedGroup, records: int, base: int) -> None:
    """Checks that numbers which the job rounds are multiples of its base, and near possible ones."""
    for measure, number in zip(job.measures, group.numbers, strict=True):
        if measure.what in PLACED or number is None:
            continue
        if number % base:
            raise group.claim.error(f"{number} of {group.name} is not a multiple of {base}")
        if measure.what == "count":
            low, high = float(job.minimum if job.minimum > 1 else 0), float(records)
        else:
            item = job.measured[measure.column]
            low, high = item.low, item.high
            if measure.what == "sum":
                low, high = min(low * records, 0.0), max(high * records, 0.0)
            elif measure.what == "variance":
                low, high = 0.0, (high - low) ** 2
        if not _near(low - base / 2, number) <= number <= _near(high + base / 2, number, up=True):
            raise group.claim.error(f"{measure.title} of {group.name} cannot be {number}")


def _verify_buckets(job: AggregateJob, result: Claim, groups: Sequence[ClaimedGroup]) -> None:
    """Checks that quantiles are lower ends of the buckets that the result names, which ascend."""
    for at, measure in enumerate(job.measures):
        if measure.what not in PLACED:
            continue
        item = job.measured[measure.column]
        claim = result.entry("buckets").entry(measure.column)
        ends = [end.number() for end in claim.items()]
        if ends != sorted(set(ends)) or not ends or ends[0] < item.low or ends[-1] > item.high:
            raise claim.error("must ascend within the range of the column")
        for group in groups:
            if group.numbers[at] is not None and group.numbers[at] not in ends:
                raise group.claim.error(f"{measure.title} of {group.name} is the end of no bucket")


def _near(bound: float, other: float, up: bool = False) -> float:
    slack = _CLOSE * max(abs(bound), abs(other), 1.0)
    return bound + slack if up else bound - slack


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= _CLOSE * max(abs(a), abs(b), 1.0)


def _verify_counts(
    job: AggregateJob, claim: Claim, groups: Sequence[ClaimedGroup], records: int, at: int
) -> None:
    """Checks that the numbers of records fit together, and that no hidden one follows from them."""
    counts: list[int | None] = []
    for group in groups:
        number = group.numbers[at]
        if isinstance(number, float):
            raise group.claim.error(f"the number of records of {group.name} must be whole")
        counts.append(number)
    if not job.by:
        if counts[0] not in (None, records):
            raise claim.error(f"shows {counts[0]} records, the result has {records}")
        return
    domains = tuple(
        tuple(dict.fromkeys(column)) for column in zip(*(g.values for g in groups), strict=True)
    )
    check_hidden([ClaimedTable(claim, job.by, domains, tuple(counts))], records, job.minimum)


def verify_file(job: AggregateJob, groups: Sequence[ClaimedGroup], path: Path) -> None:
    """Checks that the CSV file equals the groups of the result."""
    rows = [
        [*group.values, *("" if n is None else str(n) for n in group.numbers)] for group in groups
    ]
    head = [*job.by, *(measure.title for measure in job.measures)]
    if read_rows(path) != [head, *rows]:
        raise VerificationError(f"{path}: differs from the groups in {groups[0].claim.file}")
