"""The taxonomies that come with a job, read once each and within bounds.

A party reads the jobs of coordinators that it may not trust much, so reading must be bounded by what
useful taxonomies need: the largest catalogues in use, such as those of diagnoses, have some hundred
thousand codes on a handful of levels. The bounds are checked before the tree is built, from the
number of bytes and of lines.
"""

from __future__ import annotations

from collections.abc import Mapping

from coterie.anonymity.table.taxonomy import Taxonomy, build_taxonomy, taxonomy_rows
from coterie.jobs.file.document import Node
from coterie.jobs.file.job import referred_file

MOST_BYTES = 16 << 20  # of all taxonomies of a job
MOST_ROWS = 500_000  # of all attributes of a job, a file counting for each that uses it
MOST_LEVELS = 64


class TaxonomyFiles:
    """The taxonomies among the files of one job."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._known: dict[str, tuple[Taxonomy, int]] = {}
        self._bytes = 0
        self._rows = 0

    def read(self, node: Node) -> Taxonomy:
        """The taxonomy that the node names."""
        path = referred_file(node, self._files)
        if path not in self._known:
            self._known[path] = self._read(node, path, self._files[path])
        taxonomy, rows = self._known[path]
        self._rows += rows
        self._require_rows(node, self._rows)
        return taxonomy

    def _read(self, node: Node, path: str, data: bytes) -> tuple[Taxonomy, int]:
        self._bytes += len(data)
        if self._bytes > MOST_BYTES:
            raise node.error(
                f"'{path}': the taxonomies of a job have at most {MOST_BYTES >> 20} MB together"
            )
        self._require_rows(node, self._rows + data.count(b"\n"))
        rows = taxonomy_rows(data, path)
        deepest = max((len(row) for _, row in rows), default=0)
        if deepest > MOST_LEVELS:
            raise node.error(
                f"'{path}': a taxonomy has at most {MOST_LEVELS} levels, not {deepest}"
            )
        return build_taxonomy(rows, path), len(rows)

    def _require_rows(self, node: Node, rows: int) -> None:
        if rows > MOST_ROWS:
            raise node.error(
                f"'{node.text()}': the taxonomies of a job's attributes have at most {MOST_ROWS:,} "
                "rows together"
            )


__all__ = ["MOST_BYTES", "MOST_LEVELS", "MOST_ROWS", "TaxonomyFiles"]
