"""Naive Bayes from reconstructed distributions: mining without the records.

Papers: Agrawal and Srikant (2000), "by class"; 20.2.2 of the chapter (paper 3). Each attribute is
reconstructed among the noisy records of each class; a record without noise gets the class with the
largest product of the class's share and the shares of the record's bins. 1/n is added to every share,
so that an empty bin of the estimate does not decide alone.

Cost: classes times attributes reconstructions. Not for outliers: a distribution has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Codes, Floats


@dataclass(frozen=True)
class NaiveBayes:
    """The `records` of each class, and per attribute the shares of its bins, a row for each class."""

    records: Codes
    shares: Sequence[Floats]

    def predict(self, columns: Sequence[Codes]) -> Codes:
        """The class of each record, given the number of its bin in every attribute."""
        n = max(int(self.records.sum()), 1)
        score = np.log(np.maximum(self.records, 0) / n + 1 / n)[:, None]
        for shares, codes in zip(self.shares, columns, strict=True):
            score = score + np.log(shares + 1 / n)[:, codes]
        found: Codes = score.argmax(axis=0)
        return found


def bin_numbers(values: Floats, edges: Floats) -> Codes:
    """The number of each value's bin; a value at the upper end is in the last one."""
    found: Codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return found
