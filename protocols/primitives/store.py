"""Where a protocol puts what does not fit its memory, and what lets it go on after an interruption.

Protocols touch no files; whoever runs them hands in a store. `jobs.matching.folder_store` keeps one in a folder.
"""

from __future__ import annotations

from typing import Protocol


class Store(Protocol):
    """Byte strings by name, as durable as the implementation makes them."""

    def append(self, name: str, data: bytes) -> None: ...

    def replace(self, name: str, data: bytes) -> None:
        """The whole value at once: after an interruption the old one or the new one is there."""
        ...

    def read(self, name: str) -> bytes | None: ...

    def remove(self, name: str) -> None: ...

    def clear(self) -> None:
        """Removes everything, whoever put it there."""
        ...


class MemoryStore:
    """Within this process: for tests, and for a party that has memory enough when its peer has not."""

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
