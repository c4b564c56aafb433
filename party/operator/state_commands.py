"""`coterie party …`: the commands about what a server keeps in its state folder.

All but `forget-history` and `seal` work whether the server serves or not: they read the folder themselves. Only
`prune` and `remove-model`, which remove files, leave that to a server that answers.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import DataError, UnreachableError, UsageError
from coterie.base.text import one_line
from coterie.party.books.audit_check import heads_of, verify
from coterie.party.books.ledger import Ledger
from coterie.party.books.models import ModelFolder
from coterie.party.config import load_party
from coterie.party.desk.connection import SECONDS, Operator
from coterie.party.history.releases import History
from coterie.party.operator.forget_history import forget_history
from coterie.party.operator.options import CONFIG, IDENTITY, JSON, PERSON, print_result
from coterie.party.steward.backup import back_up, restore
from coterie.party.steward.budgets import budget_facts, budget_lines
from coterie.party.steward.opened_audit import seal_books
from coterie.party.steward.remove_model import remove_model_unserved
from coterie.party.steward.retention import prune_unserved, told, would_prune_unserved
from coterie.party.store.database import use_key
from coterie.protos import jobs_pb2 as pb

_PRUNING = 600.0  # seconds that a server may take


@click.command()
@CONFIG
@click.option("--job", help="Only this job: its id, the beginning of it, or its name.")
@JSON
def history(config: Path, job: str | None, as_json: bool) -> int:
    """List what earlier jobs revealed about this party's people.

    Shows numbers of people, the attributes that were counted and the groups that were released, but
    no value. `policy.repeat` judges new jobs by this history.
    """
    entries = History(load_party(config).state).entries()
    if job is not None:
        entries = [one for one in entries if job == one.name or one.job.startswith(job)]
    shown = [one.shown() for one in entries]
    lines = [
        f"{e['job']}  {e['time']}  {e['kind']:<9}  {e['people']:>9,} people  {e['name']} (of "
        f"{e['coordinator']}): {', '.join(e['counted']) or 'nothing counted'}"
        + "".join(f"; {n:,} groups by {qid}" for qid, n in e["groups"].items())
        for e in shown
    ]
    print_result(as_json, {"jobs": shown}, "\n".join(map(one_line, lines)) or "no jobs yet")
    return 0


@click.command("forget-history")
@CONFIG
@PERSON
@JSON
def forget(config: Path, person: str, as_json: bool) -> int:
    """Forget what earlier jobs revealed about this party's people; the audit log notes it.

    Use it if the history is damaged or lost and has no backup: jobs about people then end with an
    error until it is run. Later jobs are no longer compared with the forgotten ones. Stop the server
    first.
    """
    found = forget_history(load_party(config), person)
    print_result(as_json, found, f"{found['forgotten']}: begun anew")
    return 0


@click.command()
@CONFIG
@JSON
def models(config: Path, as_json: bool) -> int:
    """List the models of which this party keeps a part; later jobs may classify people with them.

    Shows who had each model made, by which job and when, with whom, and which of this party's
    columns it uses, but no value or number of the model.
    """
    folder = ModelFolder(load_party(config).state)
    shown: list[dict[str, Any]] = []
    rows: list[str] = []
    for name in folder.names():
        try:
            entry = folder.entry(name)
        except DataError as error:
            shown.append({"name": name, "unreadable": str(error)})
            rows.append(f"{name}  {error}")
            continue
        if entry is None:  # it was pruned meanwhile
            continue
        e = entry.shown()
        shown.append(e)
        rows.append(
            f"{name}  {e['kind']:<8}  {e['kept']}  of {e['coordinator']}, job {e['job']}, with "
            f"{', '.join(e['parties'])}: {', '.join(e['own_columns']) or 'no column of yours'}"
        )
    print_result(as_json, {"models": shown}, "\n".join(map(one_line, rows)) or "no models yet")
    return 0


@click.command("remove-model")
@click.argument("name")
@CONFIG
@IDENTITY
@PERSON
@JSON
def remove_model(name: str, config: Path, identity: Path | None, person: str, as_json: bool) -> int:
    """Remove this party's part of the kept model NAME; the audit log notes it.

    No job can use the model from then on. The command asks the server, if it is running.
    """
    with Operator(config, identity=identity) as operator:
        request = pb.ModelRef(name=name, person=person)
        try:
            answer = operator.call(lambda stub: stub.RemoveModel(request, timeout=SECONDS))
            found = json.loads(answer.json)
        except UnreachableError:
            found = remove_model_unserved(operator.config, name, operator.person or person)
        print_result(as_json, found, f"the model '{name}' is removed")
    return 0


@click.command()
@CONFIG
@IDENTITY
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
@JSON
def prune(config: Path, dry_run: bool, identity: Path | None, as_json: bool) -> int:
    """Remove what is older than `retention` in the party file permits.

    The command asks the server, if it is running; the server also does this every hour.
    """
    with Operator(config, identity=identity) as operator:
        try:
            answer = operator.call(
                lambda stub: (stub.WouldPrune if dry_run else stub.Prune)(
                    pb.PruneRequest(), timeout=_PRUNING
                )
            )
            found = json.loads(answer.json)
        except UnreachableError:
            alone = would_prune_unserved if dry_run else prune_unserved
            found = alone(operator.config)
        print_result(as_json, found, told(found, done=not dry_run))
    return 0


@click.command()
@click.argument("file", metavar="BACKUP.tar", type=click.Path(path_type=Path))
@CONFIG
@JSON
def backup(file: Path, config: Path, as_json: bool) -> int:
    """Copy the state folder into a tar file, also while the server serves."""
    loaded = load_party(config)
    count = back_up(loaded.state, loaded.name, file)
    facts = {"file": str(file), "files": count}
    print_result(
        as_json, facts, f"{file}: {count} files of {loaded.state}; keep it as safe as these"
    )
    return 0


@click.command("restore")
@click.argument("file", metavar="BACKUP.tar", type=click.Path(path_type=Path))
@CONFIG
@JSON
def restore_state(file: Path, config: Path, as_json: bool) -> int:
    """Make the state folder, which must be empty or missing, from a backup.

    Start the server afterwards. Jobs that ran when the backup was made have failed.
    """
    loaded = load_party(config)
    date = restore(file, loaded.name, loaded.state)
    facts = {"state": str(loaded.state), "backup": date}
    print_result(as_json, facts, f"{loaded.state}: restored as of {date}")
    return 0


@click.command("seal")
@CONFIG
@PERSON
@JSON
def seal(config: Path, person: str, as_json: bool) -> int:
    """Seal the books anew with `books_key` of the party file; the audit log notes it.

    Use it when `books_key` is new, or another one than before. The log also says whether the books were
    as they had been sealed. Stop the server first.
    """
    loaded = load_party(config)
    found = seal_books(loaded, person)
    how = "as they were sealed before" if found["verified"] else "NOT verified before"
    with_key = "with the key" if found["keyed"] else "without a key"
    print_result(as_json, found, f"{loaded.state}: sealed {with_key}; {how}")
    return 0


@click.command()
@CONFIG
@click.option(
    "--against",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A result folder, or a peer's audit log, with heads of this log; repeatable.",
)
@JSON
def audit(config: Path, sources: tuple[Path, ...], as_json: bool) -> int:
    """Check this party's audit log: its hash chain, and the heads that were kept elsewhere.

    The log is always compared with its head file, and the journal, the ledger and the history with
    their heads in the log. If a file was removed, emptied, shortened or rewritten, the exit code is 8;
    a line that a crash left incomplete does not count.
    """
    loaded = load_party(config)
    path = loaded.state / "audit.log"
    anchors = [head for source in sources for head in heads_of(loaded.name, source)]
    use_key(loaded.state, loaded.books_key)
    found = verify(path, loaded.audit_head, anchors)
    text = f"{path}: {found.counted}, unbroken"
    if found.begins:
        text += f"; the first {found.begins} were removed as older than the party keeps them"
    if found.unknown:
        text += f"; {found.unknown} heads kept elsewhere may be of these"
    if anchors:
        text += f"; {found.anchors} heads kept elsewhere are in it"
    if found.books:
        text += "; the journal, the ledger and the history are as it says"
    if found.sealed:
        text += ", sealed with the key of the party file"
    if found.resealed:
        text += (
            f"; WARNING: the books were sealed anew {found.resealed} times: what somebody changed before "
            "is sealed, too, where the lines 'books sealed anew' have 'verified: false'"
        )
    if found.mended or found.torn:
        text += f"; {found.mended + found.torn} lines were torn by crashes"
    if found.headless:
        text += (
            f"; WARNING: at {found.headless} starts the head file was missing or empty, so that lines "
            "before may have been cut off"
        )
    facts = {"file": str(path), **asdict(found)}
    print_result(as_json, facts, text)
    return 0


@click.group(invoke_without_command=True)
@click.option("--config", type=click.Path(path_type=Path), help="The server's party file.")
@JSON
@click.pass_context
def ledger(context: click.Context, config: Path | None, as_json: bool) -> int:
    """Show what this party and its partners have contributed, and how much of its budgets is spent."""
    if context.invoked_subcommand is not None:
        return 0
    if config is None:
        raise click.UsageError("Missing option '--config'.")
    loaded = load_party(config)
    book = Ledger(loaded.state, loaded.name)
    facts = book.as_json() | {"budgets": budget_facts(loaded)}
    print_result(as_json, facts, "\n".join([*book.table(), *budget_lines(loaded)]))
    return 0


@ledger.command()
@click.argument("partner")
@CONFIG
@click.option("--job", help="Only amounts from this job: its id, or the beginning of its id.")
@JSON
def forgive(partner: str, config: Path, job: str | None, as_json: bool) -> int:
    """Forgive PARTNER what it took in jobs that did not finish, and proposals it rejected.

    What a partner owes from jobs that finished stays: it is the balance of both contributions.
    """
    loaded = load_party(config)
    book = Ledger(loaded.state, loaded.name)
    if partner not in book.balances():
        raise UsageError(f"{book.path}: no job with '{partner}' yet")
    use_key(loaded.state, loaded.books_key)
    forgiven = book.forgive(partner, job) / SCALE
    print_result(
        as_json,
        {"partner": partner, "forgiven": forgiven},
        f"forgiven: {forgiven:.6f} that {partner} owed",
    )
    return 0
