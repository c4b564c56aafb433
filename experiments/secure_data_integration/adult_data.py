"""The Adult census table as paper 1 §7 uses it, and the figures that the paper prints for it.

The table is not part of Coterie and is not downloaded: `--data DIR`, or the environment variable
COTERIE_ADULT, names the folder with `adult.train.csv`, `adult.test.csv` and the folder
`taxonomies`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.specialization.specialize import Labels
from coterie.anonymity.table.columns import Column, categorical_column, continuous_column
from coterie.anonymity.table.taxonomy import Taxonomy, read_taxonomy
from coterie.base.arrays import Ints
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.sources import read_table

VARIABLE = "COTERIE_ADULT"
_ORIGIN = (
    "it is the data set 'Adult' of the UCI Machine Learning Repository (archive.ics.uci.edu), "
    "in the form that docs/experiments.md describes; Coterie fetches nothing"
)

# Paper 1, Table 4, in its order: one party holds the first nine attributes, the other the rest.
ATTRIBUTES = {
    "Ag": "age",
    "En": "education-num",
    "Fw": "fnlwgt",
    "Re": "relationship",
    "Ra": "race",
    "Sx": "sex",
    "Ms": "marital-status",
    "Nc": "native-country",
    "Ed": "education",
    "Hw": "hours-per-week",
    "Cg": "capital-gain",
    "Cl": "capital-loss",
    "Wc": "workclass",
    "Oc": "occupation",
}
NAMES = tuple(ATTRIBUTES.values())
CONTINUOUS = {
    "age": (17, 90),
    "education-num": (1, 16),
    "fnlwgt": (13492, 1490400),
    "hours-per-week": (1, 99),
    "capital-gain": (0, 99999),
    "capital-loss": (0, 4356),
}
PARTY_A, PARTY_B = NAMES[:9], NAMES[9:]
# §7: the attributes in the order of C4.5's ranking.
RANKED = tuple(
    ATTRIBUTES[short] for short in ("Cg", "Ag", "Ms", "En", "Re", "Hw", "Sx", "Ed", "Oc")
)
CLASSES = ("<=50K", ">50K")


def top(number: int) -> tuple[str, ...]:
    """The paper's TopN: the first N attributes of the ranking, in the order of Table 4."""
    return tuple(name for name in NAMES if name in RANKED[:number])


@dataclass(frozen=True)
class Adult:
    """The complete records of the Adult table; those for training come first."""

    table: pa.Table
    training: int
    target: Ints
    taxonomies: dict[str, Taxonomy]

    def column(self, name: str) -> Column:
        """A fresh column for one run of the specialization."""
        if name in self.taxonomies:
            return categorical_column(name, self.table[name], self.taxonomies[name])
        return continuous_column(name, self.table[name], CONTINUOUS[name])

    def columns(self, names: Sequence[str]) -> list[Column]:
        return [self.column(name) for name in names]

    @property
    def classes(self) -> Labels:
        return Labels(self.target.astype(np.uint8), CLASSES)


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option `--data DIR` of an experiment or a benchmark."""
    about = f"folder of the Adult table (or the environment variable {VARIABLE})"
    parser.add_argument("--data", type=Path, metavar="DIR", help=about)


def adult_folder(option: Path | None) -> Path:
    """The folder that the option, or else the environment, names."""
    if option is not None:
        return option
    if named := os.environ.get(VARIABLE):
        return Path(named)
    raise UsageError(f"no Adult table: name its folder with --data DIR or {VARIABLE}; {_ORIGIN}")


@cache
def load_adult(folder: Path) -> Adult:
    """Reads the table; raises `DataError` if it is not there."""
    for file in ("adult.train.csv", "adult.test.csv", "taxonomies"):
        if not (folder / file).exists():
            raise DataError(f"{folder / file}: not there; --data names another folder; {_ORIGIN}")
    parts = []
    for file in ("adult.train.csv", "adult.test.csv"):
        part = read_table(folder / file, [*NAMES, "class"])
        complete = pa.array(np.ones(len(part), bool))
        for name in part.column_names:
            complete = pc.and_(complete, pc.not_equal(part[name], "?"))
        parts.append(part.filter(complete))
    table = pa.concat_tables(parts).combine_chunks()
    taxonomies = {}
    for name in NAMES:
        if name not in CONTINUOUS:
            path = folder / "taxonomies" / f"{name}.csv"
            try:
                taxonomies[name] = read_taxonomy(path.read_bytes(), str(path))
            except OSError as error:
                raise DataError(f"{path}: {error.strerror}") from None
    target = np.array(table["class"].to_pylist()) == CLASSES[1]
    return Adult(table, len(parts[0]), target.astype(np.int64), taxonomies)
