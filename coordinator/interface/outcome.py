"""What a job from Python returns: its numbers, its table, its report."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from coterie.base.errors import UsageError
from coterie.jobs.results.report import REPORT

_HEIGHT = 640  # pixels of the report in a notebook


class Outcome(Mapping[str, Any]):
    """The result of a job: a mapping with the keys of `result.json`. Notebooks show its report."""

    def __init__(
        self, result: Mapping[str, Any], folder: Path, kept: TemporaryDirectory[str] | None = None
    ) -> None:
        self._result = dict(result)
        self.folder = folder
        self._kept = kept  # a temporary folder is removed when nobody holds the outcome any more

    def __getitem__(self, key: str) -> Any:
        return self._result[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._result)

    def __len__(self) -> int:
        return len(self._result)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._result)

    def __fspath__(self) -> str:
        """An outcome stands for its folder wherever a path is wanted, as in `coterie.verify`."""
        return str(self.folder)

    @property
    def table(self) -> pa.Table:
        """The release as an Arrow table of text."""
        path = self.folder / "release.csv"
        if not path.exists():
            raise UsageError("a job of this kind releases no table")
        names = pacsv.read_csv(path).column_names
        types = pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        )
        return pacsv.read_csv(path, convert_options=types)

    def to_pandas(self) -> Any:
        _library("pandas")
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        return _library("polars").from_arrow(self.table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow interface, by which polars, DuckDB and others take the release."""
        return self.table.__arrow_c_stream__(requested_schema)

    @property
    def report(self) -> str:
        """The page `report.html`, which loads nothing."""
        return (self.folder / REPORT).read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        # In a frame of its own without scripts, so that neither touches the other.
        return (
            f'<iframe sandbox="" style="width:100%;height:{_HEIGHT}px;border:1px solid #ccc" '
            f'title="report" srcdoc="{html.escape(self.report)}"></iframe>'
        )

    def __repr__(self) -> str:
        records = f", {self['records']:,} records" if "records" in self else ""
        return f"Outcome({self.folder}{records})"


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UsageError(f"{name} is not installed; `table` is an Arrow table without it") from None
