"""`method: quantiles`: `anonymity.algorithms.one_dimension`, in memory, on disk and as a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.one_dimension.recoding import Options, quantiles
from coterie.anonymity.algorithms.one_dimension.stored import quantiles_stored
from coterie.anonymity.algorithms.stored_recoding import StoredRelease
from coterie.anonymity.table.stored import StoredTable
from coterie.anonymity.table.table import Table
from coterie.jobs.file.document import Section
from coterie.onetable.large.result import Large
from coterie.onetable.methods.generalizing.method import Generalizing, Room, Times
from coterie.onetable.methods.method import GIVEN
from coterie.onetable.methods.quantiles.keys import check_columns, read_quantiles
from coterie.onetable.methods.quantiles.streamed import anonymise_stream
from coterie.onetable.methods.quantiles.verify_quantiles import check_costs, check_groups
from coterie.onetable.table_file import TableAttribute, TableFile


class Quantiles(Generalizing):
    name = "quantiles"
    keys = ("clusters", "by", "epsilon", "delta")
    own_qids = "quantiles makes groups of each column alone"
    only_numbers = True

    def options(self, section: Section, file: TableFile) -> Options:
        cuts = {attribute.name: attribute.cuts for attribute in file.attributes if attribute.cuts}
        return replace(read_quantiles(section), cuts=cuts)

    def options_of(self, class_name: str | None, given: Mapping[str, str]) -> Options:
        return Options(given["clusters"], given["by"])

    def check(self, section: Section, file: TableFile) -> None:
        if file.options.clusters != GIVEN:
            super().check(section, file)
        check_columns(section, file)

    def anonymised(self, file: TableFile, table: Table, most: int) -> Anonymized:
        return quantiles(table, file.requirements, most, file.options)

    def is_local(self, file: TableFile) -> bool:
        return bool(file.options.by == "rank")

    def in_pieces(self, file: TableFile) -> bool:
        return not self.is_local(file)

    def streams(self, file: TableFile) -> bool:
        return bool(file.options.clusters == "sampled")

    def stored(self, file: TableFile, table: StoredTable, room: Room) -> StoredRelease:
        return quantiles_stored(table, file.requirements, file.options, room.memory, room.folder)

    def streamed(self, file: TableFile, memory: int) -> AbstractContextManager[Large]:
        return anonymise_stream(file, memory)

    def check_shown(self, file: TableFile, result: Any, shown: Callable[[str], Times]) -> None:
        for attribute in file.attributes:
            if attribute.in_qid:
                claimed = result["quantiles"][attribute.name]
                check_groups(attribute.name, shown(attribute.name), claimed)

    def check_source(
        self,
        file: TableFile,
        result: Any,
        attribute: TableAttribute,
        numbers: Callable[[], Mapping[str, Mapping[float, int]]],
    ) -> None:
        if not self.is_local(file) and not int(result["suppressed"]):
            check_costs(attribute.name, numbers(), result["quantiles"][attribute.name])


METHOD = Quantiles()
