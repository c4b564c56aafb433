"""What a party would release from a job, for its steward to look at before it goes out.

The summary goes to the steward with the question, and stays with the job as `output.json` in the folder
that the party keeps: the files with their digests, what the kind says of them, and the result as all
parties have computed it. The digest of all that is what the steward's yes is about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS

FILE = "output.json"
_LARGEST = 1 << 20  # bytes of a summary that is sent; of a larger one the file is named


def would_release(
    job: Job, party: str, workspace: Workspace, result: Mapping[str, object]
) -> tuple[dict[str, Any], str]:
    """The facts for the steward, and the digest of everything that would go out."""
    files = sorted(path for path in workspace.released.rglob("*") if path.is_file())
    listed = [
        {
            "file": path.relative_to(workspace.released).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": _digest(path),
        }
        for path in files
    ]
    facts: dict[str, Any] = {
        "files": listed,
        **KINDS[job.kind].preview(job, party, workspace.released),
        "result": dict(result),
    }
    text = json.dumps(facts, indent=1)
    path = workspace.kept / FILE
    path.write_text(text + "\n", encoding="utf-8")
    path.chmod(0o600)
    if len(text) > _LARGEST:
        facts = {"files": listed, "too_long": str(path)}
    return facts, hashlib.sha256(text.encode()).hexdigest()


def output_lines(output: Mapping[str, Any]) -> list[str]:
    """The summary in words, for a terminal."""
    told = [
        f"  file {one['file']}: {one['bytes']:,} bytes, SHA-256 {one['sha256'][:16]}…"
        for one in output["files"]
    ]
    if place := output.get("too_long"):
        return [*told, f"  the whole is too long to be shown: {place}"]
    for name, column in output.get("columns", {}).items():
        values = ", ".join(f"{value} ({count:,})" for value, count in column["most_frequent"])
        more = column["values"] - len(column["most_frequent"])
        told.append(f"  column {name}: {values}" + (f", and {more:,} more" if more > 0 else ""))
    told.append("  the result, which the coordinator gets as every party computes it:")
    told += [f"    {line}" for line in json.dumps(output["result"], indent=1).splitlines()]
    return told


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
