"""The commands for one organisation's own table: arguments and output only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from coterie.base.errors import UsageError
from coterie.base.options import FORCE, JSON, SPREADSHEET, TABLE, names_of, print_result

_ALPHA = click.option(
    "--alpha",
    default=0.2,
    show_default=True,
    help="Share of unique people that makes a quasi-identifier.",
)


def _size(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    from coterie.base.sizes import read_bytes

    try:
        return None if text is None else read_bytes(text)
    except ValueError as error:
        raise UsageError(f"--memory {error}") from None


HTML = click.option("--html", "page", type=click.Path(path_type=Path), help="Also write this page.")
MEMORY = click.option(
    "--memory",
    metavar="SIZE",
    callback=_size,
    help="Memory to use, such as 4GB (default: half of the machine's); a larger table stays on disk.",
)


@click.command()
@TABLE
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the result; TABLE-anonymised, without the suffix, by default.",
)
@click.option(
    "--qid", metavar="A,B,...", help="For a data file: the columns by which people could be found."
)
@click.option(
    "--k",
    type=click.IntRange(1),
    help="For a data file: at least this many records share their values.",
)
@FORCE
@click.option("--parquet", is_flag=True, help="Also write the release as release.parquet.")
@SPREADSHEET
@MEMORY
@click.option(
    "--compute",
    metavar="dask://HOST:PORT",
    help="Cut the table on the workers of this Dask cluster; for mondrian.",
)
@JSON
def anonymise(
    table: Path,
    out: Path | None,
    qid: str | None,
    k: int | None,
    force: bool,
    parquet: bool,
    spreadsheet: bool,
    memory: int | None,
    compute: str | None,
    as_json: bool,
) -> None:
    """Make an anonymous release of one table, as described in the table file TABLE.

    TABLE may also be a data file (.csv, .parquet): 'coterie advise' then chooses what --qid and --k
    leave open. A column with a different value in every record is left out, and columns in no qid are
    released unchanged.

    Nothing is written before the release is whole and has been audited.
    """
    from coterie.base.sizes import half_of_the_memory
    from coterie.onetable.methods.reading import load_table_file
    from coterie.onetable.methods.registry import table_method
    from coterie.onetable.methods.results import write_release
    from coterie.onetable.released import choices

    out = out or Path(f"{table.stem}-anonymised")
    if table.suffix.lower() in (".yaml", ".yml"):
        if qid is not None or k is not None:
            raise UsageError(
                f"{table}: a table file has its own qids and k; --qid and --k are for data files"
            )
        file = load_table_file(table)
    else:
        from coterie.onetable.advice.advise import proposed_table
        from coterie.onetable.advice.suggestion import Wishes

        file = proposed_table(table, Wishes(qid=tuple(dict.fromkeys(names_of(qid))), k=k))
        for line in () if as_json else choices(file):
            click.echo(line)
    budget = half_of_the_memory() if memory is None else memory
    with table_method(file.method).release(file, budget, compute) as made:
        write_release(made, out, force, spreadsheet, parquet)
        print_result(made.result, as_json, lambda: made.lines(out))


@click.command()
@TABLE
@click.option("--columns", metavar="A,B,...", help="Inspect these columns only, in this order.")
@click.option(
    "--population", type=click.IntRange(1), metavar="N", help="People that the table is drawn from."
)
@_ALPHA
@click.option(
    "--mask",
    metavar="separation=0.8",
    help="Which columns to withhold, so that the others separate at most this share of "
    "pairs; or distinct=0.5.",
)
@click.option(
    "--epsilon",
    default=0.001,
    show_default=True,
    help="Share of pairs that a sampled key may fail to separate.",
)
@click.option(
    "--delta", default=0.01, show_default=True, help="Probability that a sample misleads."
)
@click.option(
    "--k",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="Group size for which the cost of --columns is measured.",
)
@click.option(
    "--sensitive",
    multiple=True,
    metavar="NAME",
    help="List the rules that reveal most about this column; repeatable.",
)
@click.option("--seed", type=int, help="The same seed gives the same samples; for tests only.")
@MEMORY
@HTML
@JSON
def inspect(
    table: Path,
    columns: str | None,
    mask: str | None,
    page: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Show which columns of TABLE identify people.

    TABLE is a data file (.csv, .parquet) or a table file (.yaml). Nothing leaves this machine.
    """
    from coterie.jobs.data.sources import file_source, remarks
    from coterie.onetable.inspection.inspect import inspect_path
    from coterie.onetable.inspection.page import inspection_page
    from coterie.onetable.inspection.report import lines
    from coterie.onetable.inspection.settings import Settings, read_mask

    settings = Settings(mask=read_mask(mask) if mask else None, **given)
    found = inspect_path(table, names_of(columns), settings)
    if page is not None:
        page.write_text(inspection_page(found, str(table)), encoding="utf-8")
    if table.suffix.lower() not in (".yaml", ".yml"):
        for remark in remarks(file_source(table)):
            click.echo(f"warning: {remark}", err=True)
    print_result(found, as_json, lambda: lines(found))


