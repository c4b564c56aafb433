"""`kind: rules`: association rules between values of attributes of several parties.

    attributes:
      Sex: {party: lender, values: [Female, Male]}
      Job: {party: bank}
    support: 0.05         the least share of records that have all values of a rule
    confidence: 0.8       the least share of those with the left side that have the right side, too
    longest: 3            the most values of a rule, both sides together
    minimum: 5            no set of fewer records is learned; supports are told in classes of at
                          least so many numbers
    round: 0.001          optional: and about this share of the records

All parties learn which sets of values are frequent, which rules hold, and supports in classes. The
result has the middle of a class as the support, and the middle of what is possible as the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.base.arrays import Bits, Codes
from coterie.base.errors import DataError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kind import Json, Kind, Needs, Verdict
from coterie.jobs.kinds.rules.verify import Promise, read_patterns, verify_patterns
from coterie.jobs.kinds.statistics.common import (
    LONGEST_VALUE,
    StatisticsJob,
    read_statistics,
    statistics_needs,
)
from coterie.jobs.kinds.statistics.count import MOST_RECORDS, TOTAL, read_minimum
from coterie.jobs.kinds.statistics.open_columns import OpenColumns, open_columns
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.pages.markup import listed
from coterie.jobs.pages.page import Part, note
from coterie.jobs.pages.page import table as page_table
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.patterns.frequent_sets import (
    Counter,
    ItemSet,
    Patterns,
    class_step,
    find_patterns,
    least_count,
)
from coterie.protocols.patterns.joint_counts import conjunction_shares
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring, Transfers, share_out

MOST_ITEMS = 4096  # frequent values of all attributes
MOST_PRODUCTS = 1 << 33  # records times candidates of one level, across parties
_SHOWN = 200  # rules in a report
_LISTED = 5  # rules in a summary

ITEMS = declare(
    "rules: frequent values",
    what="With vertical partition, which values of each column at least the least number of common records have; not how many, and nothing of other values.",
    to="every party",
    why="Frequent sets are made of them.",
)


@dataclass(frozen=True)
class RulesJob(StatisticsJob):
    support: Fraction
    confidence: Fraction
    longest: int
    minimum: int
    resolution: float


@dataclass(frozen=True)
class Items:
    """The values of which sets are made: attribute and value of each, in the job's order."""

    names: list[str]
    values: list[str]


class Rules(Kind[RulesJob, OpenColumns]):
    about = "Association rules between values of attributes of several parties."
    leaves = ()
    files = ("attributes.*.taxonomy",)
    opens = ("statistics",)
    job_type = RulesJob
    data_type = OpenColumns

    def parse(self, section: Section, common: Common) -> RulesJob:
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

    def needs(self, job: RulesJob, party: str) -> Needs:
        return statistics_needs(job, party, job.minimum)

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
            if not records:
                raise DataError("the parties have no record in common")
        else:
            own = prepared.records
            with channel.step("records"):
                mine = np.array([own], np.uint64)
                total = SecureSum(channel, job.party_names, rng.fork("records")).modular(mine)
                records = int(channel.open(TOTAL, total)[0])
        if records >= MOST_RECORDS:
            raise DataError(f"{records:,} records are more than counts can hold")
        if records < job.minimum:
            raise DataError(f"{records} records are fewer than the minimum of {job.minimum}")
        least = least_count(records, job.support, job.minimum)
        step = class_step(records, job.minimum, job.resolution)
        items, known = _items(job, prepared, codes, least, channel)
        counting = _Counting(job, items, known, codes, own, channel, rng.fork("count"))
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
                f"{float(job.confidence):.1%} have those on the right as well, and at least "
                f"{float(job.support):.1%} of all {records:,} records have both."
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
        content.append(page_table(head, rows, numbers=(2, 3)) if rows else note("No rule holds."))
        if len(rules) > _SHOWN:
            content.append(note(f"The other {len(rules) - _SHOWN:,} rules are in result.json."))
        return [Part("Rules", content, public=True)]

    def verify(self, job: RulesJob, result: Claim, folder: Path) -> Verdict:
        promise = Promise(
            job.declared_values, job.support, job.confidence, job.longest, job.minimum
        )
        sets, rules = verify_patterns(result, promise)
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


def _read_share(section: Section, key: str) -> Fraction:
    """A share above 0, exactly as it is written."""
    node: Node = section.required(key)
    number = node.number(0.0, 1.0)
    if not number:
        raise node.error("must be above 0")
    return Fraction(str(number))


