"""The NCCTG lung cancer data: 228 patients of 18 institutions, six predictors.

The file is `lifelines/datasets/lung.csv` of the lifelines wheel (MIT licence), which took the data
from R's package `survival`; it was published by Loprinzi and others in 1994. It is never part of
Coterie: `--data` names it, or lifelines is installed.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.csv as pc

from coterie.base.arrays import Array
from coterie.base.errors import DataError, EnvironmentFaultError

FEATURES = ("age", "sex", "ph.ecog", "ph.karno", "pat.karno", "wt.loss")
SITES = ((1, 12, 13), (3, 11, 6))  # institutions of the first two; the others are the third site
_MISSING = ["", "NA"]


@dataclass(frozen=True)
class Lung:
    """`x` is scaled to [0, 1] by `low` and `high`, means in place of missing values."""

    x: Array
    time: Array
    event: Array
    site: Array
    low: Array
    high: Array
    grids: tuple[Array, ...]  # of each feature, every value that a record can have, unscaled


def lung_file(given: str | None) -> Path:
    if given:
        return Path(given)
    found = importlib.util.find_spec("lifelines")
    if found is None or not found.submodule_search_locations:
        raise EnvironmentFaultError(
            "the lung data is in the wheel of lifelines: pip install lifelines, or name the file "
            "lung.csv by --data"
        )
    return Path(found.submodule_search_locations[0]) / "datasets" / "lung.csv"


def load_lung(path: Path) -> Lung:
    if not path.exists():
        raise DataError(f"{path}: not there; --data names the file lung.csv of lifelines")
    options = pc.ConvertOptions(null_values=_MISSING, strings_can_be_null=True)
    table = pc.read_csv(path, convert_options=options)

    def column(name: str) -> Array:
        return np.asarray(table[name].cast("float64").to_numpy(), float)

    columns, grids = [], []
    for name in FEATURES:
        values = column(name)
        mean = float(np.nanmean(values))
        grids.append(_grid(name, values, mean))
        columns.append(np.where(np.isnan(values), mean, values))
    raw = np.stack(columns, axis=1)
    low, high = raw.min(axis=0), raw.max(axis=0)
    inst = column("inst")
    site = np.full(len(raw), 2)
    for number, institutions in enumerate(SITES):
        site[np.isin(inst, institutions)] = number
    return Lung(
        (raw - low) / (high - low), column("time"), column("status") == 1, site,
        low, high, tuple(grids),
    )  # fmt: skip


def _grid(name: str, values: Array, mean: float) -> Array:
    """What a partner knows of a column: whole numbers, scores in tens, and the mean if some lack it."""
    step = 10 if name.endswith("karno") else 1
    grid = np.arange(np.nanmin(values), np.nanmax(values) + step, step)
    return np.append(grid, mean) if np.isnan(values).any() else grid
