"""`coterie.inspect(df)`: what in a frame identifies people, from pandas, polars or Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.base.errors import UsageError
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.text_form import as_text
from coterie.onetable.coded import coded_table
from coterie.onetable.inspection.inspect import inspect_table
from coterie.onetable.inspection.report import Inspection
from coterie.onetable.inspection.settings import Settings, read_mask
from coterie.onetable.interface.frames import arrow_table

_NAME = "table"


def inspect(
    frame: Any,
    columns: Sequence[str] = (),
    *,
    population: int | None = None,
    mask: str | None = None,
    alpha: float = 0.2,
    epsilon: float = 0.001,
    delta: float = 0.01,
    k: int = 10,
    seed: int | None = None,
) -> Inspection:
    """A mapping with the keys of `coterie inspect --json`; notebooks show it as HTML."""
    table = arrow_table(frame)
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise UsageError(f"{_NAME}: has the column '{name}' twice")
    names = list(columns) or list(table.column_names)
    if not names:
        raise UsageError(f"{_NAME}: has no columns")
    require_columns(names, table.column_names, _NAME)
    settings = Settings(
        population, alpha, epsilon, delta, read_mask(mask) if mask else None, k, seed
    )
    text = as_text(table.select(names), _NAME)
    return Inspection(inspect_table(coded_table([text], names, _NAME), settings, qid=columns))
