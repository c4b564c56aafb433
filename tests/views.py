"""View tests: what a party receives and is told must not depend on the others' secrets.

A scene is a protocol in two worlds: the watched party puts in the same and gets the same, the others
have different secrets. `assert_alike` runs both worlds under several seeds and compares what the
party receives, in order:

    structure   the sender, the step, the types, shapes and lengths of every message: exactly equal
    openings    every value that passed the one door (`Channel.open`): exactly equal; random ones are
                compared by their bits, so that noise that is missing is noticed
    circuits    what a garbled circuit gives the party, in the clear or as a share, counts as received
    bits        every bit of every word, over all words of a message and all runs: as often one in the
                first world as in the second (and, over sixteen runs and more, at every single place)
    places      over two runs and more: the bits of a message that are the same in all runs of a world
                and different between the worlds are no more than chance makes them
    words       over two runs and more: no word of 16 bytes comes in all runs of one world, wherever
                in its message, and in none of the other; in a matrix of bits down its columns, too
    pairs       likewise no two such words in one row of a short table
    streams     no generator of any party forks one label twice: both streams would be the same, and a
                mask of the one a mask of the other

The watched party draws the same random numbers in all runs of both worlds: what it receives must be
masked by numbers of the others, not by its own, which it knows. A result that is a share is part of
the view and compared by its bits; any other must be equal. Everything is seeded: a comparison comes
out the same every time. The bits of a message that are uniform in both worlds deviate by more than
`LIMIT` standard deviations once in some ten million times; a mask that is missing gives hundreds, as
long as the secrets of the two worlds are far apart, and a short message without one is found by its
places.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np

from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import decode
from coterie.protocols.primitives.randomness import Random
from tests.protocols.wrappers import Traced

LIMIT = 5.4
WORD = 16  # bytes of what is recognized in any order
BYTES = 11  # that are different in such a word; in a random one some 15.5 are
ROWS = 65  # from which on a table is not short, nor its row
PLACES = 16  # runs from which on single places are compared, too
SURPRISE = np.log(10_000_000)  # one message of so many is separated by chance
_patching = threading.Lock()


@dataclass
class View:
    """What one party saw of one run."""

    received: list[tuple[str, str, list[Any]]] = field(default_factory=list)
    opened: list[tuple[str, tuple[str, ...], Any]] = field(default_factory=list)
    result: Any = None

    def values(self, peer: str, step: str) -> list[Any]:
        """The values that a peer sent in a step (its last part), one after the other."""
        return [
            value
            for sender, place, values in self.received
            if sender == peer and place.split("/")[-1] == step
            for value in values
        ]


Party = Callable[[Channel, Random], Any]


def watch(
    parties: Mapping[str, Party], seed: str, watched: Collection[str] = ()
) -> dict[str, View]:
    """Runs the parties, each with a generator of its own, and returns what each of them saw.

    The generators of those watched are the same whatever the seed.
    """
    views = {name: View() for name in parties}
    traced: dict[str, Traced] = {}
    honest = Channel.open

    def opening(self: Channel, opening: Any, value: Any, to: Any = None) -> Any:
        names = (self.me, *self.peers) if to is None else (to,) if isinstance(to, str) else to
        if self.me in names:
            views[self.me].opened.append((opening.name, tuple(sorted(names)), value))
        return honest(self, opening, value, to)

    def function(name: str) -> Callable[[Channel], Any]:
        own = f"view {name}" if name in watched else f"view {seed} {name}"
        return lambda channel: parties[name](channel, Random(own))

    forked: dict[
        int, tuple[Random, set[str]]
    ] = {}  # with the generators, so that no other has the id
    fork = Random.fork

    def forking(self: Random, label: str) -> Random:
        _, labels = forked.setdefault(id(self), (self, set()))
        assert label not in labels, f"two streams are the same: both are the fork '{label}'"
        labels.add(label)
        return fork(self, label)

    decoded: dict[str, list[tuple[str, str, list[Any]]]] = {name: [] for name in parties}

    def decoding(run: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(self: Any, *arguments: Any, **options: Any) -> Any:
            outputs = run(self, *arguments, **options)
            shown = [value for _, value in sorted(outputs.items()) if value is not None]
            decoded[self._channel.me].append((self.peer, "decoded", shown))
            return outputs

        return wrapped

    with (
        _patching,
        mock.patch.object(Channel, "open", opening),
        mock.patch.object(Random, "fork", forking),
        mock.patch.object(Garbler, "run", decoding(Garbler.run)),
        mock.patch.object(Evaluator, "run", decoding(Evaluator.run)),
    ):
        results = run_parties(
            {name: function(name) for name in parties},
            wrap=lambda t: traced.setdefault(t.me, Traced(t, capture=True)),
        )
    for name, view in views.items():
        view.result = results[name]
        view.received = [
            (item.peer, item.step, list(decode(bytearray(item.body))))
            for item in traced[name].captured
            if item.direction == "received"
        ] + decoded[name]
    return views


def structure(value: Any) -> Any:
    """All of a value but its bits."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape
    if isinstance(value, bytes | str):
        return type(value).__name__, len(value)
    if isinstance(value, list):
        return tuple(structure(item) for item in value)
    return type(value).__name__


