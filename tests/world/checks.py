"""What must hold of a world when it has come to rest.

Every command has ended, with the release of an undisturbed run or with a named error; every server
stands by what it told; nothing is left that should be gone: threads, places in the queue, kept
answers, temporary files; the books are whole, and say what happened.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger import Ledger
from coterie.party.books.models import ModelFolder
from coterie.party.job_record import ENDED
from coterie.party.records import Book
from coterie.party.store.database import FILE, database
from coterie.protos import jobs_pb2 as pb
from tests.world.kind import NAME
from tests.world.model import IDLE, Command, World
from tests.world.tasks import HangError


def play(world: World) -> list[str]:
    """Plays the world; what is wrong with it."""
    try:
        world.play()
    except HangError as error:
        return [f"hangs: {error}", *_unexpected(world)]
    wrong = [*_unexpected(world)]
    try:
        wrong += _found(world)
    except CoterieError as error:
        wrong.append(f"a book cannot be read: {error}")
    return wrong


def _unexpected(world: World) -> Iterator[str]:
    for where, error in (*world.time.errors, *world.network.unnamed):
        yield f"unnamed error at {where}: {error!r}"
    yield from (f"unnamed error in the log of {text}" for text in world.observed.logged)


def _found(world: World) -> Iterator[str]:
    if world.time.errors:
        return
    for command in world.commands:
        yield from _of_command(world, command)
    for key in world.observed.twice:
        yield f"runs twice at once: {key}"
    for (party, job), values in world.observed.drawn.items():
        if len(set(values)) < len(values):
            yield f"{party} used a number of {job} in two attempts"
    for name, most in world.observed.most_running.items():
        if most > world.script.get("running", 4):
            yield f"{name} ran {most} jobs at once"
    yield from world.inside(lambda: list(_of_parties(world)))
    yield from world.promises.broken


def _of_parties(world: World) -> Iterator[str]:
    missing = [name for name in world.names if name not in world.servers]
    if missing:
        yield f"servers do not run: {missing}: {world.trouble[-1:]}"
        return
    yield from _lost_releases(world)
    for name in world.names:
        yield from _of_party(world, name)


def _of_command(world: World, command: Command) -> Iterator[str]:
    what = f"{command.what} of job {command.job}"
    if command.killed:
        return
    error = command.error
    if error is not None:
        if not isinstance(error, CoterieError):
            yield f"{what} ended with an unnamed error: {error!r}"
        elif not str(error).strip() or "\n" in str(error) or "Traceback" in str(error):
            yield f"{what} ended with a text that is no line: {str(error)!r}"
        elif not world.faults.happened and _undisturbed(world):
            yield f"{what} ended undisturbed with: {error}"
    elif command.result is not None:
        yield from _of_release(world, command, what)


def _lost_releases(world: World) -> Iterator[str]:
    """A job that has finished at all its parties can be collected by a coordinator that goes on asking."""
    for number in sorted({command.job for command in world.commands}):
        commands = [command for command in world.commands if command.job == number]
        note = commands[0].out / "run.json"
        if any(command.result is not None for command in commands) or not note.exists():
            continue
        job = json.loads(note.read_text())["job"]
        states = {dict(world.jobs_of(party)).get(job) for party in commands[0].parties}
        if states == {"FINISHED"}:
            yield f"job {number} has finished everywhere, and cannot be had: {commands[-1].error}"


def _undisturbed(world: World) -> bool:
    """Whether nobody did anything but run jobs."""
    quiet = {"run", "prune", "list", "clock"}
    return {step.get("do") for step in _steps(world)} <= quiet


def _of_release(world: World, command: Command, what: str) -> Iterator[str]:
    told = json.loads((command.out / "result.json").read_text())
    if world.stage.kind != NAME:
        expected = world.script.get("expected")
        found = comparable(world.stage.kind, command.out)
        if expected is not None and found != expected:
            yield f"{what} came to another release: {found} instead of {expected}"
        return
    for key, value in world.stage.expected(command.parties).items():
        if told.get(key) != value:
            yield f"{what} came to another release: {key} is {told.get(key)}, not {value}"
    job = told["job"]["id"]
    yield from _of_delivery(world, command, told, what)
    for party, serial in zip(command.parties, told.get("serials", ()), strict=False):
        if serial not in world.observed.drawn.get((party, job), {serial}):
            yield f"{what}: its release has a number that {party} did not draw"


def _of_delivery(world: World, command: Command, told: dict[str, Any], what: str) -> Iterator[str]:
    """Every recipient that acknowledged the result has it."""
    if sorted(told.get("recipients", ())) != sorted(command.recipients):
        yield f"{what} names other recipients: {told.get('recipients')}"
    wanted = (command.out / "total.csv").read_bytes()
    for name in told.get("recipients", ()):
        folder = world.root / name / "jobs" / told["job"]["id"]
        try:
            kept = (folder / "received" / "total.csv").read_bytes()
            noted = json.loads((folder / "reception.json").read_text())["digest"]
        except OSError as error:
            kept, noted = b"", str(error)
        if kept != wanted or noted != told["recipients"][name]:
            yield f"{name} does not have the result that it acknowledged: {what}: {noted}"


def comparable(kind: str, out: Path) -> dict[str, Any]:
    """What two undisturbed runs of a real kind have in common."""
    from tests.jobs.run.resumed_jobs import RANDOM
    from tests.party.mortals import release

    return {key: value for key, value in release(out).items() if key not in RANDOM.get(kind, ())}


def _of_party(world: World, name: str) -> Iterator[str]:
    server, state = world.servers[name], world.root / name
    names = Counter(task.name for task in world.processes[name].tasks)
    left = {key: count for key, count in names.items() if key not in IDLE or count > 1}
    if left:
        yield f"{name}: threads are left: {left}"
    if server._worker.turns._queue._entries:
        yield f"{name}: places are left in the queue"
    if server._worker._threads or server._worker._began_under:
        yield f"{name}: jobs are left in the worker"
    records = {record.job_id: record for record in server._book.all()}
    for job, record in records.items():
        if record.state not in ENDED:
            yield f"{name}: job {job} has not ended: {pb.State.Name(record.state)}"
        if record.resumable:
            yield f"{name}: job {job} was not given up"
    yield from _of_files(name, state)
    yield from _of_party_file(world, name, state)
    yield from _of_books(world, name, state, records)


def _of_files(name: str, state: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(state):
        for found in sorted((*folders, *files)):
            own = f"{folder}/{found}"[len(str(state)) + 1 :]
            if found.startswith("answers"):
                yield f"{name}: kept answers are left: {own}"
            if found.endswith(".new"):
                yield f"{name}: a file that was being written is left: {own}"
            if found.startswith("receiving-"):
                yield f"{name}: a temporary folder is left: {own}"
    for path in state.iterdir():
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.name.startswith((FILE, "audit")) and mode & 0o077:
            yield f"{name}: {path.name} has the mode {mode:04o}"
    if stat.S_IMODE(state.stat().st_mode) & 0o077:
        yield f"{name}: others can enter the state folder"


def _of_party_file(world: World, name: str, state: Path) -> Iterator[str]:
    """A server works under its newest file that can be read, and has noted those that cannot."""
    newest = world.files.newest(name)
    if newest is None:
        return
    config = world.servers[name].config
    if config.digest != newest.digest or config.identity != newest.identity:
        yield f"{name} does not work under its newest file"
    calm = not world.faults.happened and not any(s.get("do") == "restart" for s in _steps(world))
    noted = '"file refused"' in (state / "audit.log").read_text()
    if calm and name in world.files.refused and not noted:
        yield f"{name}: the audit log does not say that a file was refused"


def _steps(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.script["steps"]
    return found


def _of_books(world: World, name: str, state: Path, records: dict[str, Any]) -> Iterator[str]:
    try:
        verify(state / "audit.log")
    except CoterieError as error:
        yield f"{name}: the audit log: {error}"
        return
    entries = [json.loads(line) for line in (state / "audit.log").read_text().splitlines()]
    noted = {(str(entry.get("job")), entry["event"]) for entry in entries}
    for party, job, event in sorted(world.promises.noted):
        if party == name and (job, event) not in noted:
            yield f"{name}: the audit log does not say that {job} was {event}"
    world.promises.check_start(name, world.servers[name]._book)
    ends = Counter(entry["job"] for entry in entries if entry["event"] == "proposed")
    for job, count in ends.items():
        if count > 1 and job in records:
            accepted = [e for e in entries if e["event"] == "proposed" and e["job"] == job]
            if sum(e["decision"] != "REFUSED" for e in accepted) > 1:
                yield f"{name}: job {job} was accepted {count} times"
    yield from _of_models(world, name, state, records)
    yield from _of_journal(name, state, records)
    yield from _of_ledger(world, name, state, records)


def _of_models(world: World, name: str, state: Path, records: dict[str, Any]) -> Iterator[str]:
    """Whoever finished a job that keeps a model has it, or has noted why not."""
    model = world.stage.keeps
    if model is None:
        return
    noted = '"model not kept"' in (state / "audit.log").read_text()
    finished = any(record.state == pb.FINISHED for record in records.values())
    if finished and not noted and ModelFolder(state).entry(model) is None:
        yield f"{name}: the job has finished, and its model is not kept"


def _of_journal(name: str, state: Path, records: dict[str, Any]) -> Iterator[str]:
    """The journal alone tells what the server knows."""
    told = {job: entry["state"] for job, entry in database(state).named("jobs") if entry}
    known = {job: pb.State.Name(record.state) for job, record in records.items()}
    if told != known:
        differs = {
            j: (told.get(j), known.get(j)) for j in told | known if told.get(j) != known.get(j)
        }
        yield f"{name}: the journal tells other states than the server: {differs}"


def _of_ledger(world: World, name: str, state: Path, records: dict[str, Any]) -> Iterator[str]:
    if world.stage.kind != NAME:
        return
    jobs = Ledger(state, name)._jobs()
    for job, record in records.items():
        booked = jobs.get(job)
        if record.state == pb.FINISHED and (booked is None or not booked.finished):
            yield f"{name}: the ledger does not know that {job} has finished"
        if booked is not None and len({b.mark for b in booked.bookings}) != len(booked.bookings):
            yield f"{name}: the ledger has a contribution twice: {job}"


__all__ = ["Book", "comparable", "play"]
