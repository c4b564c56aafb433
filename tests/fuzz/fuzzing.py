"""Gives a decoder inputs, one after the other, and keeps those that matter.

Of the inputs that make a decoder answer in a new way, the first 60 are kept in `corpus/`, and so is
each that breaks it. The input at work is noted in shared memory, so that it can be told from outside
when it ends the process or does not come to an end.
"""

import hashlib
import mmap
import os
import random
import re
import tempfile
import time
from pathlib import Path

from tests.fuzz.decoder import Decoder, QuickPath
from tests.fuzz.decoders import DECODERS
from tests.fuzz.mutations import LONGEST, mutated, one_of

CORPUS = Path(__file__).with_name("corpus")
_KEPT = 60  # inputs of a decoder, so that the corpus stays small
_SLOW = 2.0  # seconds of the processor for one input
_LEFT_OPEN = 20  # files after which they are thought to be forgotten ones
_AT_WORK = "at-work"  # the file of the input at work: its length, then its bytes
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_MEMORY_DISK = Path("/dev/shm")


class BrokenDecoderError(AssertionError):
    """A decoder answered with something that it must not answer with."""


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for the files of inputs, in memory where there is a disk of that kind."""
    usable = os.access(_MEMORY_DISK, os.W_OK)
    return tempfile.TemporaryDirectory(prefix="coterie-fuzz-", dir=_MEMORY_DISK if usable else None)


def corpus(name: str) -> list[bytes]:
    folder = CORPUS / name.replace(" ", "-")
    return [path.read_bytes() for path in sorted(folder.glob("*"))]


def keep(name: str, data: bytes) -> Path:
    """Adds an input to the decoder's corpus."""
    folder = CORPUS / name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def answer(decoder: Decoder, data: bytes, folder: Path) -> str:
    """How the decoder takes the input: `ok`, or its error without the parts that vary."""
    begun = time.monotonic()
    said = _answer(decoder, data, folder)
    if time.monotonic() - begun > _SLOW:  # perhaps the machine was busy with something else
        used = time.process_time()
        _answer(decoder, data, folder)
        used = time.process_time() - used
        if used > _SLOW:
            raise BrokenDecoderError(f"took {used:.1f} s for {len(data)} bytes")
    return said


def _answer(decoder: Decoder, data: bytes, folder: Path) -> str:
    try:
        taken = decoder.decode(data, folder)
    except decoder.errors as error:
        words = _QUOTED.sub("#", str(error)[:400]).split()[:6]
        plain = (word if word.isalpha() else "#" for word in words)
        return " ".join([type(error).__name__, *plain])
    return f"ok {taken}" if isinstance(taken, str) else "ok"


def fuzz(
    name: str, inputs: int, seconds: float, begin: int, keeping: bool, folder: Path | None = None
) -> int:
    """Runs the decoder on its corpus and on `inputs` new inputs; returns how many it had.

    Half of the new inputs are made from the decoder's own seeds, which are in order, and half from the
    corpus, most of which is not. `begin` gives the random numbers.
    """
    if folder is None:
        with scratch() as made:
            return fuzz(name, inputs, seconds, begin, keeping, Path(made))
    folder = QuickPath(folder)
    decoder = DECODERS[name]
    seeds = decoder.seeds()
    pool = [*seeds, *corpus(name)]
    seen: set[str] = set()
    end = time.monotonic() + seconds
    chance = random.Random(f"{name} {begin}")
    with _AtWork(folder) as at_work:

        def tried(data: bytes) -> str:
            at_work.note(data)
            try:
                return answer(decoder, data, folder)
            except Exception as error:
                raise BrokenDecoderError(
                    f"{name}: {type(error).__name__}: {error}; the input is {keep(name, data)}"
                ) from error

        descriptor = _free_descriptor(folder)
        for data in pool:
            seen.add(tried(data))
        done = 0
        while done < inputs and time.monotonic() < end:
            begun = one_of(seeds if chance.random() < 0.5 else pool, chance)
            data = mutated(begun, pool, chance, decoder.changes, decoder.mend)
            said = tried(data)
            if said not in seen:
                seen.add(said)
                pool.append(data)
                if keeping and len(seen) < _KEPT:
                    keep(name, data)
            done += 1
        if (left := _free_descriptor(folder) - descriptor) > _LEFT_OPEN:
            raise BrokenDecoderError(f"{name}: left {left} files open")
    return done


def _free_descriptor(folder: Path) -> int:
    """The lowest number that an opened file can have."""
    number = os.open(folder, os.O_RDONLY)
    os.close(number)
    return number


class _AtWork:
    """The file of the input at work."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / _AT_WORK, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self._file, 8 + LONGEST)
        self._map = mmap.mmap(self._file, 8 + LONGEST)

    def __enter__(self) -> "_AtWork":
        return self

    def note(self, data: bytes) -> None:
        size = len(data)
        self._map[: 8 + size] = size.to_bytes(8, "little") + data

    def __exit__(self, *_: object) -> None:
        self._map.close()
        os.close(self._file)


def at_work(folder: Path) -> bytes | None:
    """The input that a decoder of another process had at last in this folder; None if it had none."""
    try:
        content = (folder / _AT_WORK).read_bytes()
    except FileNotFoundError:
        return None
    return content[8 : 8 + int.from_bytes(content[:8], "little")]
