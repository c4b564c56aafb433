"""`coterie bench` and `coterie experiment`, whose rooms may import the coordinator's, but not the reverse."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from coterie.base.errors import UsageError
from coterie.base.lazy_commands import close_to
from coterie.base.registry import at_place

# Everything after NAME is passed to the benchmark or experiment, `--help` included.
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_PASS_ON: dict[str, Any] = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(context_settings=_PASS_ON)
@click.option(
    "--runs",
    type=click.IntRange(1),
    help="Repeat the benchmark, to show the spread of each figure.",
)
@click.option("--save", type=click.Path(path_type=Path), help="Save the result as DIR/NAME.json.")
@click.option("--link", metavar="RATE[,DELAY]", help="Between the parties, e.g. 100mbit,20ms.")
@_JSON
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(
    runs: int | None,
    save: Path | None,
    link: str | None,
    as_json: bool,
    name: str | None,
    arguments: tuple[str, ...],
) -> int:
    """Run the benchmark bench/NAME with its own ARGUMENTS; prints one JSON object.

    Without NAME: lists the benchmarks. With --runs or --save the result has the date, the machine,
    the load of the machine, and the median, lowest and highest of every figure; `coterie bench
    tables` writes the tables of the documents from what --save keeps. With --link the parties are
    joined by a slow link, in a network namespace or through a proxy, and --save adds to
    DIR/links.json.
    """
    folder = Path(next(iter(importlib.import_module("coterie.bench").__path__)))
    known = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    chosen = _chosen("benchmark", name, known, as_json)
    if not chosen:
        return 0
    if link is not None:
        from coterie.bench._link import run_within

        again = [sys.executable, "-m", "coterie", "bench"]
        options = [
            *(["--runs", str(runs)] if runs else []),
            *(["--save", str(save)] if save else []),
        ]
        return run_within(link, [*again, *options, chosen, *arguments])
    main = importlib.import_module(f"coterie.bench.{chosen}").main
    if runs is None and save is None:
        return int(main(list(arguments)))
    return _measured(chosen, main, list(arguments), runs or 1, save)


def _measured(
    name: str, main: Callable[[list[str]], int], arguments: list[str], runs: int, save: Path | None
) -> int:
    """Runs a benchmark several times, and prints and saves the statistics of all runs."""
    from coterie.bench._link import current, with_link
    from coterie.bench.saved_results.figures import stamped
    from coterie.bench.saved_results.surroundings import now, since

    results, before = [], now()
    for _ in range(runs):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = int(main(list(arguments)))
        if code:
            return code
        results.append(json.loads(printed.getvalue()))
    # The saved result names no file or folder of this machine.
    pairs = zip(["", *arguments], arguments, strict=False)
    shown = [a for before, a in pairs if not {before, a} & {"--data", "--peers", "--chart"}]
    result = stamped(results, shown, since(before))
    link = current()
    if link is not None:
        result["measured"]["link"] = str(link)
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        kept = result
        if link is not None:
            name, kept = "links", with_link(save / "links.json", name, link, result)
        (save / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")
    click.echo(json.dumps(result, indent=1))
    return 0


@click.command(context_settings=_PASS_ON)
@_JSON
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def experiment(as_json: bool, name: str | None, arguments: tuple[str, ...]) -> int:
    """Reproduce one of the papers' tables or figures.

    Without NAME: lists the experiments.
    """
    from coterie.experiments.registry import EXPERIMENTS

    chosen = _chosen("experiment", name, sorted(EXPERIMENTS), as_json)
    if not chosen:
        return 0
    given = [*(["--json"] if as_json else []), *arguments]
    return int(at_place(EXPERIMENTS[chosen])(given) or 0)


def _chosen(what: str, name: str | None, known: list[str], as_json: bool) -> str | None:
    if name is None:
        click.echo(json.dumps({f"{what}s": known}) if as_json else "\n".join(known))
        return None
    if name not in known:
        hint = close_to(name, known) or f"; there are: {', '.join(known) or 'none'}"
        raise UsageError(f"no {what} '{name}'{hint}")
    return name