def plain(value: Any) -> Any:
    """A value in a form in which `==` compares everything that it holds."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape, value.tobytes()
    if dataclasses.is_dataclass(value):
        return [plain(getattr(value, item.name)) for item in dataclasses.fields(value)]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def bits(value: Any) -> list[np.ndarray]:
    """The bits of a value, as arrays of words by bits."""
    if isinstance(value, list | tuple):
        return [array for item in value for array in bits(item)]
    if isinstance(value, bytes | str):
        data = value if isinstance(value, bytes) else value.encode()
        return [] if not data else [np.unpackbits(np.frombuffer(data, np.uint8)).reshape(-1, 8)]
    if isinstance(value, int):
        data = (value % (1 << 4096)).to_bytes(512, "little")
        return [np.unpackbits(np.frombuffer(data, np.uint8)).reshape(1, -1)]
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return [array for item in value.reshape(-1) for array in bits(int(item))]
        width = value.dtype.itemsize
        if value.dtype == np.uint8 and value.ndim > 1:
            width = value.shape[-1]
        data = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
        return [np.unpackbits(data).reshape(-1, 8 * width)] if data.size else []
    return []


def deviation(ones: Sequence[np.ndarray], numbers: Sequence[int]) -> float:
    """By how many standard deviations the two worlds' shares of ones differ, at most."""
    first, second = (count / number for count, number in zip(ones, numbers, strict=True))
    joint = (ones[0] + ones[1]) / sum(numbers)
    spread = np.sqrt(joint * (1 - joint) * (1 / numbers[0] + 1 / numbers[1]))
    apart = np.abs(first - second)
    return float(np.max(np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)))


Worlds = Sequence[Sequence[Sequence[np.ndarray]]]


def differing_bits(worlds: Worlds) -> float:
    """The largest deviation between messages of one structure: by world and run, as bits."""
    worst = 0.0
    for at in range(len(worlds[0][0])):
        stacks = [np.stack([run[at] for run in world]) for world in worlds]
        ones = [stack.sum(axis=(0, 1), dtype=np.int64) for stack in stacks]
        numbers = [stack.shape[0] * stack.shape[1] for stack in stacks]
        worst = max(worst, deviation(ones, numbers))
        if min(map(len, worlds)) >= PLACES:
            ones = [stack.sum(axis=0, dtype=np.int64).reshape(-1) for stack in stacks]
            worst = max(worst, deviation(ones, [len(world) for world in worlds]))
    return worst


