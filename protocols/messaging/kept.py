"""Answers that a run keeps, so that it can go on after an interruption instead of beginning anew.

A protocol passes what it has found out together with its peers to `Channel.once(what, compute)`, or
to the pair `Channel.next_kept` and `Channel.keep`. All parties of a job do this at the same places
and in the same order. So the n-th answer of one party belongs to the n-th answer of every other,
although the values may differ: a party's rows, its shares, an instruction.

When a run begins, the parties tell each other which answers of earlier attempts they hold, and all
go on after the longest common beginning. Up to there the stored answers are used, and no message is
sent. Everything after that is computed again with fresh randomness. So nobody sends a second time,
under an old mask or an old key, something that differs from what it sent before: old masks and keys
are never kept.

Each attempt has a token, to which all parties contribute; an answer is stored with the token of the
attempt in which it was found. Answers of two attempts may differ (the order of the common records
does), and one party may have stored an answer that another has not. Since answers are compared by
their tokens, answers of different attempts are never mixed, whatever set of parties was lost, and
whenever.

What may be kept is what the party knows anyway: opened answers, and shares of values that stay
hidden, as long as both sides keep the shares of one and the same attempt. What is random by design
and shows in the result (a hidden numbering, noise) is drawn by `Channel.drawn`, once in an attempt. A
later attempt that needs it draws it anew: a peer that has seen the result of the first, has changed its
data and says that it kept nothing would otherwise see other data under the same noise. `on_redrawn` is
called before that, and may refuse; a party whose budget pays for the noise has it charged there. Only a
numbering on which kept answers depend lasts for the whole job.

In the first attempt the parties also tell each other a commitment to their inputs: for each column
a digest under a key of the party's own. Everybody keeps them. A party that brings other columns to a
later attempt ends the job; it may be proposed anew, and is then judged as another job. A peer that
runs its own code can tell the old digests and bring other columns. So an answer may have a digest of
what it has told (`told`), equal in all attempts with equal data. When answers are sought anew, because
a peer says that it has not kept them, the party keeps these digests of what it drops. It compares
with them before it tells its own part (`Channel.compare`, which stores the digest first), and each
answer that it would keep: an attempt that tells something else than an earlier one is refused.

Messages: `attempt` has those of one broadcast. Adversary: semi-honest; a peer that claims other
answers than it holds gets no answer from this party that it could not get by starting the job anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from coterie.base.errors import CoterieError
from coterie.protocols.messaging.wire import Value, WireError, decode, encode

TOKEN_BYTES = 16
MOST_ATTEMPTS = 1000  # whose answers may stand one after the other
MOST_ANSWERS = 1 << 40


@dataclass(frozen=True)
class Answer:
    """One stored answer: the attempt it comes from, what it answers, and its encoded value.

    `notes` are the openings that were noted while it was found. A drawn value has an empty token.
    `told` is a digest of what the answer tells, which is equal in attempts with equal data; empty: none.
    """

    token: bytes
    what: str
    notes: Sequence[tuple[str, Sequence[str], int]]
    value: bytes
    told: bytes = b""


class AnswerStore(Protocol):
    """Where a party keeps answers; `jobs.run.answers_file` is one in a file."""

    def read(self) -> list[Answer]:
        """All answers that were stored whole, in order, the drawn values among them."""
        ...

    def append(self, answer: Answer, sync: bool = False) -> None:
        """Stores one more; it survives the end of the process, and with `sync` that of the machine."""
        ...

    def replace(self, answers: Sequence[Answer]) -> None:
        """Stores these answers in place of all others."""
        ...


class MemoryAnswers:
    """A store in memory, for tests."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []

    def read(self) -> list[Answer]:
        return list(self.answers)

    def append(self, answer: Answer, sync: bool = False) -> None:
        self.answers.append(answer)

    def replace(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)


