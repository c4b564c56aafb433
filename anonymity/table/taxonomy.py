"""Taxonomies: trees of values and their generalizations.

A taxonomy is a CSV of paths from leaf to root, separated by `;`, one row a leaf. A value that is
repeated along its path is one node of the tree, so that shorter branches can be filled up (the
convention of ARX). The columns of the file are levels: level g shows what stands in column g. A row
with fewer columns counts as filled up at its beginning. Equal values in different rows are the same
node: two rows that give a value different parents, or end it in different columns, contradict each
other, and so do two rows with different roots.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coterie.anonymity.table.intervals import GAP
from coterie.base.errors import DataError

TOP = "*"  # what stands above all values of a column without a taxonomy


@dataclass(frozen=True)
class Taxonomy:
    """A tree of values. Node 0 is the root.

    Leaves are numbered from left to right, where a node's children stand in the order in which
    their first leaf stands in the file. So the leaves under a node are a range of numbers:
    `first[node]` up to, not including, `last[node]`.
    """

    labels: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]
    leaves: tuple[str, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    tops: tuple[int, ...]  # per node the last column of the file in which it stands

    @property
    def root(self) -> str:
        return self.labels[0]

    @property
    def depth(self) -> int:
        """The number of levels below the root."""
        return subtree_heights(self)[0]

    def width(self, node: int) -> float:
        """The normalised width of a node: the leaves under it less one, as a share of all less one."""
        return (self.last[node] - self.first[node] - 1) / max(len(self.leaves) - 1, 1)


def subtree_heights(taxonomy: Taxonomy) -> list[int]:
    """Per node the number of levels below it."""
    heights = [0] * len(taxonomy.labels)
    for node in range(len(heights) - 1, -1, -1):  # children have larger numbers
        below = taxonomy.children[node]
        if below:
            heights[node] = 1 + max(heights[child] for child in below)
    return heights


def read_taxonomy(data: bytes, source: str) -> Taxonomy:
    """The taxonomy in a file's bytes; errors call the file `source`."""
    return build_taxonomy(taxonomy_rows(data, source), source)


def taxonomy_rows(data: bytes, source: str) -> list[tuple[int, list[str]]]:
    """The leaf-to-root paths in a file's bytes, each with the number of its line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(
            f"{source}: not UTF-8 text; save it as UTF-8 (Excel: 'CSV UTF-8')"
        ) from None
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";")
    try:
        return [(rows.line_num, row) for row in rows if row]
    except csv.Error as error:
        raise DataError(f"{source}:{rows.line_num}: not CSV: {error}") from None


def taxonomy_of(paths: Iterable[Sequence[str]], source: str = "taxonomy") -> Taxonomy:
    """The taxonomy of leaf-to-root paths."""
    return build_taxonomy(list(enumerate(paths, 1)), source)


def flat_taxonomy(values: Iterable[str]) -> Taxonomy:
    """Every value under one top, in sorted order; a gap comes last."""
    several = set(values)
    last = [GAP] if GAP in several else []
    ordered = tuple(sorted(several - {GAP}) + last)
    if not ordered or "" in several or TOP in several:  # not a tree of two levels
        return taxonomy_of([[value, TOP] for value in ordered] or [[TOP]])
    places = tuple(range(len(ordered)))
    return Taxonomy(
        (TOP, *ordered),
        (tuple(place + 1 for place in places), *[()] * len(ordered)),
        ordered,
        (0, *places),
        (len(ordered), *(place + 1 for place in places)),
        (1, *[0] * len(ordered)),
    )


def with_gap(taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy with `?`, for records without a value, as a leaf under its root."""
    if GAP in taxonomy.labels:
        return taxonomy
    return taxonomy_of([*paths_of(taxonomy), [GAP, taxonomy.root]])