def separated(worlds: Worlds) -> bool:
    """Whether more bits tell the worlds apart in every run than chance would have it.

    Of bits that are not the same everywhere, uniform ones are the same in all runs of a world, and
    different between the worlds, with a small probability; Chernoff bounds how often.
    """
    runs = len(worlds[0])
    flat = [np.stack([np.concatenate([a.reshape(-1) for a in run]) for run in w]) for w in worlds]
    ones = [bits.sum(axis=0, dtype=np.int64) for bits in flat]
    total = ones[0] + ones[1]
    varying = int(((total > 0) & (total < 2 * runs)).sum())
    apart = int(((total == runs) & ((ones[0] == 0) | (ones[1] == 0))).sum())
    chance = 2 / (4.0**runs - 2)
    if not varying or apart <= varying * chance:
        return False
    share = apart / varying
    rest = (1 - share) * np.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return bool(varying * (share * np.log(share / chance) + rest) > SURPRISE)


def recognized(messages: Sequence[Sequence[Any]]) -> bool:
    """Whether a long word comes in every run of one world, in whatever order, and never in the other.

    `messages` has the values of one message, by world and run. Nearly all words come in one run alone,
    which their hashes show in a fraction of the time; only words whose hashes come in all runs of a
    world are compared themselves, as are the pairs of such words.
    """
    hashes = [[_hashes(_words(values)) for values in world] for world in messages]
    suspects = np.concatenate([reduce(np.intersect1d, world) for world in hashes])
    if not len(suspects):
        return False
    every, some = [], []
    for world in messages:
        runs = [_long_words(_words(run), suspects) | _pairs(run, suspects) for run in world]
        every.append(frozenset.intersection(*runs))
        some.append(frozenset.union(*runs))
    return bool(every[0] - some[1] or every[1] - some[0])


def _words(value: Any) -> np.ndarray:
    """The words of 16 bytes in a value's arrays, cut row by row, and in matrices column by column."""
    if isinstance(value, list | tuple):
        return np.concatenate([np.empty((0, WORD), np.uint8), *map(_words, value)])
    rows = _rows(value)
    if len(rows) >= 8 * WORD and value.dtype == np.uint8 and value.ndim == 2:
        columns = np.packbits(np.unpackbits(rows, axis=1).T, axis=1)
        return np.concatenate([_cut(rows), _cut(columns)])
    return _cut(rows)


def _pairs(value: Any, suspects: np.ndarray) -> frozenset[bytes]:
    """Any two of the suspected words in one row of a short table, whatever their order."""
    if isinstance(value, list | tuple):
        return frozenset().union(*(_pairs(item, suspects) for item in value))
    rows = _rows(value)
    if len(rows) >= ROWS:
        return frozenset()
    table = [_cut(row[None]) for row in rows]
    if any(len(words) > ROWS and len(_long_words(words)) > ROWS for words in table):
        return frozenset()
    found = [sorted(_long_words(words, suspects)) for words in table]
    return frozenset(a + b for words in found for a, b in combinations(words, 2))


def _hashes(words: np.ndarray) -> np.ndarray:
    """A number for every word: equal ones for equal words."""
    halves = words.view(np.uint64)
    return halves[:, 0] * np.uint64(0x9E3779B97F4A7C15) + halves[:, 1]


def _rows(value: Any) -> np.ndarray:
    if (
        not isinstance(value, np.ndarray)
        or value.dtype == object
        or value.ndim < 2
        or not value.size
    ):
        return np.empty((0, 0), np.uint8)
    return np.ascontiguousarray(value).view(np.uint8).reshape(len(value), -1)


def _cut(rows: np.ndarray) -> np.ndarray:
    size = rows.shape[1] // WORD * WORD
    return np.ascontiguousarray(rows[:, :size]).reshape(-1, WORD)


