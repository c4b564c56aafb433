"""A job file, and the files it refers to, become a typed job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from coterie.base.errors import UsageError
from coterie.jobs.file.document import read_document
from coterie.jobs.file.job import Job, read_common
from coterie.jobs.kinds.registry import KINDS


def load_job(path: Path) -> Job:
    """Reads a job file and the files it refers to, relative to its folder."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    return parse_job(text, _read_references(text, path), str(path))


def _read_references(text: str, path: Path) -> dict[str, bytes]:
    """The contents of all files that the job names under a `taxonomy` key."""
    files: dict[str, bytes] = {}
    attributes = read_document(text, str(path)).optional("attributes")
    for _, node in attributes.section().entries() if attributes else []:
        if not node.is_mapping:
            continue
        reference = node.section().optional("taxonomy")
        if reference is None:
            continue
        name = reference.text()
        if PurePosixPath(name).is_absolute():
            raise reference.error(f"'{name}' must be relative to the job file")
        try:
            files[name] = (path.parent / name).read_bytes()
        except OSError as error:
            raise reference.error(f"'{name}': {error.strerror}") from None
    return files


def parse_job(text: str, files: Mapping[str, bytes], file: str = "job") -> Job:
    """The typed job. Every mistake is a `UsageError` that names the key and the line."""
    section = read_document(text, file)
    common = read_common(section, text, files, list(KINDS))
    job: Job = KINDS[common.kind].parse(section, common)
    section.close()
    return job