FINISHED = "finished"  # drawn values are named by their protocols, which use no such names
BEGUN = "begun"  # the number of attempts, and the inputs of every party in the first
TOLD = "told "  # with the place of an answer: what an attempt has told there
OTHER_DATA = (
    "the job goes on with other data than before its interruption; propose it again, as another job"
)
Inputs = Mapping[str, Mapping[str, bytes]]  # by party and column, the committed digest


class Kept:
    """The answers of one party in one attempt."""

    def __init__(
        self, store: AnswerStore | None = None, on_redrawn: Callable[[], None] = lambda: None
    ) -> None:
        """`on_redrawn` is called before values that an earlier attempt has drawn are drawn anew."""
        self._store = store
        self._on_redrawn = on_redrawn
        stored = store.read() if store is not None else []
        self._answers = [answer for answer in stored if answer.token]
        drawn = {answer.what: answer for answer in stored if not answer.token}
        self._told = {
            int(a.what[len(TOLD) :]): a for a in drawn.values() if a.what.startswith(TOLD)
        }
        self._drawn = {what: answer for what, answer in drawn.items() if not what.startswith(TOLD)}
        self._stale: set[str] = set()  # drawn by an earlier attempt, and seen, perhaps
        self._charged = False
        self._at = 0
        self._common = 0
        self._fewer = False  # whether a peer has not kept what this party has
        self._token = bytes(TOKEN_BYTES)

    @property
    def resumed(self) -> bool:
        """Whether this attempt goes on from answers of an earlier one."""
        return self._common > 0

    @property
    def claim(self) -> list[Value]:
        """What the peers learn: the attempts of the stored answers, and how many are of each."""
        runs: list[list[Any]] = []
        for answer in self._answers:
            if runs and runs[-1][0] == answer.token:
                runs[-1][1] += 1
            else:
                runs.append([answer.token, 1])
        return [part for run in runs[:MOST_ATTEMPTS] for part in run]

    def begin(self, nonces: Mapping[str, bytes], claims: Sequence[Sequence[Any]]) -> None:
        """Begins an attempt, from the random bytes of every party and the claims of the peers."""
        total = hashlib.sha256(b"coterie attempt")
        for name, nonce in sorted(nonces.items()):
            data = name.encode()
            total.update(len(data).to_bytes(8, "little") + data + nonce)
        self._token = total.digest()[:TOKEN_BYTES]
        common = len(self._answers)
        for claim in claims:
            common = min(common, _common(self._answers, claim))
        self._common, self._at = common, 0
        self._fewer = len(self._answers) > common
        if len(self._answers) > common:
            for place, answer in enumerate(self._answers):
                if answer.told:
                    self._told[place] = _of_told(place, answer.told)
            self._answers = self._answers[:common]
            if self._store is not None:
                drawn = [*self._drawn.values(), *self._told.values()]
                self._store.replace([*drawn, *self._answers])

    def count(self, inputs: Inputs) -> list[tuple[str, str]]:
        """Counts one more attempt, and compares everybody's inputs with those of the first.

        Returns each party that brings another column than then, with the column's name. What earlier
        attempts have drawn is not used again, since it may have been seen, unless this party has
        finished and its peers have all that it has.
        """
        first, number = inputs, 1
        if (answer := self._drawn.get(BEGUN)) is not None:
            before, *words = value_of(answer)
            number, first = before + 1, _as_inputs(words)
        changed = [
            (name, column)
            for name in sorted({*first, *inputs})
            for column in sorted({*first.get(name, {}), *inputs.get(name, {})})
            if first.get(name, {}).get(column) != inputs.get(name, {}).get(column)
        ]
        if changed:
            return changed
        if self._fewer or FINISHED not in self._drawn:
            self._stale = self._drawn.keys() - {BEGUN, FINISHED}
        self.keep_drawn(BEGUN, [number, *_as_words(first)])
        return []

    def next(self, what: str) -> Answer | None:
        """The stored answer that is due now; None if it has to be found."""
        if self._at >= self._common:
            return None
        answer = self._answers[self._at]
        if answer.what != what:
            raise CoterieError(
                f"the answer '{answer.what}' was kept where '{what}' is due; propose the job again"
            )
        self._at += 1
        return answer

    def compare(self, told: bytes, whole: bool) -> bool:
        """Whether what is told at the answer that is due goes with what earlier attempts told there.

        What is told part by part begins with the parts before; `whole` has all parts. It is stored
        before it is told, since a peer may break off before the answer is complete.
        """
        earlier = self._told[self._at].told if self._at in self._told else None
        if earlier is not None and not told.startswith(earlier):
            return not whole and earlier.startswith(told)
        if not whole and told != earlier:
            noted = self._told[self._at] = _of_told(self._at, told)
            if self._store is not None:
                self._store.append(noted)
        return True

    def keep(
        self,
        what: str,
        value: Value,
        notes: Sequence[tuple[str, Sequence[str], int]],
        told: bytes = b"",
    ) -> None:
        """Stores an answer, before anything depends on it."""
        self._at += 1
        if self._store is not None:
            self._store.append(Answer(self._token, what, notes, _encoded(value), told))

    def finished(self) -> None:
        """Stores that this party's result is complete. It needs nothing more from its peers."""
        self.keep_drawn(FINISHED, 1)

    def drawn(self, what: str, lasting: bool = False) -> Answer | None:
        return None if what in self._stale and not lasting else self._drawn.get(what)

    def keep_drawn(self, what: str, value: Value) -> None:
        """Stores a random value on the disk, before anything depends on it."""
        if what in self._stale:
            if not self._charged:
                self._on_redrawn()
            self._charged = True
            self._stale.discard(what)
        answer = self._drawn[what] = Answer(b"", what, (), _encoded(value))
        if self._store is not None:
            self._store.append(answer, sync=True)


