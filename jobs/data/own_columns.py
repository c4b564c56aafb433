"""The columns of a release at their owner, from text to codes, before anything is sent."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.columns import (
    CATEGORIES,
    Column,
    categorical_column,
    continuous_column,
    encode_text,
)
from coterie.anonymity.table.intervals import GAP
from coterie.anonymity.table.scales import PLAIN, Spelling
from coterie.anonymity.table.table import Labels
from coterie.anonymity.table.taxonomy import TOP, Taxonomy, flat_taxonomy
from coterie.base.arrays import Mask
from coterie.base.errors import DataError
from coterie.jobs.data.attributes import Attribute
from coterie.jobs.data.missing import CURE, DROP, gaps_of, refuse_gaps
from coterie.jobs.data.text_form import declared_text

MOST_VALUES = 4096  # of a flat column, whose values are sent to others
LONGEST_VALUE = 200  # bytes of a value that parties send each other


def qid_column(
    attribute: Attribute,
    text: pa.ChunkedArray,
    source: str,
    spelling: Spelling = PLAIN,
    most_flat: int | None = MOST_VALUES,
    otherwise: str = CATEGORIES,
    cure: str = CURE,
) -> Column:
    """A column that is to be generalized.

    Errors propose `otherwise` for a value that is no number, and `cure` for a gap.
    """
    name, taxonomy = attribute.name, attribute.taxonomy
    if not attribute.gap:
        refuse_gaps(text, attribute.declared, name, source, cure)
    gaps = gaps_of(text, attribute.declared)
    if attribute.flat:
        taxonomy = flat_values(attribute, text, gaps, source, most_flat)
    if taxonomy is not None:
        return categorical_column(name, pc.fill_null(text, GAP), taxonomy, source)
    return continuous_column(
        name,
        text,
        attribute.limits,
        source,
        attribute.scale,
        spelling,
        gaps if attribute.gap else None,
        otherwise=otherwise,
    )


def flat_values(
    attribute: Attribute, column: pa.ChunkedArray, gaps: Mask, source: str, most: int | None
) -> Taxonomy:
    """The taxonomy of a flat column; with `most`, its values must be few and short enough to send."""
    values = pc.unique(column.filter(pa.array(~gaps))).to_pylist()
    name = attribute.name
    if TOP in values:
        raise DataError(
            f"{{column}} has the value {{value}}, which 'flat: true' uses; give '{name}' a taxonomy",
            file=source,
            column=name,
            value=TOP,
        )
    if most is not None and len(values) > most:
        raise DataError(
            f"{{column}} has more than {most:,} different values; give '{name}' a taxonomy",
            file=source,
            column=name,
        )
    for value in values if most is not None else ():
        if len(value.encode()) > LONGEST_VALUE:
            raise DataError(
                "{column}: the value {value} is too long",
                file=source,
                column=name,
                value=f"{value[:40]}…",
            )
    return flat_taxonomy([*values, GAP] if attribute.gap else values)


def plain_column(
    attribute: Attribute,
    text: pa.ChunkedArray,
    source: str,
    spelling: Spelling,
    sensitive: bool,
) -> Labels:
    """A column in no QID, which is released as it was read.

    Numbers and dates that are declared as such and that the source writes in its own way are
    released in the usual form. An empty value is released as an empty one, unless the column is
    sensitive or the job says what to do.
    """
    name = attribute.name
    gaps = None
    if attribute.gap:
        gaps = gaps_of(text, attribute.declared)
        text = pc.if_else(pa.array(gaps), pa.scalar(GAP, pa.string()), text)
    elif attribute.missing is not None:
        refuse_gaps(text, attribute.declared, name, source, CURE)
    elif sensitive:
        refuse_gaps(text, (GAP,), name, source, DROP)
    if attribute.taxonomy is not None:
        categorical_column(name, text, attribute.taxonomy, source)
        text = declared_text(text, attribute.taxonomy.leaves)
    elif attribute.type is not None:
        column = continuous_column(
            name, text, attribute.limits, source, attribute.scale, spelling, gaps
        )
        if spelling != PLAIN:
            values = tuple(attribute.scale.write(value) for value in column.values.tolist())
            return Labels(np.asarray(column.codes), (*values, GAP) if column.gap else values)
    if not sensitive:
        text = pc.fill_null(text, "")
    codes, found = encode_text(name, text, source)
    return Labels(codes, tuple(found))
