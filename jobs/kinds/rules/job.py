"""The keys of `kind: rules`, which `kind` explains."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.kinds.statistics.common import StatisticsJob, read_statistics
from coterie.jobs.kinds.statistics.count import read_minimum


@dataclass(frozen=True)
class RulesJob(StatisticsJob):
    support: Fraction
    confidence: Fraction
    longest: int
    minimum: int
    resolution: float


def read_rules(section: Section, common: Common) -> RulesJob:
    """The keys of a job; the caller refuses what is left."""
    if label := section.optional("class"):
        raise label.error("rules have no class: list the column among the attributes")
    fields = read_statistics(section, common, needs_class=False)
    if len(fields["attributes"]) < 2:
        raise section.required("attributes").error("rules need at least two attributes")
    longest_node = section.optional("longest")
    longest = longest_node.integer(1, 16) if longest_node else 3
    if longest_node and longest < 2:
        raise longest_node.error("a rule has at least two values, one on each side")
    return RulesJob(
        **fields,
        support=_read_share(section, "support"),
        confidence=_read_share(section, "confidence"),
        longest=longest,
        minimum=read_minimum(section),
        resolution=section.read("round", lambda n: n.number(0.0, 0.1), 0.001),
    )


def _read_share(section: Section, key: str) -> Fraction:
    """A share above 0, exactly as it is written."""
    node: Node = section.required(key)
    number = node.number(0.0, 1.0)
    if not number:
        raise node.error("must be above 0")
    return Fraction(str(number))
