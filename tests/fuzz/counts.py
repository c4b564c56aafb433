"""How many inputs each decoder has had in all runs, in `inputs.json`, which is committed."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

COUNTED = Path(__file__).with_name("inputs.json")


def counted(path: Path = COUNTED) -> dict[str, int]:
    found: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
    return found


def count(name: str, more: int, path: Path = COUNTED) -> int:
    """Adds to a decoder's inputs, and returns their sum; several processes may do so at once."""
    with _alone(path.parent):
        found = counted(path)
        found[name] = found.get(name, 0) + more
        made = path.with_suffix(".new")
        made.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        made.replace(path)
    return found[name]


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
