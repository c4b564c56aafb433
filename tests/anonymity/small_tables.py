"""Small random tables for the single-table algorithms, and plain ways to look at their answers."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.table.columns import CategoricalColumn, categorical_column, continuous_column
from coterie.anonymity.table.table import Labels, Table
from coterie.anonymity.table.taxonomy import taxonomy_of

PLACES = taxonomy_of(
    [
        ["San Diego", "California", "West", "USA"],
        ["Los Angeles", "California", "West", "USA"],
        ["Wichita", "Kansas", "Midwest", "USA"],
        ["Kansas City", "Kansas", "Midwest", "USA"],
        ["Lincoln", "Nebraska", "Midwest", "USA"],
    ]
)
SEXES = taxonomy_of([["F", "*"], ["M", "*"]])
ILLS = ("cold", "flu", "gout")


def table_of(
    places: list[str], sexes: list[str], ages: list[int], ills: list[str] | None = None
) -> Table:
    labels = {}
    if ills is not None:
        codes = np.array([ILLS.index(ill) for ill in ills], np.uint8)
        labels["ill"] = Labels(codes, ILLS)
    return Table(
        (
            categorical_column("place", places, PLACES),
            categorical_column("sex", sexes, SEXES),
            continuous_column("age", [str(age) for age in ages]),
        ),
        labels,
    )


@st.composite
def tables(draw: st.DrawFn, least: int = 1, most: int = 40) -> Table:
    size = draw(st.integers(least, most))

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=size, max_size=size))

    return table_of(
        column(st.sampled_from(PLACES.leaves)),
        column(st.sampled_from(SEXES.leaves)),
        column(st.integers(20, 40)),
        column(st.sampled_from(ILLS)),
    )


def rows_shown(answer: Anonymized, names: tuple[str, ...] = ("place", "sex", "age")) -> list[tuple]:
    """What the release shows for each record kept."""
    shown = [[answer.columns[n].labels[c] for c in answer.columns[n].codes] for n in names]
    return list(zip(*shown, strict=True))


def smallest_group(answer: Anonymized, names: tuple[str, ...] = ("place", "sex", "age")) -> int:
    return min(Counter(rows_shown(answer, names)).values(), default=0)


def covers(label: str, value: str) -> bool:
    """Whether a released text stands for a value, read as a person would."""
    if label == value:
        return True
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        inside = float(low) <= float(value) < float(high)
        return inside or (label.endswith("]") and float(value) == float(high))
    for taxonomy in (PLACES, SEXES):
        if label in taxonomy.labels and value in taxonomy.leaves:
            node = taxonomy.labels.index(label)
            return taxonomy.first[node] <= taxonomy.leaves.index(value) < taxonomy.last[node]
    return False


def is_truthful(answer: Anonymized) -> bool:
    """Every record kept lies in what is shown for it."""
    for name, column in answer.columns.items():
        source = answer.table.column(name)
        for row, code in zip(answer.kept.tolist(), column.codes.tolist(), strict=True):
            own = source.codes[row]
            if isinstance(source, CategoricalColumn):
                value = source.taxonomy.leaves[own]
            else:
                value = f"{source.values[own]:g}"
            if not covers(column.labels[code], value):
                return False
    return True
