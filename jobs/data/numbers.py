"""Columns of numbers, and categories turned into columns of zeros and ones, for models.

    attributes:
      Age:    {range: [0, 120]}            a number outside is an error; needed with vertical partition
      Sex:    {values: [F, M]}             a column of zeros and ones for every value but the first
      Income: {missing: drop}              rows without a value take no part

A column that the job says nothing about holds numbers. With vertical partition each attribute names
its `party`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.columns import continuous_column
from coterie.anonymity.table.scales import NUMBER, PLAIN, Spelling
from coterie.base.arrays import Floats
from coterie.base.errors import DataError
from coterie.jobs.data.domains import CodedAttribute
from coterie.jobs.data.missing import DROP, read_missing, refuse_gaps
from coterie.jobs.data.scaled import read_limits
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common

LARGEST = 1e30  # the square of a larger number, added up, would leave the range of secure sums


@dataclass(frozen=True)
class NumberAttribute:
    """A column of a model: a number, or with `values` a category."""

    name: str
    party: str | None = None
    values: tuple[str, ...] | None = None
    limits: tuple[float, float] | None = None
    missing: str = "error"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the model's columns that the attribute gives."""
        if self.values is None:
            return (self.name,)
        return tuple(f"{self.name}={value}" for value in self.values[1:])

    def read(self, column: pa.ChunkedArray, source: str, spelling: Spelling = PLAIN) -> Floats:
        """The numbers, a row for each record; an error names a value that cannot be used."""
        refuse_gaps(column, self.values or (), self.name, source, DROP)
        if self.values is None:
            return self._numbers(column, source, spelling)[:, None]
        coded = CodedAttribute(self.name, self.party, self.values)
        codes, _ = coded.encode(column, source, spelling)
        found: Floats = (codes[:, None] == np.arange(1, len(self.values))).astype(np.float64)
        return found

    def _numbers(self, column: pa.ChunkedArray, source: str, spelling: Spelling) -> Floats:
        plain = _cast(column) if spelling == PLAIN else None
        if plain is not None and (np.abs(plain) < LARGEST).all() and self._within(plain):
            return plain
        # The slow way names the value that is wrong, and reads other spellings.
        coded = continuous_column(
            self.name, column, self.limits, source, NUMBER, spelling, largest=LARGEST,
            otherwise="list its values by 'values', or leave the column out",
        )  # fmt: skip
        found: Floats = coded.values[coded.codes]
        return found

    def _within(self, numbers: Floats) -> bool:
        if self.limits is None or not len(numbers):
            return True
        low, high = self.limits
        return bool(low <= numbers.min() and numbers.max() <= high)


def _cast(column: pa.ChunkedArray) -> Floats | None:
    """The numbers of a column of text; None if some text is not a number."""
    try:
        return np.asarray(pc.cast(column, pa.float64()).to_numpy(), np.float64)
    except pa.ArrowInvalid:
        return None


def binary_column(
    attribute: NumberAttribute, column: pa.ChunkedArray, source: str, spelling: Spelling = PLAIN
) -> Floats:
    """An outcome of two values as zeros and ones: 1 for the second of `values`, or the number 1."""
    numbers = attribute.read(column, source, spelling)[:, 0]
    strange = ~np.isin(numbers, (-1.0, 0.0, 1.0))
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise DataError(
            "{column}: {value} is neither 0 nor 1; list the two values by 'values', the one that "
            "counts as 1 second",
            file=source,
            column=attribute.name,
            rows=[row + 1],
            value=column[row].as_py(),
        )
    found: Floats = (numbers == 1.0).astype(np.float64)
    return found


def read_number_attributes(
    section: Section,
    common: Common,
    names: Sequence[str],
    horizontal: bool,
    plain: Sequence[str] = (),
    binary: Sequence[str] = (),
) -> dict[str, NumberAttribute]:
    """The attributes of a model, of these names in this order.

    Those of `plain` are numbers without `values`, those of `binary` have two values if any.
    """
    node = section.optional("attributes")
    given: Mapping[str, Node] = dict(node.section().entries()) if node else {}
    default = _read_missing(section)
    for name, entry in given.items():
        if name not in names:
            raise entry.error(f"'{name}' is used nowhere in the job")
    found = {}
    for name in names:
        if name in given:
            found[name] = _read_attribute(given[name], name, common, horizontal, default)
        elif horizontal:
            found[name] = NumberAttribute(name, missing=default)
        else:
            raise section.error(f"'attributes' does not say which party has '{name}'")
        if name in plain and found[name].values is not None:
            raise given[name].error("must be a column of numbers, without 'values'")
        if name in binary and len(found[name].values or ("0", "1")) != 2:
            raise given[name].error("must have two values, the one that counts as 1 second")
    return found


def _read_attribute(
    node: Node, name: str, common: Common, horizontal: bool, default: str
) -> NumberAttribute:
    entry = node.section()
    party = None
    if horizontal:
        if stray := entry.optional("party"):
            raise stray.error("with 'partition: horizontal' every party has it: leave it out")
    else:
        party = entry.required("party").choice(*common.party_names)
    values = limits = None
    if listed := entry.optional("values"):
        values = tuple(listed.texts())
        if len(values) < 2 or len(set(values)) != len(values):
            raise listed.error("must list at least two different values")
    if span := entry.optional("range"):
        if values is not None:
            raise span.error("is for numbers, but the attribute has 'values'")
        scale, limits = read_limits(span)
        if scale is not NUMBER:
            raise span.error("must be numbers")
    missing = _read_missing(entry, default)
    entry.close()
    return NumberAttribute(name, party, values, limits, missing)


def _read_missing(section: Section, default: str = "error") -> str:
    node = section.optional("missing")
    found = read_missing(section, default)
    if node and found == "value":
        raise node.error("a missing value is not a number: say 'error' or 'drop'")
    return found or default
