"""Attributes with a finite domain, which `count`, `tree` and `bayesnet` jobs use.

    attributes:
      Sex:    {party: lender, values: [Female, Male]}      listed here
      Job:    {party: bank, taxonomy: taxonomies/Job.csv}  the leaves, in the order of the file
      Salary: {party: bank, cuts: [30, 50]}                numbers below 30, from 30, from 50
      Zodiac: {party: lender}                              whatever its owner's column holds

In the last case the owner sends the others the values, but not which record has which. With
`partition: horizontal` every party has all columns, no `party` is named, and all domains must be
declared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.intervals import Interval, number_text
from coterie.anonymity.table.taxonomy import read_taxonomy
from coterie.base.arrays import Codes
from coterie.base.errors import DataError
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common, referred_file


@dataclass(frozen=True)
class CodedAttribute:
    """A column with a domain. `values` is None if the owner announces them."""

    name: str
    party: str | None
    values: tuple[str, ...] | None
    cuts: tuple[float, ...] = ()

    def encode(self, column: pa.ChunkedArray, source: str) -> tuple[Codes, tuple[str, ...]]:
        """The code of every record, and the domain. Errors name row and column."""
        if column.null_count:
            row = pc.index(pc.is_null(column), True).as_py()
            raise DataError("{column} is empty", file=source, column=self.name, rows=[row + 1])
        if self.cuts:
            return self._encode_numbers(column, source), self.values or ()
        domain = self.values or tuple(sorted(pc.unique(column).to_pylist()))
        found = pc.index_in(column, pa.array(domain, column.type))
        if found.null_count:
            row = pc.index(pc.is_null(found), True).as_py()
            value = column[row].as_py()
            raise DataError(
                "{column}: {value} is none of the attribute's values",
                file=source,
                column=self.name,
                rows=[row + 1],
                value=value,
            )
        return found.to_numpy().astype(np.int32), domain

    def _encode_numbers(self, column: pa.ChunkedArray, source: str) -> Codes:
        try:
            numbers = pc.cast(column, pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            # Python reads some forms that Arrow does not, such as a space before the digits.
            texts = column.to_pylist()
            bad = next((i for i, text in enumerate(texts) if not _is_number(text)), None)
            if bad is not None:
                raise DataError(
                    "{column}: {value} is no number",
                    file=source,
                    column=self.name,
                    rows=[bad + 1],
                    value=texts[bad],
                ) from None
            numbers = np.array([float(text) for text in texts])
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise DataError("{column} is not finite", file=source, column=self.name, rows=[row + 1])
        codes: Codes = np.searchsorted(self.cuts, numbers, side="right").astype(np.int32)
        return codes


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def read_attributes(
    section: Section, common: Common, horizontal: bool
) -> dict[str, CodedAttribute]:
    """The `attributes` of a job, in their order."""
    found: dict[str, CodedAttribute] = {}
    node = section.required("attributes")
    for name, entry_node in node.section().entries():
        found[name] = _read_attribute(name, entry_node, common, horizontal)
    if not found:
        raise node.error("a job needs at least one attribute")
    return found


def _read_attribute(name: str, node: Node, common: Common, horizontal: bool) -> CodedAttribute:
    entry = node.section()
    party = None
    if not horizontal:
        party = entry.required("party").choice(*common.party_names)
    values, cuts = _read_domain(entry, common.files)
    if horizontal and values is None:
        raise node.error(
            "with 'partition: horizontal' a domain must be declared: values, taxonomy or cuts"
        )
    entry.close()
    return CodedAttribute(name, party, values, cuts)


def _read_domain(
    entry: Section, files: Mapping[str, bytes]
) -> tuple[tuple[str, ...] | None, tuple[float, ...]]:
    given = [key for key in ("values", "taxonomy", "cuts") if entry.optional(key)]
    if len(given) > 1:
        raise entry.error(f"has both '{given[0]}' and '{given[1]}': one of them says the domain")
    if values := entry.optional("values"):
        texts = values.texts()
        if len(set(texts)) != len(texts):
            raise values.error("a value stands here twice")
        return tuple(texts), ()
    if taxonomy := entry.optional("taxonomy"):
        path = referred_file(taxonomy, files)
        return read_taxonomy(files[path], path).leaves, ()
    if cuts_node := entry.optional("cuts"):
        cuts = tuple(item.number() for item in cuts_node.items())
        if not cuts or any(low >= high for low, high in itertools.pairwise(cuts)):
            raise cuts_node.error("must be numbers in ascending order")
        return _interval_labels(cuts), cuts
    return None, ()


def _interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    middle = [str(Interval(low, high, False)) for low, high in itertools.pairwise(cuts)]
    return (f"<{number_text(cuts[0])}", *middle, f">={number_text(cuts[-1])}")
