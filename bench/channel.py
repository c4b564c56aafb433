"""Messages and megabytes per second through a channel, beside bare grpcio in the same run.

Between two processes on this machine, with and without mTLS: a ping-pong of 64 bytes, and a stream
of values of 1 MiB, drawn in turn from more of them than a processor's cache holds. Through the
channel go arrays, which the receiver decodes. Through bare grpcio go bytes objects made beforehand,
which the receiver only counts; as `grpcio_arrays`, arrays that are turned into bytes and back into
arrays, which is the work of a program with arrays; and, as `grpcio_collected`, the bytes the way
the channel sends them: the receiver calls, and reads in the thread that waits. In-memory channels
run between two threads. Rounds of both sides alternate. Rates are the best of all rounds, because
other work on the machine can only make a round slower. Ratios are the median over rounds of two
consecutive rates, with the quartiles, because other work lasts longer than a round. Processor
seconds are those of both ends.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import multiprocessing
import os
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
import grpc
import numpy as np
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from coterie.base.arrays import Array
from coterie.bench._spent import processor_seconds
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import MemoryNetwork
from coterie.transport.peers import PeerService
from coterie.transport.session import Heartbeat, Session
from coterie.transport.spool import keep_memory_together
from coterie.trust.identity import CHANNEL_OPTIONS, SERVER_OPTIONS, Identity, load_identity

_VALUE = 1 << 20
_DIFFERENT = 64  # values
_SMALL = b"x" * 64
_SESSION = "bench"


def make_certificates(folder: Path) -> None:
    """An authority, and certificates for the ends `a` and `b`."""
    now = datetime.now(UTC)
    authority = ec.generate_private_key(ec.SECP256R1())

    def make(name: str, key: Any, ca: bool) -> None:
        subject, issuer = (
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, n)]) for n in (name, "ca")
        )
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(authority, hashes.SHA256())
        )
        (folder / f"{name}.crt").write_bytes(certificate.public_bytes(Encoding.PEM))
        key_file = folder / f"{name}.key"
        key_file.touch(0o600)
        key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    make("ca", authority, True)
    for name in "ab":
        make(name, ec.generate_private_key(ec.SECP256R1()), False)


class BareService(grpc.GenericRpcHandler):  # type: ignore[misc]
    """The same work in bare grpcio: counts a stream, echoes messages."""

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        if details.method == "/bare/Count":
            return grpc.stream_unary_rpc_method_handler(
                lambda chunks, context: str(sum(map(len, chunks))).encode()
            )
        if details.method == "/bare/Arrays":
            return grpc.stream_unary_rpc_method_handler(
                lambda chunks, context: str(sum(_array(c).nbytes for c in chunks)).encode()
            )
        if details.method == "/bare/Collect":
            return grpc.unary_stream_rpc_method_handler(
                lambda count, context: itertools.islice(itertools.cycle(chunks()), int(count))
            )
        if details.method == "/bare/Echo":
            return grpc.stream_stream_rpc_method_handler(lambda chunks, context: chunks)
        return None


def _array(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8).copy()


class End:
    """One process's end: a server with both services, and the connection to the other end."""

    def __init__(self, me: str, folder: Path, tls: bool) -> None:
        self.me, self.other = me, "b" if me == "a" else "a"
        self._folder = folder
        self._identity: Identity | None = (
            load_identity(me, folder / f"{me}.crt", folder / f"{me}.key", folder / "ca.crt")
            if tls
            else None
        )
        self.peers = PeerService(me, lambda context: self.other)
        self.server = grpc.server(futures.ThreadPoolExecutor(16), options=SERVER_OPTIONS)
        self.server.add_generic_rpc_handlers((self.peers, BareService()))
        if self._identity:
            credentials = self._identity.server_credentials()
            self.port = self.server.add_secure_port("127.0.0.1:0", credentials)
        else:
            self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def connect(self, port: int) -> grpc.Channel:
        address = f"127.0.0.1:{port}"
        if self._identity:
            return self._identity.connect(self.other, address)
        return grpc.insecure_channel(address, CHANNEL_OPTIONS)

    def session(self, port: int) -> Session:
        session = Session(
            _SESSION,
            self.me,
            (self.other,),
            spool_folder=self._folder,
            heartbeat=Heartbeat(1, 60),
            memory=1 << 30,
        )
        self.peers.add(session)
        session.start(lambda peer: self.connect(port))
        return session


