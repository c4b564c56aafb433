"""Priorities in Mondrian: discernibility and its weighted form over k, with sex or age first.

Xiong, Rangachari, "Towards application-oriented data anonymization" (P3DM 2008), on the complete
training records of Adult. The article's set-up: widest attribute first with weights of 0 and 1 added,
median cuts, categories in the order of their leaves. WDM is the corrected weighted discernibility
(`anonymity.utility.discernibility`); `literal` is the article's equation 4.2 as printed, which joins
the groups with the same value of the favoured attribute, sums the squares of their sizes, and can fall
when that attribute gets vaguer.
The last table has priorities as Coterie offers them, as multipliers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.local_recoding import extents
from coterie.anonymity.algorithms.mondrian import Options, partition_table
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Table
from coterie.base.arrays import Array
from coterie.experiments.secure_data_integration.adult_data import Adult
from coterie.experiments.single_table.tables import (
    WITH_AGE,
    experiment,
    markdown_table,
    training_table,
)

THRESHOLDS = (2, 5, 10, 20, 50, 100, 200)
# An independent computation's figures: the discernibility C_DM of Mondrian, with sex first and with
# age first; WDM of sex without and with sex first, WDM of age without and with age first.
REFERENCE = {
    2: (165_822, 165_556, 172_224, 0, 0, 2_650, 0),
    5: (276_130, 275_224, 298_178, 193, 0, 17_166, 2),
    10: (488_338, 488_860, 520_158, 2_846, 0, 51_598, 25),
    20: (949_428, 952_312, 987_400, 20_318, 0, 137_823, 105),
    50: (2_305_596, 2_361_586, 2_388_186, 295_097, 0, 485_007, 1_031),
    100: (4_515_100, 4_598_184, 4_807_110, 1_018_613, 0, 1_180_377, 7_096),
    200: (8_707_562, 8_957_140, 9_269_452, 3_716_577, 0, 2_710_723, 41_035),
}


def widths(table: Table, name: str, part: Array) -> Array:
    """Per part the share of the attribute's span that it covers."""
    column = table.column(name)
    low, high = extents(column, part)
    if isinstance(column, ContinuousColumn):
        places = column.values
    else:  # leaves without records do not count
        places = np.cumsum(np.bincount(column.codes, minlength=column.size) > 0)
    span = float(places[-1] - places[0]) or 1.0
    return np.asarray((places[high - 1] - places[low]) / span)


def measures(table: Table, part: Array, name: str) -> tuple[float, int]:
    """WDM of one attribute, and the article's sum as printed."""
    sizes = np.bincount(part)
    low, high = extents(table.column(name), part)
    joined = np.unique(low * (int(high.max()) + 1) + high, return_inverse=True)[1]
    literal = np.bincount(joined, weights=sizes)
    return float((sizes**2 * widths(table, name, part)).sum()), int((literal**2).sum())


def run(data: Adult, quick: bool) -> dict[str, Any]:
    table = training_table(data, WITH_AGE)
    rows = []
    for k in (10, 50) if quick else THRESHOLDS:
        parts = {}
        for first in ("", "sex", "age"):
            weights = {name: float(name == first) for name in WITH_AGE} if first else {}
            options = Options("spread", False, "tight", "order", True, bool(first), weights)
            parts[first] = partition_table(table, Condition(WITH_AGE, k), options).part
        plain = [int((np.bincount(part) ** 2).sum()) for part in parts.values()]
        weighted, literal = [], []
        for name in ("sex", "age"):
            for first in ("", name):
                wdm, printed = measures(table, parts[first], name)
                weighted.append(round(wdm))
                literal.append(printed)
        found = (*plain, *weighted)
        rows.append(
            {"k": k, "found": found, "literal": literal, "as_the_reference": found == REFERENCE[k]}
        )
    graded = []
    for factor in (1, 2, 4, 8, 16):
        options = Options("spread", False, "tight", "order", True, False, {"age": float(factor)})
        part = partition_table(table, Condition(WITH_AGE, 50), options).part
        sizes = np.bincount(part)
        shares = {
            name: float((sizes * widths(table, name, part)).sum() / sizes.sum())
            for name in WITH_AGE
        }
        graded.append(
            {"priority": factor, "age": shares["age"], "all": sum(shares.values()) / len(shares)}
        )
    return {"thresholds": rows, "graded": graded}


def markdown(result: dict[str, Any]) -> str:
    head = ["k", "C_DM", "C_DM sex first", "C_DM age first", "WDM(sex)", "sex first", "WDM(age)",
            "age first", "as the reference"]  # fmt: skip
    rows = [[row["k"], *row["found"], row["as_the_reference"]] for row in result["thresholds"]]
    printed = [[row["k"], *row["literal"]] for row in result["thresholds"]]
    graded = [
        [row["priority"], f"{row['age']:.3f}", f"{row['all']:.3f}"] for row in result["graded"]
    ]
    return "\n".join(
        [
            "# Priorities in Mondrian", "",
            *markdown_table(head, rows),
            "", "Equation 4.2 as printed, which can fall when the attribute gets vaguer:", "",
            *markdown_table(["k", "sex", "sex, sex first", "age", "age, age first"], printed),
            "", "A priority as multiplier, for age at k = 50: the mean normalised width", "",
            *markdown_table(["priority", "of age", "of all eight"], graded),
        ]
    ) + "\n"  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    return experiment("priorities", __doc__, run, markdown, argv)
