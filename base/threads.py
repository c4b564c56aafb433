"""Threads where the system may have no memory for another one."""

from __future__ import annotations

import threading
from concurrent import futures

from coterie.base.errors import EnvironmentFaultError


def start(thread: threading.Thread) -> None:
    """Starts a thread, or raises `EnvironmentFaultError`."""
    try:
        thread.start()
    except RuntimeError:
        raise EnvironmentFaultError(
            "no memory for another thread, or too many threads (ulimit -u, ulimit -v)"
        ) from None


def patient_pool(size: int, name: str) -> futures.ThreadPoolExecutor:
    """A pool whose work waits for its present threads while the system permits no other one.

    gRPC's server hands calls to its pool in one thread, which an error would end, and with it the
    server's answers to anybody.
    """

    class Pool(futures.ThreadPoolExecutor):
        def _adjust_thread_count(self) -> None:
            try:
                super()._adjust_thread_count()
            except RuntimeError:
                if not self._threads:
                    raise

    return Pool(size, thread_name_prefix=name)
