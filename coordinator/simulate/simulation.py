"""Runs a job with every party in this process: the same code as at the servers, in memory."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.base.errors import DataError, PeerLostError, UsageError
from coterie.coordinator.run.progress import Board
from coterie.jobs.data.filtered import left_out, source_of, told
from coterie.jobs.data.sources import Source, read_wanted
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.kept_models import Models, NoModels, ResultModels
from coterie.jobs.kinds.kind import AnyKind
from coterie.jobs.kinds.needs import Needs
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.matching.identifiers import matching_of
from coterie.jobs.matching.would_match import would_match
from coterie.jobs.run.party_run import FINISH, Progress, assemble, run_party
from coterie.jobs.run.received import add_recipients, recipients_of, take_in
from coterie.protocols.messaging.memory import MemoryNetwork
from coterie.protocols.primitives.randomness import Random

LEFT_OUT = "left_out.txt"  # how many rows a party's own filter leaves out, for its steward


def simulate(
    job: Job,
    folder: Path,
    out: Path,
    seed: str | None = None,
    board: Board | None = None,
    kind: AnyKind | None = None,
    sources: Mapping[str, Source] | None = None,
    models: Path | None = None,
    compare: bool = False,
) -> dict[str, Any]:
    """Runs the job on the sources that its parties' entries name, relative to `folder`.

    The same seed gives the same messages. Results are left in `out`, which must exist. `kind`
    replaces the job's own, to let parties deviate; `sources` replace what the job names. `models` is
    the result folder of an earlier simulation, whose parties have kept a model. With `compare` the
    result says what other keys of the job would give.
    """
    board = board or Board(job.party_names, show=False)
    kind = kind or KINDS[job.kind]
    prepared = {}
    tables: dict[str, pa.Table] = {}
    unused: dict[str, dict[str, int]] = {}
    for party in job.parties:
        board.update(party.name, "reading", "read")
        source = source_of(party, folder) if sources is None else sources[party.name]
        wanted = kind.needs(job, party.name)
        table = read_wanted(source, wanted.read, wanted.optional)
        made = kind.prepare(job, party.name, table, str(source))
        kept = _models(models, party.name, wanted)
        prepared[party.name] = kind.recall(job, party.name, made, kept)
        if wanted.matching.by:  # others have no identifiers that could match
            tables[party.name] = table
        if counts := left_out(table):
            unused[party.name] = counts
    hints = identifier_hints(job, tables)
    tables.clear()

    random = Random(seed)
    network = MemoryNetwork(job.party_names)
    errors: list[Exception] = []
    with tempfile.TemporaryDirectory(prefix="coterie-", ignore_cleanup_errors=True) as scratch:
        spaces = {
            name: Workspace(Path(scratch) / name, compute="any", exhibits={})
            for name in job.party_names
        }

        def run(name: str) -> None:
            try:
                run_party(
                    job,
                    prepared.pop(name),
                    network.transport(name),
                    "simulation",
                    random.fork(name),
                    spaces[name],
                    _listener(board, name),
                    kind=kind,
                )
            except Exception as error:
                board.update(name, "failed", board.lines[name].step)
                errors.append(error)
                network.leave(name, f"stopped: {error}")
            else:
                network.leave(name, "has finished and sends nothing more")

        # Daemon threads: after Ctrl-C the process does not wait for a party that is computing.
        threads = [threading.Thread(target=run, args=(name,), daemon=True) for name in spaces]
        for space in spaces.values():
            space.create()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            first = next((e for e in errors if not isinstance(e, PeerLostError)), errors[0])
            raise _with_hints(first, hints)
        for name, space in spaces.items():
            shutil.copytree(space.kept, out / "parties" / name, dirs_exist_ok=True)
            if name in unused:  # a server tells its steward so in its log
                (out / "parties" / name / LEFT_OUT).write_text(told(unused[name]) + "\n")
        released = {name: space.released for name, space in spaces.items()}
        exhibits = {name: space.exhibits or {} for name, space in spaces.items()}
        measured = {
            **kind.measure(job, exhibits),
            **(kind.compare(job, exhibits) if compare else {}),
            **hints,
        }
        result = assemble(job, released, out, measured=measured)
        digests = {
            name: _received(job, name, spaces[name].folder, out) for name in recipients_of(job)
        }
        return add_recipients(result, digests, out)


def _models(folder: Path | None, party: str, wanted: Needs) -> Models:
    """Where a simulated party finds what it has kept of an earlier job."""
    if folder is not None:
        return ResultModels(folder, party)
    if wanted.answers.model is not None:
        raise UsageError(
            f"the job uses the model '{wanted.answers.model}': name the result folder of the simulated job "
            "that kept it, by --models DIR (from Python, models=DIR)"
        )
    return NoModels()


def identifier_hints(job: Job, tables: Mapping[str, pa.Table]) -> dict[str, Any]:
    """What may keep records from matching, and how many would match under each proposed rule."""
    matching = matching_of(job)
    if matching is None:
        return {}
    hints = would_match(matching, tables)
    return {"identifiers": hints} if hints else {}


def _with_hints(error: Exception, hints: Mapping[str, Any]) -> Exception:
    """The error; where too few records may have matched, also the rules under which more would."""
    rules = hints.get("identifiers", {}).get("would_match", [])
    better = [entry for entry in rules if entry["records"]]
    if not better or not isinstance(error, DataError):
        return error
    said = "; ".join(
        f"{entry['records']:,} records would match under '{entry['rule']}'" for entry in better
    )
    return DataError(f"{error}; {said}")


def _received(job: Job, name: str, workspace: Path, out: Path) -> str:
    """What a recipient would be given, checked as it would check it."""
    folder = out / "parties" / name / "received"
    folder.mkdir(parents=True)
    for file in KINDS[job.kind].delivers:
        shutil.copy(out / file, folder / file)
    return take_in(job, name, "", workspace, folder).digest


def _listener(board: Board, name: str) -> Callable[[Progress], None]:
    def listen(progress: Progress) -> None:
        finished = progress.step == FINISH
        board.update(
            name,
            "finished" if finished else "running",
            "" if finished else progress.step,
            progress.done,
            progress.total,
            progress.traffic.sent_bytes,
            progress.traffic.received_bytes,
        )

    return listen
