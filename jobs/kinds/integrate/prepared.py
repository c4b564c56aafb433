"""A party's columns of an integrate job, read from its table, checked and coded."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from coterie.anonymity.models.closeness import unfit
from coterie.anonymity.specialization.specialize import (
    Labels,
    warm_up,
)
from coterie.anonymity.table.columns import Column, encode_text
from coterie.base.arrays import Rows
from coterie.base.errors import DataError
from coterie.jobs.data.missing import Dropped
from coterie.jobs.data.own_columns import plain_column, qid_column
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.matching.identifiers import PreparedIdentifiers, prepare_identifiers
from coterie.protocols.integration.class_labels import MOST_CLASSES


@dataclass(kw_only=True)
class Coding:
    """A party's columns that are in a QID as codes, in the order of its table."""

    columns: dict[str, Column]
    dropped: Dropped


@dataclass(kw_only=True)
class Population(Coding):
    """The columns of a population, one row for each person (`witness_side`)."""


@dataclass(frozen=True)
class Columns:
    """All columns of a party for the same records: codes of a QID's, and the others unchanged."""

    columns: dict[str, Column]
    plain: dict[str, Labels]
    classes: Labels | None

    def take(self, rows: Rows) -> Columns:
        """The columns of some records."""
        return Columns(
            {name: column.take(rows) for name, column in self.columns.items()},
            {name: labels.take(rows) for name, labels in self.plain.items()},
            None if self.classes is None else self.classes.take(rows),
        )


@dataclass(kw_only=True)
class Prepared(Coding):
    """All columns of a party that has records."""

    identifiers: PreparedIdentifiers
    plain: dict[str, Labels]  # in no QID: released unchanged
    classes: Labels | None

    def give(self, rows: Rows) -> Columns:
        """The columns of some records; none stays here, since both might not fit into memory."""
        given = Columns(self.columns, self.plain, self.classes).take(rows)
        self.columns, self.plain, self.classes = {}, {}, None
        return given


def prepared_columns(
    job: IntegrateJob, party: str, table: pa.Table, source: str, dropped: Dropped
) -> Prepared:
    """The party's columns as codes, checked against what the job demands of them."""
    columns: dict[str, Column] = {}
    plain: dict[str, Labels] = {}
    spelling = spelling_of(table)
    for attribute in job.of_party(party):
        text, name = table.column(attribute.name), attribute.name
        if attribute.in_qid:
            columns[name] = qid_column(attribute, text, source, spelling)
        else:
            sensitive = name in job.sensitive_holders
            plain[name] = plain_column(attribute, text, source, spelling, sensitive)
    classes = None
    if job.class_name is not None and job.class_name in table.column_names:
        codes, values = encode_text(job.class_name, table.column(job.class_name), source)
        if len(values) > MOST_CLASSES:
            raise DataError(
                f"{source}: column '{job.class_name}' has {len(values)} different values; "
                f"a class has at most {MOST_CLASSES}"
            )
        classes = Labels(codes, tuple(values))
    for requirement in job.requirements:
        if requirement.model is None or not isinstance(requirement.sensitive, str):
            continue
        name = requirement.sensitive
        own = classes if name == job.class_name else plain.get(name)
        if own is not None:
            try:
                requirement.model.check(own.values)
            except ValueError as error:
                raise unfit(error, file=source, column=name) from None
    largest = max(requirement.k for requirement in job.requirements)
    if table.num_rows < largest:
        raise DataError(
            f"{source}: has {table.num_rows} records, fewer than the k = {largest} required"
        )
    identifiers = prepare_identifiers(job.matching, table, source)
    warm_up()
    return Prepared(
        columns=columns, dropped=dropped, identifiers=identifiers, plain=plain, classes=classes
    )
