"""The `limits` of a party file, which docs/party.md describes."""

from __future__ import annotations

from dataclasses import dataclass

from coterie.base.sizes import read_bytes
from coterie.jobs.file.document import Node


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
    try:
        return read_bytes(node.text())
    except ValueError as error:
        raise node.error(str(error)) from None


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
