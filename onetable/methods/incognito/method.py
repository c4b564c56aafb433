"""`method: incognito`: `anonymity.algorithms.incognito`, and the cost that is to be least."""

from __future__ import annotations

from collections.abc import Mapping

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.incognito import incognito
from coterie.anonymity.table.table import Table
from coterie.jobs.file.document import Section
from coterie.onetable.methods.generalizing.method import Generalizing
from coterie.onetable.table_file import TableFile

COSTS = ("entropy", "precision", "discernibility")


class Incognito(Generalizing):
    name = "incognito"
    keys = ("cost",)
    whole_columns = True

    def options(self, section: Section, file: TableFile) -> str:
        return section.read("cost", lambda node: node.choice(*COSTS), COSTS[0])

    def options_of(self, class_name: str | None, given: Mapping[str, str]) -> str:
        return given["cost"]

    def anonymised(self, file: TableFile, table: Table, most: int) -> Anonymized:
        return incognito(table, file.requirements, most, file.options)


METHOD = Incognito()
