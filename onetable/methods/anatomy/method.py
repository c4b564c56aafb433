"""`method: anatomy`: `anonymity.anatomy`, exact quasi-identifiers apart from sensitive values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.anonymity.anatomy.anatomy import GROUP
from coterie.anonymity.risk.linkage import Linked
from coterie.jobs.file.document import Section
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.page import Part
from coterie.onetable.methods.anatomy.attack import with_sensitive
from coterie.onetable.methods.anatomy.keys import refusal
from coterie.onetable.methods.anatomy.report import report_anatomised
from coterie.onetable.methods.anatomy.run import anatomise_file
from coterie.onetable.methods.anatomy.verify_anatomy import verify_anatomised
from coterie.onetable.methods.method import TableMethod
from coterie.onetable.released import Made
from coterie.onetable.table_file import TableFile


class Anatomy(TableMethod):
    name = "anatomy"
    title = "A table in two parts"
    about = "One table, published in two parts by its holder."
    keys = ("sensitive_table",)
    numbers = (GROUP,)

    def options(self, section: Section, file: TableFile) -> bool:
        """Whether there is one sensitive table of tuples, not one for each column."""
        return section.read(
            "sensitive_table", lambda node: node.choice("each", "joint") == "joint", False
        )

    def check(self, section: Section, file: TableFile) -> None:
        super().check(section, file)
        if why := refusal(file.requirements, file.attributes, file.class_name):
            raise section.error(why)

    def made(self, file: TableFile) -> Made[TableFile]:
        return anatomise_file(file)

    def report(self, file: TableFile, result: Claim, folder: Path) -> list[Part]:
        return report_anatomised(file, result)

    def verify(
        self, file: TableFile, result: Any, folder: Path, data: Path | None
    ) -> dict[str, Any]:
        return verify_anatomised(file, result, folder, data)

    def inferred(self, folder: Path, targets: list[str], found: Linked) -> tuple[list[str], Linked]:
        return with_sensitive(folder, targets, found)


METHOD = Anatomy()
