"""The result folder, which is created before a job starts and filled when it ends."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError, UsageError
from coterie.base.text import byte_count, duration, numbered
from coterie.jobs.data.released.spreadsheet import COPY, released_tables, write_copy
from coterie.jobs.file.job import Job
from coterie.jobs.file.result_file import RESULT, Claim
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.results.report import PUBLIC, REPORT, write_report
from coterie.jobs.results.sorts import JOB, ResultSort
from coterie.jobs.run.archive import FOLDER

MANIFEST = "files.json"  # what Coterie wrote into a result folder
# The files that any job may leave besides those that its kind declares.
_RESULT = (
    RESULT, "release.csv", "release.parquet", f"release{COPY}", REPORT, "job", "parties", "transcripts",
)  # fmt: skip
_OTHERS = (
    MANIFEST, "run.json", PUBLIC, "deviation.json", "honest", "sensitive", "noise.json",
)  # fmt: skip


@contextlib.contextmanager
def result_folder(
    out: Path, force: bool, spreadsheet: bool = False, sort: ResultSort = JOB
) -> Iterator[None]:
    """The result folder of one job, or of one table: inside, the job is run and its result written into `out`.

    An earlier result is replaced only on request, and then completely: all files that Coterie wrote
    into the folder, by its list of files, are removed. Other files are never touched; a file at a
    path that Coterie would write is an error before the job begins. Afterwards, also if the job
    failed, the list has the files that were written. With `spreadsheet` there is a copy of the release
    besides, of which a spreadsheet runs no cell.
    """
    try:
        others = _begin(out, force)
    except OSError as error:
        raise EnvironmentFaultError(f"{out}: {error.strerror}") from None
    try:
        yield
        if spreadsheet:
            _copy(out)
        _report(out, sort)
    finally:
        with contextlib.suppress(OSError):  # the job's own error says more
            written = sorted(_files(out) - others)
            if written:
                _write_manifest(out, True, written)
            else:
                (out / MANIFEST).unlink(missing_ok=True)


@contextlib.contextmanager
def continued_folder(out: Path, spreadsheet: bool = False) -> Iterator[None]:
    """A result folder into which a later command puts the rest of the same job's result."""
    earlier = set(_of_coterie(out)) if out.is_dir() else set()
    before = _files(out)
    try:
        yield
        if spreadsheet:
            _copy(out)
        _report(out, JOB)
    finally:
        with contextlib.suppress(OSError):
            written = sorted((_files(out) - before) | (earlier & _files(out)))
            if written:
                _write_manifest(out, True, written)


def _copy(out: Path) -> None:
    """Writes a copy of each released table for spreadsheets; a result without tables has none."""
    for path in released_tables(out):
        copy = path.with_suffix(COPY)
        try:
            write_copy(path, copy)
        except OSError as error:
            raise EnvironmentFaultError(
                f"{copy}: {error.strerror}; the result itself is whole"
            ) from None


def _report(out: Path, sort: ResultSort) -> None:
    """Writes the pages of a finished result; compared deviations have none."""
    if (out / RESULT).exists() and (out / FOLDER).is_dir():
        try:
            write_report(out, sort)
        except OSError as error:
            raise EnvironmentFaultError(
                f"{out / REPORT}: {error.strerror}; the result itself is whole"
            ) from None


