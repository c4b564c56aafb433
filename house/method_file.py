"""Files of commands that take one table and one method, such as `coterie perturb` and `coterie hide-rules`.

Each has `data`, where the table lies, and `method`, which says whose file it is; the rest is the
command's own. The text is stored beside a release, without the address of a server.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from coterie.house.table_file import without_address
from coterie.jobs.data.sources import Source, parse_source
from coterie.jobs.file.document import Section, read_document, read_text


@dataclass(frozen=True, kw_only=True)
class MethodFile:
    """A parsed file. `text` and `files` are stored beside a release."""

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
