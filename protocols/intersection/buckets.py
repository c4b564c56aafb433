"""Buckets for sets that do not fit into memory: split by digest, padded, resumable after a failure.

A bucket holds the digests whose last four bytes, as a number, fall into its part of the range. The
digests are random (because their salt is), so the size of a bucket of a set of known size has a
known distribution: `capacity` is a size that it does not exceed. Every bucket is padded to that
size before a peer sees its number of elements.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Bytes, Rows
from coterie.base.errors import CoterieError
from coterie.protocols.intersection.identifiers import Identifiers
from coterie.protocols.primitives.store import Store

Digests: TypeAlias = Bytes

BYTES_PER_ELEMENT = 400  # what a protocol holds at its peak for each element of a bucket
BASE_MEMORY = 250_000_000  # bytes of the interpreter, its libraries and compiled code
PADDED_BYTES = 40  # the assumed size of an identifier of a padded set, with its offset
MOST_BUCKETS = 4096
UNLIMITED = 1 << 40
_STATISTICAL = 40
_BLOCK = 1 << 20  # identifiers that are hashed and stored together


@dataclass(frozen=True)
class BucketPlan:
    """The plan that all parties agree on."""

    salt: bytes
    sizes: dict[str, int]
    buckets: int
    finished: int

    @property
    def token(self) -> bytes:
        text = repr((self.salt, sorted(self.sizes.items()), self.buckets))
        return hashlib.sha256(text.encode()).digest()[:16]

    def capacity(self, name: str) -> int:
        return capacity(self.sizes[name], self.buckets)


def capacity(size: int, buckets: int) -> int:
    """A number that no bucket of `size` random digests exceeds, except with probability 2^-40."""
    if buckets == 1:
        return size
    mean = size / buckets
    tail = math.log(buckets) + _STATISTICAL * math.log(2)
    return min(size, math.ceil(mean + math.sqrt(2 * mean * tail) + tail))


def room_for(memory: int | None, held: int) -> int:
    """The elements of a bucket that fit into memory beside `held` bytes of identifiers.

    The identifiers are in memory twice, as columns of the party's table and as identifiers, and for
    a short time once more. Peers see the result, so it is a power of two, which says little about
    the party's machine.
    """
    if memory is None:
        return UNLIMITED
    usable = max(memory - BASE_MEMORY - 5 * held // 2, memory // 8)
    return 1 << max(0, (usable // BYTES_PER_ELEMENT).bit_length() - 1)


def buckets_for(size: int, room: int) -> int:
    """The smallest number of buckets that have room for their part of the largest set."""
    for buckets in range(1, MOST_BUCKETS):
        if capacity(size, buckets) <= room:
            return buckets
    return MOST_BUCKETS


def _fingerprint(identifiers: Identifiers) -> bytes:
    total = hashlib.blake2b(digest_size=32)
    total.update(np.ascontiguousarray(identifiers.offsets).data)
    total.update(np.ascontiguousarray(identifiers.data).data)
    return total.digest()


def read_checkpoint(store: Store, identifiers: Identifiers) -> BucketPlan | None:
    """The plan of an earlier run on the same identifiers, if one is stored."""
    data = store.read("checkpoint")
    if data is None or len(data) < 48 or data[:32] != _fingerprint(identifiers):
        return None
    buckets, finished = np.frombuffer(data[64:80], np.int64).tolist()
    sizes = {}
    for entry in data[80:].decode().split("\n")[:-1]:
        name, _, size = entry.rpartition("\t")
        sizes[name] = int(size)
    return BucketPlan(data[32:64], sizes, buckets, finished)


class Buckets:
    """This party's digests by bucket; several buckets are kept in the store."""

    def __init__(self, identifiers: Identifiers, plan: BucketPlan, me: str, store: Store) -> None:
        self._identifiers = identifiers
        self._plan = plan
        self._capacity = plan.capacity(me)
        self._store = store
        self._spilled = plan.buckets > 1
        if not plan.finished:
            store.clear()  # data of an earlier run on other sets, or with other memory
        if self._spilled:
            self._mark = _fingerprint(identifiers)
            self._checkpoint(plan.finished)
            self._spill()

    def _checkpoint(self, finished: int) -> None:
        plan = self._plan
        numbers = np.array([plan.buckets, finished], np.int64).tobytes()
        sizes = "".join(f"{name}\t{size}\n" for name, size in plan.sizes.items())
        self._store.replace("checkpoint", self._mark + plan.salt + numbers + sizes.encode())

    def _spill(self) -> None:
        """Stores digests and rows of the unfinished buckets, one block at a time.

        An interrupted run may have left files of any bucket behind, also of a finished one.
        """
        for number in range(self._plan.buckets):
            self._store.remove(f"digests-{number}")
            self._store.remove(f"rows-{number}")
        for start in range(0, len(self._identifiers), _BLOCK):
            stop = min(len(self._identifiers), start + _BLOCK)
            digests = self._identifiers.digests(self._plan.salt, start, stop)
            words = digests.view(np.uint32)[:, 3].astype(np.uint64)
            bucket_of = (words * np.uint64(self._plan.buckets)) >> np.uint64(32)
            order = np.argsort(bucket_of, kind="stable")
            ends = np.cumsum(np.bincount(bucket_of.astype(np.int64), minlength=self._plan.buckets))
            for bucket in range(self._plan.finished, self._plan.buckets):
                chosen = order[ends[bucket - 1] if bucket else 0 : ends[bucket]]
                self._store.append(f"digests-{bucket}", digests[chosen].tobytes())
                self._store.append(f"rows-{bucket}", (chosen + start).astype(np.int64).tobytes())

    def load(self, number: int) -> tuple[Digests, Rows]:
        if not self._spilled:
            digests = self._identifiers.digests(self._plan.salt)
            return digests, np.arange(len(digests), dtype=np.int64)
        digests = np.frombuffer(self._store.read(f"digests-{number}") or b"", np.uint8)
        rows = np.frombuffer(self._store.read(f"rows-{number}") or b"", np.int64)
        if len(rows) > self._capacity:
            raise CoterieError("the identifiers spread unevenly; run the job again")
        return digests.reshape(-1, 16), rows

    def finish(self, number: int, rows: Rows) -> None:
        if self._spilled:
            self._store.replace(f"common-{number}", rows.tobytes())
            self._checkpoint(number + 1)
            self._store.remove(f"digests-{number}")
            self._store.remove(f"rows-{number}")

    def result(self, number: int) -> Rows:
        return np.frombuffer(self._store.read(f"common-{number}") or b"", np.int64)
