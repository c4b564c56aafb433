"""Several sensitive attributes: the tables and figures of paper 5, on Adult.

Gal, Chen, Gangopadhyay, "A privacy protection model for patient data with multiple sensitive
attributes". The paper's data, the Kentucky Cancer Registry (72,194 patients), is not public, and its
figures 9 to 14 are lost: only Table 1 and a few sentences have numbers. Adult stands in: 45,222
complete records; age, sex, race and fnlwgt (for a fine zip code) as quasi-identifiers; hours,
occupation, education (then marital status and workclass) as sensitive columns. Adult's sensitive
columns have fewer values than the registry's, so that L = 10 costs more; shapes are to be compared.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.anonymity.anatomy.anatomy import Anatomised
from coterie.anonymity.anatomy.estimate import random_answers
from coterie.anonymity.models.exponential_diversity import ExponentialDiversity
from coterie.anonymity.models.tuple_model import join_columns
from coterie.anonymity.table.table import Labels, Table
from coterie.base.arrays import Array, Floats, Ints
from coterie.experiments.secure_data_integration.adult_data import Adult
from coterie.experiments.several_sensitive.procedures import (
    Holds,
    by_frequencies,
    discernability,
    divide,
    exact,
    greedy,
)
from coterie.experiments.single_table.tables import experiment, markdown_table

QID = ("age", "sex", "race", "fnlwgt")
SENSITIVE = ("hours-per-week", "occupation", "education", "marital-status", "workclass")
THIRD = "relationship"  # the column with few values of figure 12
K, L, M = 50, 10, 3
QUERIES = 2_000
SMALL = 0.01  # of the records: what Table 1 divides queries by
PRINTED = {
    "Anonymize": (11.3, 14.6, 1.6),
    "Exponential-L": (23.2, 28.6, 8.5),
    "L3 = 2": (10.4, None, None),
    "L3 = 10": (11.7, None, None),
}
LEVELS = (2, 4, 6, 8, 10, 12, 14)


def _codes(data: Adult, name: str) -> Labels:
    values, codes = np.unique(np.array(data.table[name].to_pylist()), return_inverse=True)
    return Labels(codes.astype(np.int64), tuple(map(str, values)))


class Census:
    """The stand-in as the procedures see it; every `step`-th record."""

    def __init__(self, data: Adult, step: int = 1) -> None:
        rows = slice(None, None, step)
        self.labels = {name: _codes(data, name).take(rows) for name in (*SENSITIVE, THIRD)}
        numbers = []
        for name in QID:
            text = np.array(data.table[name].to_pylist())[rows]
            numeric = name in ("age", "fnlwgt")
            numbers.append(
                text.astype(float) if numeric else np.unique(text, return_inverse=True)[1]
            )
        self.identifying: Floats = np.stack(numbers, axis=1).astype(float)
        self.records = len(self.identifying)
        self.columns = [
            column.take(np.arange(len(data.table))[rows]) for column in data.columns(QID)
        ]

    def rows(self, names: Sequence[str]) -> Ints:
        return np.stack([self.labels[name].codes for name in names], axis=1)

    def anatomised(self, groups: Sequence[Array], names: Sequence[str]) -> Anatomised:
        numbers = np.zeros(self.records, np.int64)
        for at, group in enumerate(groups):
            numbers[group] = at + 1
        table = Table(tuple(self.columns), {name: self.labels[name] for name in names})
        return Anatomised(table, numbers, tuple(names), False)


def exponential(census: Census, names: Sequence[str], least: int) -> Holds:
    """Exponential-L; of one column it is distinct diversity."""
    if len(names) == 1:
        codes = census.labels[names[0]].codes
        return lambda group: len(np.unique(codes[group])) >= least
    columns = [(census.labels[n].codes, census.labels[n].values) for n in names]
    numbers, tuples, _ = join_columns(columns)
    model = ExponentialDiversity(least, tuple(names)).for_tuples(tuples)
    return lambda group: bool(model.holds_for(np.zeros(len(group), np.int64), numbers[group], 1)[0])


def _measured(census: Census, k: int, holds: Holds) -> dict[str, Any]:
    begun = time.process_time()
    groups = divide(census.identifying, k, holds)
    return {
        "discernability": round(discernability(groups, census.records), 1),
        "groups": len(groups),
        "cpu_seconds": round(time.process_time() - begun, 2),
    }


def _errors(census: Census, groups: Sequence[Array], queries: int) -> dict[str, Any]:
    """Table 1: the mean relative error in percent, of all queries, of small and of larger ones."""
    answers = random_answers(
        census.anatomised(groups, SENSITIVE[:M]), queries, np.random.default_rng(5)
    )
    errors, small = answers.relative_errors(), answers.counts < SMALL * census.records
    return {
        "all": round(100 * float(errors.mean()), 1),
        "small": round(100 * float(errors[small].mean()), 1),
        "large": round(100 * float(errors[~small].mean()), 1),
        "queries": len(errors),
        "large_queries": int((~small).sum()),
        "empty": answers.empty,
    }


def _lost(census: Census, least: int) -> int:
    """The records that figure 5 as printed does not put into any group, by age and fnlwgt."""
    check = greedy(census.rows(SENSITIVE[:M]), least)
    groups = divide(census.identifying[:, [0, 3]], K, check, printed=True)
    return census.records - sum(map(len, groups))


def run(data: Adult, quick: bool) -> dict[str, Any]:
    everyone = Census(data)
    census = Census(data, 15) if quick else everyone
    three = census.rows(SENSITIVE[:M])
    levels = (2, 6) if quick else LEVELS
    least = 6 if quick else L
    everybody = np.arange(census.records)
    found: dict[str, Any] = {
        "records": census.records,
        "without diversity": _measured(everyone, K, lambda group: True),
        "figure 9": [
            {"L": level, "figure 6": _measured(census, K, greedy(three, level)),
             "exact": _measured(census, K, exact(three, level))}
            for level in levels
        ],
        "figure 10": [
            {"K": k, **_measured(census, k, greedy(three, least))}
            for k in ((50,) if quick else (10, 20, 50, 100, 200))
        ],
        "figure 11": [
            {"m": m, "L": level, **_measured(census, K, greedy(census.rows(SENSITIVE[:m]), level))}
            for m, level in ([(2, 5)] if quick else
                             [(1, L), (2, L), (3, L), *((m, 5) for m in range(1, 6))])
        ],
        "exponential": [
            {"m": m, "whole table holds": exponential(census, SENSITIVE[:m], least)(everybody),
             **_measured(census, K, exponential(census, SENSITIVE[:m], least))}
            for m in ((1, 2) if quick else (1, 2, 3))
        ],
        "lost": [
            {"L": level, "records": _lost(everyone, level)}
            for level in ((4,) if quick else (4, 8, 10))
        ],
    }  # fmt: skip
    columns = census.rows((*SENSITIVE[:2], THIRD))
    found["figure 12"] = [
        {"L3": third,
         "figure 7": _measured(census, K, by_frequencies(columns, 6, (6, 6, third))),
         "exact": _measured(census, K, exact(columns, 6, (6, 6, third)))}
        for third in ((0, 6) if quick else range(7))
    ]  # fmt: skip
    queries = 200 if quick else QUERIES
    groups = divide(census.identifying, K, greedy(three, least))
    found["table 1"] = {
        "Anonymize": _errors(census, groups, queries),
        "Exponential-L": _errors(census, [everybody], queries),
    }
    return found


def markdown(result: dict[str, Any]) -> str:
    def shown(entry: dict[str, Any]) -> str:
        return f"{entry['discernability']:,.1f} ({entry['groups']:,} groups)"

    table = [
        [name, *(_beside(result["table 1"][name][key], printed) for key, printed in
                 zip(("all", "small", "large"), PRINTED[name], strict=True))]
        for name in ("Anonymize", "Exponential-L")
    ]  # fmt: skip
    return "\n".join(
        [
            f"# Several sensitive attributes, on {result['records']:,} records of Adult", "",
            f"Discernability is the mean size of a record's group; the best is K. Without "
            f"diversity, K = {K}: {shown(result['without diversity'])}.", "",
            "Figure 9, L varies (K = 50, three columns); the paper's curve is lost:", "",
            *markdown_table(["L", "figure 6", "exact check"],
                            [[r["L"], shown(r["figure 6"]), shown(r["exact"])]
                             for r in result["figure 9"]]),
            "", "Figure 10, K varies; lost:", "",
            *markdown_table(["K", "figure 6"], [[r["K"], shown(r)] for r in result["figure 10"]]),
            "", "Figure 11, the number of columns varies; lost:", "",
            *markdown_table(["columns", "L", "figure 6"],
                            [[r["m"], r["L"], shown(r)] for r in result["figure 11"]]),
            "", "Exponential-L; printed: one group except with one column:", "",
            *markdown_table(["columns", "the whole table satisfies it", "discernability"],
                            [[r["m"], r["whole table holds"], shown(r)]
                             for r in result["exponential"]]),
            "", "Figure 12, L3 varies (relationship, six values; L = L1 = L2 = 6); lost:", "",
            *markdown_table(["L3", "figure 7, made strict", "exact check"],
                            [[r["L3"], shown(r["figure 7"]), shown(r["exact"])]
                             for r in result["figure 12"]]),
            "", "Table 1, mean relative error of random queries, ours (printed, on the registry):",
            "",
            *markdown_table(["", "all", "below 1 % of the records", "others"], table),
            "", "Records that figure 5 as printed loses (age and fnlwgt, K = 50):", "",
            *markdown_table(["L", "lost"], [[r["L"], r["records"]] for r in result["lost"]]),
        ]
    ) + "\n"  # fmt: skip


def _beside(own: float, printed: float | None) -> str:
    return f"{own} % ({printed} %)" if printed is not None else f"{own} %"


def main(argv: list[str] | None = None) -> int:
    return experiment("diversity", __doc__, run, markdown, argv)
