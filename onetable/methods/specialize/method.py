"""`method: specialize`: `anonymity.algorithms.top_down`, and the score of a specialization."""

from __future__ import annotations

from collections.abc import Mapping

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.top_down import specialize_table
from coterie.anonymity.specialization.scores import RULES, SCORES
from coterie.anonymity.table.table import Table
from coterie.jobs.file.document import Section
from coterie.jobs.kinds.integrate.job import read_split
from coterie.onetable.methods.generalizing.method import Generalizing
from coterie.onetable.table_file import TableFile


class Specialize(Generalizing):
    name = "specialize"
    keys = ("score", "split")

    def options(self, section: Section, file: TableFile) -> str:
        score = section.read("score", lambda node: node.choice(*SCORES), "gain-ratio")
        return read_split(section, score, file.class_name)

    def options_of(self, class_name: str | None, given: Mapping[str, str]) -> str:
        return "gain-ratio" if class_name else "discernibility"

    def check(self, section: Section, file: TableFile) -> None:
        super().check(section, file)
        if RULES[file.options].needs_class and file.class_name is None:
            raise section.error(
                f"the key 'class' is missing; the score '{file.options}' needs it, "
                "'discernibility' does not"
            )

    def anonymised(self, file: TableFile, table: Table, most: int) -> Anonymized:
        return specialize_table(table, file.requirements, most, file.class_name, file.options)


METHOD = Specialize()
