"""The numbers by which a party knows people again, from one job to the next.

Each person has a number: the place of a digest in a file that is only ever appended to. The digest is
BLAKE2b of the person's identifiers, as they stand in the party's own table, salted by a random key that
the party keeps beside the file. So sets of people are sets of bits, and without the key a file of the
history names nobody. Of 128 bits 64 are kept: among ten million people two have the same digest with a
chance of 1 in 400,000, and would then count as one.

Identifiers are taken as they are: a job that normalises them, or matches by other columns, cannot make
somebody else of a person whom the policy's `repeat.id` identifies. Without that key people are known by
the columns that a job matches; each list of columns has a file of its own.

How many people the file has, and their digest, is a note of the books (`party.store`). What a crash
left after these people does not count. If some of them are missing or changed, the file is damaged,
and no job goes on before it is restored: people who were forgotten would be counted again as new ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.base.arrays import Ints, Words
from coterie.base.distinct import distinct
from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.whole_file import sync_names
from coterie.party.store.database import database
from coterie.protocols.primitives import sodium

_KEY = "key"
_KEY_BYTES = 32
_WIDTH = 8
LIST = re.compile(r"people-[0-9a-f]{16}")  # the names of the files
ADVICE = "restore the folder from a backup, or begin anew by 'coterie party forget-history'"


class People:
    """The people whom a list of columns identifies. Only one thread may use it at a time."""

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        """Makes the key if there is none."""
        named = hashlib.sha256("\0".join(columns).encode()).hexdigest()[:16]
        self._path = folder / f"people-{named}"
        self._books = database(folder.parent)
        if self._path.exists() and not (folder / _KEY).exists():
            raise EnvironmentFaultError(
                f"{folder / _KEY}: is missing, without which nobody of earlier jobs is known again; "
                f"{ADVICE}"
            )
        self._salt = _key(folder / _KEY)

    def digests(self, table: pa.Table, columns: Sequence[str]) -> Words:
        """The digest of every row of a table."""
        parts = [pc.fill_null(table.column(name).cast(pa.large_string()), "") for name in columns]
        if len(parts) > 1:
            lengths = [pc.binary_length(part).cast(pa.large_string()) for part in parts]
            separator = pa.scalar(":", pa.large_string())
            mixed = [x for pair in zip(lengths, parts, strict=True) for x in pair]
            parts = [pc.binary_join_element_wise(*mixed, separator)]
        array = pa.concat_arrays(parts[0].chunks) if parts[0].num_chunks else None
        if array is None or not len(array):
            return np.zeros(0, np.uint64)
        _, offsets, data = array.buffers()
        places = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(1, np.uint8)
        found = sodium.digests(content, places, self._salt)
        words: Words = np.ascontiguousarray(found[:, :_WIDTH]).view(np.uint64)[:, 0]
        return words

    def numbers(self, digests: Words) -> Ints:
        """The number of each person. A new person gets a new number, which is on the disk on return."""
        known = self._read()
        order = np.argsort(known, kind="stable")
        place = _places(known[order], digests)
        place[place == len(known)] = 0
        there = known[order[place]] == digests if len(known) else np.zeros(len(digests), bool)
        fresh = distinct(digests[~there])
        if len(fresh):
            self._append(known, fresh)
        numbers: Ints = np.empty(len(digests), np.int64)
        numbers[there] = order[place[there]]
        numbers[~there] = len(known) + _places(fresh, digests[~there])
        return numbers

    def known(self, digests: Words) -> Ints:
        """The numbers of those of the people who have one already, without repeats."""
        found: Ints = np.flatnonzero(np.isin(self._read(), digests))
        return found

    def _read(self) -> Words:
        """The people of the file, as far as the books know them."""
        head = self._books.get("notes", self._path.name)
        if head is None:
            return np.zeros(0, np.uint64)
        how, known = _known(self._path, head)
        if how:
            raise self._damaged(how)
        return known

    def _damaged(self, how: str) -> EnvironmentFaultError:
        """An error for coordinators, too: neither how many people there are nor the file's name."""
        return EnvironmentFaultError(
            f"{self._path.parent}: a list of people is damaged ({how}), so that people of earlier jobs "
            f"would count as new ones; {ADVICE}"
        )

    def _append(self, known: Words, fresh: Words) -> None:
        """Writes after the people that are known, over what a crash may have left of another write."""
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                left = memoryview(fresh.tobytes())
                at = len(known) * _WIDTH
                os.ftruncate(file, at)
                while left:
                    written = os.pwrite(file, left, at)
                    left, at = left[written:], at + written
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise EnvironmentFaultError(f"{self._path}: {error.strerror}") from None
        self._note_head(np.concatenate([known, fresh]))

    def _note_head(self, known: Words) -> None:
        """Only from now on do these people count."""
        head = {"people": len(known), "digest": _digest(known)}
        self._books.put("notes", self._path.name, head)