def _long_words(words: np.ndarray, suspects: np.ndarray | None = None) -> frozenset[bytes]:
    """The words, or those of the suspected hashes, without those of few different bytes.

    Such words, of bits and small numbers, come again by chance.
    """
    if suspects is not None:
        words = words[np.isin(_hashes(words), suspects)]
    if not len(words):
        return frozenset()
    words = np.unique(words.view(f"V{WORD}").reshape(-1)).view(np.uint8).reshape(-1, WORD)
    different = (np.diff(np.sort(words, axis=1), axis=1) > 0).sum(axis=1) + 1
    return frozenset(word.tobytes() for word in words[different >= BYTES])


def differences(
    first: Sequence[View],
    second: Sequence[View],
    *,
    shares: bool = False,
    drawn: Iterable[str] = (),
) -> list[str]:
    """How the views of two worlds can be told apart, in words; none if they cannot."""
    shapes = [
        [(peer, step, structure(values)) for peer, step, values in view.received]
        for view in (*first, *second)
    ]
    for other in shapes[1:]:
        if other != shapes[0]:
            places = [i for i, (a, b) in enumerate(zip(shapes[0], other, strict=False)) if a != b]
            at = places[0] if places else min(len(shapes[0]), len(other))
            return [f"message {at}: {shapes[0][at : at + 1]} and {other[at : at + 1]}"]
    found = []
    told = [
        [(name, to, None if name in drawn else plain(value)) for name, to, value in view.opened]
        for view in (*first, *second)
    ]
    for other in told[1:]:
        if other != told[0]:
            names = {a[0] for a, b in zip(told[0], other, strict=False) if a != b}
            found.append(f"opened: {sorted(names) or 'another number of values'}")
            break
    if not shares:
        results = [plain(view.result) for view in (*first, *second)]
        if any(result != results[0] for result in results):
            found.append("the results differ")
    columns = [
        [[values for _, _, values in view.received] for view in world] for world in (first, second)
    ]
    if shares:
        for world, views in zip(columns, (first, second), strict=True):
            for row, view in zip(world, views, strict=True):
                row.append([view.result])
    for world, views in zip(columns, (first, second), strict=True):
        for row, view in zip(world, views, strict=True):
            row.append([value for name, _, value in view.opened if name in drawn])
    for at in range(len(columns[0][0])):
        worlds = [[bits(row[at]) for row in world] for world in columns]
        if not worlds[0][0]:
            continue
        where = first[0].received[at][:2] if at < len(first[0].received) else "its own answers"
        worst = differing_bits(worlds)
        if worst > LIMIT:
            found.append(f"message {at}, {where}: {worst:.1f} standard deviations")
        if min(len(first), len(second)) > 1 and separated(worlds):
            found.append(f"message {at}, {where}: the same in all runs of a world")
        if min(len(first), len(second)) > 1 and recognized([[r[at] for r in w] for w in columns]):
            found.append(f"message {at}, {where}: a word that comes in one world alone")
    return found


def together(views: Mapping[str, View], names: Sequence[str]) -> View:
    """What several parties saw that tell each other everything."""
    return View(
        [item for name in names for item in views[name].received],
        [item for name in names for item in views[name].opened],
        [views[name].result for name in names],
    )


def assert_alike(
    scene: Callable[[int], Mapping[str, Party]],
    watched: str | Sequence[str],
    runs: int = 2,
    *,
    shares: bool = False,
    drawn: Iterable[str] = (),
) -> None:
    """The watched party, or several that work together, cannot tell world 0 from world 1.

    `drawn` names openings whose values are random, such as an order that all parties draw together.
    """
    names = [watched] if isinstance(watched, str) else list(watched)
    worlds = [
        [together(watch(scene(world), f"{world} {run}", names), names) for run in range(runs)]
        for world in (0, 1)
    ]
    found = differences(*worlds, shares=shares, drawn=tuple(drawn))
    assert not found, f"{' and '.join(names)} can tell the worlds apart: {'; '.join(found)}"
