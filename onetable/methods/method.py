"""What a way to release one table consists of. Each is a folder here, and a word in `registry`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Generic, TypeVar

from coterie.anonymity.risk.linkage import Linked
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.errors import UsageError
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.requirements import read_requirements
from coterie.jobs.pages.page import Part
from coterie.onetable.prepare import Prepared, prepare
from coterie.onetable.released import Made
from coterie.onetable.table_file import MethodFile, TableFile

F = TypeVar("F", bound=TableFile | MethodFile)
M = TypeVar("M", bound=MethodFile)
ReadFile = Callable[[Node], tuple[str, bytes]]
GIVEN = "given"  # `clusters: given`, with which alone an attribute has `cuts`


class Method(ABC, Generic[F]):
    """A way to release one table."""

    name: str
    title = "An anonymous table"  # of the public page
    about = "One table, anonymised by its holder."
    maker = "such a table file"  # in the error about a result of something else
    numbers: tuple[str, ...] = ()  # columns of the release that nobody knows of a person

    @property
    def kind(self) -> str:
        """What `coterie verify` calls the result."""
        return self.name

    @abstractmethod
    def load(self, path: Path) -> F:
        """Reads the file; every mistake is a `UsageError` that names the key and the line."""

    @abstractmethod
    def made(self, file: F) -> Made[F]:
        """The release, made and audited in memory."""

    def release(
        self, file: F, memory: int, compute: str | None = None
    ) -> AbstractContextManager[Made[F]]:
        """The release, made within the memory or on a cluster; the context ends its temporary files."""
        if compute is not None:
            raise self.needs_memory()
        return nullcontext(self.made(file))

    def needs_memory(self) -> UsageError:
        return UsageError(
            f"method: {self.name} has the whole table in memory; only mondrian without 'rule: width' can do without"
        )

    @abstractmethod
    def report(self, file: F, result: Claim, folder: Path) -> list[Part]:
        """The parts of the page about a result folder."""

    @abstractmethod
    def verify(self, file: F, result: Any, folder: Path, data: Path | None) -> dict[str, Any]:
        """The checks that hold; raises a `VerificationError` for the first that does not."""

    def inferred(self, folder: Path, targets: list[str], found: Linked) -> tuple[list[str], Linked]:
        """What `coterie attack` infers, also from other files than the release."""
        return targets, found


class OwnFile(Method[M]):
    """The method of a command with a file of its own, by its functions."""

    def __init__(
        self,
        command: str,
        title: str,
        about: str,
        load: Callable[[Path], M],
        make: Callable[[M], Made[M]],
        report: Callable[[M, Claim], list[Part]],
        verify: Callable[[M, Any, Path, Path | None], dict[str, Any]],
    ) -> None:
        self.name = self.maker = command
        self.title, self.about = title, about
        self._load, self._make, self._report, self._verify = load, make, report, verify

    def load(self, path: Path) -> M:
        return self._load(path)

    def made(self, file: M) -> Made[M]:
        return self._make(file)

    def report(self, file: M, result: Claim, folder: Path) -> list[Part]:
        return self._report(file, result)

    def verify(self, file: M, result: Any, folder: Path, data: Path | None) -> dict[str, Any]:
        return self._verify(file, result, folder, data)


class TableMethod(Method[TableFile]):
    """A method of `coterie anonymise`, named in a table file."""

    keys: tuple[str, ...] = ()  # of a table file that go with this method alone
    only_numbers = False  # in the columns of a qid
    own_qids = ""  # why the method itself says which columns stand in a qid

    def load(self, path: Path) -> TableFile:
        from coterie.onetable.methods.reading import load_table_file

        return load_table_file(path)

    @property
    def kind(self) -> str:
        return f"anonymise ({self.name})"

    def prepared(self, file: TableFile) -> Prepared:
        """The table, read for this method."""
        return prepare(file, self.only_numbers)

    def requirements(
        self, section: Section, attributes: Node, class_name: str | None, read_file: ReadFile
    ) -> tuple[Requirement, ...]:
        names = attributes.section().keys()
        return read_requirements(section.required("requirement"), names, class_name, read_file)

    def options(self, section: Section, file: TableFile) -> Any:
        """The method's own keys, which become `TableFile.options`; all others have been read."""
        return None

    def check(self, section: Section, file: TableFile) -> None:
        """Refuses what the method cannot do, of a table file that has been read."""
        for attribute in file.attributes:
            if attribute.cuts:
                raise section.error(
                    f"'{attribute.name}' has 'cuts', which are only for 'method: quantiles' and "
                    f"'clusters: {GIVEN}'"
                )
