"""A party's new people, as the kept model codes them: checks that job, model and table fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from coterie.base.arrays import Codes
from coterie.base.errors import DataError
from coterie.base.text import quoted_list
from coterie.jobs.data.missing import Dropped, without_gaps
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.kept_models import ANYWHERE, KeptModel
from coterie.jobs.matching.identifiers import Matching, PreparedIdentifiers, prepare_identifiers


@dataclass(frozen=True)
class PredictJob(Job):
    matching: Matching
    model: str
    attributes: Mapping[str, str]  # each with the party that has it, or `ANYWHERE`
    recipients: tuple[str, ...]
    servers: tuple[str, str]
    mixed: bool  # whether each cell lies at one party, and an empty one at another

    def columns_of(self, party: str) -> tuple[str, ...]:
        """The attributes of which a party has the column, or with mixed partition cells of it."""
        return tuple(n for n, holder in self.attributes.items() if holder in (party, ANYWHERE))


@dataclass(frozen=True)
class NewPeople:
    """A party's table of new people; with the model, its columns as codes, too."""

    table: pa.Table
    source: str
    model: KeptModel | None = None
    identifiers: PreparedIdentifiers | None = None
    codes: Mapping[str, Codes] = field(default_factory=dict)
    dropped: Dropped = field(default_factory=Dropped)


def check_fits(job: PredictJob, party: str, model: KeptModel) -> None:
    """Checks that the job is about the model's parties and columns."""
    if set(job.party_names) != set(model.parties):
        raise DataError(
            f"the model '{model.name}' is of the parties {quoted_list(model.parties)}, and this job "
            f"is of {quoted_list(job.party_names)}"
        )
    for name, holder in job.attributes.items():
        if name not in model.attributes:
            raise DataError(f"the model '{model.name}' knows no attribute '{name}'")
        known = model.attributes[name][0]
        if known != holder and ANYWHERE in (known, holder):
            partition = "mixed" if known == ANYWHERE else "vertical"
            raise DataError(
                f"the model '{model.name}' was made with 'partition: {partition}', and classifies "
                "people whose columns are divided in that way"
            )
        if known != holder:
            raise DataError(
                f"in the model '{model.name}' the attribute '{name}' is of {known}, not of {holder}"
            )
    left = [name for name in model.used if name not in job.attributes]
    if left:
        raise DataError(
            f"the model '{model.name}' also looks at {quoted_list(left)}: list each under "
            "'attributes'"
        )
    shares = _shares_due(job, party, model)
    if not set(job.columns_of(party)) <= set(model.own) or not shares <= set(
        model.net.shares if model.net else ()
    ):
        raise DataError(f"the part of the model '{model.name}' that is kept here is not whole")


def _shares_due(job: PredictJob, party: str, model: KeptModel) -> set[str]:
    """The families of which this party keeps shares; an error if the job names other servers."""
    across = {node for node in model.families if model.across(node)}
    if model.net is None or not across:
        return set()
    if set(job.servers) != set(model.net.servers):
        raise DataError(
            f"of tables of the model '{model.name}' that lie across parties, "
            f"{' and '.join(model.net.servers)} keep the shares: name them as 'servers'"
        )
    return across if party in model.net.servers else set()


def coded(job: PredictJob, party: str, people: NewPeople, model: KeptModel) -> NewPeople:
    """The party's columns as codes of the model; a value that the model does not know is named."""
    source = people.source
    own = {
        name: model.own[name].coded(name, party)
        for name in job.columns_of(party)
        if name in model.used
    }
    dropping = {name: item.values or () for name, item in own.items() if item.missing == "drop"}
    table, dropped = without_gaps(people.table, dropping, source)
    spelling = spelling_of(table)
    codes: dict[str, Codes] = {}
    with dropped.counted_as_read():
        for name, item in own.items():
            try:
                codes[name], _ = item.encode(table.column(name), source, spelling)
            except DataError as error:
                raise DataError(
                    f"{error.what} (by the model '{model.name}')",
                    file=error.file,
                    column=error.columns,
                    rows=error.rows,
                    value=error.value,
                    bare=error.bare,
                ) from None
        identifiers = prepare_identifiers(job.matching, table, source)
    ids = table.select(list(job.matching.columns))
    return replace(
        people, table=ids, model=model, identifiers=identifiers, codes=codes, dropped=dropped
    )
