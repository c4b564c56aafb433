"""The pieces of a table on the workers of a Dask cluster, for Mondrian of a large table.

Each piece is a list of chunks of records, wherever the cluster keeps them. A part of the table is
counted where its chunks are, and only counts come back; the best cut follows from their sum. The
workers divide their chunks, and one worker finishes a piece that fits into its memory. What comes
back is the number of each record's part, and the boxes.

The cluster gets the codes of the quasi-identifiers and of sensitive columns that are bounded: not
their texts, no identifiers, no other columns. Codes are the ranks of the values, though, so that it
must be the organisation's own cluster, on a network that it trusts. Its workers need Coterie
installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.mondrian_pieces import (
    Cut,
    Finished,
    Rules,
    finished,
    goes_left,
)
from coterie.base.arrays import Array
from coterie.base.errors import EnvironmentFaultError
from coterie.jobs.matching.executors import DaskExecutor

Chunk = tuple[Array, Array]  # codes and labels, a row per record; the rows of the table


def _counted(chunk: Chunk, rules: Rules) -> Array:
    return rules.counted(chunk[0])


def _added(counts: Sequence[Array]) -> Array:
    total: Array = np.sum(counts, axis=0)
    return total


def _equal(chunk: Chunk, cut: Cut) -> int:
    return int(np.count_nonzero(chunk[0][:, cut.attribute] == cut.code))


def _tied(chunk: Chunk, cut: Cut, rules: Rules) -> Array:
    """The labels of the chunk's first records with the cut's code."""
    equal = np.flatnonzero(chunk[0][:, cut.attribute] == cut.code)[: cut.taken]
    labels = chunk[0][equal, len(rules.sizes) :]
    return np.bincount(labels.ravel(), minlength=rules.judged.values)


def _half(chunk: Chunk, cut: Cut, left: bool) -> Chunk:
    goes, _ = goes_left(chunk[0], cut)
    chosen = goes if left else ~goes
    return chunk[0][chosen], chunk[1][chosen]


def _finished(chunks: Sequence[Chunk], rules: Rules) -> Finished:
    matrix = np.concatenate([chunk[0] for chunk in chunks])
    return finished(matrix, np.concatenate([chunk[1] for chunk in chunks]), rules)


def _rows(chunk: Chunk) -> Array:
    return chunk[1]


class Cluster:
    """A Dask cluster, by the address of its scheduler."""

    def __init__(self, address: str, memory: int) -> None:
        self._executor = DaskExecutor(address)
        self.client = self._executor.client
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            self._executor.close()
            raise EnvironmentFaultError(f"compute: {address} has no workers")
        self._workers = len(workers)
        self._room = min((w["memory_limit"] or memory for w in workers), default=memory)
        self._memory = memory

    def most(self, records: int) -> int:
        """Records that one worker finishes: what it has room for, and work for every worker."""
        return max(min(self._room // 1024, -(-records // (2 * self._workers))), 1)

    def pieces(
        self, rules: Rules, records: Iterator[tuple[int, Array, Array]]
    ) -> Sequence[ClusterPiece]:
        """The table's records on the workers, sent chunk by chunk in turns."""
        shared = self.client.scatter(rules, broadcast=True)
        chunks: dict[int, list[Any]] = {}
        counts: dict[int, int] = {}
        names = list(self.client.scheduler_info(n_workers=-1)["workers"])
        for at, (group, matrix, rows) in enumerate(records):
            sent = self.client.scatter([(matrix, rows)], workers=[names[at % len(names)]])[0]
            chunks.setdefault(group, []).append(sent)
            counts[group] = counts.get(group, 0) + len(rows)
        return [
            ClusterPiece(self.client, shared, rules, chunks[group], counts[group])
            for group in sorted(chunks)
        ]

    def close(self) -> None:
        self._executor.close()


class ClusterPiece:
    """Chunks of records on the workers, in the order of the table."""

    def __init__(
        self, client: Any, shared: Any, rules: Rules, chunks: Sequence[Any], records: int
    ) -> None:
        self._client, self._shared, self._rules = client, shared, rules
        self._chunks, self.records = chunks, records

    def _map(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """Runs where the chunks are; not cached, since equal calls would share one result."""
        return [self._client.submit(function, chunk, *given, pure=False) for chunk in self._chunks]

    def counts(self) -> Array:
        counted = self._map(_counted, self._shared)
        total: Array = self._client.submit(_added, counted, pure=False).result()
        return total

    def ties(self, cut: Cut) -> Array:
        given = [
            self._client.submit(_tied, chunk, one, self._shared, pure=False)
            for chunk, one in zip(self._chunks, self._taken(cut), strict=True)
        ]
        total: Array = self._client.submit(_added, given, pure=False).result()
        return total

    def _taken(self, cut: Cut) -> list[Cut]:
        """How many records with the cut's code go left in each chunk: the first ones of all."""
        if not cut.taken:
            return [cut] * len(self._chunks)
        equal = self._client.gather(self._map(_equal, cut))
        before = np.concatenate([[0], np.cumsum(equal)[:-1]])
        taken = np.clip(cut.taken - before, 0, equal)
        return [Cut(cut.attribute, cut.code, int(number)) for number in taken]

    def split(self, cut: Cut, left: int) -> tuple[ClusterPiece, ClusterPiece]:
        cuts = self._taken(cut)
        halves = [
            [
                self._client.submit(_half, chunk, one, side, pure=False)
                for chunk, one in zip(self._chunks, cuts, strict=True)
            ]
            for side in (True, False)
        ]
        low, high = (
            ClusterPiece(self._client, self._shared, self._rules, half, count)
            for half, count in zip(halves, (left, self.records - left), strict=True)
        )
        return low, high

    def finish(self) -> Callable[[], Finished]:
        future = self._client.submit(_finished, list(self._chunks), self._shared, pure=False)

        def wait() -> Finished:
            found: Finished = future.result()
            return found

        return wait

    def rows(self) -> Iterator[Array]:
        for future in self._map(_rows):
            yield future.result()
