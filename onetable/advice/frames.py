"""`coterie.advise(df)`: which requirement to write for a frame, from pandas, polars or Arrow."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError
from coterie.onetable.advice.advise import advise_source
from coterie.onetable.advice.suggestion import Wishes
from coterie.onetable.interface.frames import FrameSource, names_in


class Advice(dict[str, Any]):
    """What `coterie advise --json` prints. Text and notebooks show the proposed table file."""

    @property
    def qid(self) -> list[str]:
        """The columns of the first qid, as `coterie.anonymise` takes them."""
        return list(self["requirement"][0]["qid"])

    @property
    def drop(self) -> list[str]:
        """The columns that identify people by themselves."""
        return list(self["identifiers"])

    @property
    def k(self) -> int:
        return int(self["k"])

    def __str__(self) -> str:
        return str(self["yaml"])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def advise(
    frame: Any,
    qid: str | Sequence[str] = (),
    k: int | None = None,
    *,
    population: int | None = None,
    sensitive: str | Sequence[str] = (),
    class_name: str | None = None,
    identifiers: str | Sequence[str] = (),
    alpha: float = 0.2,
    beta: float = 0.1,
    crowd: int = 10,
    smallest_k: int = 5,
    known: int | None = None,
) -> Advice:
    """The requirement to write for a frame, or for a file of this name; `coterie advise` has the meanings.

    `coterie.anonymise(frame, found.qid, found.k, drop=found.drop)` follows it.
    """
    wishes = Wishes(
        population, alpha, beta, crowd, smallest_k, known, names_in(sensitive), class_name,
        names_in(identifiers), names_in(qid), k,
    )  # fmt: skip
    if k is not None and k < 1:
        raise UsageError(f"k must be at least 1, not {k}")
    source = FrameSource.of("table", frame)
    data = str(frame) if isinstance(frame, str | Path) else "table.csv"
    return Advice(advise_source(source, f'"{data}"', wishes, Path()))
