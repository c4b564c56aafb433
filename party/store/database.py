"""The books of a party: one SQLite file, `books.db`, in its state folder.

    jobs      the journal: a row a job, with its present state; one without content is forgotten
    ledger    contributions, ends of jobs, charges; only ever added to
    history   what jobs have told about people: added to, and written anew when it is pruned
    notes     counts, questions to the steward, the heads of lists of people, by name
    seal      digests over all of it: see `seal`

The content of a row is a JSON object. What is written with `sync` is on the disk on return; the rest
survives the end of the process, and perhaps not a power cut. A full disk or a crash leaves whole
changes only. What is removed is overwritten in the file (`secure_delete`); `purge` removes it from the
write-ahead log, too. Threads and processes may use the file at the same time: all users within a
process share one `Database`, and so one connection.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import apsw

from coterie.base.errors import EnvironmentFaultError, VerificationError
from coterie.party.store.seal import CHAINED, NAMED, START, Seal, Sealer, extended, shifted

FILE = "books.db"
EARLIER = "journal.jsonl"  # a folder that was served by an earlier version has this instead
ADVICE = "restore the state folder from a backup"
VFS: str | None = None  # and the settings: other ones where disks are simulated
SETTINGS: Sequence[str] = ()
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS jobs (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS notes (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS ledger (number INTEGER PRIMARY KEY, content TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS history (number INTEGER PRIMARY KEY, content TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS seal (
        one INTEGER PRIMARY KEY CHECK (one = 1), content TEXT NOT NULL, mac TEXT NOT NULL);
"""
_PAGES = 1000  # of the write-ahead log, after which they are moved into the file
_PATIENCE = 10_000  # milliseconds for another process
log = logging.getLogger("coterie.party")


class Change:
    """What one transaction changes."""

    def __init__(self, connection: apsw.Connection, seal: Seal, sealer: Sealer) -> None:
        self._run = connection.execute
        self.seal = seal
        self._sealer = sealer

    def put(self, table: str, name: str, entry: Mapping[str, Any]) -> None:
        """Gives the row of this name its content; a new one comes last."""
        content = json.dumps(entry)
        self._shift(table, name, self._sealer.of_row(table, name, content))
        self._run(
            f"INSERT INTO {table} (name, content) VALUES (?, ?) "  # noqa: S608
            "ON CONFLICT (name) DO UPDATE SET content = excluded.content",
            (name, content),
        )

    def remove(self, table: str, name: str) -> None:
        self._shift(table, name, 0)
        self._run(f"DELETE FROM {table} WHERE name = ?", (name,))  # noqa: S608

    def clear(self, table: str) -> None:
        """Removes all rows of jobs or notes."""
        sums = {**self.seal.sums, table: self._sealer.hidden(0)}
        self.seal = replace(self.seal, sums=sums)
        self._run(f"DELETE FROM {table}")  # noqa: S608

    def _shift(self, table: str, name: str, by: int) -> None:
        row = self._run(f"SELECT content FROM {table} WHERE name = ?", (name,)).fetchone()  # noqa: S608
        before = 0 if row is None else self._sealer.of_row(table, name, row[0])
        self.seal = shifted(self.seal, self._sealer, table, by - before)

    def append(self, book: str, content: str) -> None:
        """Adds a row to the ledger or the history."""
        self.seal = extended(self.seal, self._sealer, book, content)
        row = self.seal.chains[book][0], content
        self._run(f"INSERT INTO {book} (number, content) VALUES (?, ?)", row)  # noqa: S608

    def replace(self, book: str, contents: Iterable[str]) -> None:
        """Replaces all rows of the ledger or the history."""
        self._run(f"DELETE FROM {book}")  # noqa: S608
        self.seal = replace(self.seal, chains={**self.seal.chains, book: (0, START)})
        for content in contents:
            self.append(book, content)


@dataclass(frozen=True)
class Checked:
    """What was found in the books: their seal, which parts of it do not fit, and the links asked for."""

    seal: Seal
    wrong: list[str]
    links: dict[str, dict[int, str]]


