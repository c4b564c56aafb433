"""The common part of `regress` and `cluster` jobs: columns of numbers, wherever they are.

    partition: vertical       each attribute at one party, records matched by `id` (the default)
    partition: horizontal     all columns at every party, of different people; no `id`
    servers: [lender, bank]   the two parties that decide on shares; the first two by default
    minimum: 5                the least records that a sum may be over

`begin` matches the records and tells everybody how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from coterie.base.arrays import Floats
from coterie.base.errors import DataError
from coterie.jobs.data.missing import Dropped, without_gaps
from coterie.jobs.data.numbers import NumberAttribute, binary_column
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.kinds.kind import Kind
from coterie.jobs.kinds.needs import (
    ANY_CLASSES,
    Answers,
    Columns,
    Groups,
    Needs,
    dropped_of,
    matched,
    thresholds_of,
)
from coterie.jobs.kinds.statistics.common import read_servers
from coterie.jobs.kinds.statistics.count import MOST_RECORDS, summed_records
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.matching.identifiers import (
    Matching,
    PreparedIdentifiers,
    prepare_identifiers,
    read_matching,
)
from coterie.protocols.aggregates.noise import Noise
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.models.scale import in_rows
from coterie.protocols.primitives.randomness import Random

MOST_COLUMNS = 100  # of a model, so that each party's own arithmetic takes seconds, not minutes


@dataclass(frozen=True)
class ModelJob(Job):
    """A job on columns of numbers. `matching` is None with horizontal partition."""

    matching: Matching | None
    attributes: Mapping[str, NumberAttribute]
    servers: tuple[str, str]
    minimum: int
    noise: Noise | None

    @property
    def horizontal(self) -> bool:
        return self.matching is None

    @property
    def binary(self) -> Sequence[str]:
        """The attributes that are read as zeros and ones."""
        return ()

    @property
    def decides(self) -> Sequence[str]:
        """The keys that decide which groups of people sums are shown of, besides `minimum`."""
        return ()

    def held_by(self, party: str) -> list[str]:
        """The attributes that a party has."""
        return [n for n, item in self.attributes.items() if self.horizontal or item.party == party]

    @property
    def warnings(self) -> list[str]:
        if not self.horizontal or len(self.parties) > 2:
            return []
        return [
            "with two parties each learns the other's sums, by subtracting its own from the total; "
            "three or more parties hide them"
        ]


@dataclass(frozen=True)
class PreparedNumbers:
    """A party's own columns as numbers, by attribute, before anything is exchanged."""

    records: int
    identifiers: PreparedIdentifiers | None
    numbers: Mapping[str, Floats]
    dropped: Dropped = field(default_factory=Dropped)


def read_partition(section: Section, common: Common) -> tuple[Matching | None, tuple[str, str]]:
    """How records are matched (None: not at all), and the servers."""
    partition = section.read("partition", lambda n: n.choice("vertical", "horizontal"), "vertical")
    horizontal = partition == "horizontal"
    if horizontal and (node := section.optional("id")):
        raise node.error("with 'partition: horizontal' records are not matched: leave it out")
    return None if horizontal else read_matching(section), read_servers(section, common)


def model_needs(job: ModelJob, party: str) -> Needs:
    """A party's own columns, of which sums over at least `minimum` records are opened.

    Answers with noise are bounded by the budget: no difference of two of them is exact.
    """
    own = tuple(job.held_by(party))
    noise = job.noise
    return Needs(
        columns=Columns(
            used=own,
            released=() if noise else own,
            dropped=dropped_of(job.matching, job.attributes, own),
        ),
        matching=matched(job.matching),
        groups=Groups(smallest=job.minimum),
        answers=Answers(
            counted={} if noise else dict.fromkeys(job.attributes, ANY_CLASSES),
            exact=noise is None,
            noise=(noise.epsilon, noise.delta) if noise else None,
            servers=job.servers,
            thresholds=thresholds_of(job, *job.decides, minimum=job.minimum),
        ),
    )


M = TypeVar("M", bound=ModelJob)


class ModelKind(Kind[M, PreparedNumbers], Generic[M]):
    """The base class of kinds on columns of numbers."""

    files = ()
    opens = ("statistics",)
    data_type = PreparedNumbers

    def needs(self, job: M, party: str) -> Needs:
        return model_needs(job, party)

    def prepare(self, job: M, party: str, table: pa.Table, source: str) -> PreparedNumbers:
        own = [job.attributes[name] for name in job.held_by(party)]
        dropping = {item.name: item.values or () for item in own if item.missing == "drop"}
        table, dropped = without_gaps(table, dropping, source)
        with dropped.counted_as_read():
            return replace(_prepare(job, own, table, source), dropped=dropped)


def _prepare(
    job: ModelJob, own: Sequence[NumberAttribute], table: pa.Table, source: str
) -> PreparedNumbers:
    spelling = spelling_of(table)
    numbers = {}
    for item in own:
        column = table.column(item.name)
        if item.name in job.binary:
            numbers[item.name] = binary_column(item, column, source, spelling)[:, None]
        else:
            numbers[item.name] = item.read(column, source, spelling)
    identifiers = None
    if job.matching:
        identifiers = prepare_identifiers(job.matching, table, source)
    return PreparedNumbers(table.num_rows, identifiers, numbers)


@dataclass(frozen=True)
class JoinedNumbers:
    """A party's columns in the joint order, and the number of all records.

    With horizontal partition the columns are those of this party's own records.
    """

    records: int
    numbers: Mapping[str, Floats]

    def matrix(self, names: Sequence[str]) -> Floats:
        """The columns of these attributes, one after the other."""
        parts = [self.numbers[name] for name in names]
        found = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)))
        for rows in in_rows(len(found)):
            np.concatenate([part[rows] for part in parts], axis=1, out=found[rows])
        return found


def begin(
    job: ModelJob,
    prepared: PreparedNumbers,
    channel: Channel,
    rng: Random,
    workspace: Workspace,
) -> JoinedNumbers:
    """Matches the records, or adds up how many there are."""
    prepared.dropped.write(workspace.kept)
    if job.matching is None:
        records = summed_records(job.party_names, prepared.records, channel, rng)
        numbers = dict(prepared.numbers)
    else:
        if prepared.identifiers is None:
            raise AssertionError("a vertical job has identifiers")
        rows = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace)
        records = len(rows)
        numbers = {name: columns[rows] for name, columns in prepared.numbers.items()}
    if records >= MOST_RECORDS:
        raise DataError(f"{records} records are more than can be counted")
    return JoinedNumbers(records, numbers)


def check_records(records: int, least: int, why: str) -> None:
    if records < least:
        raise DataError(f"{records} records are too few: {why}")


def rounded(number: float) -> float:
    """A number of a result, with the digits that are the same on every processor."""
    return float(f"{number:.12g}")


def fields(common: Common, **more: Any) -> dict[str, Any]:
    return {**vars(common), **more}


def few_records(minimum: int) -> DataError:
    """The error about sums that would be over a few people."""
    return DataError(
        f"fewer than {minimum} records, but some, have a certain value of one column or certain "
        "values of two: the sums would tell of them. Leave out columns of few values, one of which is "
        "rare, or join rare values and categories with others"
    )


def few_in_cluster(minimum: int) -> DataError:
    """The error about sums of a cluster that would be over a few people."""
    return DataError(
        f"within a cluster fewer than {minimum} records, but some, have a certain value of a column "
        "of few values: the sums would tell of them. Leave such columns out, or ask for fewer clusters"
    )
