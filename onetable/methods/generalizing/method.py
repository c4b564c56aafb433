"""What the methods have in common that generalize values: how they are run, shown and verified."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.stored_recoding import StoredRelease
from coterie.anonymity.models.audit import Released
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.stored import StoredTable
from coterie.anonymity.table.table import Table
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.page import Part
from coterie.onetable.large.result import Large
from coterie.onetable.methods.method import TableMethod
from coterie.onetable.released import Made
from coterie.onetable.table_file import TableAttribute, TableFile

Times = Mapping[str, int]  # how often each value of a column is shown


@dataclass(frozen=True)
class Room:
    """What there is for a table that the memory does not hold."""

    memory: int
    folder: Path
    compute: str | None  # the address of a Dask cluster
    most: int | None  # records of a piece; None: as follows from the memory


class Generalizing(TableMethod):
    """A method that gives records of one group the same values in every column of a qid."""

    whole_columns = False  # a value is shown in one way whatever the frame, as a pipeline needs
    local = False  # a value may be shown in several ways
    on_clusters = False  # of machines, by `--compute`

    @abstractmethod
    def anonymised(self, file: TableFile, table: Table, most: int) -> Anonymized:
        """The table made anonymous in memory; up to `most` records may be left out."""

    def options_of(self, class_name: str | None, given: Mapping[str, str]) -> Any:
        """The options by the arguments of `coterie.anonymise` in Python."""
        return None

    def is_local(self, file: TableFile) -> bool:
        return self.local

    def in_pieces(self, file: TableFile) -> bool:
        """Whether the method can do without the whole table in memory: by `stored` or `streamed`."""
        return False

    def check_room(self, file: TableFile, wanted: int, memory: int) -> None:
        """Refuses a table that the memory does not hold, where trying would end badly."""

    def streams(self, file: TableFile) -> bool:
        """Whether passes over the source do, so that the table need not be stored."""
        return False

    def stored(self, file: TableFile, table: StoredTable, room: Room) -> StoredRelease:
        """A table on disk made anonymous."""
        raise self.needs_memory()

    def streamed(self, file: TableFile, memory: int) -> AbstractContextManager[Large]:
        """The release of a source of which only passes are made."""
        raise self.needs_memory()

    def made(self, file: TableFile) -> Made[TableFile]:
        from coterie.onetable.methods.generalizing.run import anonymise_file

        return anonymise_file(file)

    def release(
        self, file: TableFile, memory: int, compute: str | None = None
    ) -> AbstractContextManager[Made[TableFile]]:
        from coterie.onetable.methods.generalizing.large import anonymise_large, is_large

        if compute is not None or is_large(file, memory):
            return anonymise_large(file, memory, compute)
        return nullcontext(self.made(file))

    def report(self, file: TableFile, result: Claim, folder: Path) -> list[Part]:
        from coterie.onetable.methods.generalizing.report import report_generalized

        return report_generalized(file, result, folder)

    def verify(
        self, file: TableFile, result: Any, folder: Path, data: Path | None
    ) -> dict[str, Any]:
        from coterie.onetable.methods.generalizing.verify_generalized import verify_generalized

        return verify_generalized(self, file, result, folder, data)

    def check_shown(self, file: TableFile, result: Any, shown: Callable[[str], Times]) -> None:
        """Further checks of a release: `shown` has the values of a column."""

    def check_rows(self, file: TableFile, result: Any, table: Mapping[str, Released]) -> None:
        """Further checks of a release that the memory holds."""

    def check_source(
        self,
        file: TableFile,
        result: Any,
        attribute: TableAttribute,
        numbers: Callable[[], Mapping[str, Mapping[float, int]]],
    ) -> None:
        """Further checks with the table: `numbers` has those of a column by the region that shows them."""


Algorithm = Callable[[Table, tuple[Requirement, ...], int], Anonymized]


class Plain(Generalizing):
    """A method without keys of its own, in memory alone."""

    def __init__(
        self, name: str, algorithm: Algorithm, *, whole_columns: bool = False, local: bool = False
    ) -> None:
        self.name, self._algorithm = name, algorithm
        self.whole_columns, self.local = whole_columns, local

    def anonymised(self, file: TableFile, table: Table, most: int) -> Anonymized:
        return self._algorithm(table, file.requirements, most)
