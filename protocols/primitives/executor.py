"""Where bulk operations on group elements are computed.

A protocol hands over a function and a stream of arguments, and gets each result in the same order
as soon as it is ready. The arguments are drawn in the calling thread, a few ahead of the results,
so that a peer's next chunk is received and computed while the results of the last chunk are sent.
The functions are module-level functions (so that they can be sent to another machine) and compute
without the GIL.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from coterie.base.arrays import Array


class Executor(Protocol):
    def map(
        self, function: Callable[[bytes, Array], Array], key: bytes, pieces: Iterable[Array]
    ) -> Iterator[Array]:
        """function(key, piece) for every piece, in order; the function's exceptions pass through."""
        ...


class LocalPool:
    """Threads of this process, as many as there are cores."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or len(os.sched_getaffinity(0))

    def map(
        self, function: Callable[[bytes, Array], Array], key: bytes, pieces: Iterable[Array]
    ) -> Iterator[Array]:
        with ThreadPoolExecutor(self.threads, "group") as pool:
            yield from in_order(
                lambda piece: pool.submit(function, key, piece), pieces, self.threads + 1
            )


def on_all_cores(work: Callable[[int], None], pieces: Sequence[int]) -> None:
    """Calls `work`, which releases the GIL, for every piece: on all cores, if each gets two or more."""
    threads = min(len(pieces) // 2, len(os.sched_getaffinity(0)))
    if threads < 2:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(threads, "pieces") as pool:
        for _ in pool.map(work, pieces):
            pass


def in_order(
    submit: Callable[[Array], Future[Array]], pieces: Iterable[Array], ahead: int
) -> Iterator[Array]:
    """Results in the order of the pieces, with at most `ahead` of them under way."""
    waiting: deque[Future[Array]] = deque()
    try:
        for piece in pieces:
            waiting.append(submit(piece))
            while waiting and (len(waiting) >= ahead or waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
