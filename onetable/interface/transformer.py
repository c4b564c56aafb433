"""A step for scikit-learn's pipelines: it learns a generalization from one frame and applies it to others.

`Generalizer(k=10, taxonomies=…).fit(X).transform(Y)`. `fit` makes the frame k-anonymous by a method
that recodes whole columns, so that a value is always shown in the same way; `transform` shows the
values of any frame in that way. A model needs this: the model is trained on released values and is
later asked about values in the same form. Only the frame that the step was fitted to is k-anonymous;
later records are generalized, and nothing is promised about the size of their groups. No record may
be suppressed, because a step keeps the number of rows.

`transform` keeps the order of the rows, which a pipeline needs: row i of its answer is the person of row
i. It is an input of a model and no release. `release_` is one: its rows are sorted.

The step has the methods of an estimator (`get_params`, `set_params`, `fit`, `transform`, `fit_transform`,
`get_feature_names_out`) without importing scikit-learn. Frames come in through the Arrow interface;
the answer is a NumPy array of texts with the columns of `qid`, which encoders take.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.intervals import Interval, read_interval
from coterie.base.arrays import Array
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.text_form import as_text
from coterie.onetable.interface.frames import Release, anonymise, arrow_table
from coterie.onetable.methods.registry import GENERALIZING, generalizing

WHOLE = tuple(name for name in GENERALIZING if generalizing(name).whole_columns)


class Generalizer:
    """Generalizes columns so that the frame it is fitted to is k-anonymous."""

    def __init__(
        self,
        k: int = 10,
        qid: Sequence[str] | None = None,
        method: str = "incognito",
        taxonomies: Mapping[str, Any] | None = None,
    ) -> None:
        self.k, self.qid, self.method, self.taxonomies = k, qid, method, taxonomies

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("k", "qid", "method", "taxonomies")}

    def set_params(self, **params: Any) -> Generalizer:
        for name, value in params.items():
            if name not in self.get_params():
                raise UsageError(f"Generalizer has no parameter '{name}'")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Generalizer:
        if self.method not in WHOLE:
            raise UsageError(
                f"method '{self.method}' shows one value in several ways, or needs a class; a step "
                f"of a pipeline takes {', '.join(WHOLE)}"
            )
        table = arrow_table(X)
        names = list(self.qid) if self.qid is not None else table.column_names
        row = next(name for at in itertools.count() if (name := f"row {at}") not in names)
        numbers = pa.array(map(str, range(table.num_rows)), pa.string())
        found = anonymise(
            table.select(names).append_column(row, numbers), names, self.k, method=self.method,
            taxonomies={n: t for n, t in (self.taxonomies or {}).items() if n in names}, keep=[row],
        )  # fmt: skip
        self.release_: Release = replace(found, table=found.table.drop_columns([row]))
        rows = pc.cast(found.table.column(row), pa.int64())
        text = as_text(table.select(names), "table").take(rows)
        self.shown_ = {
            name: dict(
                zip(
                    text.column(name).to_pylist(),
                    found.table.column(name).to_pylist(),
                    strict=True,
                )
            )
            for name in names
        }
        return self

    def transform(self, X: Any) -> Array:
        if not hasattr(self, "shown_"):
            raise UsageError("Generalizer: fit it before it transforms")
        text = as_text(arrow_table(X).select(list(self.shown_)), "table")
        columns = [self._column(name, text.column(name)) for name in self.shown_]
        return np.array(columns, object).T.reshape(text.num_rows, len(columns))

    def fit_transform(self, X: Any, y: Any = None, **more: Any) -> Array:
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, names: Any = None) -> Array:
        return np.array(list(self.shown_), object)

    def _column(self, name: str, values: pa.ChunkedArray) -> list[str]:
        known = self.shown_[name]
        intervals = [i for i in map(read_interval, dict.fromkeys(known.values())) if i]
        hidden = set(known.values()) == {"*"}
        found = {}
        for row, value in enumerate(values.to_pylist(), 1):
            if value not in found:
                shown = "*" if hidden else known.get(value) or _within(value, intervals)
                if shown is None:
                    raise DataError(
                        "{column}: {value} was not there when the generalization was learned, and "
                        "no interval holds it",
                        file="table", column=name, rows=[row], value=value,
                    )  # fmt: skip
                found[value] = shown
        return [found[value] for value in values.to_pylist()]


def _within(value: str | None, intervals: Sequence[Interval]) -> str | None:
    """The interval that holds a number that the learned frame did not have."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    for interval in intervals:
        if interval.low <= number < interval.high or (interval.closed and number == interval.high):
            return str(interval)
    return None
