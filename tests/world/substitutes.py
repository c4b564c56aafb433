"""Puts the simulated threads, clocks, files and gRPC below the product, and takes them away again.

Nothing of the product is changed or left out: its modules find other modules behind the names
`threading`, `time`, `queue`, `fcntl`, `grpc` and `secrets`, and other functions behind what they
imported from them. Default arguments and the locks of modules and classes are replaced, too.
"""

from __future__ import annotations

import concurrent.futures as real_futures
import contextlib
import fcntl as real_fcntl
import functools
import importlib
import io
import json as real_json
import os
import pkgutil
import queue as real_queue
import secrets as real_secrets
import sys
import threading as real_threading
import time as real_time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from types import FunctionType, ModuleType
from typing import Any

import grpc as real_grpc

import coterie.coordinator.run
import coterie.party
from coterie.base.errors import UsageError
from coterie.coordinator.run import runs
from coterie.jobs.data.sources import CsvFile
from coterie.jobs.data.table_digest import column_digests
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.document import read_document as real_document
from coterie.jobs.file.job import Job
from coterie.jobs.kinds import job_file
from coterie.jobs.kinds.job_file import parse_job
from coterie.party import config, preflight, proposals, records
from tests.world import books, disks, threads
from tests.world.network import Network
from tests.world.tasks import scheduler
from tests.world.threads import module_like

_LOCKS = (type(real_threading.Lock()), type(real_threading.RLock()), real_threading.Condition)
_networks: list[Network] = []
_PATHS = 2000  # joined paths that are remembered
_TABLES = 64  # tables whose digests are


def _of_network(name: str) -> Callable[..., Any]:
    def call(*words: Any, **named: Any) -> Any:
        return getattr(_networks[-1], name)(*words, **named)

    return call


_GRPC = module_like(
    real_grpc,
    **{
        name: _of_network(name)
        for name in (
            "server",
            "secure_channel",
            "ssl_channel_credentials",
            "dynamic_ssl_server_credentials",
            "ssl_server_certificate_configuration",
        )
    },
)
_SECRETS = module_like(
    real_secrets,
    token_hex=lambda size=32: scheduler().random.randbytes(size).hex(),
    token_bytes=lambda size=32: scheduler().random.randbytes(size),
)
_JSON = module_like(  # indented texts are written by Python, and nobody reads those of a world
    real_json, dumps=lambda value, indent=None, **named: real_json.dumps(value, **named)
)
_FUTURES = module_like(
    real_futures, ThreadPoolExecutor=threads.Executor, wait=threads.wait_for_futures
)
_PAIRS: tuple[tuple[Any, Any], ...] = (
    (real_threading, threads.threading),
    (real_time, threads.time),
    (real_queue, threads.queue),
    (real_fcntl, disks.fcntl),
    (real_grpc, _GRPC),
    (real_secrets, _SECRETS),
    (real_json, _JSON),
    (real_futures, _FUTURES),
    (real_queue.SimpleQueue, threads.SimpleQueue),
    (real_futures.ThreadPoolExecutor, threads.Executor),
    (real_futures.wait, threads.wait_for_futures),
    (real_time.monotonic, threads.monotonic),
    (real_time.time, threads.wall),
    (real_time.sleep, threads.sleep),
    (real_threading.Condition, threads.Condition),
)
_BY_ID = {id(real): simulated for real, simulated in _PAIRS}


def enter(network: Network) -> None:
    _networks.append(network)


def leave() -> None:
    _networks.pop()


@contextlib.contextmanager
def substituted() -> Iterator[None]:
    """While this is open, worlds can run in this process."""
    _import_all()
    undo: list[Callable[[], None]] = []
    try:
        for module in [m for name, m in sys.modules.items() if name.startswith("coterie.")]:
            _substitute(module, undo)
        for name, call in disks.CALLS.items():
            _set(os, name, call, undo)
        _set(io, "open", disks.open_file, undo)
        _remember(undo)
        with books.simulated():
            yield
    finally:
        for act in reversed(undo):
            act()


