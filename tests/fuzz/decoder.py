"""What a fuzzed decoder has, and how its inputs become files."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

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
