"""How a job compares with earlier ones about the same people, for the steward who decides on it.

Before a job has run nobody knows which of this party's people it will be about. So each earlier job is
shown with how many of its people are in the party's table still, and with the attributes that the new
job asks for again: an upper bound of what the two could tell together. What they do tell is judged when
the common people are known (`party.history.judgement`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.base.errors import CoterieError
from coterie.jobs.kinds.needs import Needs
from coterie.party.books.people import People
from coterie.party.config import PartyConfig
from coterie.party.history.gate import identified_by
from coterie.party.history.judgement import compared
from coterie.party.history.releases import History
from coterie.party.job_record import Record
from coterie.protos.jobs_pb2 import State

_MOST = 20  # earlier jobs that are listed, the newest first
_NUMBERS = ("smallest_k", "smallest_k_map")  # rules that a larger number of the job satisfies
_WHO = ("coordinators", "peers")  # rules that say who may ask at all: no measure of room


def earlier_jobs(
    history: History, config: PartyConfig, record: Record, needs: Needs
) -> list[dict[str, Any]]:
    """The earlier jobs of the window, the newest first, as `party show --json` has them."""
    by = identified_by(config.policy, needs)
    people = None
    try:
        if by and record.state == State.WAITING and history.entries():
            table = config.source.read(by)
            numbers = People(history.folder, by)
            people = numbers.known(numbers.digests(table, by))
        found = compared(
            history, config.policy.repeat, record.job_id, needs.answers.counted, people, by
        )
    except CoterieError as error:
        return [{"error": str(error)}]
    return found[:_MOST]


def earlier_lines(earlier: Sequence[Mapping[str, Any]]) -> list[str]:
    """The comparison in words, a line for each earlier job."""
    if not earlier:
        return ["earlier jobs about your people: none"]
    return ["earlier jobs about your people:", *(f"  {_line(one)}" for one in earlier)]


def _line(one: Mapping[str, Any]) -> str:
    if "error" in one:
        return f"cannot be compared: {one['error']}"
    still = one["still_here"]
    here = "" if still is None else f", {still:,} of them still in your table"
    again = f"; asks again for {', '.join(one['again'])}" if one["again"] else "; other attributes"
    other = (
        f", in other classes for {', '.join(one['other_classes'])}" if one["other_classes"] else ""
    )
    return (
        f"{one['name']} ({one['kind']}, of {one['coordinator']}, {one['time'][:10]}): "
        f"{one['people']:,} people{here}{again}{other}"
    )


def strictest(rules: Sequence[Mapping[str, Any]]) -> str:
    """The rule that leaves the job the least room, in words: the share of what it permits that is left."""
    found = [(_room(rule), rule) for rule in rules if _room(rule) is not None]
    if not found:
        return ""
    room, rule = min(found, key=lambda pair: pair[0] or 0.0)
    ours, job = rule["policy"], rule["job"]
    if rule["rule"] in _NUMBERS:
        return f"{rule['rule']} {ours}, and the job has {job}" + ("; nothing is left" * (not room))
    used = [job] if isinstance(job, str) else job
    return f"{rule['rule']}, of whose {len(ours)} entries the job needs {len(used)}"


def _room(rule: Mapping[str, Any]) -> float | None:
    """The share of a rule that the job leaves unused; None where that has no meaning."""
    ours, job = rule["policy"], rule["job"]
    if rule["rule"] in _WHO:
        return None
    if rule["rule"] in _NUMBERS:
        return None if not ours else (job - ours) / job
    if not isinstance(ours, list) or not ours or not job:
        return None
    return 1 - len([job] if isinstance(job, str) else job) / len(ours)
