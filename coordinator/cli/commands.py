"""The coordinator's commands: arguments and output only; what they do is in modules of their own.

Those modules are imported inside the functions, so that `coterie --help` is quick.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from coterie.base.errors import UsageError, VerificationError
from coterie.coordinator.cli import authority

_JOB = click.argument("job", type=click.Path(path_type=Path))
_OUT = click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the result."
)
_FORCE = click.option("--force", is_flag=True, help="Replace an earlier result in that folder.")
_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, also for an error."
)
_IDENTITY = click.option(
    "--identity",
    required=True,
    envvar="COTERIE_IDENTITY",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help="Folder with your NAME.crt, NAME.key and ca.crt.",
)


def _days(default: int) -> Callable[[Any], Any]:
    return click.option(
        "--days",
        default=default,
        show_default=True,
        type=click.IntRange(1, 36500),
        help="Until it expires.",
    )


def _print(value: Any, as_json: bool, lines: Callable[[], list[str]]) -> None:
    click.echo(json.dumps(value) if as_json else "\n".join(lines()))


def _warn(warnings: Iterable[str]) -> None:
    """To the error stream, so that `--json` stays JSON."""
    for text in warnings:
        click.echo(f"warning: {text}", err=True)


@click.command()
@_JOB
@_OUT
@click.option("--seed", help="Same seed, same messages; for tests only. Without it: random.")
@click.option(
    "--deviate",
    "deviations",
    multiple=True,
    metavar="PARTY=WAY",
    help="Compare with a party that deviates: never, from:N, underdeclare or overdeclare.",
)
@_FORCE
@_JSON
def simulate(
    job: Path,
    out: Path,
    seed: str | None,
    deviations: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Run JOB with every party in this process, without network.

    Each party's table is the file that its `data` key names, relative to the job file. The result
    folder is what `coterie run` leaves, and DIR/parties/NAME holds what each party would keep.
    """
    from coterie.coordinator.results.folder import result_folder, summary
    from coterie.coordinator.run.progress import Board
    from coterie.coordinator.simulate.simulation import simulate as work
    from coterie.jobs.kinds.job_file import load_job

    parsed = load_job(job)
    _warn(parsed.warnings)
    if deviations:
        from coterie.coordinator.simulate.deviation.compare import compare, lines

        compared = compare(parsed, job.parent, out, deviations, seed, force)
        _print(compared, as_json, lambda: lines(compared, out))
        return
    with result_folder(out, force), Board(parsed.party_names, show=not as_json) as board:
        result = work(parsed, job.parent, out, seed, board)
    _print(result, as_json, lambda: summary(parsed, result, out))


@click.command()
@_JOB
@_OUT
@_IDENTITY
@click.option(
    "--consent-timeout",
    default=3600.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds to wait for operators who must approve.",
)
@click.option(
    "--heartbeat",
    default=20.0,
    show_default=True,
    type=click.FloatRange(min=1),
    help="Seconds of silence after which a party counts as lost.",
)
@_FORCE
@_JSON
def run(
    job: Path,
    out: Path,
    identity: Path,
    consent_timeout: float,
    heartbeat: float,
    force: bool,
    as_json: bool,
) -> None:
    """Run JOB at its party servers and collect what they release.

    Proposes the job to every party, waits for consent where a party asks its operator, starts it
    everywhere, and shows each party's progress. On the first failure, and on Ctrl-C, the job is
    cancelled at all parties.
    """
    from coterie.coordinator.results.folder import result_folder, summary
    from coterie.coordinator.run.interrupts import Interrupts
    from coterie.coordinator.run.progress import Board
    from coterie.coordinator.run.run_job import Patience, run_job
    from coterie.jobs.kinds.job_file import load_job
    from coterie.trust.identity import find_identity

    parsed = load_job(job)
    _warn(parsed.warnings)
    who = find_identity(identity)
    patience = Patience(consent=consent_timeout, heartbeat=heartbeat)
    with (
        result_folder(out, force),
        Interrupts() as interrupts,
        Board(parsed.party_names, show=not as_json) as board,
    ):
        result = run_job(parsed, out, who, board, patience, interrupts.check)
    _print(result, as_json, lambda: summary(parsed, result, out))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@_IDENTITY
@click.option(
    "--wait",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0),
    help="Seconds for a party that does not answer, or has not finished.",
)
@_JSON
def fetch(folder: Path, identity: Path, wait: float, as_json: bool) -> None:
    """Collect the result of a run that lost its coordinator or a party after the start.

    FOLDER is the run's --out. The result is the one that the run would have left.
    """
    from coterie.coordinator.results.folder import continued_folder, summary
    from coterie.coordinator.run.collect import fetch_later
    from coterie.trust.identity import find_identity

    with continued_folder(folder):
        job, result = fetch_later(folder, find_identity(identity), wait)
    _print(result, as_json, lambda: summary(job, result, folder))


