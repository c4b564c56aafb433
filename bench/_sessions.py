"""One session between processes of this machine, over the transport that party servers use.

`run` starts a process for each party, with its own certificate, gRPC server and mTLS connections,
and gives every one a channel to the others.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import tempfile
import time
from collections.abc import Sequence
from concurrent import futures
from pathlib import Path
from typing import Any

from coterie.base.registry import at_place
from coterie.bench._link import through
from coterie.coordinator.demo.ports import free_ports
from coterie.protocols.messaging.channel import Channel

_PATIENCE = 900.0  # seconds for a party's result


def _guarded(*arguments: Any) -> None:
    """Reports every error, so that the caller does not wait for a result that never comes."""
    try:
        _party(*arguments)
    except BaseException as error:
        arguments[-1].put((arguments[-3], f"failed: {error!r}"))


def _party(
    place: str,
    folder: str,
    names: list[str],
    ports: list[int],
    seen: list[int],
    index: int,
    argument: Any,
    out: Any,
) -> None:
    import grpc

    from coterie.transport.peers import PeerService
    from coterie.transport.session import Heartbeat, Session
    from coterie.trust.identity import SERVER_OPTIONS, caller_of, load_identity

    me, home = names[index], Path(folder)
    identity = load_identity(
        me, home / me / f"{me}.crt", home / me / f"{me}.key", home / me / "ca.crt"
    )
    service = PeerService(me, lambda context: caller_of(context).name)
    pool = futures.ThreadPoolExecutor(2 * len(names) + 4)
    server = grpc.server(pool, options=SERVER_OPTIONS)
    server.add_generic_rpc_handlers((service,))
    server.add_secure_port(f"127.0.0.1:{ports[index]}", identity.server_credentials())
    server.start()
    session = Session(
        "bench",
        me,
        names[index + 1 :] + names[:index],
        spool_folder=home,
        heartbeat=Heartbeat(1.0, 120.0),
        memory=2 << 30,
    )
    service.add(session)
    address = {name: f"127.0.0.1:{port}" for name, port in zip(names, seen, strict=True)}
    session.start(lambda peer: identity.connect(peer, address[peer]))
    try:
        result = at_place(place)(Channel(session, "bench"), names, argument)
        session.finish()
    except BaseException as error:
        session.fail(error)
        result = f"failed: {error!r}"
    session.close(0.2)
    server.stop(0).wait()
    out.put((index, result))


def _next(out: Any, processes: Sequence[Any], names: Sequence[str]) -> tuple[int, Any]:
    """The next result; an error if a process has ended without one, or none comes."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(queue.Empty):
            found: tuple[int, Any] = out.get(timeout=1)
            return found
        for index, process in enumerate(processes):
            if process.exitcode:
                return index, f"failed: its process ended with {process.exitcode}"
    return 0, f"failed: no result within {_PATIENCE:.0f} s"


def run(place: str, arguments: Sequence[Any]) -> list[Any]:
    """Runs `module:function`, as function(channel, names, argument), at every party."""
    from coterie.trust.certificates import create_authority, issue

    names = [f"p{i}" for i in range(len(arguments))]
    ports = free_ports(len(names))
    spawn = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="coterie-bench-") as folder,
        through(ports) as seen,
    ):
        create_authority(Path(folder), 2)
        for name in names:
            issue(Path(folder), name, ["localhost"], 1)
        out = spawn.Queue()
        processes = [
            spawn.Process(
                target=_guarded, args=(place, folder, names, ports, seen, i, arguments[i], out)
            )
            for i in range(len(names))
        ]
        for process in processes:
            process.start()
        results: dict[int, Any] = {}
        for _ in names:
            index, result = _next(out, processes, names)
            if isinstance(result, str) and result.startswith("failed"):
                for process in processes:
                    process.terminate()
                raise RuntimeError(f"{names[index]} {result}")
            results[index] = result
        for process in processes:
            process.join(30)
    return [results[i] for i in range(len(names))]