def _of_told(place: int, told: bytes) -> Answer:
    return Answer(b"", f"{TOLD}{place}", (), b"", told)


def value_of(answer: Answer) -> Any:
    """The value of a stored answer."""
    try:
        [value] = decode(bytearray(answer.value))
    except (WireError, ValueError):
        raise CoterieError(
            f"the kept answer '{answer.what}' cannot be read; propose the job again"
        ) from None
    return value


def sound_claim(claim: Any) -> bool:
    """Whether a peer's value has the form of `Kept.claim`."""
    return (
        isinstance(claim, list)
        and len(claim) % 2 == 0
        and len(claim) <= 2 * MOST_ATTEMPTS
        and all(isinstance(token, bytes) and len(token) == TOKEN_BYTES for token in claim[::2])
        and all(type(count) is int and 0 < count <= MOST_ANSWERS for count in claim[1::2])
    )


def _common(answers: Sequence[Answer], claim: Sequence[Any]) -> int:
    """How many of the first answers a peer holds from the same attempts."""
    at = 0
    for token, count in zip(claim[::2], claim[1::2], strict=True):
        end = min(len(answers), at + count)
        while at < end:
            if answers[at].token != token:
                return at
            at += 1
        if end == len(answers):
            break
    return at


def attempts_in(answers: Iterable[Answer]) -> int:
    """How many attempts have begun."""
    begun = [answer for answer in answers if not answer.token and answer.what == BEGUN]
    return int(value_of(begun[-1])[0]) if begun else 0


def _as_words(inputs: Inputs) -> list[Value]:
    return [
        part
        for name, columns in inputs.items()
        for column, digest in columns.items()
        for part in (name, column, digest)
    ]


def _as_inputs(words: Sequence[Any]) -> dict[str, dict[str, bytes]]:
    found: dict[str, dict[str, bytes]] = {}
    for name, column, digest in zip(words[::3], words[1::3], words[2::3], strict=True):
        found.setdefault(name, {})[column] = digest
    return found


def _encoded(value: Value) -> bytes:
    return b"".join(bytes(part) for part in encode([value]))
