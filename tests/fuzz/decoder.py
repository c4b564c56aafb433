"""What a fuzzed decoder has, and how its inputs become files."""

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError
from tests.fuzz.mutations import Change, Mend


@dataclass(frozen=True)
class Decoder:
    """`decode` may return, or raise one of `errors`; anything else is a fault of the decoder.

    `decode` gets the input and a folder that is its own, in which files of earlier inputs may be. What
    it returns, if it is a text, says how the input was taken. `changes` are ones after which an input is
    likely to come past the outermost check, and `mend` puts in order what depends on others.
    """

    seeds: Callable[[], list[bytes]]
    decode: Callable[[bytes, Path], object]
    errors: tuple[type[Exception], ...] = (CoterieError,)
    changes: Sequence[Change] = ()
    mend: Mend | None = None


def put(path: Path | str, data: bytes) -> None:
    """Makes this the content of a file, with as few calls of the system as there can be."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(file, data)
    finally:
        os.close(file)


class QuickPath(type(Path())):  # type: ignore[misc]
    """A folder of inputs that remembers the paths in it, and reads files with fewer calls of the system.

    The decoders of books open several files for each input, always the same ones: a third of the time was
    that of `pathlib`.
    """

    def __truediv__(self, key: str | Path) -> "QuickPath":
        try:
            return self._below[key]
        except AttributeError:
            self._below: dict[str | Path, QuickPath] = {}
        except KeyError:
            pass
        made: QuickPath = super().__truediv__(key)
        if len(self._below) < _REMEMBERED:
            self._below[key] = made
            if "/" not in str(key):
                made._above = self
        return made

    @property
    def parent(self) -> "QuickPath":
        try:
            return self._above
        except AttributeError:
            self._above: QuickPath = super().parent
            return self._above

    def with_name(self, name: str) -> "QuickPath":
        return self.parent / name

    def open(self, mode: str = "r", *others: Any, **more: Any) -> Any:
        if mode != "rb":
            return super().open(mode, *others, **more)
        return io.BytesIO(self.read_bytes())

    def exists(self) -> bool:
        return os.path.exists(str(self))

    def read_bytes(self) -> bytes:
        file = os.open(str(self), os.O_RDONLY)
        try:
            found = os.read(file, _PIECE)
            if len(found) == _PIECE:
                found += b"".join(iter(lambda: os.read(file, _PIECE), b""))
            return found
        finally:
            os.close(file)


_REMEMBERED = 1000  # paths of a folder
_PIECE = 1 << 17  # bytes that are read at once