@click.command()
@TABLE
@click.option(
    "--population",
    type=click.IntRange(1),
    metavar="N",
    help="People that the table is drawn from; without it, its own records.",
)
@click.option(
    "--crowd",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="People who must share a record's values.",
)
@click.option("--beta", default=0.1, show_default=True, help="Probability that there are fewer.")
@_ALPHA
@click.option(
    "--known",
    type=click.IntRange(1),
    metavar="B",
    help="Assume that nobody knows more than B columns of a person: several small qids.",
)
@click.option(
    "--smallest-k", default=5, show_default=True, type=click.IntRange(1), help="No k below this."
)
@click.option(
    "--policy", type=click.Path(path_type=Path), help="Take the smallest k from this party file."
)
@click.option("--sensitive", multiple=True, metavar="NAME", help="A column to protect; repeatable.")
@click.option("--class", "class_name", metavar="NAME", help="The class, for a data file.")
@click.option(
    "--id",
    "identifiers",
    multiple=True,
    metavar="NAME",
    help="A column to leave out, for a data file; repeatable.",
)
@click.option(
    "--identified",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The result of an identify job, in place of the tables of a job.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the YAML to this file.")
@JSON
def advise(
    table: Path,
    policy: Path | None,
    out: Path | None,
    identified: Path | None,
    as_json: bool,
    smallest_k: int,
    **given: Any,
) -> None:
    """Propose the requirement for TABLE, as YAML with a comment on each line.

    TABLE is a data file, a table file or the job file of an integrate job whose tables, or the
    result of an identify job about them, are at hand.
    """
    from coterie.onetable.advice.advise import advise as work
    from coterie.onetable.advice.advise import smallest_of_policy
    from coterie.onetable.advice.suggestion import Wishes

    if policy is not None:
        smallest_k = max(smallest_k, smallest_of_policy(policy))
    found = work(table, Wishes(smallest_k=smallest_k, **given), out, identified)
    if out is not None:
        if out.exists():
            raise UsageError(f"{out}: exists already; choose another --out")
        out.write_text(found["yaml"], encoding="utf-8")
    print_result(found, as_json, lambda: found["yaml"].splitlines())


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--known",
    required=True,
    type=click.Path(path_type=Path),
    help="A table with what an outsider knows about people.",
)
@click.option("--columns", metavar="A,B,...", help="Link on these columns only.")
@HTML
@JSON
def attack(
    folder: Path, known: Path, columns: str | None, page: Path | None, as_json: bool
) -> None:
    """Link the release in FOLDER with a table of known people.

    Shows who can be found, how surely, and which other values of a person become known. FOLDER is
    the result of anonymise or of an integrate job; columns are matched by their names.
    """
    from coterie.jobs.data.sources import file_source
    from coterie.onetable.attack.attack import attack as work
    from coterie.onetable.attack.attack import lines
    from coterie.onetable.attack.page import attack_page

    result = work(folder, file_source(known), names_of(columns))
    if page is not None:
        page.write_text(attack_page(result, str(folder), str(known)), encoding="utf-8")
    print_result(result, as_json, lambda: lines(result))


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="A table to build from.")
@click.option("--column", help="The column of that table.")
@click.option(
    "--prefix", metavar="3,1", help="Prefixes of these lengths, for example of postal codes."
)
@click.option("--codes", metavar="FILE", help="A catalogue such as ICD, with lines of code;parent.")
@click.option("--dates", is_flag=True, help="Month, year, decade of dates.")
@click.option("--equal", metavar="5,10,20", help="Numbers in bands of these widths.")
@click.option("--quantile", metavar="8,4,2", help="Numbers in this many bands of equal size.")
@click.option("--cuts", metavar="18,30,65/18,65", help="Numbers between cuts, finest level first.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the taxonomy to this file.")
@JSON
def taxonomy(
    file: Path | None,
    data: Path | None,
    column: str | None,
    out: Path | None,
    as_json: bool,
    **ways: Any,
) -> None:
    """Draw the taxonomy FILE, or build one from a column of a table and draw or write it.

    Each line of a taxonomy is a path from a leaf to the root, separated by `;`, as in
    hierarchies of ARX.
    """
    from coterie.onetable.taxonomies import as_csv, build, drawn, load

    chosen = {name: value for name, value in ways.items() if value}
    if file is not None:
        if data or column or chosen or out:
            raise UsageError("FILE is only drawn; to build a taxonomy, leave FILE out")
        found = load(file)
        click.echo(json.dumps(_tree(found)) if as_json else "\n".join(drawn(found)))
        return
    if data is None or column is None or len(chosen) != 1:
        raise UsageError(
            "name a FILE to draw, or --data, --column and one of --prefix, --codes, --dates, "
            "--equal, --quantile, --cuts"
        )
    (way, detail), *_ = chosen.items()
    paths = build(data, column, way, str(detail))
    if out is None:
        from coterie.anonymity.table.taxonomy import taxonomy_of

        built = taxonomy_of(paths)
        click.echo(json.dumps(_tree(built)) if as_json else "\n".join(drawn(built)))
        return
    out.write_text(as_csv(paths), encoding="utf-8")
    told = {"values": len(paths), "out": str(out)}
    click.echo(json.dumps(told) if as_json else f"{len(paths):,} values: {out}")


def _tree(found: Any, node: int = 0) -> dict[str, Any]:
    """A taxonomy as nested values."""
    below = [_tree(found, child) for child in found.children[node]]
    return {"value": found.labels[node], **({"children": below} if below else {})}
