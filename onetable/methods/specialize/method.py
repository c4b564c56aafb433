"""`method: specialize`: `anonymity.algorithms.top_down`, the score of a step, and a second phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.top_down import SpecializeOptions, specialize_table
from coterie.anonymity.models.audit import Released
from coterie.anonymity.specialization.scores import COLUMNS, GROUPS, RULES, SCORES
from coterie.anonymity.table.table import Table
from coterie.jobs.file.document import Section
from coterie.jobs.kinds.integrate.cuts.verify_tree import Cutting, replay
from coterie.jobs.kinds.integrate.job import read_split
from coterie.onetable.methods.generalizing.method import Generalizing
from coterie.onetable.table_file import TableFile


class Specialize(Generalizing):
    name = "specialize"
    keys = ("score", "split", "refine")

    def options(self, section: Section, file: TableFile) -> SpecializeOptions:
        score = section.read("score", lambda node: node.choice(*SCORES), "gain-ratio")
        refine = section.read("refine", lambda node: node.choice(COLUMNS, GROUPS), None)
        return SpecializeOptions(read_split(section, score, file.class_name), refine)

    def options_of(self, class_name: str | None, given: Mapping[str, str]) -> SpecializeOptions:
        return SpecializeOptions("gain-ratio" if class_name else "discernibility")

    def check(self, section: Section, file: TableFile) -> None:
        super().check(section, file)
        if RULES[file.options.score].needs_class and file.class_name is None:
            raise section.error(
                f"the key 'class' is missing; the score '{file.options.score}' needs it, "
                "'discernibility' does not"
            )

    def is_local(self, file: TableFile) -> bool:
        return bool(file.options.refine == GROUPS)

    def anonymised(self, file: TableFile, table: Table, most: int) -> Anonymized:
        return specialize_table(table, file.requirements, most, file.class_name, file.options)

    def check_rows(self, file: TableFile, result: Any, table: Mapping[str, Released]) -> None:
        if file.options.refine == GROUPS:
            attributes = [attribute for attribute in file.attributes if attribute.in_qid]
            cutting = Cutting(attributes, file.requirements, starts=result["cut"], weighted=False)
            replay(cutting, result["tree"], table)


METHOD = Specialize()