def answer(channel: Channel, peer: str) -> None:
    """The far end: echoes small messages and counts long streams, until it is stopped."""
    while True:
        order = channel.recv(peer)
        if order == "stop":
            return
        what, count = order
        if what == "echo":
            for _ in range(count):
                channel.send(peer, channel.recv(peer))
        else:
            channel.send(peer, sum(channel.recv(peer).nbytes for _ in range(count)))


def far_end(folder: Path, tls: bool, pipe: Any) -> None:
    keep_memory_together()
    end = End("b", folder, tls)
    pipe.send(end.port)
    session = end.session(pipe.recv())
    answer(Channel(session, _SESSION), "a")
    session.finish()
    session.close()
    pipe.recv()
    end.server.stop(0)


def channel_messages(channel: Channel, count: int) -> float:
    channel.send("b", "echo", count)
    start = time.perf_counter()
    for _ in range(count):
        channel.send("b", _SMALL)
        channel.recv("b")
    return count / (time.perf_counter() - start)


@functools.cache
def arrays() -> list[Array]:
    return list(np.random.default_rng(0).integers(0, 256, (_DIFFERENT, _VALUE), np.uint8))


@functools.cache
def chunks() -> list[bytes]:
    return [value.tobytes() for value in arrays()]


def channel_stream(channel: Channel, count: int) -> float:
    values = itertools.cycle(arrays())
    channel.send("b", "count", count)
    start = time.perf_counter()
    for value in itertools.islice(values, count):
        channel.send("b", value)
    if channel.recv("b") != count * _VALUE:
        raise AssertionError("bytes were lost")
    return count * _VALUE / (time.perf_counter() - start) / 1e6


def bare_messages(wire: grpc.Channel, count: int) -> float:
    outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    answers: Iterator[bytes] = wire.stream_stream("/bare/Echo")(iter(outgoing.get, None))
    outgoing.put(_SMALL)
    next(answers)
    start = time.perf_counter()
    for _ in range(count):
        outgoing.put(_SMALL)
        next(answers)
    elapsed = time.perf_counter() - start
    outgoing.put(None)
    return count / elapsed


def bare_stream(wire: grpc.Channel, count: int) -> float:
    sent = itertools.islice(itertools.cycle(chunks()), count)
    start = time.perf_counter()
    if int(wire.stream_unary("/bare/Count")(sent)) != count * _VALUE:
        raise AssertionError("bytes were lost")
    return count * _VALUE / (time.perf_counter() - start) / 1e6


def bare_collected(wire: grpc.Channel, count: int) -> float:
    start = time.perf_counter()
    if sum(map(len, wire.unary_stream("/bare/Collect")(str(count).encode()))) != count * _VALUE:
        raise AssertionError("bytes were lost")
    return count * _VALUE / (time.perf_counter() - start) / 1e6


def bare_arrays(wire: grpc.Channel, count: int) -> float:
    values = itertools.islice(itertools.cycle(arrays()), count)
    start = time.perf_counter()
    if int(wire.stream_unary("/bare/Arrays")(v.tobytes() for v in values)) != count * _VALUE:
        raise AssertionError("bytes were lost")
    return count * _VALUE / (time.perf_counter() - start) / 1e6


Rates = dict[str, list[float]]


@dataclass
class Found:
    """The rates of all rounds, and the processor seconds that both ends used in them."""

    rates: Rates
    cpu: dict[str, float]


def measure(
    rounds: int, measures: dict[str, Callable[[], float]], used: Callable[[], float]
) -> Found:
    """The rates of several rounds, in each of which every measurement runs once."""
    found = Found({name: [] for name in measures}, dict.fromkeys(measures, 0.0))
    for _ in range(rounds):
        for name, take in measures.items():
            before = used()
            found.rates[name].append(take())
            found.cpu[name] += used() - before
    return found


