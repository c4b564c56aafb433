"""`coterie init table|job|party`: arguments, questions and output.

Where the input is a terminal, whatever the command line leaves open is asked, with the guess as the
answer for an empty line; otherwise the guess is taken.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coterie.base.addresses import port_of
from coterie.base.errors import CoterieError, UsageError
from coterie.base.lazy_commands import resolved
from coterie.base.names import RULE, is_name
from coterie.base.options import JSON, names_of, print_result

if TYPE_CHECKING:
    from coterie.onetable.starting.look import Looked

_Answer = TypeVar("_Answer")
_DATA = click.argument("data", required=False)
_SHEET = click.option("--table", metavar="NAME", help="The table of a database, or the sheet.")
_ID = click.option(
    "--id", "identifier", metavar="A,B,...", help="The columns that identify people."
)
_CLASS = click.option("--class", "class_name", metavar="NAME", help="The column of the class.")
_POPULATION = click.option(
    "--population", type=click.IntRange(1), help="People that the table is drawn from."
)
_FORCE = click.option("--force", is_flag=True, help="Replace the file if it exists.")


def _out(default: str) -> Callable[[Any], Any]:
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=Path(default),
        show_default=True,
        help="The file to write.",
    )


class _Init(click.Group):
    """The group, which answers DATA in the place of a command by what could be meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        first = args[0]
        if first not in self.commands and ("=" in first or Path(first).exists() or "://" in first):
            raise UsageError(
                f"say what to write about it: coterie init table {first}, or coterie init party "
                f"{first}, or coterie init job NAME={first} NAME=OTHER"
            )
        return resolved(super().resolve_command, self.commands, ctx, args)


@click.group(cls=_Init)
def init() -> None:
    """Write a first table, job or party file from the data at hand.

    Every line of the file is explained. DATA is a CSV, Parquet or spreadsheet file, a SQLite or
    DuckDB database, or the address of a PostgreSQL database. At a terminal, what the command line
    leaves open is asked.
    """


