"""`coterie experiment crowd`: three results of Lodha and Thomas (PinKDD 2007) on Adult.

* Figure 3: twelve sets of columns of the 32,561 training rows, with `?` as a value. The marks that say
  which columns a row of the figure has are lost in the paper's text; the counts of singletons determine
  them. D is the product of the printed domain sizes, which are not the table's: 73, 9, 16, 7, 15, 6, 5,
  2, 94, 42. F2 was printed with 2.7 for e.
* All sets of the ten columns, with both files as the population: how many quasi-identifiers the bound
  names, and how many it misses.
* Theorem 4: how many people a cell needs, by the printed rule and exactly; and the share of Adult's
  48,842 records that have their crowd if columns are cut into Equation 1's numbers of quantiles.
* Equation 1: the parts against the best of all whole numbers, on random cases.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.anonymity.risk.crowd import allot, least_mean, most_cells, shares
from coterie.anonymity.risk.grouping import Grouping, group_sizes, whole
from coterie.anonymity.risk.quasi_identifiers import least_cells, singleton_share
from coterie.base.arrays import Array
from coterie.experiments.census import TEST, TRAINING, load_census, markdown
from coterie.experiments.secure_data_integration.adult_data import add_data_option, adult_folder

COLUMNS = {  # printed domain sizes
    "age": 60, "workclass": 8, "education": 15, "marital-status": 7, "occupation": 14,
    "relationship": 6, "race": 5, "sex": 2, "hours-per-week": 20, "native-country": 40,
}  # fmt: skip
POPULATION = 300_000_000
# The columns of each row of Figure 3 by their places in COLUMNS, and what is printed: S, F1, D, F2, n/D.
FIGURE_3: tuple[tuple[tuple[int, ...], int, float, float, float, float], ...] = (
    ((0,), 2, 6.1e-5, 60, 7.4e-8, 5e6),
    ((0, 8), 986, 0.03, 1200, 1.48e-6, 2.5e5),
    ((0, 6, 7), 65, 0.002, 600, 7.4e-7, 5e5),
    ((0, 1, 2, 4), 5056, 0.16, 1e5, 1.2e-4, 3e3),
    ((0, 1, 4, 9), 3105, 0.095, 2.7e5, 3.3e-4, 1.1e3),
    ((0, 4, 8, 9), 7581, 0.23, 6.7e5, 8.3e-4, 450),
    ((1, 2, 4, 9), 1384, 0.043, 6.7e4, 8.3e-5, 4.5e3),
    ((0, 1, 2, 4, 9), 7659, 0.235, 4e6, 4.9e-3, 75),
    ((0, 1, 3, 4, 5), 5215, 0.16, 2.8e5, 3.4e-4, 1e3),
    ((0, 1, 4, 5, 8), 12870, 0.40, 8e5, 9.9e-4, 380),
    ((0, 1, 4, 8, 9), 10402, 0.32, 5.4e6, 6.7e-3, 55),
    (tuple(range(10)), 24802, 0.76, 33e9, 0.99, 1),
)
ALPHAS = (0.05, 0.2, 0.5)
CROWDS = (2, 5, 10, 20, 50, 100, 1000)
BETAS = (0.1, 0.05, 0.01, 1e-6)
CUT = (("age", "hours-per-week"), ("age", "fnlwgt"), ("age", "education-num", "hours-per-week"))


def figure_3(folder: Any) -> list[dict[str, Any]]:
    """Singletons in the table and the bound for the population, row by row."""
    names = list(COLUMNS)
    table = load_census(folder, names)
    found = []
    for chosen, *printed in FIGURE_3:
        picked = [names[j] for j in chosen]
        sizes = group_sizes(table.codes(picked), table.records)
        cells = math.prod(COLUMNS[name] for name in picked)
        own = math.prod(table.column(name).distinct for name in picked)
        singletons = int((sizes == 1).sum())
        found.append(
            {
                "columns": picked,
                "singletons": singletons,
                "share": singletons / table.records,
                "cells": cells,
                "own_cells": own,
                "bound": singleton_share(cells, POPULATION),
                "own_bound": singleton_share(own, POPULATION),
                "crowd": POPULATION / cells,
                "printed": dict(zip(("S", "F1", "D", "F2", "k"), printed, strict=True)),
            }
        )
    return found


def all_sets(folder: Any) -> list[dict[str, Any]]:
    """Every set of the ten columns, the whole table as the population."""
    names = list(COLUMNS)
    table = load_census(folder, names, (TRAINING, TEST))
    codes = table.codes(names)
    sizes = [table.column(name).distinct for name in names]
    found: list[tuple[float, int]] = []  # the share that is unique, and the cells

    def walk(first: int, groups: Grouping, cells: int) -> None:
        for j in range(first, len(names)):
            finer = groups.refined(codes[j])
            unique = int((finer.sizes == 1).sum()) / table.records
            found.append((unique, cells * sizes[j]))
            walk(j + 1, finer, cells * sizes[j])

    walk(0, whole(table.records), 1)
    answer = []
    for alpha in ALPHAS:
        least = least_cells(alpha, table.records)
        answer.append(
            {
                "alpha": alpha,
                "sets": len(found),
                "true": sum(share >= alpha for share, _ in found),
                "named": sum(cells >= least for _, cells in found),
                "missed": sum(share >= alpha and cells < least for share, cells in found),
            }
        )
    return answer


def theorem_4() -> list[dict[str, Any]]:
    """People that a cell needs, by the printed rule and exactly."""
    return [
        {"k": k, "beta": beta, "chernoff": least_mean(k, beta, "chernoff"),
         "exact": least_mean(k, beta)}
        for k in CROWDS
        for beta in BETAS
    ]  # fmt: skip


def crowds_on_adult(folder: Any, seed: int = 0) -> list[dict[str, Any]]:
    """The share of records with their crowd after cutting columns into Eq. 1's numbers of quantiles."""
    names = ["age", "hours-per-week", "fnlwgt", "education-num"]
    table = load_census(folder, names, (TRAINING, TEST))
    numbers = {}
    for name in names:
        column = table.column(name)
        numbers[name] = np.array(column.values.to_pylist(), float)[column.codes]
    rng = np.random.default_rng(seed)
    found = []
    for chosen, k in ((CUT[0], 10), (CUT[0], 50), (CUT[1], 50), (CUT[2], 50)):
        cells = most_cells(table.records, k, 0.1, "chernoff")
        parts = allot(cells, [len(np.unique(numbers[name])) for name in chosen])
        even = [int(cells ** (1 / len(chosen)))] * len(chosen)
        columns = [numbers[name] for name in chosen]
        found.append(
            {
                "columns": list(chosen),
                "k": k,
                "cells": cells,
                "parts": parts,
                "by_value": _with_crowd(columns, even, k, None),
                "by_rank": _with_crowd(columns, even, k, rng),
                "independent": _with_crowd(
                    [rng.permutation(column) for column in columns], even, k, rng
                ),
            }
        )
    return found


