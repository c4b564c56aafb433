"""The state of a stream that is condensed: sums over groups of at least k people, and no record.

One JSON file: k and the columns that it is about, the grid of each column, and for every class the
units of its sums (`centre`, `scale`) and its groups as `sizes`, `sums` and `products` (the upper
triangle). It is written whole and put in the place of the earlier one, so that a crash leaves either.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.condensation.grid import Grid, grid_of
from coterie.anonymity.condensation.moments import Moments
from coterie.anonymity.condensation.streaming import Condenser
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Floats
from coterie.base.errors import DataError, UsageError
from coterie.onetable.table_file import TableFile

_FORM = "coterie condensation 1"
MOST_CLASSES = 10_000  # each of them has up to 2k records waiting in memory


@dataclass
class State:
    """What is kept of a stream: a condenser for each class, and the grid of every column."""

    k: int
    columns: list[str]
    read: int = 0  # records that have come, waiting ones and those of earlier runs included
    grids: list[Grid] = field(default_factory=list)
    condensers: dict[str, Condenser] = field(default_factory=dict)

    def add(self, points: Floats, classes: Labels) -> None:
        """Adds records and their classes."""
        if not len(points):
            return
        columns = [points[:, j] for j in range(points.shape[1])]
        if self.grids:
            pairs = zip(self.grids, columns, strict=True)
            self.grids = [grid.with_values(values) for grid, values in pairs]
        else:
            self.grids = [grid_of(values) for values in columns]
        if len({*self.condensers, *classes.values}) > MOST_CLASSES:
            raise DataError(
                f"more than {MOST_CLASSES:,} classes have come; is it a column of identifiers?"
            )
        for number, name in enumerate(classes.values):
            own = points[classes.codes == number]
            if len(own):
                self.condensers.setdefault(name, Condenser(self.k)).add(own)
        self.read += len(points)

    @property
    def kept(self) -> dict[str, Moments]:
        """The groups of every class that has any."""
        found = ((name, condenser.moments) for name, condenser in self.condensers.items())
        return {name: moments for name, moments in found if moments is not None}

    @property
    def waiting(self) -> dict[str, int]:
        """Records of classes with fewer than 2k records, of which nothing is kept."""
        found = ((name, condenser.waiting) for name, condenser in self.condensers.items())
        return {name: number for name, number in found if number}

    def save(self, path: Path) -> None:
        upper = np.triu_indices(len(self.grids))
        content = {
            "form": _FORM,
            "k": self.k,
            "columns": self.columns,
            "read": self.read,
            "grid": [[grid.decimals, grid.step, grid.offset] for grid in self.grids],
            "classes": {
                name: {
                    "centre": self.condensers[name].centre.tolist(),
                    "scale": self.condensers[name].scale.tolist(),
                    "sizes": moments.sizes.tolist(),
                    "sums": moments.sums.tolist(),
                    "products": moments.products[:, upper[0], upper[1]].tolist(),
                }
                for name, moments in self.kept.items()
            },
        }
        made = path.with_name(f"{path.name}.new")
        with made.open("w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)


def load_state(path: Path, file: TableFile) -> State:
    """The state of an earlier run, or a new one; it must be about the same columns and k."""
    state = State(file.requirements[0].k, file.columns)
    if not path.exists():
        if not path.parent.is_dir():
            raise UsageError(f"{path}: there is no folder {path.parent}")
        return state
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["form"] != _FORM:
            raise ValueError("another form")
        stored = int(content["k"]), list(content["columns"])
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise UsageError(f"{path}: is not a state of 'coterie condense'") from None
    if stored != (state.k, state.columns):
        raise UsageError(
            f"{path}: is of another table file: k = {stored[0]} and {', '.join(map(str, stored[1]))}"
        )
    try:
        return _filled(state, content, len(file.attributes))
    except (ValueError, LookupError, TypeError) as error:
        raise UsageError(f"{path}: is damaged ({error})") from None


def _filled(state: State, content: Any, width: int) -> State:
    state.read = int(content["read"])
    state.grids = [
        Grid(int(a), None if b is None else int(b), int(c)) for a, b, c in content["grid"]
    ]
    if len(state.grids) not in (0, width):
        raise ValueError("grids of other columns")
    upper = np.triu_indices(width)
    for name, found in content["classes"].items():
        sizes = np.array(found["sizes"], np.int64)
        sums = np.array(found["sums"], np.float64).reshape(len(sizes), width)
        packed = np.array(found["products"], np.float64).reshape(len(sizes), len(upper[0]))
        products = np.zeros((len(sizes), width, width))
        products[:, upper[0], upper[1]] = packed
        products[:, upper[1], upper[0]] = packed
        centre, scale = (np.array(found[key], np.float64) for key in ("centre", "scale"))
        if not len(sizes) or not ((sizes >= state.k) & (sizes < 2 * state.k)).all():
            raise ValueError("a group is too small or too large")
        numbers = (sums, products, centre, scale)
        if not all(np.isfinite(values).all() for values in numbers) or not (scale > 0).all():
            raise ValueError("a sum is not a number")
        if centre.shape != (width,) or scale.shape != (width,):
            raise ValueError("units of other columns")
        condenser = Condenser(state.k)
        condenser.resume(centre, scale, Moments(sizes, sums, products))
        state.condensers[str(name)] = condenser
    return state
