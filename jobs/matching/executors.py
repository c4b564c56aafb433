"""The executors of a party's bulk operations on group elements: its own cores, or a Dask cluster.

A cluster gets the party's secret key of the job and blinded elements, through Dask's own transport.
It must be the party's own, on a network that the party trusts; a job can request a cluster, but
only the party can permit it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from coterie.base.errors import EnvironmentFaultError, RefusedError
from coterie.protocols.primitives.executor import Executor, LocalPool, in_order

_SECONDS = 10  # to reach the scheduler


class DaskExecutor:
    """A Dask cluster, by the address of its scheduler."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise EnvironmentFaultError(
                f"compute: {address} needs Dask: pip install 'coterie[dask]'"
            ) from None
        try:
            self.client = Client(address.replace("dask://", "tcp://"), timeout=_SECONDS)
        except (OSError, TimeoutError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise EnvironmentFaultError(f"compute: {address} cannot be reached: {reason}") from None
        self._address = address

    def map(
        self, function: Callable[[bytes, Any], Any], key: bytes, pieces: Iterable[Any]
    ) -> Iterator[Any]:
        cores = sum(self.client.ncores().values())
        if not cores:
            raise EnvironmentFaultError(f"compute: {self._address} has no workers")

        def submit(piece: Any) -> Any:
            # Not "pure": Dask must not cache a result for the next call with equal arguments.
            return self.client.submit(function, key, piece, pure=False)

        yield from in_order(submit, pieces, 2 * cores + 1)

    def close(self) -> None:
        self.client.close()


@contextlib.contextmanager
def executor_for(wanted: str, permitted: str, party: str) -> Iterator[Executor]:
    """The executor that a job requests, if the party permits it."""
    if wanted == "local":
        yield LocalPool()
        return
    if permitted not in ("any", wanted):
        raise RefusedError(
            f"{party}: does not permit 'compute: {wanted}'; its party file would have to say so"
        )
    executor = DaskExecutor(wanted)
    try:
        yield executor
    finally:
        executor.close()
