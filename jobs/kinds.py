"""The kinds of job, by the name that `kind:` takes."""

from __future__ import annotations

from jobs.intersect import INTERSECT
from jobs.kind import Kind

KINDS: dict[str, Kind] = {"intersect": INTERSECT}