def spent(found: Found, rounds: int, messages: int, values: int) -> dict[str, float]:
    """Processor seconds of both ends for a thousand messages, and for a gigabyte."""
    thousands, gigabytes = rounds * messages / 1e3, rounds * values * _VALUE / 1e9
    return {
        f"{name.replace('bare', 'grpcio')}_cpu_seconds_per_{unit}": round(seconds / amount, 4)
        for name, seconds in found.cpu.items()
        for unit, amount in [("1000", thousands) if "messages" in name else ("gigabyte", gigabytes)]
    }


def ratio(found: Rates, name: str, other: str) -> tuple[float, list[float]]:
    """The median over rounds, and the lower and upper quartiles."""
    each = np.divide(found[name], found[other])
    low, middle, high = (round(float(q), 2) for q in np.quantile(each, (0.25, 0.5, 0.75)))
    return middle, [low, high]


def over_grpc(folder: Path, tls: bool, rounds: int, messages: int, values: int) -> Found:
    context = multiprocessing.get_context("spawn")
    pipe, far_pipe = context.Pipe()
    process = context.Process(target=far_end, args=(folder, tls, far_pipe), daemon=True)
    process.start()
    end = End("a", folder, tls)
    port = pipe.recv()
    pipe.send(end.port)
    session = end.session(port)
    channel = Channel(session, _SESSION)
    wire = end.connect(port)
    result = measure(
        rounds,
        {
            "messages": lambda: channel_messages(channel, messages),
            "bare_messages": lambda: bare_messages(wire, messages),
            "stream": lambda: channel_stream(channel, values),
            "bare_stream": lambda: bare_stream(wire, values),
            "bare_arrays": lambda: bare_arrays(wire, values),
            "bare_collected": lambda: bare_collected(wire, values),
        },
        lambda: time.process_time() + processor_seconds(process.pid or 0),
    )
    channel.send("b", "stop")
    session.finish()
    session.close()
    wire.close()
    pipe.send("end")
    process.join(10)
    end.server.stop(0)
    return result


def in_memory(rounds: int, messages: int, values: int) -> Found:
    network = MemoryNetwork(["a", "b"])
    far = Channel(network.transport("b"), _SESSION)
    threading.Thread(target=answer, args=(far, "a"), daemon=True).start()
    channel = Channel(network.transport("a"), _SESSION)
    result = measure(
        rounds,
        {
            "messages": lambda: channel_messages(channel, messages),
            "stream": lambda: channel_stream(channel, values),
        },
        time.process_time,
    )
    channel.send("b", "stop")
    return result


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench channel", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small run")
    quick = parser.parse_args(argv).quick
    rounds, messages, values = (2, 300, 100) if quick else (21, 1000, 200)
    keep_memory_together()
    memory = in_memory(rounds, messages, values)
    report: dict[str, Any] = {
        "bench": "channel",
        "memory": {
            "messages_per_second": round(max(memory.rates["messages"])),
            "megabytes_per_second": round(max(memory.rates["stream"])),
            **spent(memory, rounds, messages, values),
        },
        "bytes": {"message": len(_SMALL), "value": _VALUE, "values_of_a_round": values},
    }
    with tempfile.TemporaryDirectory(prefix="coterie-bench-") as name:
        folder = Path(name)
        make_certificates(folder)
        for label, tls in (("plain", False), ("mtls", True)):
            found = over_grpc(folder, tls, rounds, messages, values)
            top = {name: round(max(rates)) for name, rates in found.rates.items()}
            report[label] = {
                "messages_per_second": top["messages"],
                "megabytes_per_second": top["stream"],
                "grpcio_messages_per_second": top["bare_messages"],
                "grpcio_megabytes_per_second": top["bare_stream"],
                "grpcio_arrays_megabytes_per_second": top["bare_arrays"],
                "grpcio_collected_megabytes_per_second": top["bare_collected"],
                **spent(found, rounds, messages, values),
            }
            for name, pair in {
                "messages_ratio": ("messages", "bare_messages"),
                "stream_ratio": ("stream", "bare_stream"),
                "arrays_ratio": ("stream", "bare_arrays"),
                "collected_ratio": ("stream", "bare_collected"),
            }.items():
                report[label][name], report[label][f"{name}_quarters"] = ratio(found.rates, *pair)
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