@init.command()
@_DATA
@_SHEET
@click.option("--qid", metavar="A,B,...", help="The columns by which people could be found.")
@click.option("--k", type=click.IntRange(1), help="At least this many records share their values.")
@_ID
@_CLASS
@click.option("--sensitive", multiple=True, metavar="NAME", help="A column to protect; repeatable.")
@_POPULATION
@_out("table.yaml")
@_FORCE
@JSON
def table(
    data: str | None,
    table: str | None,
    qid: str | None,
    k: int | None,
    identifier: str | None,
    class_name: str | None,
    sensitive: tuple[str, ...],
    population: int | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write a table file for 'coterie anonymise', as 'coterie advise' proposes."""
    from coterie.onetable.advice.suggestion import Wishes
    from coterie.onetable.starting.look import roles
    from coterie.onetable.starting.table_text import table_text

    _check_free(out, force)
    looked = _looked(data, table, "The table: a file or the address of a database")
    asked = _asks() and qid is None
    if asked:
        usable = [column.name for column in roles(looked, names_of(identifier)).usable]
        columns = _columns_of(looked)
        known = _ask("Columns that a stranger could know", _written(usable), columns)
        qid = _written(known)
        sensitive = sensitive or _ask("Columns to protect, such as a disease", "", columns)
        k = k or _ask("People who should be equal at least (k); empty: as advised", "", _number)
    chosen = [n for n in names_of(qid) if n not in (*sensitive, class_name, *names_of(identifier))]
    wishes = Wishes(
        population=population,
        sensitive=sensitive,
        class_name=class_name,
        identifiers=tuple(names_of(identifier)),
        qid=tuple(dict.fromkeys(chosen if asked else names_of(qid))),
        k=k,
    )
    text, _ = table_text(looked, wishes, out)
    _write(out, text, as_json, f"coterie anonymise {out}")


@init.command()
@click.argument("parties", nargs=-1, metavar="[NAME=DATA]...")
@click.option(
    "--address", "addresses", multiple=True, metavar="NAME=HOST:PORT", help="A party's server."
)
@click.option("--name", help="The job's name.  [default: the parties' names]")
@_ID
@_CLASS
@_POPULATION
@_out("job.yaml")
@_FORCE
@JSON
def job(
    parties: tuple[str, ...],
    addresses: tuple[str, ...],
    name: str | None,
    identifier: str | None,
    class_name: str | None,
    population: int | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write a job file of kind integrate, from a table of each party or one that looks like it.

    A party is NAME=DATA; a table of a database or a sheet is NAME=DATA#TABLE.
    """
    from coterie.onetable.advice.suggestion import Wishes
    from coterie.onetable.starting.job_text import JobPlan, job_text
    from coterie.onetable.starting.look import common_id, look

    _check_free(out, force)

    def tables_of(texts: Sequence[str], earlier: Mapping[str, Looked]) -> dict[str, Looked]:
        given = _pairs(texts, "NAME=DATA", earlier)
        return {party: look(*_with_table(place)) for party, place in given.items()}

    tables = tables_of(parties, {})
    while _asks() and len(tables) < 2:
        question = f"Party {len(tables) + 1}, as NAME=FILE"
        tables.update(_ask(question, None, lambda text: tables_of([text], tables)))
    known = _pairs(addresses, "NAME=HOST:PORT")
    if stray := [party for party in known if party not in tables]:
        raise UsageError(f"--address {stray[0]}: is not a party of the job")
    if _asks():
        for party in tables:
            question = f"Address of the server of {party}"
            if party not in known and (place := _ask(question, "", _address)):
                known[party] = place
        if identifier is None and len(tables) > 1:
            try:
                guess: str | None = common_id(list(tables.values()))
            except UsageError as error:
                if not set.intersection(*(set(table.names) for table in tables.values())):
                    raise
                click.echo(f"{error}", err=True)
                guess = None
            columns = _columns_of(*tables.values())
            identifier = _written(_ask("Column that identifies people", guess, columns))
    for place in known.values():
        _address(place)
    plan = JobPlan(
        tables,
        known,
        tuple(names_of(identifier)),
        class_name,
        name or "-".join(tables),
        Wishes(population=population),
    )
    _write(out, job_text(plan, out), as_json, f"coterie simulate {out} --out try")


@init.command()
@_DATA
@_SHEET
@click.option("--name", help="This organisation, as in its certificate.")
@click.option(
    "--peer", "peers", multiple=True, metavar="NAME=HOST:PORT", help="A partner; repeatable."
)
@click.option(
    "--coordinator",
    "coordinators",
    multiple=True,
    metavar="NAME",
    help="Who may propose jobs, by certificate; repeatable.",
)
@click.option("--listen", default="0.0.0.0:7000", show_default=True, help="Where to listen.")
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    help="Folder of NAME.crt, NAME.key and ca.crt.  [default: NAME beside --out, or its folder]",
)
@_ID
@_CLASS
@_POPULATION
@_out("party.yaml")
@_FORCE
@JSON
def party(
    data: str | None,
    table: str | None,
    name: str | None,
    peers: tuple[str, ...],
    coordinators: tuple[str, ...],
    listen: str,
    certificates: Path | None,
    identifier: str | None,
    class_name: str | None,
    population: int | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write a party file: the server of one organisation, and a policy of what may leave."""
    from coterie.onetable.advice.suggestion import Wishes
    from coterie.onetable.starting.look import candidates_for_id
    from coterie.onetable.starting.party_text import PartyPlan, party_text
    from coterie.onetable.starting.place import relative

    _check_free(out, force)
    looked = _looked(data, table, "The table: a file or the address of a database")
    if name is None:
        if not _asks():
            raise UsageError("--name is missing: this organisation, as in its certificate")
        name = _ask("This organisation, as in its certificate", None, _name)
    partners = _partners(peers, {})
    if _asks():
        question = "A partner, as NAME=HOST:PORT; empty: no other"
        while not peers and (more := _ask(question, "", lambda text: _partners([text], partners))):
            partners.update(more)
        if not coordinators:
            coordinators = _ask("Who may propose jobs", "analyst", _names)
        if identifier is None:
            guess = _written(candidates_for_id(looked)[:1])
            columns = _columns_of(looked)
            identifier = _written(_ask("Column that identifies people", guess, columns))
    for each in (name, *coordinators):
        _name(each)
    made = out.parent / name  # where 'coterie certs issue NAME --dir FOLDER' makes them
    issued = made if (made / f"{name}.crt").is_file() else out.parent
    folder = issued if certificates is None else certificates
    plan = PartyPlan(
        looked,
        name,
        partners,
        coordinators or ("analyst",),
        tuple(names_of(identifier)),
        class_name,
        listen,
        Path(relative(folder, out.parent)),
        Wishes(population=population),
    )
    steps = [] if (folder / f"{name}.crt").exists() else [_certificate(name, folder)]
    _write(out, party_text(plan, out), as_json, *steps, f"coterie party check {out}")


def _certificate(name: str, folder: Path) -> str:
    return f"coterie certs request {name} --out {folder}"


def _looked(data: str | None, table: str | None, question: str) -> Looked:
    """The table that is named, or asked for; so is one of several tables."""
    if data is None:
        if not _asks():
            raise UsageError("DATA is missing: name a file, or the address of a database")
        data, found = _ask(question, None, lambda text: (text, _one_of(text, table)))
    else:
        found = _one_of(data, table)
    if _asks():
        click.echo(f"{data}: {found.described()}: {', '.join(found.names)}")
    return found


def _one_of(data: str, table: str | None) -> Looked:
    from coterie.onetable.starting.look import look
    from coterie.onetable.starting.place import tables_at

    if table is None and _asks() and len(tables := tables_at(data)) > 1:
        return _ask(f"Which of {', '.join(tables)}", tables[0], lambda name: look(data, name))
    return look(data, table)


def _with_table(place: str) -> tuple[str, str | None]:
    """DATA#TABLE, where no file has that name."""
    where, mark, table = place.rpartition("#")
    return (where, table) if mark and not Path(place).exists() else (place, None)


def _asks() -> bool:
    return sys.stdin.isatty()


def _ask(question: str, default: str | None, read: Callable[[str], _Answer]) -> _Answer:
    """The answer as `read` understands it; one that it refuses is asked for again."""

    def answer(text: str) -> _Answer:
        try:
            return read(text.strip())
        except CoterieError as error:
            raise click.UsageError(str(error)) from None

    found: _Answer = click.prompt(
        question, default=default, show_default=bool(default), err=True, value_proc=answer
    )
    return found


def _number(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise UsageError(f"k must be a whole number of at least 1, not '{text}'")
    return int(text)


def _columns_of(*tables: Looked) -> Callable[[str], tuple[str, ...]]:
    """Reads names of columns, which each of the tables must have."""
    from coterie.jobs.data.require import require_columns

    def read(text: str) -> tuple[str, ...]:
        names = tuple(names_of(text))
        for table in tables:
            require_columns(names, table.names, str(table.source))
        return names

    return read


def _written(names: Sequence[str]) -> str:
    """Names of columns as `names_of` reads them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue() if names else ""


def _pairs(texts: Sequence[str], form: str, earlier: Container[str] = ()) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name or not value:
            raise UsageError(f"'{text}' is not of the form {form}")
        if name in found or name in earlier:
            raise UsageError(f"'{name}' is named twice")
        found[_name(name)] = value
    return found


def _partners(texts: Sequence[str], earlier: Container[str]) -> dict[str, str]:
    found = _pairs([text for text in texts if text], "NAME=HOST:PORT", earlier)
    return {name: _address(place) for name, place in found.items()}


def _names(text: str) -> tuple[str, ...]:
    return tuple(_name(name) for name in names_of(text))


def _name(name: str) -> str:
    if not is_name(name):
        raise UsageError(f"'{name}' is not a name: {RULE}")
    return name


def _address(place: str) -> str:
    if place and port_of(place) is None:
        raise UsageError(f"'{place}' is not HOST:PORT, such as bank.example:7000")
    return place


def _check_free(out: Path, force: bool) -> None:
    if out.exists() and not force:
        raise UsageError(f"{out}: exists already; choose another --out, or replace it with --force")


def _write(out: Path, text: str, as_json: bool, *steps: str) -> None:
    """Writes the file, and says what to do next."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    print_result(
        {"out": str(out), "next": list(steps)},
        as_json,
        lambda: [f"written: {out}", *(f"next: {step}" for step in steps)],
    )