@click.command()
@_JOB
@_IDENTITY
@_JSON
def doctor(job: Path, identity: Path, as_json: bool) -> int:
    """Check everything JOB needs before it starts, one line a check.

    Your job file and certificate; each party's name resolution, port, TLS and certificate, clock,
    version; and whether its policy permits the job and its data fits it. Nothing is started.
    """
    from coterie.base.checks import show
    from coterie.coordinator.run.doctor import examine

    return show(examine(job, identity), as_json, width=12)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The table that a release of one table was made of: checks its measures, too.",
)
@_JSON
def verify(folder: Path, data: Path | None, as_json: bool) -> int:
    """Check a result again: that it holds what its job promises.

    The first line is the verdict, "holds: ..." or "violated: ...", and the exit code says it, too.
    """
    from coterie.coordinator.results.verify import lines
    from coterie.coordinator.results.verify import verify as work

    try:
        result = work(folder, data)
    except VerificationError as error:
        verdict = f"violated: {error}"
        told = {"verdict": verdict, "error": str(error), "exit_code": error.exit_code}
        _print(told, as_json, lambda: [verdict])
        return error.exit_code
    _print(result, as_json, lambda: lines(result))
    return 0


@click.group()
def certs() -> None:
    """Make and check certificates for mTLS."""


for _command in (authority.request, authority.sign, authority.revoke):
    certs.add_command(_command)


@certs.command()
@click.argument("folder", type=click.Path(path_type=Path))
@_days(3650)
@_JSON
def init(folder: Path, days: int, as_json: bool) -> None:
    """Make a local authority in FOLDER: ca.crt, and ca.key, which never leaves it."""
    from coterie.trust.certificates import create_authority

    _print_issued(create_authority(folder, days), as_json)


@certs.command()
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    help="The authority's folder.",
)
@click.option("--host", "hosts", multiple=True, help="Another host name or address; repeatable.")
@_days(365)
@_JSON
def issue(name: str, folder: Path, hosts: tuple[str, ...], days: int, as_json: bool) -> None:
    """Make what the party or coordinator NAME is given.

    That is the folder DIR/NAME with NAME.crt, NAME.key (mode 0600) and ca.crt. An earlier one of
    this name is replaced.
    """
    from coterie.trust.certificates import issue as work

    _print_issued(work(folder, name, hosts, days), as_json)


def _print_issued(issued: Any, as_json: bool) -> None:
    value = {
        "name": issued.name,
        "certificate": str(issued.certificate),
        "key": str(issued.key),
        "expires": f"{issued.expires:%Y-%m-%dT%H:%M:%SZ}",
    }
    _print(
        value,
        as_json,
        lambda: [f"{issued.certificate}: valid until {issued.expires:%Y-%m-%d}", f"{issued.key}"],
    )


@certs.command()
@click.argument("place", type=click.Path(path_type=Path))
@_JSON
def check(place: Path, as_json: bool) -> int:
    """Check a certificate, or all in a folder: expiry, key, permissions, chain."""
    from coterie.base.checks import show
    from coterie.trust.certificates import check_place

    return show(check_place(place), as_json)


@click.command()
@click.option(
    "--out",
    default=Path("demo-out"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for everything; an earlier demo there is replaced.",
)
@click.option("--people", default=3000, show_default=True, help="Size of the population.")
@click.option("--seed", default=7, show_default=True, help="Another seed, other people.")
@click.option("--kind", help="Kind of job: intersect or integrate.")
@click.option("--prepare-only", is_flag=True, help="Write the files; start nothing.")
@click.option(
    "--layout",
    default="local",
    show_default=True,
    type=click.Choice(["local", "compose"]),
    help="Addresses and folders as on this machine or as in docker-compose.yml.",
)
@_JSON
def demo(
    out: Path,
    people: int,
    seed: int,
    kind: str | None,
    prepare_only: bool,
    layout: str,
    as_json: bool,
) -> None:
    """Three organisations on this machine, from data to release.

    Generates a population for a loan case, starts a lender's, a bank's and a card company's server
    on the loopback interface over mTLS, runs doctor and one job among them, and stops them.
    """
    from coterie.coordinator.demo import demo as work
    from coterie.coordinator.results.folder import summary
    from coterie.coordinator.run.interrupts import Interrupts

    def tell(text: str) -> None:
        if not as_json:
            click.echo(text, err=True)

    if layout == "compose" and not prepare_only:
        raise UsageError("--layout compose writes files for containers; add --prepare-only")
    place = work.Layout.compose() if layout == "compose" else work.Layout.local()
    work.prepare(out, people, seed, kind or work.default_kind(), place)
    tell(f"{people:,} people, three organisations and an analyst are in {out}\n")
    if prepare_only:
        return
    with Interrupts() as interrupts:
        job, result = work.play(out, tell, not as_json, interrupts.check)
    tell("")
    _print(result, as_json, lambda: summary(job, result, out / "result"))
    if job.kind == "intersect":
        tell(f"each organisation's list of common records stays with it, in {out}/NAME/state")