class Database:
    """The file of one state folder."""

    def __init__(self, state: Path) -> None:
        self.path = state / FILE
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._file = 0, 0  # which file the connection is about
        self._pages = 0

    @property
    def sealer(self) -> Sealer:
        return Sealer(_keys.get(str(self.path), b""))

    # Reading.

    def rows(self, book: str) -> list[str]:
        """The contents of all rows, the oldest first."""
        return [row[0] for row in self._read(f"SELECT content FROM {book} ORDER BY number")]  # noqa: S608

    def named(self, table: str) -> list[tuple[str, dict[str, Any]]]:
        """The rows by name, the oldest first."""
        rows = self._read(f"SELECT name, content FROM {table} ORDER BY number")  # noqa: S608
        return [(name, self._object(content)) for name, content in rows]

    def get(self, table: str, name: str) -> dict[str, Any] | None:
        rows = self._read(f"SELECT content FROM {table} WHERE name = ?", name)  # noqa: S608
        return self._object(rows[0][0]) if rows else None

    def seal(self) -> Seal:
        """The present seal; that of empty books if there are none."""
        with self._used(make=False) as connection:
            return self.sealer.empty() if connection is None else self._seal(connection)

    def _read(self, sql: str, *values: str) -> list[Any]:
        with self._used(make=False) as connection:
            return [] if connection is None else connection.execute(sql, values).fetchall()

    def _object(self, content: str) -> dict[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise EnvironmentFaultError(f"{self.path}: has a row that is damaged; {ADVICE}")
        return found

    def _seal(self, connection: apsw.Connection) -> Seal:
        row = connection.execute("SELECT content, mac FROM seal").fetchone()
        if row is None:
            return self.sealer.empty()
        try:
            return self.sealer.opened(*row)
        except VerificationError:
            how = (
                "with the key of books_key"
                if self.sealer.keyed
                else "as books without books_key are"
            )
            raise VerificationError(
                f"{self.path}: not sealed {how}: somebody else has written the books, or the key is another "
                "one than before; 'coterie party seal' seals them anew"
            ) from None

    # Writing.

    @contextlib.contextmanager
    def changing(self, sync: bool = True) -> Iterator[Change]:
        """One transaction; what is done within it is written as a whole, or not at all."""
        with self._used(make=True) as connection:
            assert connection is not None  # noqa: S101
            connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                change = Change(connection, self._seal(connection), self.sealer)
                yield change
                self._put_seal(connection, replace(change.seal, serial=change.seal.serial + 1))
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(apsw.Error):
                    connection.execute("ROLLBACK")
                raise
            if self._pages > _PAGES:  # what is committed stays so, whatever happens here
                with contextlib.suppress(apsw.Error):
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _put_seal(self, connection: apsw.Connection, seal: Seal) -> None:
        text = seal.as_text()
        row = text, self.sealer.mac(text)
        connection.execute("REPLACE INTO seal (one, content, mac) VALUES (1, ?, ?)", row)

    def put(self, table: str, name: str, entry: Mapping[str, Any]) -> None:
        with self.changing() as change:
            change.put(table, name, entry)

    def append(self, book: str, entry: Mapping[str, Any], sync: bool = True) -> None:
        with self.changing(sync) as change:
            change.append(book, json.dumps(entry))

    def note_audit(self, lines: int, chain: str, sync: bool = False) -> Seal:
        """Seals the head of the audit log with the books; the new seal."""
        with self.changing(sync) as change:
            change.seal = replace(change.seal, audit=(lines, chain))
        return change.seal

    def purge(self) -> None:
        """Empties the write-ahead log, which has earlier contents of rows."""
        with self._used(make=False) as connection:
            if connection is not None:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # Checking.

    def check(self, wanted: Mapping[str, Collection[int]]) -> Checked:
        """Compares all rows with the seal; `wanted` asks for links of chains by their rows' numbers.

        Raises an error if the file is damaged, or if the seal was not made with this key.
        """
        with self._used(make=False) as connection:
            if connection is None:
                return Checked(self.sealer.empty(), [], {book: {0: START} for book in CHAINED})
            connection.execute("BEGIN")
            try:
                intact = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
                if not intact or _schema(connection) != _expected():
                    raise apsw.CorruptError
                seal = self._seal(connection)
                found, links = _resealed(connection, seal, self.sealer, wanted)
            finally:
                connection.execute("ROLLBACK")
            wrong = [book for book in CHAINED if found.chains[book] != seal.chains[book]]
            total = self.sealer.total
            wrong += [t for t in NAMED if total(found.sums[t]) != total(seal.sums[t])]
            return Checked(seal, wrong, links)

    def reseal(self) -> None:
        """Makes a seal, with the present key, for whatever is in the books."""
        with self._used(make=True) as connection:
            assert connection is not None  # noqa: S101
            with connection:
                row = connection.execute("SELECT content FROM seal").fetchone()
                serial, _, audit = json.loads(row[0])[:3] if row else (0, False, (0, START))
                blank = replace(self.sealer.empty(), serial=serial + 1, audit=(audit[0], audit[1]))
                self._put_seal(connection, _resealed(connection, blank, self.sealer, {})[0])

    def copy(self, target: Path) -> None:
        """Copies the books as they are at this moment, also while they are written."""
        with self._used(make=False) as connection:
            if connection is not None:
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                connection.execute("VACUUM INTO ?", (str(target),))

    # The connection.

    @contextlib.contextmanager
    def _used(self, make: bool) -> Iterator[apsw.Connection | None]:
        """The connection, for this thread alone; None if there is no file and none is to be made."""
        with self._lock:
            try:
                yield self._open(make)
            except apsw.Error as error:
                raise EnvironmentFaultError(f"{self.path}: {self._words(error)}") from None
            except OSError as error:
                raise EnvironmentFaultError(f"{self.path}: {error.strerror}") from None

    def _open(self, make: bool) -> apsw.Connection | None:
        there = _inode(self.path)
        if self._connection is not None and there == self._file:
            return self._connection
        self._drop()
        if there is None:
            if not make and self.path.with_name(EARLIER).exists():
                raise EnvironmentFaultError(
                    f"{self.path.parent}: was written by an earlier version; start the server once, which "
                    "brings it forward"
                )
            if not make:
                return None
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
        made = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=VFS)
        made.set_busy_timeout(_PATIENCE)
        # In `EXTRA` the way into the write-ahead log survives a power cut, too.
        for setting in (
            *SETTINGS,
            "synchronous = EXTRA",
            "journal_mode = WAL",
            "secure_delete = ON",
        ):
            made.execute(f"PRAGMA {setting}").fetchall()
        if not _schema(made):
            made.execute(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT")
        made.set_wal_hook(self._grown)
        self._connection, self._file = made, _inode(self.path) or (0, 0)
        return made

    def _grown(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _words(self, error: apsw.Error) -> str:
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            return f"is damaged; {ADVICE}"
        if isinstance(error, apsw.FullError):
            return "No space left on device"
        if isinstance(error, apsw.ConstraintError):
            return f"was changed by somebody else; {ADVICE}"
        number = self._connection.system_errno if self._connection is not None else 0
        return os.strerror(number) if number else str(error).partition(": ")[2] or str(error)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close(True)
            self._connection = None

    def close(self) -> None:
        """Closes the file; whoever uses the books afterwards opens it again."""
        with self._lock, contextlib.suppress(apsw.Error):
            self._drop()


def _resealed(
    connection: apsw.Connection,
    seal: Seal,
    sealer: Sealer,
    wanted: Mapping[str, Collection[int]],
) -> tuple[Seal, dict[str, dict[int, str]]]:
    """The seal that the rows ought to have, and links of the chains."""
    chains, sums = {}, {}
    links: dict[str, dict[int, str]] = {}
    for book in CHAINED:
        rows, link = 0, START
        links[book] = {0: START}
        found = connection.execute(f"SELECT number, content FROM {book} ORDER BY number")  # noqa: S608
        for number, content in found:
            rows, link = rows + 1, sealer.link(link, number, content)
            if rows in wanted.get(book, ()):
                links[book][rows] = link
        chains[book] = rows, link
    for table in NAMED:
        named = connection.execute(f"SELECT name, content FROM {table} ORDER BY number")  # noqa: S608
        sums[table] = sealer.hidden(sum(sealer.of_row(table, *row) for row in named))
    return replace(seal, chains=chains, sums=sums), links


def _schema(connection: apsw.Connection) -> list[Any]:
    return connection.execute("SELECT * FROM sqlite_schema ORDER BY name").fetchall()


@functools.cache
def _expected() -> list[Any]:
    """The schema of a sound file: with a lost byte it could pass for another one."""
    made = apsw.Connection(":memory:")
    made.execute(_SCHEMA)
    return _schema(made)


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


_known: WeakValueDictionary[str, Database] = WeakValueDictionary()
_keys: dict[str, bytes] = {}
_knowing = threading.Lock()


def database(state: Path) -> Database:
    """The books of a state folder, which all users within the process share."""
    name = str(state.absolute() / FILE)
    with _knowing:
        found = _known.get(name)
        if found is None:
            found = _known[name] = Database(state.absolute())
        return found


def forget(state: Path) -> Database | None:
    """Lets the next user of the books open them anew: their process has ended. Its own, if there are."""
    return _known.pop(str(state.absolute() / FILE), None)


def use_key(state: Path, key: bytes) -> None:
    """From now on the books of this folder are sealed with this key; empty for none."""
    _keys[str(state.absolute() / FILE)] = key


__all__ = [
    "ADVICE",
    "EARLIER",
    "FILE",
    "Change",
    "Checked",
    "Database",
    "database",
    "forget",
    "use_key",
]
