"""Attributes with a finite domain, which `count`, `tree` and `bayesnet` jobs use.

    attributes:
      Sex:    {party: lender, values: [Female, Male]}      listed here
      Job:    {party: bank, taxonomy: taxonomies/Job.csv}  the leaves, in the order of the file
      Salary: {party: bank, cuts: [30, 50]}                numbers below 30, from 30, from 50
      Zodiac: {party: lender, flat: true}                  whatever its owner's column holds

In the last case, for which `flat: true` need not be said, the owner sends the others the values, but not
which record has which. Cuts may be dates or times. With `partition: horizontal` every party has all
columns, no `party` is named, and all domains must be declared; the same holds with `partition:
mixed`, where an empty cell belongs to another party.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.columns import continuous_column
from coterie.anonymity.table.intervals import GAP, Interval
from coterie.anonymity.table.scales import NUMBER, PLAIN, Scale, Spelling
from coterie.base.arrays import Codes
from coterie.base.errors import DataError
from coterie.jobs.data.missing import (
    CURE,
    ELSEWHERE,
    filled,
    gaps_of,
    read_missing,
    refuse_gaps,
)
from coterie.jobs.data.scaled import read_cuts, read_type
from coterie.jobs.data.taxonomy_files import TaxonomyFiles
from coterie.jobs.data.text_form import declared_text
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common


@dataclass(frozen=True)
class CodedAttribute:
    """A column with a domain. `values` is None if the owner announces them.

    `values` has `?` where `missing` is "value": it stands for a missing value. Where `missing` is
    `ELSEWHERE`, another party has the cells that are empty here; their code is -1.
    """

    name: str
    party: str | None
    values: tuple[str, ...] | None
    cuts: tuple[float, ...] = ()
    scale: Scale = NUMBER
    missing: str = "error"
    strict: bool = False  # True for the class, which no row may lack

    @property
    def classes(self) -> str:
        """The classes in which values are counted: the cuts between them, as in `Needs.counted`."""
        return ", ".join(self.scale.write(cut) for cut in self.cuts)

    def encode(
        self, column: pa.ChunkedArray, source: str, spelling: Spelling = PLAIN
    ) -> tuple[Codes, tuple[str, ...]]:
        """The code of every record, and the domain. Errors name row and column."""
        # In a domain that nobody declares a `?` is a value like any other, unless the job says more.
        known = (GAP,) if self.values is None and self.missing == "error" else self.values or ()
        if self.missing not in ("value", ELSEWHERE):
            refuse_gaps(column, known, self.name, source, "" if self.strict else CURE)
        if self.cuts:
            return self._encode_numbers(column, source, spelling), self.values or ()
        if self.missing == "value":
            column = pc.fill_null(column, GAP)
        domain = self.values or tuple(sorted(pc.unique(column).to_pylist()))
        gaps = gaps_of(column, domain) if self.missing == ELSEWHERE else None
        if gaps is not None:
            column = filled(column, gaps, domain[0])
        if self.values:
            column = declared_text(column, domain)
        found = pc.index_in(column, pa.array(domain, column.type))
        if found.null_count:
            row = pc.index(pc.is_null(found), True).as_py()
            value = column[row].as_py()
            raise DataError(
                "{column}: {value} is not among the attribute's values",
                file=source,
                column=self.name,
                rows=[row + 1],
                value=value,
            )
        codes: Codes = found.to_numpy().astype(np.int32)
        return codes if gaps is None else np.where(gaps, np.int32(-1), codes), domain

    def _encode_numbers(self, column: pa.ChunkedArray, source: str, spelling: Spelling) -> Codes:
        gaps = gaps_of(column) if self.missing in ("value", ELSEWHERE) else None
        numbers = continuous_column(
            self.name, column, None, source, self.scale, spelling, gaps, largest=np.inf
        )
        place = np.searchsorted(self.cuts, numbers.values, side="right").astype(np.int32)
        if gaps is not None:
            gap = -1 if self.missing == ELSEWHERE else len(self.cuts) + 1
            place = np.append(place, np.int32(gap))
        codes: Codes = place[numbers.codes]
        return codes


def read_attributes(
    section: Section, common: Common, partition: str = "vertical"
) -> dict[str, CodedAttribute]:
    """The `attributes` of a job, in their order."""
    found: dict[str, CodedAttribute] = {}
    node = section.required("attributes")
    default = read_gaps(section, None, partition)
    taxonomies = TaxonomyFiles(common.files)
    for name, entry_node in node.section().entries():
        found[name] = _read_attribute(name, entry_node, common, taxonomies, partition, default)
    if not found:
        raise node.error("a job needs at least one attribute")
    return found


def _read_attribute(
    name: str,
    node: Node,
    common: Common,
    taxonomies: TaxonomyFiles,
    partition: str,
    default: str | None,
) -> CodedAttribute:
    entry = node.section()
    party = None
    if partition == "vertical":
        party = entry.required("party").choice(*common.party_names)
    missing = read_gaps(entry, default, partition) or "error"
    values, cuts, scale = read_domain(entry, taxonomies)
    if partition != "vertical" and values is None:
        raise node.error(
            f"with 'partition: {partition}' a domain must be declared: values, taxonomy or cuts"
        )
    entry.close()
    if values is not None and missing == "value" and GAP not in values:
        values = (*values, GAP)
    return CodedAttribute(name, party, values, cuts, scale, missing)


def read_gaps(section: Section, default: str | None, partition: str) -> str | None:
    """As `read_missing`; with mixed partition an empty cell has a meaning of its own."""
    if partition != "mixed":
        return read_missing(section, default)
    if node := section.optional("missing"):
        raise node.error("with 'partition: mixed' an empty cell is at another party: leave it out")
    return ELSEWHERE


def read_domain(
    entry: Section, taxonomies: TaxonomyFiles
) -> tuple[tuple[str, ...] | None, tuple[float, ...], Scale]:
    """The values that an attribute declares (None if its owner sends them), its cuts, their scale."""
    given = [key for key in ("values", "taxonomy", "cuts", "flat") if entry.optional(key)]
    if len(given) > 1:
        raise entry.error(f"has both '{given[0]}' and '{given[1]}': one of them says the domain")
    scale = read_type(entry)
    if scale is not None and given != ["cuts"]:
        raise entry.error("'type' is only for 'cuts'")
    if values := entry.optional("values"):
        texts = values.texts()
        if len(set(texts)) != len(texts):
            raise values.error("a value stands here twice")
        return tuple(texts), (), NUMBER
    if taxonomy := entry.optional("taxonomy"):
        return taxonomies.read(taxonomy).leaves, (), NUMBER
    if cuts_node := entry.optional("cuts"):
        scale, cuts = read_cuts(cuts_node, scale)
        return _interval_labels(cuts, scale), cuts, scale
    if flat := entry.optional("flat"):
        flat.boolean()
    return None, (), NUMBER


def _interval_labels(cuts: Sequence[float], scale: Scale) -> tuple[str, ...]:
    middle = [str(Interval(low, high, False, scale)) for low, high in itertools.pairwise(cuts)]
    return (f"<{scale.write(cuts[0])}", *middle, f">={scale.write(cuts[-1])}")
