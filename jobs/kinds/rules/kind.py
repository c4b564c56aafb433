"""`kind: rules`: association rules between values of attributes of several parties.

    attributes:
      Sex: {party: lender, values: [Female, Male]}
      Job: {party: bank}
    support: 0.05         the least share of records that have all values of a rule
    confidence: 0.8       the least share of those with the left side that have the right side, too
    longest: 3            the most values of a rule, both sides together
    minimum: 5            no set of fewer records is shown; supports are shown in classes of at
                          least so many numbers
    round: 0.001          optional: a class also has about this share of the records

All parties learn which sets of values are frequent, which rules hold, and supports in classes. The
result has the middle of a class as the support, and the middle of what is possible as the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.base.errors import DataError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kind import Json, Kind, Verdict
from coterie.jobs.kinds.needs import Needs, thresholds_of
from coterie.jobs.kinds.rules.counting import Counting, Items, items_of
from coterie.jobs.kinds.rules.job import RulesJob, read_rules
from coterie.jobs.kinds.rules.verify_patterns import (
    ClaimedRule,
    Promise,
    read_patterns,
    verify_patterns,
)
from coterie.jobs.kinds.statistics.common import (
    statistics_needs,
)
from coterie.jobs.kinds.statistics.count import MOST_RECORDS, summed_records
from coterie.jobs.kinds.statistics.open_columns import OpenColumns, open_columns
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.markup import Element, listed
from coterie.jobs.pages.page import Part, note
from coterie.jobs.pages.page import table as page_table
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.patterns.frequent_sets import (
    Counter,
    Patterns,
    class_step,
    find_patterns,
    least_count,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

_SHOWN = 200  # rules in a report
_DRAWN = 12  # of them as bars
_LISTED = 5  # rules in a summary


class Rules(Kind[RulesJob, OpenColumns]):
    about = "Association rules between values of attributes of several parties."
    leaves = ()
    files = ("attributes.*.taxonomy",)
    opens = ("statistics",)
    job_type = RulesJob
    data_type = OpenColumns

    def parse(self, section: Section, common: Common) -> RulesJob:
        return read_rules(section, common)

    def needs(self, job: RulesJob, party: str) -> Needs:
        keys = thresholds_of(
            job, "support", "confidence", "longest", "resolution", minimum=job.minimum
        )
        return statistics_needs(job, party, job.minimum, thresholds=keys)

    def prepare(self, job: RulesJob, party: str, table: pa.Table, source: str) -> OpenColumns:
        own = {n: a for n, a in job.attributes.items() if job.horizontal or a.party == party}
        return open_columns(own, job.matching, table, source)

    def run(
        self,
        job: RulesJob,
        prepared: OpenColumns,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        prepared.dropped.write(workspace.kept)
        codes = {name: column.codes for name, column in prepared.columns.items()}
        if job.matching is not None and prepared.identifiers is not None:
            rows = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace)
            codes = {name: column[rows] for name, column in codes.items()}
            own = records = len(rows)
        else:
            own = prepared.records
            records = summed_records(job.party_names, own, channel, rng)
        if records >= MOST_RECORDS:
            raise DataError(f"{records:,} records are more than counts can hold")
        if records < job.minimum:
            raise DataError(f"{records} records are fewer than the minimum of {job.minimum}")
        least = least_count(records, job.support, job.minimum)
        step = class_step(records, job.minimum, job.resolution)
        items, known = items_of(job, prepared, codes, least, channel)
        counting = Counting(job, items, known, codes, own, channel, rng.fork("count"))
        count: Counter = counting.horizontal if job.horizontal else counting.vertical
        order = {name: at for at, name in enumerate(job.attributes)}
        found = Patterns([], [], [])
        if items.names:
            group = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
            attributes = [order[name] for name in items.names]
            found = find_patterns(
                group, attributes, count, records, least, job.confidence, job.longest, step
            )
        return _as_result(job, items, found, records, least, step)

    def assemble(self, job: RulesJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes no files: the rules are in `result.json`."""
        return []

    def summary(self, job: RulesJob, result: Claim) -> Sequence[str]:
        sets, rules = read_patterns(result)
        lines = [f"{len(rules):,} rules between {len(sets):,} frequent sets of values"]
        best = sorted(rules, key=lambda rule: (-rule.confidence, -rule.support))
        for rule in best[:_LISTED]:
            left, right = (
                ", ".join(f"{name} = {value}" for name, value in side)
                for side in (rule.left, rule.right)
            )
            lines.append(
                f"  {left} → {right} (support {rule.support:.1%}, confidence {rule.confidence:.1%})"
            )
        if len(rules) > _LISTED:
            lines.append(f"  and {len(rules) - _LISTED:,} more")
        return [*lines, *_caution(job, result)]

    def report(self, job: RulesJob, result: Claim, folder: Path) -> Sequence[Part]:
        _, rules = read_patterns(result)
        records = result.entry("records").integer(minimum=1)
        step = result.entry("step").integer(minimum=1)
        content = [
            note(
                f"A rule says: of the records with the values on the left at least "
                f"{float(job.confidence):.1%} have those on the right as well (its confidence), and at "
                f"least {float(job.support):.1%} of all {records:,} records have both (its support)."
            ),
            note(
                f"Numbers of records are told in classes of {step} neighbouring numbers or more, and "
                "the middle of a class is shown: nobody can compute how many records make an "
                "exception, if these are few."
                if step > 1
                else "Numbers of records are exact."
            ),
        ]
        content += [note(f"Mind: {line}.") for line in _caution(job, result)]
        best = sorted(rules, key=lambda rule: (-rule.confidence, -rule.support))
        if rules:
            content.append(_drawn(best[:_DRAWN]))
        rows = [
            [
                listed([_has(*pair) for pair in rule.left]),
                listed([_has(*pair) for pair in rule.right]),
                f"{rule.support:.2%}",
                f"{rule.confidence:.1%}",
            ]
            for rule in best[:_SHOWN]
        ]
        head = ["if", "then", "support", "confidence"]
        shown = page_table(head, rows, (2, 3), sentences=True)
        content.append(shown if rows else note("No rule holds."))
        if len(rules) > _SHOWN:
            content.append(note(f"The other {len(rules) - _SHOWN:,} rules are in result.json."))
        return [Part("Rules", content, public=True)]

    def check(self, job: RulesJob, result: Claim) -> None:
        verify_patterns(result, _promise(job))

    def verify(self, job: RulesJob, result: Claim, folder: Path) -> Verdict:
        sets, rules = verify_patterns(result, _promise(job))
        records = result.entry("records").integer(minimum=1)
        holds = [
            f"{len(sets):,} sets of at most {job.longest} values, each with every part of it, and none "
            f"below a support of {float(job.support):g} or {job.minimum} records",
            f"{len(rules):,} rules between them, of a confidence of at least {float(job.confidence):g} "
            "as far as supports in classes tell, and none is lacking that must hold",
            "supports are told in classes that no count below the minimum follows from",
        ]
        facts: dict[str, Json] = {"records": records, "sets": len(sets), "rules": len(rules)}
        return Verdict(holds, ["whether the records give these sets and rules"], facts)


