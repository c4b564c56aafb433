"""Which cuts the models permit: all parts of a cut must satisfy every model of the condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coterie.anonymity.cuts.candidates import Segments
from coterie.anonymity.cuts.groups import Cut
from coterie.anonymity.models.privacy import Model, TupleModel
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array


def forbidden(
    segments: Segments,
    cuts: Mapping[int, Cut],
    codes: Mapping[int, Array],
    models: Sequence[tuple[Model, Labels]],
) -> set[int]:
    """The groups whose cut has a part that violates a model."""
    groups = sorted(cuts)
    if not groups or not models:
        return set()
    rows = segments.chosen(np.array(groups)).rows
    first = np.cumsum([0, *(len(cuts[at].parts) for at in groups)])
    part = np.concatenate([codes[at] + start for at, start in zip(groups, first, strict=False)])
    good = np.ones(int(first[-1]), bool)
    for model, labels in models:
        if isinstance(model, TupleModel):  # too many tuples for a matrix
            good &= model.holds_for(part, labels.codes[rows], len(good))
            continue
        values = len(labels.values)
        cells = part * values + labels.codes[rows]
        counts = np.bincount(cells, minlength=len(good) * values).reshape(-1, values)
        overall = np.bincount(labels.codes, minlength=values).astype(np.int64)
        good &= model.holds(counts, overall)
    held = np.logical_and.reduceat(good, first[:-1])
    return {at for at, holds in zip(groups, held.tolist(), strict=True) if not holds}
