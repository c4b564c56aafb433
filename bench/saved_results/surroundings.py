"""What a benchmark shared the machine with: the load, other programs, and its own priority.

    before = now()
    ...                         # the runs
    measured = since(before)    # keys of a saved result; `sentence` says them in words

Linux only, in part: what a system does not tell is left out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_BUSY = (0, 1, 2, 5, 6)  # user, nice, system, and interrupts, of the fields of /proc/stat


@dataclass(frozen=True)
class Moment:
    """The load, and the processors' time so far: this program's, all that was busy, and all."""

    load: float
    own: float
    busy: float | None
    total: float | None


def now(proc: Path = _PROC) -> Moment:
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    busy = total = None
    try:
        ticks = [int(field) for field in (proc / "stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        ticks = []
    if len(ticks) == 8:
        hertz = os.sysconf("SC_CLK_TCK")
        busy, total = sum(ticks[at] for at in _BUSY) / hertz, sum(ticks) / hertz
    return Moment(os.getloadavg()[0], own, busy, total)


def since(before: Moment, proc: Path = _PROC) -> dict[str, Any]:
    """Under which conditions a program ran from a moment until now.

    load_at_start, load_at_end   load averages of a minute
    others                       the share of all processors' time that other programs used
    nice                         the priority of the process: 0 is the ordinary one, -20 the highest
    group_nice                   the same of its scheduling group, where Linux makes one of each
                                 session (`autogroup`); it counts more than `nice`
    """
    after = now(proc)
    found: dict[str, Any] = {
        "load_at_start": round(before.load, 1),
        "load_at_end": round(after.load, 1),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
    }
    group = _group_nice(proc)
    if group is not None:
        found["group_nice"] = group
    if None not in (before.busy, after.busy, before.total, after.total):
        total = (after.total or 0) - (before.total or 0)
        other = (after.busy or 0) - (before.busy or 0) - (after.own - before.own)
        found["others"] = round(min(max(other / total, 0.0), 1.0), 2) if total > 0 else 0.0
    return found


def _group_nice(proc: Path) -> int | None:
    """The priority of the scheduling group; None where processes are not grouped by session."""
    try:
        enabled = (proc / "sys/kernel/sched_autogroup_enabled").read_text().strip() == "1"
        return int((proc / "self/autogroup").read_text().split()[-1]) if enabled else None
    except (OSError, ValueError, IndexError):
        return None


def sentence(measured: Mapping[str, Any]) -> str:
    """What `since` found, for a caption; empty for a result that has none of it."""
    if "load_at_start" not in measured:
        return ""
    clauses = [
        f"The load was {measured['load_at_start']} at the start and {measured['load_at_end']} at the end"
    ]
    if "others" in measured:
        clauses.append(f"other programs used {measured['others']:.0%} of the processors")
    nice, group = measured["nice"], measured.get("group_nice", 0)
    if not nice and not group:
        priority = "ordinary"
    elif not nice:
        priority = f"that of a scheduling group of nice {group}"
    else:
        priority = f"nice {nice}" + (f" in a scheduling group of nice {group}" if group else "")
    return f"{', '.join([*clauses, f'and the priority was {priority}'])}."