def _with_crowd(
    columns: Sequence[Array], parts: Sequence[int], k: int, ties: np.random.Generator | None
) -> float:
    """The share of records in cells of at least k; without `ties`, equal values stay together."""
    records = len(columns[0])
    groups = whole(records)
    for values, number in zip(columns, parts, strict=True):
        if ties is not None:
            ranks = np.empty(records, np.int64)
            ranks[np.lexsort([ties.random(records), values])] = np.arange(records)
            bucket = ranks * number // records
        else:
            ordered = np.sort(values)
            cuts = np.unique(ordered[[records * i // number for i in range(1, number)]])
            bucket = np.searchsorted(cuts, values, "right")
        groups = groups.refined(bucket)
    sizes = groups.sizes
    return float(sizes[sizes >= k].sum() / records)


def equation_1(cases: int = 200, seed: int = 0) -> dict[str, float]:
    """Random cases: how the rounded parts compare with the best of all whole numbers."""
    rng = np.random.default_rng(seed)
    worst = worst_relaxed = 0.0
    same = 0
    for _ in range(cases):
        sizes = rng.integers(1, 13, 3).tolist()
        weights = rng.uniform(0.1, 4, 3).tolist()
        cells = int(rng.integers(1, math.prod(sizes) + 1))

        def loss(parts: Sequence[float], weights: Sequence[float] = weights) -> float:
            return sum(w / d for w, d in zip(weights, parts, strict=True))

        ranges = [range(1, size + 1) for size in sizes]
        fitting = (p for p in itertools.product(*ranges) if math.prod(p) <= cells)
        best = min(map(loss, fitting))
        own = loss(allot(cells, sizes, weights))
        worst = max(worst, own / best)
        worst_relaxed = max(worst_relaxed, loss(shares(cells, sizes, weights)) / best)
        same += abs(own - best) < 1e-12
    return {"cases": cases, "best": same, "worst_ratio": worst, "relaxed_at_most": worst_relaxed}


def tables(found: dict[str, Any]) -> str:
    rows = [
        [", ".join(row["columns"]), f"{row['singletons']:,}", f"{row['printed']['S']:,}",
         f"{row['share']:.3g}", f"{row['cells']:,}", f"{row['bound']:.3g}",
         f"{row['printed']['F2']:.3g}", f"{row['crowd']:,.0f}"]
        for row in found["figure_3"]
    ]  # fmt: skip
    head = ["columns", "S", "S printed", "F1", "D", "F2", "F2 printed", "n/D"]
    parts = [markdown(head, rows)]
    rows = [[s["alpha"], s["true"], s["named"], s["missed"]] for s in found["all_sets"]]
    parts.append(markdown(["α", "sets that are", "sets named", "missed"], rows))
    cells = {(row["k"], row["beta"]): row for row in found["theorem_4"]}
    rows = [
        [str(k), *(f"{cells[k, b]['chernoff']:.2f} / {cells[k, b]['exact']:.2f}" for b in BETAS)]
        for k in CROWDS
    ]
    parts.append(markdown(["k", *(f"β = {beta:g}" for beta in BETAS)], rows))
    rows = [
        [", ".join(row["columns"]), row["k"], f"{row['by_value']:.3f}", f"{row['by_rank']:.3f}",
         f"{row['independent']:.3f}"]
        for row in found["crowds"]
    ]  # fmt: skip
    parts.append(markdown(["columns", "k", "by value", "by rank", "independent"], rows))
    parts.append(json.dumps(found["equation_1"]))
    return "\n".join(parts)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment crowd", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    folder = adult_folder(options.data)
    found = {
        "figure_3": figure_3(folder),
        "all_sets": all_sets(folder),
        "theorem_4": theorem_4(),
        "crowds": crowds_on_adult(folder),
        "equation_1": equation_1(),
    }
    print(json.dumps(found, indent=1) if options.json else tables(found))
    return 0
