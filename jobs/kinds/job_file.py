"""Reads a job file, and the files that it refers to, as a typed job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from coterie.base.errors import UsageError
from coterie.base.text import one_line
from coterie.jobs.file.document import Node, read_document, read_text
from coterie.jobs.file.job import Job, read_common
from coterie.jobs.kinds.registry import KINDS


def load_job(path: Path) -> Job:
    """Reads a job file and the files it refers to, relative to its folder."""
    text = read_text(path)
    return parse_job(text, _read_references(text, path), str(path))


def _read_references(text: str, path: Path) -> dict[str, bytes]:
    """The contents of all files that the job refers to, under the keys that its kind declares."""
    files: dict[str, bytes] = {}
    top = read_document(text, str(path)).node
    kind = KINDS.get(_kind_of(top))  # an unknown one is an error when the job is parsed
    for reference in _references(top, kind.files if kind else ()):
        name = _relative(reference)
        try:
            files[name] = (path.parent / name).read_bytes()
        except OSError as error:
            raise reference.error(f"'{name}': {error.strerror}") from None
    return files


def _references(top: Node, files: Iterable[str]) -> list[Node]:
    return [node for keys in files for node in _nodes_at(top, keys.split("."))]


def _relative(reference: Node) -> str:
    """The path of a file, which whoever stores the job writes beneath a folder of its own."""
    name = reference.text()
    if PurePosixPath(name).is_absolute():
        raise reference.error(f"'{name}' must be relative to the job file")
    return name


def _kind_of(top: Node) -> str:
    node = top.section().optional("kind")
    return node.text() if node is not None and not node.is_mapping and not node.is_list else ""


def _nodes_at(node: Node, keys: list[str]) -> list[Node]:
    """The nodes at a path of keys, if the document has them; `*` matches any key or entry."""
    if not keys:
        return [node]
    if node.is_list and keys[0] == "*":
        return [below for inner in node.items() for below in _nodes_at(inner, keys[1:])]
    if not node.is_mapping:
        return []
    found = [inner for key, inner in node.section().entries() if keys[0] in ("*", key)]
    return [below for inner in found for below in _nodes_at(inner, keys[1:])]


def parse_job(text: str, files: Mapping[str, bytes], file: str = "job") -> Job:
    """The typed job. Every mistake is a `UsageError` that names the key and the line."""
    section = read_document(text, file)
    common = read_common(section, text, files, list(KINDS))
    job = KINDS[common.kind].parse(section, common)
    section.close()
    named = {_relative(node) for node in _references(section.node, KINDS[common.kind].files)}
    stray = sorted(set(files) - named)
    if stray:
        raise UsageError(f"{file}: no key of the job names the file '{one_line(stray[0])}'")
    return job