def paths_of(taxonomy: Taxonomy) -> list[list[str]]:
    """The leaf-to-root paths that a taxonomy is made of, a value for each level."""
    parent = {child: node for node, below in enumerate(taxonomy.children) for child in below}
    paths = []
    for node, below in enumerate(taxonomy.children):
        if below:
            continue
        path = [taxonomy.labels[node]] * (taxonomy.tops[node] + 1)
        at = node
        while at:
            at = parent[at]
            path += [taxonomy.labels[at]] * (taxonomy.tops[at] + 1 - len(path))
        paths.append((taxonomy.first[node], path))
    return [path for _, path in sorted(paths)]


def build_taxonomy(rows: Sequence[tuple[int, Sequence[str]]], source: str) -> Taxonomy:
    """The taxonomy of numbered leaf-to-root paths."""
    if not rows:
        raise DataError(f"{source}: the taxonomy is empty")
    parents: dict[str, tuple[str | None, int]] = {}
    children: dict[str, list[str]] = {}
    leaf_lines: dict[str, int] = {}
    tops: dict[
        str, tuple[int, int]
    ] = {}  # the last column of each value, and the line that says so
    width = max(len(row) for _, row in rows)
    root = rows[0][1][-1]
    known_tails: set[tuple[str, ...]] = set()  # what stands above leaves of earlier rows
    for line, row in rows:
        leaf, *above = row
        tail = tuple(above)
        if tail and tail in known_tails and leaf and leaf not in parents:
            parents[leaf] = tail[0], line
            children.setdefault(tail[0], []).append(leaf)
            leaf_lines[leaf] = line
            tops[leaf] = width - len(row), line
            continue
        known_tails.add(tail)
        if not all(row):
            raise DataError(f"{source}:{line}: a value is empty")
        if row[-1] != root:
            raise DataError(
                f"{source}:{line}: the root is '{row[-1]}', but '{root}' on line {rows[0][0]}; "
                "a taxonomy has one root"
            )
        path = [value for i, value in enumerate(row) if i == 0 or value != row[i - 1]]
        leaf_lines.setdefault(path[0], line)
        for child, parent in zip(path, [*path[1:], None], strict=True):
            if child not in parents and parent is not None:
                children.setdefault(parent, []).append(child)
            known, known_line = parents.setdefault(child, (parent, line))
            if known != parent:
                here, there = _above(parent), _above(known)
                raise DataError(
                    f"{source}:{line}: '{child}' {here}, but it {there} on line {known_line}; "
                    "a value has one parent"
                )
        for column, value in enumerate(row, width - len(row)):
            if column + 1 < width and row[column + 1 - width] == value:
                continue
            ends, known_line = tops.setdefault(value, (column, line))
            if ends != column:
                raise DataError(
                    f"{source}:{line}: '{value}' ends in column {column + 1}, but in column "
                    f"{ends + 1} on line {known_line}; the columns are levels, and a value ends at one"
                )
    for leaf, line in leaf_lines.items():
        if leaf in children:
            below = children[leaf][0]
            raise DataError(
                f"{source}:{line}: '{leaf}' is a leaf, but it is the parent of '{below}' "
                f"on line {parents[below][1]}"
            )
    return _number(root, children, {value: column for value, (column, _) in tops.items()})


def _above(parent: str | None) -> str:
    return "is the root" if parent is None else f"is under '{parent}'"


def _number(root: str, children: dict[str, list[str]], tops: dict[str, int]) -> Taxonomy:
    """Nodes breadth first, so that siblings follow each other; leaves left to right."""
    labels = [root]
    links: list[tuple[int, ...]] = []
    for node in labels:  # grows as it is walked
        below = children.get(node, [])
        links.append(tuple(range(len(labels), len(labels) + len(below))))
        labels.extend(below)
    first, last = [0] * len(labels), [0] * len(labels)
    leaves: list[str] = []
    stack = [(0, False)]
    while stack:
        at, done = stack.pop()
        if done:
            last[at] = len(leaves)
            continue
        first[at] = len(leaves)
        if not links[at]:
            leaves.append(labels[at])
        stack.append((at, True))
        stack.extend((child, False) for child in reversed(links[at]))
    columns = tuple(tops[label] for label in labels)
    return Taxonomy(tuple(labels), tuple(links), tuple(leaves), tuple(first), tuple(last), columns)
