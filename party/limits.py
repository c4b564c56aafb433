"""The `limits` of a party file, which docs/party.md describes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coterie.jobs.file.document import Node

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True)
class Limits:
    """Limits on other parties' and coordinators' use of this server; its operator has none."""

    unstarted: float = 86_400.0  # seconds after which a waiting or accepted job is given up
    open_jobs: int = 64  # unfinished jobs of one coordinator
    files: int = 256 * 10**6  # bytes of one coordinator's open jobs, taxonomies included
    running: int = 4  # running jobs; others wait in the queue
    reserved: float = 30.0  # seconds that a place is kept for a job without news
    calls: int = 128  # open calls of one caller, streams included
    rate: int = 3000  # calls of one caller in a minute
    bytes: int = 10**9  # sent by one caller in a minute, without peers' frames
    refusals: int = 60  # refused calls of one caller in a minute


def read_size(node: Node) -> int:
    """A number of bytes, such as `512MB` or `4GB`; at least 16MB."""
    value = node.text()
    match = re.fullmatch(r"([0-9]+)\s*([KMGT]?B?)", value.upper())
    unit = match[2] if match else ""
    factor = _UNITS.get(unit if unit.endswith("B") or not unit else unit + "B")
    if not match or factor is None:
        raise node.error(f"must be a size such as 512MB or 4GB, not '{value}'")
    size = int(match[1]) * factor
    if size < 16 * 10**6:
        raise node.error("must be at least 16MB")
    return size


def read_limits(node: Node) -> Limits:
    section = node.section()
    limits = Limits(
        unstarted=section.read("unstarted", lambda n: n.number(minimum=1), Limits.unstarted),
        reserved=section.read("reserved", lambda n: n.number(minimum=1), Limits.reserved),
        **{
            key: section.read(key, lambda n: n.integer(minimum=1), getattr(Limits, key))
            for key in ("open_jobs", "running", "calls", "rate", "refusals")
        },
        bytes=section.read("bytes", read_size, Limits.bytes),
        files=section.read("files", read_size, Limits.files),
    )
    section.close()
    return limits
