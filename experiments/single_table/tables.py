"""What the experiments on one table have in common: the Adult table, tables in Markdown, files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.table.table import Table
from coterie.base.errors import EnvironmentFaultError
from coterie.experiments.secure_data_integration.adult_data import (
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
)

WITH_AGE = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex",
    "native-country",
)  # fmt: skip


def training_table(data: Adult, names: Sequence[str]) -> Table:
    """The complete training records of Adult."""
    rows = np.arange(data.training)
    return Table(tuple(column.take(rows) for column in data.columns(names)))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(map(_text, line)) + " |" for line in lines]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def experiment(
    name: str,
    about: str | None,
    run: Callable[[Adult, bool], dict[str, Any]],
    markdown: Callable[[dict[str, Any]], str],
    argv: list[str] | None,
) -> int:
    """Runs an experiment on Adult and leaves NAME.json and NAME.md in a folder."""
    parser = argparse.ArgumentParser(prog=f"coterie experiment {name}", description=about)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, default=Path(f"{name}-out"), help="folder for files")
    parser.add_argument("--quick", action="store_true", help="a few values of k instead of all")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args(argv)
    result = run(load_adult(adult_folder(options.data)), options.quick)
    text = markdown(result)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        (options.out / f"{name}.md").write_text(text)
    except OSError as error:
        raise EnvironmentFaultError(f"{options.out}: {error.strerror}") from None
    print(json.dumps(result) if options.json else text)
    return 0
