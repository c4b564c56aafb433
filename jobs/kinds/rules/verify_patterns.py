"""Checks of frequent sets and rules for `coterie verify`, with code of its own.

From `result.json` and the job alone: the least number of records is that of the job; every support is
the middle of a class of numbers that is as long as the job promises; every part of a frequent set is
a frequent set, with no smaller support; rules lie between frequent sets; a rule that must hold,
whatever numbers of their classes the counts are, is there, and none that cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil

from coterie.jobs.file.result_file import Claim

_NEAR = 1e-6


@dataclass(frozen=True)
class Promise:
    """What a job promises about its result."""

    declared: Mapping[str, Sequence[str] | None]
    support: Fraction
    confidence: Fraction
    longest: int
    minimum: int


@dataclass(frozen=True)
class ClaimedSet:
    items: tuple[tuple[str, str], ...]
    support: float


@dataclass(frozen=True)
class ClaimedRule:
    left: tuple[tuple[str, str], ...]
    right: tuple[tuple[str, str], ...]
    support: float
    confidence: float


def read_patterns(result: Claim) -> tuple[list[ClaimedSet], list[ClaimedRule]]:
    """The sets and rules of a result, in their order."""
    sets = [
        ClaimedSet(_items(item.entry("items")), item.entry("support").number())
        for item in result.entry("sets").items()
    ]
    rules = [
        ClaimedRule(
            _items(item.entry("if")),
            _items(item.entry("then")),
            item.entry("support").number(),
            item.entry("confidence").number(),
        )
        for item in result.entry("rules").items()
    ]
    return sets, rules


def _items(claim: Claim) -> tuple[tuple[str, str], ...]:
    found = []
    for item in claim.items():
        texts = item.texts()
        if len(texts) != 2:
            raise item.error("must be an attribute and a value")
        found.append((texts[0], texts[1]))
    if not found:
        raise claim.error("is empty")
    return tuple(found)


def verify_patterns(result: Claim, promise: Promise) -> tuple[list[ClaimedSet], list[ClaimedRule]]:
    """The sets and rules of a result; raises if a check fails."""
    records, least, step = (
        result.entry(key).integer(minimum=1) for key in ("records", "least", "step")
    )
    due = max(promise.minimum, ceil(promise.support * records))
    if least != due:
        raise result.error(f"says {least} records are frequent, the job {due}")
    if step & (step - 1) or step < promise.minimum:
        raise result.error(f"tells supports in classes of {step}, fewer than {promise.minimum}")
    sets, rules = read_patterns(result)
    ranges: dict[frozenset[tuple[str, str]], tuple[int, int]] = {}
    for item, one in zip(result.entry("sets").items(), sets, strict=True):
        names = [name for name, _ in one.items]
        if len(set(names)) != len(names) or len(names) > promise.longest:
            raise item.error(f"must have at most {promise.longest} values of different attributes")
        for name, value in one.items:
            if name not in promise.declared:
                raise item.error(f"has '{name}', which is not an attribute of the job")
            if (known := promise.declared[name]) is not None and value not in known:
                raise item.error(f"has a value of '{name}' that the job does not declare")
        if frozenset(one.items) in ranges:
            raise item.error("stands here twice")
        ranges[frozenset(one.items)] = _class(item, one.support, records, least, step)
    for item, one in zip(result.entry("sets").items(), sets, strict=True):
        low, _ = ranges[frozenset(one.items)]
        for part in combinations(one.items, len(one.items) - 1):
            if not part:
                continue
            if frozenset(part) not in ranges:
                raise item.error("is frequent, and a part of it is not")
            if ranges[frozenset(part)][1] < low:
                raise item.error("has more records than a part of it")
    _verify_rules(result.entry("rules"), rules, ranges, promise, records)
    return sets, rules


def _class(claim: Claim, support: float, records: int, least: int, step: int) -> tuple[int, int]:
    """The class of numbers of records that a support is the middle of."""
    second = least + step
    second += -second % step
    if not 0 <= support <= 1:
        raise claim.error(f"has a support of {support}, which is not a share")
    number = support * records
    low = int(number + 0.5) // step * step
    for first, last in ((least, second - 1), (low, low + step - 1), (low - step, low - 1)):
        last = min(last, records)
        if first != least and first < second:
            continue
        if abs((first + last) // 2 - number) < 0.01 + _NEAR * records:
            return first, last
    raise claim.error(f"has a support of {support}, which is the middle of no class")


def _verify_rules(
    claim: Claim,
    rules: Sequence[ClaimedRule],
    ranges: Mapping[frozenset[tuple[str, str]], tuple[int, int]],
    promise: Promise,
    records: int,
) -> None:
    said = set()
    for item, rule in zip(claim.items(), rules, strict=True):
        left, whole = frozenset(rule.left), frozenset(rule.left + rule.right)
        if len(whole) != len(rule.left) + len(rule.right) or whole not in ranges:
            raise item.error("is not a rule between frequent sets")
        if (left, whole) in said:
            raise item.error("stands here twice")
        said.add((left, whole))
        (part_low, part_high), (low, high) = ranges[left], ranges[whole]
        if Fraction(min(high, part_high)) < promise.confidence * part_low:
            raise item.error("cannot hold with these supports")
        if abs(rule.support * records - (low + high) // 2) > 0.01 + _NEAR * records:
            raise item.error("has another support than its set")
        most = min(Fraction(1), Fraction(high, part_low))
        middle = (most + max(promise.confidence, Fraction(low, part_high))) / 2
        if abs(rule.confidence - float(middle)) > _NEAR:
            raise item.error("has a confidence that does not follow from the supports")
    for whole, (low, _) in ranges.items():
        for size in range(1, len(whole)):
            for part in map(frozenset, combinations(sorted(whole), size)):
                sure = Fraction(low) >= promise.confidence * ranges[part][1]
                if sure and (part, whole) not in said:
                    raise claim.error("lacks a rule that holds with these supports")
