"""`coterie perturb` and `coterie reconstruct`: their arguments and output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from coterie.base.options import FORCE, JSON, OUT, SPREADSHEET, TABLE, print_result


@click.command()
@TABLE
@OUT
@SPREADSHEET
@FORCE
@JSON
def perturb(table: Path, out: Path, spreadsheet: bool, force: bool, as_json: bool) -> None:
    """Add noise to every column of a table, and measure what the noise really hides.

    TABLE is a file with 'method: perturb'. The release is good for distributions: 'coterie
    reconstruct' estimates them from it.
    """
    from coterie.onetable.methods.perturb.keys import load_perturb_file
    from coterie.onetable.methods.perturb.run import perturb_file
    from coterie.onetable.methods.results import write_release

    noisy = perturb_file(load_perturb_file(table))
    write_release(noisy, out, force, spreadsheet)
    print_result(noisy.result, as_json, lambda: noisy.lines(out))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--method",
    type=click.Choice(["em", "bayes"]),
    default="em",
    show_default=True,
    help="Expectation maximization, or the Bayes iteration.",
)
@click.option(
    "--bins",
    default=40,
    show_default=True,
    type=click.IntRange(2, 400),
    help="Bins of every column of numbers.",
)
@click.option("--by-class", is_flag=True, help="Also the distributions of each class.")
@click.option(
    "--classify",
    "tried",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Try naive Bayes from these distributions on a table without noise.",
)
@JSON
def reconstruct(folder: Path, tried: Path | None, as_json: bool, **given: Any) -> None:
    """Estimate the distributions of the columns in FOLDER before noise was added.

    FOLDER is the result of 'coterie perturb'; its release.csv and noise.json are enough.
    """
    from coterie.onetable.methods.perturb.reconstruct import Settings, lines, reconstruct_folder

    found = reconstruct_folder(folder, Settings(**given), tried)
    print_result(found, as_json, lambda: lines(found))
