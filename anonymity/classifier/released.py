"""The columns of a released table as attributes for the learner: as numbers where possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.classifier.decision_tree import Feature, Labels, Numbers
from coterie.anonymity.table.intervals import lower_end
from coterie.base.arrays import Array


def coded_attribute(name: str, codes: Array, values: Sequence[str]) -> Feature:
    """A released column for the learner: numbers if all values are numbers or intervals."""
    ends = [lower_end(value) for value in values]
    numbers = [end for end in ends if end is not None]
    if len(numbers) < len(ends):
        return Labels(name, codes.astype(np.int64), len(values))
    return Numbers(name, np.array(numbers, np.float64)[codes])


def learner_attribute(name: str, texts: Sequence[str]) -> Feature:
    """The same from one text per record."""
    values, codes = np.unique(np.asarray(texts, dtype=str), return_inverse=True)
    return coded_attribute(name, codes, [str(value) for value in values])