def _promise(job: RulesJob) -> Promise:
    return Promise(job.declared_values, job.support, job.confidence, job.longest, job.minimum)


def _drawn(rules: Sequence[ClaimedRule]) -> Element:
    """The confidence of the surest rules as bars."""
    values = []
    for rule in rules:
        left, right = (", ".join(_has(*pair) for pair in side) for side in (rule.left, rule.right))
        values.append((f"{left} → {right}", rule.confidence, f"{rule.confidence:.1%}"))
    return bars("The confidence of the surest rules", values)


def _has(name: str, value: str) -> str:
    """That a record has a value; the classes of numbers at the ends are comparisons already."""
    return f"{name} {value}" if value.startswith(("<", ">")) else f"{name} = {value}"


def _caution(job: RulesJob, result: Claim) -> list[str]:
    """A line where a rule that does not hold may tell of fewer exceptions than `minimum`."""
    least = result.entry("least").integer(minimum=1)
    if (1 - job.confidence) * least >= job.minimum - 1:
        return []
    return [
        f"of a left side of {least} records, a rule of confidence {float(job.confidence):g} that does "
        f"not hold may tell that there are exceptions, fewer than {job.minimum}"
    ]


def _as_result(
    job: RulesJob, items: Items, found: Patterns, records: int, least: int, step: int
) -> dict[str, Any]:
    def written(chosen: Sequence[int]) -> list[list[str]]:
        return [[items.names[item], items.values[item]] for item in chosen]

    shown = [(low + high) // 2 for low, high in found.ranges]
    rules = []
    for rule in found.rules:
        part, whole = found.sets[rule.part], found.sets[rule.whole]
        (part_low, part_high), (low, high) = found.ranges[rule.part], found.ranges[rule.whole]
        # The middle of what is possible, as for supports.
        least_share = max(float(job.confidence), low / part_high)
        share = (least_share + min(1.0, high / part_low)) / 2
        rules.append(
            {
                "if": written(part),
                "then": written([item for item in whole if item not in part]),
                "support": round(shown[rule.whole] / records, 9),
                "confidence": round(share, 9),
            }
        )
    return {
        "records": records,
        "least": least,
        "step": step,
        "sets": [
            {"items": written(one), "support": round(number / records, 9)}
            for one, number in zip(found.sets, shown, strict=True)
        ],
        "rules": rules,
    }


RULES = Rules()
