"""The kinds of job, by the name that `kind:` takes."""

from __future__ import annotations

from jobs.integrate import INTEGRATE
from jobs.intersect import INTERSECT
from jobs.kind import Kind

KINDS: dict[str, Kind] = {"intersect": INTERSECT, "integrate": INTEGRATE}
