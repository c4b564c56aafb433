"""What a table file says: one table, its requirement, and the method that releases it.

`onetable.methods.reading` reads the file; docs/one-table.md has its keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from coterie.anonymity.specialization.specialize import Requirement
from coterie.jobs.data.attributes import CutAttribute
from coterie.jobs.data.sources import Source, parse_source
from coterie.jobs.file.document import Node, Section, read_document, read_text
from coterie.jobs.file.job import digest_of_file


@dataclass(frozen=True, kw_only=True)
class TableAttribute(CutAttribute):
    """A column of the release."""

    cuts: tuple[float, ...] = ()  # of `clusters: given`
    keep: bool = False  # released as it is, even if it singles out every record


@dataclass(frozen=True)
class TableFile:
    """A parsed table file. `text` and `files` are stored beside a release."""

    source: Source
    method: str
    identifiers: tuple[str, ...]
    class_name: str | None
    attributes: tuple[TableAttribute, ...]
    requirements: tuple[Requirement, ...]
    max_suppression: float = 0.0
    options: Any = None  # of the method: what `TableMethod.options` reads
    text: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest of the text and every file that it names, as of a job."""
        return digest_of_file(self.text, self.files)

    @property
    def columns(self) -> list[str]:
        """The columns of the release, in its order."""
        names = [attribute.name for attribute in self.attributes]
        return names if self.class_name is None else [*names, self.class_name]


def without_address(text: str, data: Node) -> str:
    """The text as it is stored beside a release: without a server's address and its password."""
    if not data.is_mapping or not {"postgresql", "odbc"} & {*data.section().keys()}:
        return text
    begin, end = data.raw.start_mark.index, data.raw.end_mark.index
    after = text[begin:end]
    blank = after[len(after.rstrip()) :]  # a block ends where the next key begins
    return f"{text[:begin]}withheld.csv{blank}{text[end:]}"


@dataclass(frozen=True, kw_only=True)
class MethodFile:
    """A file of a command that takes one table and one method, such as `coterie perturb`.

    `data` says where the table lies, `method` whose file it is; the rest is the command's own. `text`
    and `files` are stored beside a release.
    """

    source: Source
    text: str
    method: str
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


F = TypeVar("F", bound=MethodFile)


def load_method_file(path: Path, parse: Callable[[str, Path, str], F]) -> F:
    """Reads a file; `parse` takes its text, the folder that its paths start from, and its name."""
    return parse(read_text(path), path.parent, str(path))


def begin_method_file(
    text: str, folder: Path, file: str, method: str
) -> tuple[Section, Source, str]:
    """The keys that are left to the command, the source of the table, and the text to be stored."""
    section = read_document(text, file)
    section.required("method").choice(method)
    data = section.required("data")
    return section, parse_source(data, folder), without_address(text, data)