def _places(ordered: Words, digests: Words) -> Ints:
    """Where each digest stands, or would stand, among ordered ones.

    The digests are sorted first: a search for random ones, one after another, waits for memory.
    """
    by = np.argsort(digests)
    places: Ints = np.empty(len(digests), np.int64)
    places[by] = np.searchsorted(ordered, digests[by])
    return places


def _known(path: Path, head: Mapping[str, Any]) -> tuple[str, Words]:
    """The people of a list; or how it is damaged."""
    none, count = np.zeros(0, np.uint64), head.get("people")
    if type(count) is not int:
        return "has no number of people", none
    try:
        whole = path.read_bytes()[: count * _WIDTH]
    except FileNotFoundError:
        return "is missing", none
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
    if len(whole) < count * _WIDTH:
        return "has fewer people than were written", none
    known = np.frombuffer(whole, np.uint64)
    return (
        "" if _digest(known) == head.get("digest") else "has other people than were written"
    ), known


def damaged_lists(state: Path) -> list[str]:
    """The lists of people that are not as the books know them."""
    notes = database(state).named("notes")
    lists = [(state / "history" / name, head) for name, head in notes if LIST.fullmatch(name)]
    return [path.name for path, head in lists if _known(path, head)[0]]


def remove_lists(folder: Path) -> None:
    """Removes all lists; their notes first, since a note without its list is a damage."""
    books = database(folder.parent)
    with books.changing() as change:
        for name, _ in books.named("notes"):
            if LIST.fullmatch(name):
                change.remove("notes", name)
    for path in folder.glob("people-*"):
        path.unlink(missing_ok=True)


def _digest(known: Words) -> str:
    return hashlib.blake2b(known.data, digest_size=32).hexdigest()


def commitment_key(folder: Path) -> bytes:
    """The key under which the party commits to its data, made from that of the people."""
    return hmac.digest(_key(folder / _KEY), b"coterie commitment to inputs", "sha256")


def sound_key(folder: Path) -> Path | None:
    """The file of the key; None if there is none that could be used."""
    path = folder / _KEY
    try:
        return path if path.is_file() and path.stat().st_size == _KEY_BYTES else None
    except OSError:
        return None


def _key(path: Path) -> bytes:
    try:
        return _whole(path, path.read_bytes())
    except FileNotFoundError:
        pass
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
    made = path.with_name(f"{path.name}.new-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "wb") as out:
            out.write(secrets.token_bytes(_KEY_BYTES))
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):  # another thread was faster: its key counts
            os.link(made, path)
        made.unlink()
        sync_names(path.parent)  # people are written only when the key outlives a power cut
        return _whole(path, path.read_bytes())
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None


def _whole(path: Path, key: bytes) -> bytes:
    if len(key) != _KEY_BYTES:
        raise EnvironmentFaultError(f"{path}: not the key of a history; restore it from a backup")
    return key
