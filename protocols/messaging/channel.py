"""The channel on which a protocol sends and receives messages.

A protocol is a plain blocking function `protocol(channel, inputs…, rng)`. It sees named peers and
four verbs: `send`, `recv`, `broadcast`, `gather`. `recv_array`, `recv_int` and the like also check
the received value: a wrong type, size or shape is a fault that names the peer. Every value that is
no longer hidden passes `open` (`protocols.messaging.opening`). Under a channel lies a `Transport`,
which moves whole messages between named parties: in memory (`protocols.messaging.memory`), over
gRPC (`transport.session`), or wrapped to be metered, traced or made faulty
(`protocols.messaging.wrappers`). `once` and `drawn` keep answers for an attempt that goes on after an
interruption (`protocols.messaging.kept`).

Every message carries the session, the step label and its number in the order from sender to
receiver. A channel refuses a message of another session or of another step than its current one,
and a message that is repeated or comes early, so that the reader of a value knows the step of the
value. A transport must deliver only what was sent, and must authenticate the peers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from coterie.base.arrays import Array
from coterie.base.errors import PeerFaultError, RefusedError
from coterie.protocols.messaging.codes import unpack_codes
from coterie.protocols.messaging.kept import OTHER_DATA, Kept, value_of
from coterie.protocols.messaging.opening import COORDINATOR, Opened, Opening
from coterie.protocols.messaging.wire import Buffer, Value, WireError, decode, encode

T = TypeVar("T")


@dataclass(frozen=True)
class Message:
    """One message as a transport moves it: the header, and the encoded body as buffers."""

    session: str
    step: str
    sequence: int
    body: list[Buffer]


class Transport(Protocol):
    """Moves messages between named parties, in order for each pair.

    `transmit` returns without waiting for the receiver to read, so that parties which all send
    first and then receive never deadlock. `receive` waits for the next message from one peer and
    raises `PeerLostError` when there will be none. The body that `receive` returns is one buffer.
    """

    @property
    def me(self) -> str: ...
    @property
    def peers(self) -> tuple[str, ...]: ...
    def transmit(self, peer: str, message: Message) -> None: ...
    def receive(self, peer: str) -> Message: ...


ProgressListener = Callable[[str, int, int], None]


class Channel:
    """A party's end of one session with its peers. Used by one thread at a time."""

    def __init__(
        self,
        transport: Transport,
        session: str,
        on_progress: ProgressListener | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.kept = kept or Kept()
        self.silent = True  # whether all parties permit silent transfers
        self._transport = transport
        self._session = session
        self._on_progress = on_progress
        self._steps: list[str] = []
        self._failed_step: str | None = None
        self._sent = dict.fromkeys(transport.peers, 0)
        self._received = dict.fromkeys(transport.peers, 0)
        self._instances: Counter[str] = Counter()
        self._among: frozenset[str] | None = None
        self.opened = Opened()
        self._noted = self.opened.so_far  # before the answer that is being computed
        self._seeking = False  # inside `once`, whose answer stands for all answers within it

    def next_instance(self, what: str) -> int:
        """The number of earlier calls with this `what` in the session, equal at both sides."""
        self._instances[what] += 1
        return self._instances[what] - 1

    @property
    def me(self) -> str:
        return self._transport.me

    @property
    def peers(self) -> tuple[str, ...]:
        """The other parties, in the ring order that all parties share."""
        if self._among is None:
            return self._transport.peers
        return tuple(peer for peer in self._transport.peers if peer in self._among)

    @contextmanager
    def among(self, names: Iterable[str]) -> Iterator[None]:
        """Inside, the parties are these alone: what goes to all peers goes to no one else."""
        before, self._among = self._among, frozenset(names)
        try:
            yield
        finally:
            self._among = before

    @property
    def session(self) -> str:
        return self._session

    @property
    def current_step(self) -> str:
        return "/".join(self._steps)

    @property
    def failed_step(self) -> str:
        """The innermost step in which an error was raised, for the report of the error."""
        return self.current_step if self._failed_step is None else self._failed_step

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Messages sent and received inside belong to this step; steps nest as `outer/inner`."""
        self._steps.append(label)
        self.progress(0, 0)
        try:
            yield
        except BaseException:
            if self._failed_step is None:
                self._failed_step = self.current_step
            raise
        finally:
            self._steps.pop()

    def progress(self, done: int, total: int) -> None:
        """Reports how far the current step is; `total` 0 means unknown."""
        if self._on_progress:
            self._on_progress(self.current_step, done, total)

    def send(self, peer: str, *values: Value) -> None:
        sequence = self._sent[peer]
        message = Message(self._session, self.current_step, sequence, encode(values))
        self._transport.transmit(peer, message)
        self._sent[peer] = sequence + 1

    def recv(self, peer: str) -> Any:
        """The next message from this peer: its single value, or the list of its values.

        Arrays are read-only views of the received buffer.
        """
        message = self._transport.receive(peer)
        step = self.current_step
        if message.session != self._session:
            raise PeerFaultError(peer, step, f"sent a message of session '{message.session}'")
        if message.sequence != self._received[peer]:
            raise PeerFaultError(
                peer,
                step,
                f"sent message {message.sequence} where {self._received[peer]} was due "
                "(replayed, lost or out of order)",
            )
        if message.step != step:
            raise PeerFaultError(peer, step, f"sent a message of step '{message.step}'")
        self._received[peer] += 1
        [body] = message.body
        try:
            values = decode(body)
        except WireError as error:
            raise PeerFaultError(peer, step, f"sent a malformed message: {error}") from None
        return values[0] if len(values) == 1 else values

    # The caller says what is expected; any other value is a fault of the peer, "sent no {what}".

    def recv_array(self, peer: str, dtype: Any, shape: tuple[int | None, ...], what: str) -> Array:
        """The next message, which must be one array. A None in the shape stands for any length."""
        return self.check_array(peer, self.recv(peer), dtype, shape, what)

    def recv_int(self, peer: str, least: int, most: int, what: str) -> int:
        """The next message, which must be one integer, at least `least` and at most `most`."""
        return self.check_int(peer, self.recv(peer), least, most, what)

    def recv_flag(self, peer: str, what: str = "") -> bool:
        """The next message, which must be 0 or 1."""
        value = self.recv(peer)
        if type(value) is not int or value not in (0, 1):
            raise self.fault(peer, f"sent no {what}" if what else "sent neither yes nor no")
        return bool(value)

    def recv_bytes(self, peer: str, length: int, what: str) -> bytes:
        """The next message, which must be `length` bytes."""
        return self.check_bytes(peer, self.recv(peer), length, what)

    def recv_list(self, peer: str, length: int, what: str) -> list[Any]:
        """The next message, which must be `length` values (at least two) or a list of them."""
        return self.check_list(peer, self.recv(peer), length, what)

    def check_array(
        self, peer: str, value: Any, dtype: Any, shape: tuple[int | None, ...], what: str
    ) -> Array:
        """A value that a peer sent, which must be an array of this type and shape."""
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != dtype
            or value.ndim != len(shape)
            or any(due not in (None, size) for due, size in zip(shape, value.shape, strict=True))
        ):
            raise self.fault(peer, f"sent no {what}")
        return value

    def check_int(self, peer: str, value: Any, least: int, most: int, what: str) -> int:
        """A value that a peer sent, which must be an integer from `least` to `most`."""
        if type(value) is not int or not least <= value <= most:
            raise self.fault(peer, f"sent no {what}")
        return value

    def check_bytes(self, peer: str, value: Any, length: int, what: str) -> bytes:
        """A value that a peer sent, which must be `length` bytes."""
        if not isinstance(value, bytes) or len(value) != length:
            raise self.fault(peer, f"sent no {what}")
        return value

    def check_list(self, peer: str, value: Any, length: int, what: str) -> list[Any]:
        """A value that a peer sent, which must be a list of `length` values."""
        if not isinstance(value, list) or len(value) != length:
            raise self.fault(peer, f"sent no {what}")
        return value

    def recv_ints(
        self, peer: str, length: int | None, least: int, most: int, what: str
    ) -> list[int]:
        """The next message, which must be a list of integers; None stands for any length."""
        return self.check_ints(peer, self.recv(peer), length, least, most, what)

    def recv_values(self, peer: str, count: int, what: str) -> list[Any]:
        """The next message, which must have `count` values; a message may be a single value."""
        received = self.recv(peer)
        return self.check_list(peer, [received] if count == 1 else received, count, what)

    def check_ints(
        self, peer: str, value: Any, length: int | None, least: int, most: int, what: str
    ) -> list[int]:
        """A value that a peer sent, which must be a list of such integers."""
        found = value if isinstance(value, list) else None
        if found is None or length not in (None, len(found)):
            raise self.fault(peer, f"sent no {what}")
        return [self.check_int(peer, number, least, most, what) for number in found]

    def check_texts(
        self, peer: str, value: Any, most: int, longest: int, what: str
    ) -> tuple[str, ...]:
        """A value that a peer sent, which must be 1 to `most` different texts of `longest` bytes."""
        if (
            not isinstance(value, list)
            or not 0 < len(value) <= most
            or not all(isinstance(v, str) and len(v.encode()) <= longest for v in value)
            or len(set(value)) != len(value)
        ):
            raise self.fault(peer, f"sent no {what}")
        return tuple(value)

    def check_codes(self, peer: str, value: Any, count: int, choices: int, what: str) -> Array:
        """A value that a peer sent, which must be `count` packed codes below `choices`."""
        try:
            return unpack_codes(value, count, choices)
        except ValueError as error:
            raise self.fault(peer, f"sent {what} that {error}") from None

    def broadcast(self, *values: Value) -> None:
        """Sends the same message to every peer."""
        for peer in self.peers:
            self.send(peer, *values)

    def gather(self) -> dict[str, Any]:
        """Receives one message from every peer; returns them by name."""
        return {peer: self.recv(peer) for peer in self.peers}

    def open(self, opening: Opening, value: T, to: str | Iterable[str] | None = None) -> T:
        """Notes that the value is opened, to the named parties or to all; returns the value.

        Everything that a job opens passes here, both at the sender and at the recipients.
        """
        everybody = (self.me, *self.peers)
        names = everybody if to is None else (to,) if isinstance(to, str) else tuple(to)
        for name in names:
            if name != COORDINATOR and name not in everybody:
                raise ValueError(f"'{opening.name}' is opened to '{name}', who takes no part")
        self.opened.note(opening, names)
        return value

    # What a run keeps for the case that it is interrupted (`protocols.messaging.kept`).

    def once(
        self,
        what: str,
        compute: Callable[[], Value],
        told: Callable[[Any], bytes] = lambda value: b"",
    ) -> Any:
        """An answer that is computed once: an attempt after an interruption takes the kept one.

        All parties must call this with the same `what` at the same places. Answers within
        `compute` are not kept for themselves. `told` makes a digest of what the answer tells.
        """
        found = self.next_kept(what)
        if found is not None or self._seeking:
            return compute() if found is None else found
        self._seeking = True
        try:
            value = compute()
        finally:
            self._seeking = False
        self.keep(what, value, told(value))
        return value

    def next_kept(self, what: str) -> Any:
        """The kept answer that is due here; None if it has to be found, and then kept by `keep`."""
        answer = None if self._seeking else self.kept.next(what)
        if answer is None:
            if not self._seeking:
                self._noted = self.opened.so_far
            return None
        self.opened.note_again(answer.notes)
        return value_of(answer)

    def compare(self, told: bytes, whole: bool = False) -> None:
        """Ends the job if an earlier attempt has told something else at the answer that is due."""
        if not self._seeking and not self.kept.compare(told, whole):
            raise RefusedError(OTHER_DATA)

    def keep(self, what: str, value: Value, told: bytes = b"") -> None:
        """Keeps an answer that `next_kept` did not have, before anything depends on it."""
        if not self._seeking:
            self.compare(told, whole=True)
            self.kept.keep(what, value, self.opened.since(self._noted), told)
            self._noted = self.opened.so_far

    def drawn(self, what: str, draw: Callable[[], Value], lasting: bool = False) -> Any:
        """This party's own random value that shows in the result: drawn once in an attempt.

        A `lasting` one is drawn once in a job: kept answers depend on it, and later ones must go with
        them.
        """
        answer = self.kept.drawn(what, lasting)
        if answer is not None:
            return value_of(answer)
        value = draw()
        self.kept.keep_drawn(what, value)
        return value

    def fault(self, peer: str, reason: str) -> PeerFaultError:
        """The error to raise when what a peer sent cannot be honest."""
        return PeerFaultError(peer, self.current_step, reason)


def ring(channel: Channel, names: Iterable[str]) -> tuple[str, str]:
    """The parties before and after this one in the ring of `names`."""
    order = list(names)
    at = order.index(channel.me)
    return order[at - 1], order[(at + 1) % len(order)]


__all__ = ["Channel", "Message", "ProgressListener", "Transport", "ring"]
