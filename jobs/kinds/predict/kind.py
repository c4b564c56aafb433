"""`kind: predict`: the class of new people, by a model that the parties have kept.

    model: risk                 the name that an earlier job gave by `keep`
    attributes:                 the columns that the model looks at, and who has them
      Sex: {party: lender}
      Job: {party: bank}
    partition: vertical         or mixed, for a model that was made so: no `party` is named
    recipients: [lender]        who learns the class of each common person; or `all`
    servers: [lender, bank]     the two parties that compute on shares; the first two by default

The parties find the people whom all of them have, and classify each by the columns of all of them.
A recipient keeps `predictions.csv`, with its own identifiers; the coordinator learns how many people
there are, and no class of anybody. Only the recipients learn how many people have each class: another
party could subtract the people whose class its own columns decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from coterie.base.arrays import Codes, Ints
from coterie.base.text import numbered, quoted_list
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, read_name, read_recipients
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kept_models import ANYWHERE, KeptModel, Models
from coterie.jobs.kinds.kind import Json, Kind, Verdict
from coterie.jobs.kinds.needs import Answers, Columns, Groups, Needs, matched
from coterie.jobs.kinds.predict.classify import by_net, by_tree, compare_models
from coterie.jobs.kinds.predict.people import NewPeople, PredictJob, check_fits, coded
from coterie.jobs.kinds.predict.verify_predictions import (
    PREDICTED,
    PREDICTIONS,
    verify_form,
    verify_lists,
)
from coterie.jobs.kinds.statistics.common import read_servers, told_of_cells
from coterie.jobs.kinds.statistics.mixed import check_held
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.matching.identifiers import read_matching
from coterie.jobs.pages.markup import Content, foreign, listed
from coterie.jobs.pages.page import Part, note
from coterie.jobs.pages.page import table as page_table
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random


class Predict(Kind[PredictJob, NewPeople]):
    about = "The class of new people, by a tree or a net that the parties have kept."
    leaves = ()
    files = ()
    opens = ("prediction", "statistics")
    job_type = PredictJob
    data_type = NewPeople

    def parse(self, section: Section, common: Common) -> PredictJob:
        mixed = _read_partition(section) == "mixed"
        recipients = section.required("recipients")
        return PredictJob(
            **vars(common),
            matching=read_matching(section),
            model=read_name(section.required("model")),
            attributes=_read_attributes(section, common, mixed),
            recipients=read_recipients(recipients, common.party_names),
            servers=read_servers(section, common),
            mixed=mixed,
        )

    def needs(self, job: PredictJob, party: str) -> Needs:
        own = job.columns_of(party)
        return Needs(
            columns=Columns(used=tuple(own)),
            matching=matched(job.matching),
            groups=Groups(),
            answers=Answers(servers=job.servers, model=job.model, predicted_for=job.recipients),
        )

    def told_of(self, job: PredictJob, party: str) -> Sequence[str]:
        told = [
            "every party: a digest of what all know of the model, by which they see that it is the "
            "same one"
        ]
        others = [name for name in job.recipients if name != party]
        if others:
            columns = job.columns_of(party)
            by = f", which depends on your {quoted_list(columns)}" if columns else ""
            told.append(
                f"{', '.join(others)}: which class the model '{job.model}' gives each common "
                f"person{by}"
            )
        if party in job.recipients:
            told.append(f"you: which class the model '{job.model}' gives each common person")
        if job.mixed:
            told.append(told_of_cells())
        told.append("the coordinator: no class of anybody, nor how many people have which")
        return told

    def prepare(self, job: PredictJob, party: str, table: pa.Table, source: str) -> NewPeople:
        return NewPeople(table, source)

    def recall(self, job: PredictJob, party: str, prepared: NewPeople, models: Models) -> NewPeople:
        model = models.find(job.model)
        check_fits(job, party, model)
        return coded(job, party, prepared, model)

    def run(
        self,
        job: PredictJob,
        prepared: NewPeople,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        model, identifiers = prepared.model, prepared.identifiers
        if model is None or identifiers is None:
            raise AssertionError("the model is recalled before the run")
        compare_models(job, model, channel)
        prepared.dropped.write(workspace.kept)
        rows = line_up(job, job.matching, identifiers, channel, rng, workspace)
        codes = {name: column[rows] for name, column in prepared.codes.items()}
        if job.mixed:
            held = {name: column >= 0 for name, column in codes.items()}
            check_held(job.party_names, job.servers, held, channel, rng.fork("cells"))
        if model.tree is not None:
            found = by_tree(job, model, codes, len(rows), channel, rng)
        else:
            found = by_net(job, model, codes, len(rows), channel, rng)
        if found is not None:
            _write_predictions(prepared, rows, found, model, workspace)
        return {
            "records": len(rows),
            "model": job.model,
            "predicted_for": list(job.recipients),
        }

    def assemble(self, job: PredictJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes no files: the classes stay with the recipients."""
        return []

    def summary(self, job: PredictJob, result: Claim) -> Sequence[str]:
        verify_form(result, job.model, job.recipients)
        return [
            f"classified by the model '{job.model}': {' and '.join(job.recipients)} "
            f"{'have' if len(job.recipients) > 1 else 'has'} the classes in {PREDICTIONS}"
        ]

    def report(self, job: PredictJob, result: Claim, folder: Path) -> Sequence[Part]:
        records = verify_form(result, job.model, job.recipients)
        rows: list[Sequence[Content]] = [
            [
                foreign(party),
                listed(job.columns_of(party)),
                "the class of each person" if party in job.recipients else "nothing",
            ]
            for party in job.party_names
        ]
        content: list[Content] = [
            note(
                f"{records:,} people, whom all parties have, were classified by the model ",
                foreign(job.model),
                ", which the parties have kept.",
            ),
            page_table(["party", "columns that the model looks at", "learns"], rows),
            note(
                f"A recipient has the classes in {PREDICTIONS}, beside its own identifiers. Nobody "
                "else has a class of anybody, or how many people have which."
            ),
        ]
        return [Part("The predictions", content, public=False)]

    def check(self, job: PredictJob, result: Claim) -> None:
        verify_form(result, job.model, job.recipients)

    def verify(self, job: PredictJob, result: Claim, folder: Path) -> Verdict:
        records = verify_form(result, job.model, job.recipients)
        holds = [
            f"{records:,} people were classified, for {numbered(len(job.recipients), 'recipient')}"
        ]
        facts: dict[str, Json] = {"records": records, "predicted_for": list(job.recipients)}
        unchecked = ["whether the model and the columns, which stay with the parties, give them"]
        lists = folder / "parties"
        if not lists.is_dir():
            return Verdict(holds, ["the classes, which stay with the recipients"], facts)
        verify_lists(lists, job.party_names, job.recipients, job.matching.columns, records)
        holds.append("each recipient has a class for each of them, and all have the same")
        return Verdict(holds, unchecked, facts)