def _begin(out: Path, force: bool) -> set[str]:
    """Prepares the folder for a result; returns the files of others, which stay."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file; --out names a folder")
    out.mkdir(parents=True, exist_ok=True)
    if any(path.name != MANIFEST for path in out.iterdir()):
        if not force:
            raise UsageError(f"{out}: is not empty; choose another --out, or add --force")
        _remove_earlier(out)
    taken = [path.name for path in sorted(out.iterdir()) if path.name in names_of_results()]
    others = _files(out)
    if taken:
        inside = [path for path in sorted(others) if path.split("/")[0] == taken[0]]
        raise UsageError(
            f"{out / (inside or taken)[0]}: Coterie did not write it, and a result would stand "
            "there; move it away, or choose another --out"
        )
    _write_manifest(out, False, [])  # fails at once if the folder is not writable
    return others


def names_of_results() -> set[str]:
    """Every name that a result may have at the top of its folder."""
    return {*_RESULT, *_OTHERS, *(name for kind in KINDS.values() for name in kind.leaves)}


def _of_coterie(out: Path) -> list[str]:
    """The files that Coterie wrote into a folder."""
    finished, listed = _read_manifest(out)
    if not finished:
        # The machine crashed before the list was written: files with a result's name are results.
        listed = [path for path in _files(out) if path.split("/")[0] in names_of_results()]
    return listed


def _remove_earlier(out: Path) -> None:
    """Removes the files that Coterie wrote, and the folders that are empty without them."""
    listed, present = _of_coterie(out), _files(out)
    for name in listed:
        if name in present:
            (out / name).unlink()
    (out / MANIFEST).unlink(missing_ok=True)
    folders = {parent for name in listed for parent in Path(name).parents if parent != Path()}
    for folder in sorted(folders, reverse=True):
        with contextlib.suppress(OSError):  # the folder has somebody else's file
            (out / folder).rmdir()


def _files(out: Path) -> set[str]:
    """The paths of all files in a folder, without the list; links are files and not followed."""
    found: set[str] = set()
    for folder, folders, files in os.walk(out):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        found |= {(here / name).relative_to(out).as_posix() for name in (*files, *links)}
    return found - {MANIFEST}


def _write_manifest(out: Path, finished: bool, files: Sequence[str]) -> None:
    content = {"finished": finished, "files": list(files)}
    (out / MANIFEST).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _read_manifest(out: Path) -> tuple[bool, list[str]]:
    """Whether a result was finished, and its files. Without a list, no file is Coterie's."""
    try:
        content = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
        files = [str(name) for name in content["files"]]
        return content["finished"] is True, files
    except FileNotFoundError:
        return True, []
    except (ValueError, LookupError, TypeError, RecursionError):
        raise UsageError(f"{out / MANIFEST}: cannot be read; choose another --out") from None


def summary(job: Job, result: dict[str, Any], out: Path) -> list[str]:
    """A few lines for a person about `result.json`."""
    total = sum(result["seconds"].values())
    sent = sum(party["sent_bytes"] for party in result["parties"].values())
    reporters = KINDS[job.kind].reporters(job)
    found = ""
    if "records" in result:
        # Records that nobody matched are of different people at each party.
        matched = any(KINDS[job.kind].needs(job, name).matching.reveal for name in reporters)
        among = "in common among" if matched else "of"
        found = f"{numbered(result['records'], 'record')} {among} "
    lines = [
        f"{job.name}: {found}{len(reporters)} parties, in {duration(total)}, "
        f"{byte_count(sent)} exchanged"
    ]
    lines += [f"  {line}" for line in KINDS[job.kind].summary(job, Claim(result))]
    lines += [f"  {line}" for line in identifier_lines(result)]
    about = result.get("job", {})
    if about:
        known = f"job {about['id']}, " if about.get("id") else ""
        lines.append(
            f"  {known}digest {about['digest'][:16]}, Coterie {about['version']}, {about['date']}"
            + (f", purpose: {about['purpose']}" if about.get("purpose") else "")
        )
    if given := result.get("recipients"):
        lines.append(f"  given to {', '.join(given)}, who checked it")
    for first, second in result.get("not_compared", ()):
        lines.append(
            f"  {first} and {second} could not compare what they were given; their servers do so "
            "when they reach each other"
        )
    names = dict.fromkeys((*_RESULT, *KINDS[job.kind].leaves))
    left = [name for name in names if name != "job" and (out / name).exists()]
    return lines + [f"{name.split('.')[0]}: {out / name}" for name in left]


def identifier_lines(result: dict[str, Any]) -> list[str]:
    """What a simulation found about identifiers, and how many records would match by which rule."""
    hints = result.get("identifiers", {})
    lines = [
        f"{party}: {line}" for party, found in hints.get("found", {}).items() for line in found
    ]
    rules = hints.get("would_match", [])
    return lines + [
        f"{numbered(entry['records'], 'record')} would match under '{entry['rule']}'"
        for entry in rules
    ]
