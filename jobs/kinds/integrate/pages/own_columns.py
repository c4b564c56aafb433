"""A party's own columns before and after: a page that stays in its state folder.

The report of a release is made of the release alone, since nobody has all raw tables. Of its own
columns each party has both sides: the values of the common records, and what the release shows in
their place. The page has these, and nothing of another party; it goes nowhere (`kept/columns.html`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.specialization.specialize import Labels
from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.intervals import GAP
from coterie.base.arrays import Array
from coterie.base.text import numbered, one_line
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.integrate.exhibit import Shown
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.pages.markup import Content, foreign, listed
from coterie.jobs.pages.page import Opinion, Part, note, page, table

FILE = "columns.html"
_COLUMNS = 60  # columns that have a table of their own
_LINES = 60  # released values that such a table has
_NAMED = 5  # original values that a line names
_ROOM = 1 << 16  # numbers that are counted without sorting, however few the records are
_HEAD = ("in the release", "records", "different values behind it", "the most frequent of them")


def write_own_columns(
    job: IntegrateJob,
    party: str,
    raw: Mapping[str, Column],
    plain: Mapping[str, Labels],
    joined: Shown,
    kept: Array,
    common: int,
    workspace: Workspace,
) -> None:
    """`raw` has the party's columns of all `common` records; `kept` are those in the release."""
    own = job.of_party(party)
    names = [attribute.name for attribute in own if attribute.name in raw]
    lines: list[Content] = [
        "It has original values of your table. No other party and no coordinator gets it.",
        f"{numbered(len(kept), 'record')} of {common:,} common ones are in the release.",
    ]
    exact = [attribute.name for attribute in own if attribute.name in plain]
    if exact:
        lines.append([*listed(exact), ": released exactly as your table has it."])
    if len(names) > _COLUMNS:
        lines.append(f"{len(names) - _COLUMNS:,} further columns are not on this page.")
    text = page(
        "Your columns before and after",
        ["Job ", foreign(job.name), ", as ", foreign(party), " sees it"],
        Opinion("unchecked", "This page stays in your organisation", lines),
        [_part(raw[name], joined, kept) for name in names[:_COLUMNS]],
    )
    path = workspace.kept / FILE
    path.touch(0o600)
    path.write_text(text, encoding="utf-8")


def _part(column: Column, joined: Shown, kept: Array) -> Part:
    codes, labels = joined.generalized(column.name)
    size = max(column.size, 1)
    pairs, counts = _different(
        codes.astype(np.int64) * size + column.codes[kept], len(labels) * size
    )
    shown, behind = pairs // size, pairs % size
    present = np.unique(shown)
    rows: list[list[Content]] = []
    for value in present[:_LINES]:
        here = shown == value
        most = np.flatnonzero(here)[np.argsort(-counts[here], kind="stable")]
        names = [f"{_text(column, int(behind[at]))} ({counts[at]:,})" for at in most[:_NAMED]]
        rows.append([
            foreign(labels[value]), f"{counts[here].sum():,}", f"{here.sum():,}", listed(names),
        ])  # fmt: skip
    different = len(_different(column.codes, size)[0])
    content: list[Content] = [
        note(
            f"Your table has {numbered(different, 'different value')} for the common records; "
            f"the release shows {numbered(len(present), 'value')} in their place."
        ),
        table(_HEAD, rows, (1, 2), sentences=True),
    ]
    if len(present) > _LINES:
        content.append(note(f"{len(present) - _LINES:,} further values are not shown here."))
    return Part(one_line(column.name), content, public=False)


def _different(numbers: Array, room: int) -> tuple[Array, Array]:
    """The different numbers, all below `room`, and how often each occurs."""
    if room > max(len(numbers), _ROOM):
        return np.unique(numbers, return_counts=True)
    counts = np.bincount(numbers, minlength=room)  # many times faster than sorting
    found = np.flatnonzero(counts)
    return found, counts[found]


def _text(column: Column, code: int) -> str:
    """A value as the party's table has it."""
    if isinstance(column, CategoricalColumn):
        return column.taxonomy.leaves[code]
    if isinstance(column, ContinuousColumn) and code < len(column.values):
        return column.scale.write(float(column.values[code]))
    return GAP
