"""Storage for data that does not fit into memory, and for checkpoints to resume from.

Protocols do not open files; the caller passes in a store. `jobs.matching.folder_store` is a store
in a folder.
"""

from __future__ import annotations

from typing import Protocol


class Store(Protocol):
    """Byte strings by name, as durable as the implementation makes them."""

    def append(self, name: str, data: bytes) -> None: ...

    def replace(self, name: str, data: bytes) -> None:
        """Replaces a value atomically: an interruption leaves either the old or the new one."""
        ...

    def read(self, name: str) -> bytes | None: ...

    def remove(self, name: str) -> None: ...

    def clear(self) -> None:
        """Removes all values, also those of earlier runs."""
        ...


class MemoryStore:
    """A store in memory: for tests, and for a party with enough memory whose peer needs buckets."""

    def __init__(self) -> None:
        self.values: dict[str, bytearray] = {}

    def append(self, name: str, data: bytes) -> None:
        self.values.setdefault(name, bytearray()).extend(data)

    def replace(self, name: str, data: bytes) -> None:
        self.values[name] = bytearray(data)

    def read(self, name: str) -> bytes | None:
        value = self.values.get(name)
        return None if value is None else bytes(value)

    def remove(self, name: str) -> None:
        self.values.pop(name, None)

    def clear(self) -> None:
        self.values.clear()