def _read_partition(section: Section) -> str:
    node = section.optional("partition")
    partition = node.choice("vertical", "horizontal", "mixed") if node else "vertical"
    if node and partition == "horizontal":
        raise node.error(
            "people are classified jointly where parties have different columns or cells of them "
            "('vertical', 'mixed'); who has all columns of a person and the model predicts alone"
        )
    return partition


def _read_attributes(section: Section, common: Common, mixed: bool) -> dict[str, str]:
    node = section.required("attributes")
    found: dict[str, str] = {}
    for name, entry_node in node.section().entries():
        entry = entry_node.section()
        found[name] = ANYWHERE if mixed else entry.required("party").choice(*common.party_names)
        for key in ("values", "taxonomy", "cuts", "flat", "missing", "type"):
            if stray := entry.optional(key):
                raise stray.error("the model knows the values of its attributes: leave it out")
        entry.close()
    if not found:
        raise node.error("a job needs at least one attribute")
    return found


def _write_predictions(
    people: NewPeople,
    rows: Ints,
    found: Codes,
    model: KeptModel,
    workspace: Workspace,
) -> None:
    """The recipient's own identifiers, in the order of its table, each with its class."""
    order = np.argsort(rows)
    table = people.table.take(pa.array(rows[order]))
    labels = pa.array(np.array(model.classes, object)[found[order]], pa.string())
    pacsv.write_csv(table.append_column(PREDICTED, labels), workspace.kept / PREDICTIONS)


PREDICT = Predict()
