"""The result folder: made before a job starts, filled when it ends, and summarised in a few lines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError, UsageError
from coterie.coordinator.run.progress import byte_count, duration
from coterie.jobs.file.claims import Claim
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS

# What a job leaves. `--force` removes these and nothing else.
RESULT_FILES = ("result.json", "release.csv", "report.html", "run.json")
RESULT_FOLDERS = ("parties", "transcripts", "job")


def make_result_folder(out: Path, force: bool) -> None:
    """An existing result is overwritten only on request; other files are never touched."""
    try:
        if out.exists() and not out.is_dir():
            raise UsageError(f"{out}: is a file; --out names a folder")
        if out.is_dir() and any(out.iterdir()):
            if not force:
                raise UsageError(f"{out}: is not empty; choose another --out, or say --force")
            for name in RESULT_FILES:
                (out / name).unlink(missing_ok=True)
            for name in RESULT_FOLDERS:
                shutil.rmtree(out / name, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise EnvironmentFaultError(f"{out}: {error.strerror}") from None


def summary(job: Job, result: dict[str, Any], out: Path) -> list[str]:
    """A few lines for a person, from `result.json`."""
    total = sum(result["seconds"].values())
    sent = sum(party["sent_bytes"] for party in result["parties"].values())
    found = f"{result['records']:,} records in common among " if "records" in result else ""
    lines = [
        f"{job.name}: {found}{len(job.parties)} parties, in {duration(total)}, "
        f"{byte_count(sent)} exchanged"
    ]
    lines += [f"  {line}" for line in KINDS[job.kind].summary(job, Claim(result))]
    files = [name for name in RESULT_FILES if (out / name).exists()]
    folders = [name for name in RESULT_FOLDERS[1:] if (out / name).is_dir()]
    return lines + [f"{name.split('.')[0]}: {out / name}" for name in (*files, *folders)]
