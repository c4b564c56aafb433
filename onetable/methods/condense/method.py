"""`method: condense`: `anonymity.condensation`, synthetic records in place of real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.anonymity.specialization.specialize import Requirement
from coterie.jobs.data.missing import DROP
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.page import Part
from coterie.onetable.methods.condense.keys import check_attributes, read_k
from coterie.onetable.methods.condense.report import report_condensed
from coterie.onetable.methods.condense.run import condense_file
from coterie.onetable.methods.condense.verify_condensed import verify_condensed
from coterie.onetable.methods.method import ReadFile, TableMethod
from coterie.onetable.prepare import Prepared, prepare
from coterie.onetable.released import Made
from coterie.onetable.table_file import TableFile


class Condense(TableMethod):
    name = "condense"
    title = "A synthetic table"
    about = "Synthetic records of one table, made by its holder."
    own_qids = "condensation keeps one k over all attributes"

    def prepared(self, file: TableFile) -> Prepared:
        return prepare(file, only_numbers=True, cure=DROP)

    def requirements(
        self, section: Section, attributes: Node, class_name: str | None, read_file: ReadFile
    ) -> tuple[Requirement, ...]:
        return read_k(section, attributes, class_name)

    def check(self, section: Section, file: TableFile) -> None:
        super().check(section, file)
        check_attributes(section.required("attributes").section(), file.attributes)

    def made(self, file: TableFile) -> Made[TableFile]:
        return condense_file(file)

    def report(self, file: TableFile, result: Claim, folder: Path) -> list[Part]:
        return report_condensed(file, result)

    def verify(
        self, file: TableFile, result: Any, folder: Path, data: Path | None
    ) -> dict[str, Any]:
        return verify_condensed(file, result, folder, data)


METHOD = Condense()