def _remember(undo: list[Callable[[], None]]) -> None:
    """The same few jobs and tables, which no world changes, are parsed again and again."""
    parse = functools.lru_cache(maxsize=64)(
        lambda text, files, file: parse_job(text, dict(files), file)
    )

    def parsed(text: str, files: Mapping[str, bytes], file: str = "job") -> Job:
        return parse(text, tuple(files.items()), file)

    for module in (job_file, proposals, records):
        _set(module, "parse_job", parsed, undo)
    document = functools.lru_cache(maxsize=64)(lambda text, file: real_document(text, file).node)
    _set(job_file, "read_document", lambda text, file: document(text, file).section(), undo)
    raw = functools.lru_cache(maxsize=256)(lambda text: real_document(text, "").node.raw)
    _set(config, "read_document", lambda text, file: _read(text, file, raw), undo)
    read = functools.lru_cache(maxsize=64)(CsvFile.read)
    _set(CsvFile, "read", lambda table, columns: read(table, tuple(columns)), undo)
    digests: dict[
        tuple[int, bytes, bytes], tuple[Any, dict[str, bytes]]
    ] = {}  # with the tables, so that
    # no other takes their ids

    def digested(table: Any, key: bytes, order: Any = None) -> dict[str, bytes]:
        known = id(table), key, b"" if order is None else order.to_numpy().tobytes()
        if known not in digests:
            if len(digests) > _TABLES:
                digests.clear()
            digests[known] = table, column_digests(table, key, order)
        return dict(digests[known][1])

    _set(preflight, "column_digests", digested, undo)
    _set(runs, "state_folder", lambda environment=None: _networks[-1].lists, undo)
    _set(PurePath, "__truediv__", _joined(PurePath.__truediv__), undo)
    _set(Path, "read_bytes", disks.read_bytes, undo)
    _set(Path, "read_text", _read_text(Path.read_text), undo)


def _read(text: str, file: str, raw: Callable[[str], Any]) -> Section:
    """The document of a text; what is wrong with it is said of the file that has it."""
    try:
        return Node(file, "", raw(text)).section()
    except UsageError:
        return real_document(text, file)


def _joined(join: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Joins paths; the few of a world are joined again and again, and a `Path` remembers its text."""
    known: dict[tuple[str, str], Any] = {}

    def joined(self: Any, name: Any) -> Any:
        if not isinstance(name, str):
            return join(self, name)
        key = str(self), name
        made = known.get(key)
        if made is None or type(made) is not type(self):
            if len(known) > _PATHS:
                known.clear()
            made = known[key] = join(self, name)
        return made

    return joined


def _read_text(read: Callable[..., str]) -> Callable[..., str]:
    """Reads a text with three system calls in the place of eight."""

    def read_text(self: Path, encoding: str | None = None, errors: str | None = None) -> str:
        content = disks.read_bytes(self)
        if b"\r" in content:
            return read(self, encoding, errors)
        return content.decode(encoding or "utf-8", errors or "strict")

    return read_text


def _import_all() -> None:
    """A module that is imported within a world would keep what it finds there."""
    for package in (coterie.party, coterie.coordinator.run, coterie.jobs, coterie.protocols):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)


def _set(owner: Any, name: str, value: Any, undo: list[Callable[[], None]]) -> None:
    before = getattr(owner, name)
    setattr(owner, name, value)
    undo.append(lambda: setattr(owner, name, before))


def _substitute(module: ModuleType, undo: list[Callable[[], None]]) -> None:
    for name, value in list(vars(module).items()):
        if id(value) in _BY_ID:
            _set(module, name, _BY_ID[id(value)], undo)
        elif isinstance(value, _LOCKS):
            _set(module, name, _lock_like(value), undo)
        elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
            _substitute_defaults(value, undo)
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for key, inner in list(vars(value).items()):
                if isinstance(inner, FunctionType):
                    _substitute_defaults(inner, undo)
                elif isinstance(inner, _LOCKS):
                    _set(value, key, _lock_like(inner), undo)


def _lock_like(lock: Any) -> Any:
    """Every process of the world shares it, as the threads of one process do."""
    if isinstance(lock, real_threading.Condition):
        return threads.Condition()
    return threads.Lock() if isinstance(lock, _LOCKS[0]) else threads.RLock()


def _substitute_defaults(function: FunctionType, undo: list[Callable[[], None]]) -> None:
    defaults, named = function.__defaults__, function.__kwdefaults__
    if defaults and any(id(value) in _BY_ID for value in defaults):
        _set(function, "__defaults__", tuple(_BY_ID.get(id(v), v) for v in defaults), undo)
    if named and any(id(value) in _BY_ID for value in named.values()):
        made = {key: _BY_ID.get(id(value), value) for key, value in named.items()}
        _set(function, "__kwdefaults__", made, undo)
    for cell in function.__closure__ or ():  # the factories of a dataclass
        with contextlib.suppress(ValueError):
            if id(cell.cell_contents) in _BY_ID:
                _set(cell, "cell_contents", _BY_ID[id(cell.cell_contents)], undo)
