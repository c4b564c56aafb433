"""`coterie bench` and `coterie experiment`, whose parts lie in rooms above the coordinator's."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click

from coterie.base.errors import UsageError

# What stands after NAME belongs to the benchmark or experiment, also `--help`.
_PASS_ON: dict[str, Any] = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(context_settings=_PASS_ON)
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(name: str | None, arguments: tuple[str, ...]) -> int:
    """Run the benchmark bench/NAME with its own ARGUMENTS; prints one JSON object.

    Without NAME: lists the benchmarks.
    """
    folder = Path(next(iter(importlib.import_module("coterie.bench").__path__)))
    known = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    chosen = _chosen("benchmark", name, known)
    return (
        int(importlib.import_module(f"coterie.bench.{chosen}").main(list(arguments)))
        if chosen
        else 0
    )


@click.command(context_settings=_PASS_ON)
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def experiment(name: str | None, arguments: tuple[str, ...]) -> int:
    """Make one of the papers' tables or figures again, with its data.

    Without NAME: lists the experiments.
    """
    from coterie.experiments.registry import EXPERIMENTS

    chosen = _chosen("experiment", name, sorted(EXPERIMENTS))
    if not chosen:
        return 0
    module, _, function = EXPERIMENTS[chosen].partition(":")
    return int(getattr(importlib.import_module(module), function)(list(arguments)) or 0)


def _chosen(what: str, name: str | None, known: list[str]) -> str | None:
    if name is None:
        click.echo("\n".join(known))
        return None
    if name not in known:
        raise UsageError(f"no {what} '{name}'; there are: {', '.join(known) or 'none'}")
    return name
