"""A column of a release as a job file or a table file describes it.

Job:    {party: bank, taxonomy: taxonomies/Job.csv}
Salary: {party: bank, range: [1, 99], missing: value}
Born:   {party: bank, type: date}
Town:   {party: bank, flat: true}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coterie.anonymity.table.scales import NUMBER, Scale
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.jobs.data.missing import read_missing
from coterie.jobs.file.document import Node, Section


@dataclass(frozen=True)
class Attribute:
    """One column. Without a taxonomy it holds numbers (or dates, as `type` says), unless it is flat.

    With `missing: value` its taxonomy has the leaf `?`.
    """

    name: str
    taxonomy: Taxonomy | None = None
    limits: tuple[float, float] | None = None
    type: Scale | None = None
    flat: bool = False
    missing: str | None = None  # None where the file says nothing

    @property
    def scale(self) -> Scale:
        return self.type or NUMBER

    @property
    def gap(self) -> bool:
        """Whether a missing value counts as the value `?`."""
        return self.missing == "value"

    @property
    def declared(self) -> tuple[str, ...]:
        """The values that the file declares, `?` perhaps among them."""
        return () if self.taxonomy is None else self.taxonomy.leaves


@dataclass(frozen=True, kw_only=True)
class CutAttribute(Attribute):
    """A column of a release; `at_most` bounds how general it gets, `priority` weighs its cuts."""

    in_qid: bool
    at_most: tuple[str, ...] = ()
    priority: float = 1.0


def one_of(node: Node, section: Section, keys: Sequence[str]) -> list[Node | None]:
    """The nodes of these keys; an attribute may have at most one of the keys."""
    nodes = [section.optional(key) for key in keys]
    given = [key for key, found in zip(keys, nodes, strict=True) if found is not None]
    if len(given) > 1:
        several = " and ".join("'flat'" if key == "flat" else f"a {key}" for key in given)
        raise node.error(f"has both {several}; an attribute has one of them")
    return nodes


def attribute_missing(section: Section, sensitive: bool, default: str | None) -> str | None:
    """The key `missing` of an attribute; a sensitive attribute cannot have `missing: value`."""
    node = section.optional("missing")
    if sensitive and default == "value":
        default = None
    missing = read_missing(section, default)
    if node and sensitive and missing == "value":
        raise node.error(
            "is sensitive, and a missing value makes no group diverse: say 'error' or 'drop'"
        )
    return missing
