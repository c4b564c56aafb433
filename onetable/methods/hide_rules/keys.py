"""The file of `coterie hide-rules`: a table, the thresholds of whoever looks, and the rules to hide.

data: baskets.csv
method: hide-rules
by: fewest                     # fewest | support | confidence | border | exact | blocking
attributes: [Bread, Milk, Beer]  # an item is a column with its value; an empty cell is none
support: 0.1
confidence: 0.6
longest: 3                     # items of a rule that side effects are counted for
hide:
  - {if: {Bread: "1"}, then: {Beer: "1"}}
margin: 0.05                   # blocking: how far below the thresholds
decoys: 1                      # blocking: unknowns that hide nothing, for one that does
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from coterie.anonymity.rules.hiding import WAYS
from coterie.jobs.file.document import Node
from coterie.onetable.table_file import MethodFile, begin_method_file, load_method_file

HIDE_RULES = "hide-rules"
MOST_RULES = 100
Cells: TypeAlias = tuple[tuple[str, str], ...]  # columns and their values


@dataclass(frozen=True, kw_only=True)
class HideFile(MethodFile):
    by: str
    columns: list[str]
    support: float
    confidence: float
    longest: int
    hide: tuple[tuple[Cells, Cells], ...]
    margin: float
    decoys: float


def load_hide_file(path: Path) -> HideFile:
    return load_method_file(path, parse_hide_file)


def parse_hide_file(text: str, folder: Path, file: str) -> HideFile:
    """The typed file. Every mistake is a `UsageError` that names the key and the line."""
    section, source, stored = begin_method_file(text, folder, file, HIDE_RULES)
    by = section.read("by", lambda node: node.choice(*WAYS), WAYS[0])
    node = section.required("attributes")
    columns = node.texts()
    if not columns or len(set(columns)) < len(columns):
        raise node.error("must name different columns, at least one")
    node = section.required("hide")
    rules = []
    for item in node.items(MOST_RULES):
        inner = item.section()
        sides = tuple(_cells(inner.required(key), columns) for key in ("if", "then"))
        inner.close()
        if {name for name, _ in sides[0]} & {name for name, _ in sides[1]}:
            raise item.error("has a column on both sides")
        rules.append((sides[0], sides[1]))
    if not rules:
        raise node.error("must have at least one rule")
    longest = max(len(one) + len(other) for one, other in rules)
    only = {}
    for key, default, high in (("margin", 0.05, 0.5), ("decoys", 1.0, 100.0)):
        found = section.optional(key)
        if found is not None and by != "blocking":
            raise found.error("is only for 'by: blocking'")
        only[key] = default if found is None else found.number(0, high)
    read = HideFile(
        source=source,
        by=by,
        columns=columns,
        support=_share(section.required("support")),
        confidence=_share(section.required("confidence")),
        longest=section.read("longest", lambda found: found.integer(2, 6), max(longest, 2)),
        hide=tuple(rules),
        margin=only["margin"],
        decoys=only["decoys"],
        text=stored,
        method=HIDE_RULES,
    )
    if read.longest < longest:
        raise section.error(f"'longest' is {read.longest}, but a rule to hide has {longest} items")
    section.close()
    return read


def _share(node: Node) -> float:
    share = node.number(0, 1)
    if not share:
        raise node.error("must be above 0")
    return share


def _cells(node: Node, columns: list[str]) -> Cells:
    found = []
    for name, value in node.section().entries():
        if name not in columns:
            raise value.error("is not among the attributes")
        found.append((name, value.text()))
    if not found:
        raise node.error("must name at least one column and its value")
    return tuple(found)