def _items(
    job: RulesJob, prepared: OpenColumns, codes: Mapping[str, Codes], least: int, channel: Channel
) -> tuple[Items, dict[str, dict[str, int]]]:
    """The items, and for this party's own columns the code of each value.

    With horizontal partition they are all declared values; otherwise those that an owner, who can
    count them alone, finds frequent.
    """
    own: dict[str, dict[str, int]] = {}
    for name, column in prepared.columns.items():
        if job.horizontal:
            own[name] = {str(value): at for at, value in enumerate(column.values.to_pylist())}
            continue
        counts = np.bincount(codes[name], minlength=column.distinct)
        often = np.flatnonzero(counts >= least)
        own[name] = {column.values[int(at)].as_py(): int(at) for at in often}
    values: dict[str, Sequence[str]] = {name: sorted(found) for name, found in own.items()}
    if job.horizontal:
        values = {name: item.values or () for name, item in job.attributes.items()}
    else:
        _check_values(values)
        values = _told_values(job, values, channel)
    names = [name for name in job.attributes for _ in values[name]]
    if len(names) > MOST_ITEMS:
        raise DataError(
            f"the attributes have {len(names):,} values to be counted, more than {MOST_ITEMS:,}: "
            "raise 'support' or leave a column out"
        )
    return Items(names, [value for name in job.attributes for value in values[name]]), own


def _check_values(values: Mapping[str, Sequence[str]]) -> None:
    """Refuses more values than are looked at, or one that is too long, before they are told."""
    for name, found in values.items():
        if len(found) > MOST_ITEMS:
            raise DataError(
                f"column '{name}' has more than {MOST_ITEMS:,} frequent values: raise 'support'"
            )
        for value in found:
            if len(value.encode()) > LONGEST_VALUE:
                start = f"{value[:40]}…"
                raise DataError("{column}: the value {value} is too long", column=name, value=start)


def _told_values(
    job: RulesJob, own: Mapping[str, Sequence[str]], channel: Channel
) -> dict[str, Sequence[str]]:
    """The frequent values of all columns, as their owners tell them."""
    values = dict(own)
    with channel.step("values"):
        channel.open(ITEMS, dict(own))
        channel.broadcast([list(found) for found in own.values()])
        for peer in channel.peers:
            theirs = [name for name, item in job.attributes.items() if item.party == peer]
            message = channel.recv_list(peer, len(theirs), f"values of {', '.join(theirs)}")
            for name, found in zip(theirs, message, strict=True):
                due = f"proper values for '{name}'"
                known = job.attributes[name].values
                told = () if found == [] else channel.check_texts(
                    peer, found, MOST_ITEMS, LONGEST_VALUE, due
                )  # fmt: skip
                if known is not None and not set(told) <= set(known):
                    raise channel.fault(peer, f"sent no {due}")
                values[name] = told
    return values


class _Counting:
    """Shares of how many records have all values of each candidate."""

    def __init__(
        self,
        job: RulesJob,
        items: Items,
        own: Mapping[str, Mapping[str, int]],
        codes: Mapping[str, Codes],
        records: int,
        channel: Channel,
        rng: Random,
    ) -> None:
        self._job, self._items, self._own = job, items, own
        self._codes, self._records, self._channel, self._rng = codes, records, channel, rng
        self._transfers = Transfers(channel, rng.fork("transfers"))

    def _column(self, item: int) -> Bits:
        """Which of this party's records have the value."""
        name, value = self._items.names[item], self._items.values[item]
        found: Bits = (self._codes[name] == self._own[name][value]).astype(np.uint8)
        return found

    def horizontal(self, candidates: Sequence[ItemSet]) -> Ring | None:
        """Every party counts its own records."""
        packed = lru_cache(MOST_ITEMS)(lambda item: np.packbits(self._column(item)))
        counts = np.zeros(len(candidates), np.uint32)
        for at, one in enumerate(candidates):
            bits = packed(one[0])
            for item in one[1:]:
                bits = bits & packed(item)
            counts[at] = np.bitwise_count(bits).sum()
            if at % 1000 == 0:
                self._channel.progress(at, len(candidates))
        rng = self._rng.fork(f"sets of {len(candidates[0])}")
        names = self._job.party_names
        return share_out(self._channel, self._job.servers, names, len(counts), counts, rng)

    def vertical(self, candidates: Sequence[ItemSet]) -> Ring | None:
        """By products of the parties' bits; a party's condition is its part of a candidate."""
        known: dict[str, dict[ItemSet, int]] = {name: {} for name in self._job.party_names}
        sets = []
        for one in candidates:
            parts: dict[str, list[int]] = {}
            for item in one:
                parts.setdefault(self._job.owner(self._items.names[item]) or "", []).append(item)
            sets.append(
                {
                    party: known[party].setdefault(tuple(part), len(known[party]))
                    for party, part in parts.items()
                }
            )
        products = self._records * sum(len(one) > 1 for one in sets)
        if products > MOST_PRODUCTS:
            raise DataError(
                f"{len(candidates):,} sets of {len(candidates[0])} values of {self._records:,} records "
                "are too many to be counted across parties: raise 'support' or lower 'longest'"
            )
        mine = list(known[self._channel.me])

        @lru_cache(64)
        def bits(key: int) -> Bits:
            found = self._column(mine[key][0])
            for item in mine[key][1:]:
                found &= self._column(item)
            return found

        rng = self._rng.fork(f"sets of {len(candidates[0])}")
        return conjunction_shares(
            self._transfers,
            self._job.party_names,
            self._job.servers,
            sets,
            self._records,
            bits,
            rng,
        )


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
