"""Every protocol, every party: what it receives does not tell two secrets of the others apart.

A scene gives the parties of a world (0 or 1) as the watched party meets them: its own inputs are the
same in both worlds, the others' are as far apart as equal outputs permit. `PROTOCOLS` says which
modules a scene stands for; every module that sends something has one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product as pairs_of
from typing import Any
from unittest import mock

import numpy as np
import pytest

from coterie.anonymity.counts.hidden_cells import Component, Lines
from coterie.anonymity.specialization.specialize import Labels
from coterie.anonymity.table.columns import ContinuousColumn, categorical_column
from coterie.anonymity.table.levels import ladder
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError
from coterie.protocols.aggregates.aggregates import Aggregates, Dominance, Rank
from coterie.protocols.aggregates.group_tables import group_shares, horizontal_group_shares
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import minimum, minindex
from coterie.protocols.integration.class_labels import class_holders, share_class
from coterie.protocols.integration.dka import dka
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.scores import key_of
from coterie.protocols.integration.spans import announce_spans, digests_of_announced
from coterie.protocols.intersection import multiparty_intersect
from coterie.protocols.intersection.intersect import intersect
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.models.concordance import ranked
from coterie.protocols.multiparty.secure_maximum import SecureMaximum
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.multiparty.set_union import union
from coterie.protocols.numbers.inner_product import PaillierEngine, TransferEngine
from coterie.protocols.numbers.logarithm import Session, Settings, logarithms
from coterie.protocols.numbers.multiplication import multiply_shares
from coterie.protocols.numbers.polynomial import evaluate_coefficients, evaluate_points
from coterie.protocols.numbers.scalar_product import (
    PaillierProducts,
    Sizes,
    TransferProducts,
    scalar_products,
)
from coterie.protocols.numbers.scaling import scale_autonomously, scale_exactly
from coterie.protocols.numbers.shares import Ring, open_shares, product, share_in, share_out
from coterie.protocols.statistics import shared_counts
from coterie.protocols.statistics.bayesnet import Family, search
from coterie.protocols.statistics.contingency import Axis, horizontal_shares, table_shares
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.hidden_scores import HiddenScores
from coterie.protocols.statistics.leaf_counts import Leaf, leaf_counts
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.small_factorials import corrections
from coterie.protocols.statistics.tree import TreePlan, grow, predict
from coterie.protocols.statistics.visible_cells import _good_lines
from coterie.protocols.transfer.base_transfer import receive_keys, send_keys
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests import ROOT
from tests.protocols.integration.splits import Split, loans
from tests.protocols.pairs import KEY
from tests.secrecy.mutants import MUTANTS
from tests.test_openings import SENDING, called, functions
from tests.views import assert_alike

TWO = ("alice", "bob")
THREE = ("ann", "bob", "cat")
SERVERS = ("ann", "bob")
JOINT_ORDER = (
    "intersection: common records",
    "intersection: pairwise overlaps",
    "job: digests of what was told to all",
)
R64 = Ring(1 << 64)


@dataclass(frozen=True)
class Scene:
    """`world(watched, number)` gives the parties; `watched` are those that receive something."""

    name: str
    protocols: tuple[str, ...]
    world: Callable[[str, int], dict[str, Any]]
    watched: tuple[str, ...]
    runs: int = 2
    shares: bool = False
    drawn: tuple[str, ...] = field(default=())


SCENES: list[Scene] = []


def scene(protocols: str, watched: tuple[str, ...], **options: Any) -> Callable[[Any], Any]:
    def note(world: Any) -> Any:
        name = options.pop("name", None) or world.__name__
        SCENES.append(Scene(name, tuple(protocols.split()), world, watched, **options))
        return world

    return note


def two(first: Callable[..., Any], second: Callable[..., Any]) -> dict[str, Any]:
    return dict(zip(TWO, (first, second), strict=True))


def secret(watched: str, me: str, world: int, low: int, high: int, own: int) -> int:
    """The watched party's own number, and for the others one that depends on the world."""
    return own if me == watched else (low, high)[world]


def words(value: int, count: int = 200) -> Any:
    return np.full(count, value, np.uint64)


# Two parties: transfers and circuits


@scene("transfer/base_transfer", ("alice",), runs=8, shares=True)
def choices_of_base_transfers(watched, world):
    choices = np.full(32, world, np.uint8)
    return two(
        lambda channel, rng: send_keys(channel, "bob", 32, rng),
        lambda channel, rng: receive_keys(channel, "alice", choices, rng),
    )


@scene("transfer/oblivious_transfer", TWO)
def transferred_messages(watched, world):
    """Alice does not learn the choices; Bob, who chooses the first, nothing of the second."""
    choices = np.full(512, world if watched == "alice" else 0, np.uint8)
    first = np.zeros((512, 16), np.uint8)
    second = np.full((512, 16), 255 * world if watched == "bob" else 7, np.uint8)

    def receive(channel, rng):
        got = Receiver(channel, "alice", rng).receive(choices, 16)
        return None if watched == "alice" else got

    return two(lambda channel, rng: Sender(channel, "bob", rng).send(first, second), receive)


@scene("transfer/oblivious_transfer", TWO, shares=True)
def products_of_bits(watched, world):
    def work(role, me):
        def party(channel, rng):
            session = role(channel, channel.peers[0], rng)
            bit = secret(watched, me, world, 0, 1, 1)
            return session.multiply_bits(np.full(250, 255 * bit, np.uint8), 2000)

        return party

    return two(work(Sender, "alice"), work(Receiver, "bob"))


@scene("circuits/garbling circuits/minindex", TWO)
def positions_of_the_least(watched, world):
    """Rows of shares whose least number stands first in both worlds."""

    def party(channel, rng):
        role = Garbler if channel.me == "alice" else Evaluator
        mine = np.array([[3, 3]] * 60, np.uint64)
        if channel.me != watched:
            mine = np.array([[1, 2] if world else [0, 5000]] * 60, np.uint64)
        return minindex(role(channel, channel.peers[0], rng), mine, 1 << 16)

    return two(party, party)


def shares_of_the_least(modulus, watched, world):
    def party(channel, rng):
        role = Garbler if channel.me == "alice" else Evaluator
        mine = np.array([[3, 3]] * 60, np.uint64)
        if channel.me != watched:
            mine = np.array([[0, 40] if world else [700, 900]] * 60, np.uint64)
        return list(minimum(role(channel, channel.peers[0], rng), mine, modulus, rng))

    return two(party, party)


for modulus in (1 << 16, 1009):
    scene("circuits/minindex", TWO, shares=True, name=f"shares of the least modulo {modulus}")(
        partial(shares_of_the_least, modulus)
    )


# Two parties: numbers


def a_value_that_is_shared_and_opened(ring, watched, world):
    """The sum of both parties' values is opened; a second value of each stays hidden."""

    def party(channel, rng):
        peer = channel.peers[0]
        mine = share_out(channel, peer, ring, words(5 if channel.me == watched else 9), rng)
        theirs = share_in(channel, peer, ring, (200,))
        share_out(channel, peer, ring, words((0, ring.modulus - 1)[world]), rng)
        share_in(channel, peer, ring, (200,))
        return open_shares(channel, peer, ring, ring.add(mine, theirs))

    return two(party, party)


for ring in (R64, Ring(1009)):
    scene("numbers/shares", TWO, name=f"values shared and opened modulo {ring.modulus}")(
        partial(a_value_that_is_shared_and_opened, ring)
    )


@scene("numbers/multiplication", TWO, shares=True)
def products_of_shares(watched, world):
    def work(role, me):
        def party(channel, rng):
            x = words(secret(watched, me, world, 0, 2**64 - 1, 77), 20)
            return multiply_shares(role(channel, channel.peers[0], rng), x, x, 1 << 64)

        return party

    return two(work(Sender, "alice"), work(Receiver, "bob"))


def engines(kind):
    def make(channel, rng):
        first = channel.me == "alice"
        if kind == "transfer":
            return TransferEngine(channel, channel.peers[0], first, rng)
        key = None if first else KEY
        return PaillierEngine(channel, channel.peers[0], first, rng, KEY.bits, key)

    return make


def inner(kind, watched, world):
    def party(channel, rng):
        ring = Ring(1 << 32)
        mine = np.full((40, 2), secret(watched, channel.me, world, 0, 2**32 - 1, 9), np.uint64)
        return engines(kind)(channel, rng).inner_products(ring, mine, rng)

    return two(party, party)


def shared_product(kind, watched, world):
    def party(channel, rng):
        ring = Ring(1 << 32)
        mine = words(secret(watched, channel.me, world, 0, 2**32 - 1, 9), 40)
        return product(engines(kind)(channel, rng), ring, mine, mine, rng)

    return two(party, party)


def polynomial(kind, watched, world):
    def party(channel, rng):
        ring, value = Ring(1 << 32), secret(watched, channel.me, world, 0, 2**32 - 1, 9)
        engine = engines(kind)(channel, rng)
        if channel.me == "alice":
            rows = np.full((40, 3), value, np.uint64)
            return evaluate_coefficients(engine, ring, rows, rng)
        return evaluate_points(engine, ring, words(value, 40), 2, rng)

    return two(party, party)


def scalars(kind, watched, world):
    def party(channel, rng):
        many = channel.me == "alice"
        sizes = Sizes(60, 3, 2)
        bit = secret(watched, channel.me, world, 0, 1, 1)
        values = np.full((60, 3 if many else 2), bit, np.int64)
        if kind == "paillier":
            key = KEY if many else None
            ways = PaillierProducts(channel, channel.peers[0], many, rng, KEY.bits, key)
        else:
            ways = TransferProducts(channel, channel.peers[0], many, rng)
        return scalar_products(ways, sizes, values, rng, "shares", Ring(1 << 16))

    return two(party, party)


for kind in ("paillier", "transfer"):
    own = "numbers/paillier " if kind == "paillier" else ""
    for world, modules in (
        (inner, "numbers/inner_product"),
        (shared_product, "numbers/shares numbers/inner_product"),
        (polynomial, "numbers/polynomial"),
        (scalars, "numbers/scalar_product"),
    ):
        scene(
            own + modules, TWO, shares=True, runs=4, name=f"{world.__name__} by {kind}"
        )(partial(world, kind))  # fmt: skip


@scene("numbers/scaling", TWO, shares=True)
def exact_scaling(watched, world):
    def party(channel, rng):
        role = (Garbler if channel.me == "alice" else Evaluator)(channel, channel.peers[0], rng)
        mine = words(secret(watched, channel.me, world, 1, 65535, 5))
        return scale_exactly(role, Ring(1 << 16), Ring(1 << 16), mine, Fraction(1, 3), rng)

    return two(party, party)


@scene("numbers/scaling", ("bob",), shares=True, runs=4)
def autonomous_scaling(watched, world):
    """The values are 5 in one world and 900 in the other; Bob's share is zero."""

    def party(channel, rng):
        mine = words((5, 900)[world] if channel.me == "alice" else 0)
        return scale_autonomously(
            channel, channel.peers[0], channel.me == "alice", R64, R64, mine, Fraction(1, 3), rng,
            largest=1000,
        )  # fmt: skip

    return two(party, party)


@scene("numbers/logarithm numbers/inner_product", TWO, shares=True)
def shares_of_logarithms(watched, world):
    agreed = Settings(10, 3, "exact", 16, 1 << 16)

    def party(channel, rng):
        first = channel.me == "alice"
        session = Session(channel, channel.peers[0], first, rng, "transfer")
        mine = words(secret(watched, channel.me, world, 3, 900, 20), 60)
        return logarithms(session, agreed, mine, rng).share

    return two(party, party)


@scene("statistics/small_factorials", TWO, shares=True)
def corrections_of_small_factorials(watched, world):
    def party(channel, rng):
        role = (Garbler if channel.me == "alice" else Evaluator)(channel, channel.peers[0], rng)
        share = np.full(100, secret(watched, channel.me, world, 2**32 - 5, 900, 5), np.uint32)
        return corrections(role, share, 1 << 40, rng)

    return two(party, party)


# Several parties: sums, maxima, unions


@scene("multiparty/secure_sum", THREE, runs=16)
def parts_of_a_sum(watched, world):
    others = [name for name in THREE if name != watched]
    values = {watched: 4, others[0]: (0, 1000)[world], others[1]: (1000, 0)[world]}

    def party(channel, rng):
        sums = SecureSum(channel, THREE, rng)
        value = values[channel.me]
        return [
            sums.modular(words(value)).tolist(),
            sums.modular(words(value), 1009).tolist(),
            sums.big([value] * 40, 3**70),
            sums.fixed(np.full(50, float(value))).tolist(),
        ]

    return dict.fromkeys(THREE, party)


@scene("models/concordance", THREE, runs=2)
def pairs_that_are_ranked(watched, world):
    """The other two exchange their counts, one of which is large and the other zero."""
    others = [name for name in THREE if name != watched]
    counts = {watched: 5, others[0]: (0, 2**40)[world], others[1]: (2**40, 0)[world]}

    def party(channel, rng):
        mine = words(counts[channel.me], 6).reshape(2, 3)
        return ranked(channel, THREE, ("ann", "bob"), mine, mine[::-1], rng)

    return dict.fromkeys(THREE, party)


@scene("multiparty/gmw multiparty/secure_maximum", THREE)
def losing_scores(watched, world):
    """The watched party loses, or wins by more or less."""
    others = [name for name in THREE if name != watched]
    scores = {watched: 20, others[0]: 31, others[1]: (0, 30)[world]}

    def party(channel, rng):
        session = SecureMaximum(channel, THREE, rng, 5)
        return session.argmax(words(scores[channel.me], 200))

    return dict.fromkeys(THREE, party)


@scene("multiparty/set_union", THREE, runs=3)
def who_holds_an_element(watched, world):
    sets = {name: [b"mine"] for name in THREE}
    others = [name for name in THREE if name != watched]
    sets |= dict(zip(others, [[b"red", b"blue"], [b"green", b"black"]], strict=True))
    if world:
        sets[others[0]], sets[others[1]] = sets[others[1]], sets[others[0]]
    return dict.fromkeys(
        THREE, lambda channel, rng: union(channel, THREE, sets[channel.me], rng, pad_to=4)
    )


# Intersections


class KnownSalt:
    """A generator whose first draw, the share of the salt of an intersection, everybody knows.

    With a salt that is drawn anew even bare digests would look random.
    """

    def __init__(self, rng):
        self._rng, self._first = rng, True

    def bytes(self, size):
        first, self._first = self._first, False
        return bytes(size) if first else self._rng.bytes(size)

    def __getattr__(self, name):
        return getattr(self._rng, name)


def sets_apart(names, protocol, reveal, alone, watched, world):
    """Ten people in common, and `alone` more that each party but the watched one has alone.

    Of three parties without `pairwise`, each other one has people of the watched one that the third
    has not: who of them has which, depends on the world.
    """
    others = [name for name in names if name != watched]

    def party(channel, rng):
        mine = range(40)
        if channel.me != watched:
            place = 1000 * (1 + names.index(channel.me)) + 100000 * world
            half = 10 * (others.index(channel.me) ^ world)
            some = range(half, half + 10) if len(others) > 1 and reveal == "intersection" else ()
            mine = [*some, *range(30, 40), *range(place, place + alone)]
        values = [b"person %d" % number for number in mine]
        salted = KnownSalt(rng)
        if channel.me != watched:
            intersect(channel, names, values, salted, protocol=protocol, reveal=reveal)
            return None
        given = []

        def noting(*arguments):
            given.append(honest(*arguments))
            return given[-1]

        honest = multiparty_intersect._given
        with mock.patch.object(multiparty_intersect, "_given", noting):
            rows = intersect(channel, names, values, salted, protocol=protocol, reveal=reveal)
        assert sorted(rows.tolist()) == list(range(30, 40))
        return [np.sort(rows), *given]  # what a leader can read in the hints is received, too

    return dict.fromkeys(names, party)


# The party with the smallest set finds the intersection: its part is another one.
for names, protocol, reveal, modules, alone, more in (
    (TWO, "ring", "intersection", "ring intersect", 25, ""),
    (TWO, "oprf", "intersection", "oprf oprf_intersect confirm", 25, ""),
    (TWO, "oprf", "intersection", "oprf oprf_intersect confirm", 60, " with the smallest"),
    (THREE, "ring", "intersection", "multiparty_intersect confirm", 15, ""),
    (THREE, "ring", "intersection", "multiparty_intersect confirm", 60, " with the smallest"),
    (THREE, "oprf", "intersection", "multiparty_intersect oprf confirm", 15, ""),
    (THREE, "oprf", "intersection", "multiparty_intersect oprf confirm", 60, " with the smallest"),
    (THREE, "ring", "pairwise", "ring", 25, ""),
):
    scene(
        " ".join(f"intersection/{module}" for module in modules.split()), names, shares=True,
        name=f"{reveal} of {len(names)} sets by {protocol}{more}", drawn=JOINT_ORDER,
    )(partial(sets_apart, names, protocol, reveal, alone))  # fmt: skip


# Integration


@scene("integration/class_labels", THREE)
def where_two_holders_of_the_class_differ(watched, world):
    """Ann and Bob hold the class and disagree on five records, which ones depends on the world."""
    base = np.arange(60) % 2

    def labels(name):
        codes = base.copy()
        places = np.arange(5) + (30 * world)
        if name == ("bob" if watched != "bob" else "ann"):
            codes[places] ^= 1
        return Labels(codes.astype(np.uint8), ("N", "Y"))

    def party(channel, rng):
        holders = class_holders(channel, THREE, "Class", channel.me != "cat")
        own = labels(channel.me) if channel.me in holders else None
        with pytest.raises(DataError, match="5 common records"):
            share_class(channel, holders, own, 60, rng)

    return dict.fromkeys(THREE, party)


@scene("integration/class_labels integration/spans", THREE)
def what_all_are_told_before_the_first_round(watched, world):
    """Ann tells the class, Bob the span of his numbers, and all repeat digests of these.

    In which numbers lie within the span, and which classes only other records have, the worlds differ.
    """
    numbers = np.array([1.0, 40 + 9 * world, 50 + 9 * world, 99.0])
    told = numbers if watched != "bob" else np.array([1.0, 44.0, 54.0, 99.0])
    other = ("elsewhere", "otherwise")[world] if watched != "ann" else "elsewhere"
    classes = Labels(np.tile(np.array([2, 0], np.uint8), 30), ("Y", other, "N"))
    plan = Plan(THREE, {"Salary": None}, {"Salary": "bob"}, (), ("ann",), "Class")
    salary = ContinuousColumn("Salary", np.arange(60) % 4, told)

    def party(channel, rng):
        holders = class_holders(channel, THREE, "Class", channel.me == "ann")
        own = classes if channel.me == "ann" else None
        labels = share_class(channel, holders, own, 60, rng)
        spans = announce_spans(channel, plan, {"Salary": salary} if channel.me == "bob" else {})
        heard = digests_of_announced(plan, labels, spans)
        compare_digests(channel, THREE, heard, "the class and the spans")
        return [labels.codes, *labels.values]

    return dict.fromkeys(THREE, party)


LETTERS = taxonomy_of([[letter, "AB" if letter in "ab" else "CD", "any"] for letter in "abcd"])


@scene("integration/dka", TWO)
def subsets_of_a_baseline(watched, world):
    """Any subset of one and any of the other have one record in common; which one is secret."""

    def party(channel, rng):
        text = "aaaabbbbccccdddd"
        if channel.me != watched:
            text = "abcd" * 4 if world else "abcdbcdacdabdabc"
        table = [ladder(categorical_column("letter", list(text), LETTERS))]
        return dka(channel, "alice", table, 4, rng).levels

    return two(party, party)


@scene("integration/hidden_winner", THREE, runs=4)
def keys_of_the_losers(watched, world):
    others = [name for name in THREE if name != watched]
    keys = {watched: key_of(500, 1), others[0]: key_of(900, 0)}
    keys[others[1]] = key_of((1, 899)[world], 2)

    def party(channel, rng):
        finder = HiddenWinner(rng, 3)
        return finder(channel, THREE, keys[channel.me])

    return dict.fromkeys(THREE, party)


@scene("integration/hidden_winner", THREE, runs=4)
def keys_of_winners_that_may_be_rejected(watched, world):
    others = [name for name in THREE if name != watched]
    keys = {watched: key_of(500, 1), others[1]: key_of(3, 2)}
    keys[others[0]] = key_of((510, 9000)[world], 0)

    def party(channel, rng):
        finder = HiddenWinner(rng, 3, rejectable=True)
        return finder(channel, THREE, keys[channel.me])

    return dict.fromkeys(THREE, party)


def loan_split() -> Split:
    """The loans with a k that leaves the leaves of Job and the salaries ungeneralized to nobody."""
    split = loans()
    split.case.requirements = [(["Sex", "Job"], 8)]
    return split


def specialization(hooks, watched, world):
    """Where another's value lies below the final cut is not told: leaves of one branch change."""
    split = loan_split()
    others = {"ann": "Job", "bob": "Sex"}
    changed = {
        "Janitor": "Mover",
        "Mover": "Janitor",
        "Accountant": "Lawyer",
        "Lawyer": "Accountant",
    }
    rows = [dict(row) for row in split.case.rows]
    if world and others[watched] == "Job":
        for row in rows:
            row["Job"] = changed.get(row["Job"], row["Job"])
    split.case.rows = rows

    def party(name):
        def run(channel, rng):
            outcome = split.party(name, **hooks(rng))(channel)
            return [outcome.table.winners, outcome.contributions]

        return run

    return {name: party(name) for name in split.names}


def openly(rng):
    return {}


def strategically(rng):
    strategy = Strategy(0.5)
    return {
        "find_winner": strategy.find_winner,
        "takes_part": strategy.takes_part,
        "confirm": strategy.confirm,
    }


scene(
    "integration/integrate integration/spans integration/scores integration/rounds "
    "integration/instructions", ("ann", "bob"), name="specialization",
)(partial(specialization, openly))  # fmt: skip
scene("integration/participation", ("ann", "bob"), name="specialization with a strategy")(
    partial(specialization, strategically)
)


def conditions(watched, world):
    """A proposal that is rejected, of other columns or for another sensitive one."""
    from tests.protocols.integration.sensitive.test_conditions import decision

    return decision(watched, world, THREE)


scene(
    "integration/sensitive/conditions integration/sensitive/proposer_and_holder", THREE,
    name="conditions on shares",
)(conditions)  # fmt: skip


# Statistics. Among records that are alike for the watched party, which has its own column and the
# class, the others' values change places between the worlds, so that every count is the same.

RECORDS = 120
AXES = [Axis("x", "ann", 2), Axis("y", "bob", 3), Axis("z", "cat", 2)]


def columns(watched, world):
    """Codes of the three attributes, and the class."""
    draw = np.random.default_rng(7)
    codes = {axis.name: draw.integers(0, axis.size, RECORDS) for axis in AXES}
    label = np.where(draw.random(RECORDS) < 0.9, codes["x"], codes["z"])
    mine = next(axis.name for axis in AXES if axis.owner == watched)
    order = np.arange(RECORDS)
    if world:
        for alike in np.unique(2 * codes[mine] + label):
            places = np.flatnonzero(2 * codes[mine] + label == alike)
            order[places] = np.roll(places, 1)
    moved = {name: values[order] for name, values in codes.items()}
    return {**moved, mine: codes[mine]}, label


def own_codes(codes, me):
    return {axis.name: codes[axis.name] for axis in AXES if axis.owner == me}


@scene("statistics/shared_counts statistics/contingency", THREE, shares=True, runs=4)
def a_shared_table(watched, world):
    codes, _ = columns(watched, world)

    def party(channel, rng):
        transfers = Transfers(channel, rng.fork("transfers"))
        mine = own_codes(codes, channel.me)
        return table_shares(transfers, THREE, SERVERS, AXES, mine, RECORDS, rng)

    return dict.fromkeys(THREE, party)


@scene("statistics/shared_counts statistics/contingency", THREE, shares=True)
def a_shared_table_of_divided_records(watched, world):
    """All records of a party lie in one cell, the others' in another one in each world."""

    def party(channel, rng):
        cell = secret(watched, channel.me, world, 0, 255, 100)
        axes, codes = [Axis("w", None, 256)], {"w": np.full(3000, cell)}
        return horizontal_shares(channel, THREE, SERVERS, axes, codes, 3000, rng)

    return dict.fromkeys(THREE, party)


@scene("statistics/shared_counts", SERVERS, shares=True)
def what_a_server_gets_of_one_holder(watched, world):
    """Cat alone holds the numbers: zeros in one world, large ones in the other."""

    def party(channel, rng):
        share = np.full(300, (0, 2**32 - 1)[world], np.uint32) if channel.me == "cat" else None
        return shared_counts.share_out(channel, SERVERS, ["cat"], 300, share, rng)

    return dict.fromkeys(THREE, party)


@scene("aggregates/grouped_sums aggregates/group_tables", THREE, shares=True, runs=4)
def sums_by_group(watched, world):
    """The watched party's numbers and groups are the same; those of the others far apart."""

    def party(channel, rng):
        axes = [Axis("v", "bob", 4), Axis("w", "cat", 9)]
        group = {"bob": {"v": np.full(60, secret(watched, "bob", world, 0, 3, 1))}}
        group["cat"] = {"w": np.full(60, secret(watched, "cat", world, 0, 7, 2))}
        number = secret(watched, "ann", world, 0, 2**64 - 1, 5)
        rows = np.full((60, 2), number, np.uint64) if channel.me == "ann" else None
        own = group.get(channel.me, {})
        transfers = Transfers(channel, rng.fork("transfers"))
        return group_shares(transfers, THREE, SERVERS, "ann", axes, own, 60, rows, 2, rng)

    return dict.fromkeys(THREE, party)


@scene("aggregates/group_tables", THREE, shares=True)
def sums_by_group_of_divided_records(watched, world):
    def party(channel, rng):
        rows = np.full((9, 200), secret(watched, channel.me, world, 0, 2**60, 9), np.uint64)
        axes, codes = [Axis("w", None, 2)], {"w": np.zeros(9, int)}
        return horizontal_group_shares(channel, THREE, SERVERS, axes, codes, rows, rng)

    return dict.fromkeys(THREE, party)


def wide_halves(values, watched, me):
    """As `halves`, of 64 bits."""
    if me not in SERVERS:
        return None
    fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
    mask = np.random.default_rng(3).integers(0, 2**64, np.shape(values), np.uint64)
    return mask if me == fixed else np.asarray(values, np.uint64) - mask


@scene("aggregates/aggregates", THREE)
def sums_of_squares(watched, world):
    """One sum of squares, of parts that are as different as can be."""
    parts = ({"high": 0, "both": 0, "low": 2**16}, {"high": 2**8, "both": 0, "low": 0})[world]

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        shares = {n: wide_halves([v] * 40, watched, channel.me) for n, v in parts.items()}
        return servers.squares(shares, 4, 40)

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", THREE)
def numbers_that_are_rounded(watched, world):
    """Sums and means that differ, but not when they are rounded."""

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        sums = wide_halves([(960, 1040)[world]] * 30, watched, channel.me)
        counts = wide_halves([(10, 11)[world]] * 30, watched, channel.me)
        return [servers.rounded(sums, 100, 5000, 30),
                servers.rounded_means(sums, counts, 100, 500, 30)]  # fmt: skip

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", THREE)
def buckets_of_quantiles(watched, world):
    """Different records around the same median; and one that is hidden, of few or of many."""
    rows = ([[2, 2, 9, 1], [1, 0, 0, 1]], [[5, 0, 7, 6], [0, 3, 0, 1]])[world]

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        share = halves(np.array(rows * 10).reshape(20, 4), watched, channel.me, world)
        return servers.places(share, 4, Rank(Fraction(1, 2)), 4, 20)

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", SERVERS, shares=True)
def groups_that_somebody_dominates(watched, world):
    """One record has nearly all of the sum, or all have the same; nothing is opened."""
    buckets = ([9, 0, 1], [10, 0, 0])[world]

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        table = halves(np.array(buckets * 100).reshape(100, 3), watched, channel.me, world)
        sums = wide_halves([(1009, 10)[world]] * 100, watched, channel.me)
        servers.judge_dominance(Dominance(1, Fraction(1, 2)), table, sums, [1, 10, 1000], 100)
        return servers._safe[0]

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", THREE)
def groups_that_are_hidden_whole(watched, world):
    """A line with one large group shows as little as a line with none."""
    line = Component(np.arange(4), (Lines(np.arange(4)[None]),))

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        counts = wide_halves([0, (0, 900)[world], 2, 0], watched, channel.me)
        return servers.shown([line], counts, 4, 5)

    return dict.fromkeys(THREE, party)


def halves(values, watched, me, world):
    """Shares of the servers: the watched one's is the same in both worlds."""
    if me not in SERVERS:
        return None
    fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
    mask = np.random.default_rng(3).integers(0, 2**32, np.shape(values), np.uint32)
    return mask if me == fixed else np.asarray(values, np.uint32) - mask


@scene("statistics/hidden_counts", SERVERS, shares=True)
def shares_of_what_is_large(watched, world):
    """All counts are empty in one world and large in the other; nothing is opened."""

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        share = halves([(0, 900)[world]] * 300, watched, channel.me, world)
        return group.large(share, 300, 5, zeros=False)

    return dict.fromkeys(THREE, party)


@scene("statistics/visible_cells statistics/hidden_counts", THREE)
def lines_that_are_hidden_whole(watched, world):
    """A line with one large cell looks like a line with none: nothing of either is shown."""

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        mask = np.random.default_rng(5).integers(0, 2, (40, 4), np.uint8)
        large = np.zeros((40, 4), np.uint8)
        large[:, 3] = world
        fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
        share = mask if channel.me == fixed else mask ^ large
        return _good_lines(group, share if channel.me in SERVERS else None, 40, 4)

    return dict.fromkeys(THREE, party)


@scene("statistics/hidden_scores numbers/logarithm", THREE, runs=2)
def chosen_splits_and_families(watched, world):
    """The best candidate is the same, by little or by much."""
    table = [30, 0, 0, 30, 20, 10, 10, 20] if world else [50, 1, 2, 7, 20, 10, 30, 0]
    net = [[30, 30], [60, 0, 0, 0]]

    def party(channel, rng):
        group = HiddenScores(channel, THREE, SERVERS, 100, rng)
        share = halves(table, watched, channel.me, world)
        split = group.split(share, 1, [[2, 2]], 2)
        family = [30, 0, 0, 30] if world else [40, 2, 1, 17]
        shares = [halves(v, watched, channel.me, world) for v in (net[0], family)]
        best = group.best([[Family(shares[0], 1, 2), Family(shares[1], 2, 2)]])
        return [split, best]

    return dict.fromkeys(THREE, party)


def decided_leaves(watched, world, tables, last):
    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        counts = [count for node in tables[world] for count in node]
        share = halves(counts, watched, channel.me, world)
        leaf, labels, _ = group.leaves(share, len(tables[world]), 2, None, 4, last)
        return [leaf, labels]

    return dict.fromkeys(THREE, party)


@scene("statistics/hidden_counts", THREE)
def leaves_of_the_last_level(watched, world):
    """A pure node, a small one and a mixed one of the same class look the same."""
    tables = [[9, 0], [9, 8], [0, 1]], [[9, 8], [1, 0], [9, 0]]
    return decided_leaves(watched, world, tables, True)


@scene("statistics/hidden_counts", THREE)
def nodes_that_are_divided(watched, world):
    """Of a node that is no leaf nobody learns the most frequent class."""
    return decided_leaves(watched, world, ([[9, 8], [0, 7]], [[8, 9], [0, 7]]), False)


@scene("statistics/tree", ("bob", "cat"), runs=1)
def a_tree_whose_leaves_are_pure_or_not(watched, world):
    """Who knows the class of every record does not learn whose value Ann's attribute is not."""
    label = np.repeat([0, 1], 20)
    codes = {"x": label.copy(), "y": np.arange(40) % 2}
    codes["x"][: 3 * world] = 1
    axes = (Axis("x", "ann", 2), Axis("y", "bob", 2))
    plan = TreePlan(THREE, SERVERS, axes, 2, 40, 1, 5)

    def party(channel, rng):
        scores = HiddenScores(channel, THREE, SERVERS, 40, rng.fork("scores"))
        mine = {axis.name: codes[axis.name] for axis in axes if axis.owner == channel.me}
        return grow(Transfers(channel, rng.fork("transfers")), plan, mine, label, scores, rng)

    return dict.fromkeys(THREE, party)


def counts_of_leaves(watched, world, tables):
    """Leaves a and b = 0, and b = 1, of counts by a (Ann's), b (Bob's) and the class."""
    axes = (Axis("a", "ann", 2), Axis("b", "bob", 2))
    leaves = [Leaf({1: 0, 0: 0}, 0), Leaf({1: 0, 0: 1}, 1), Leaf({1: 1}, 1)]

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        share = halves(np.array(tables[world]).reshape(-1), watched, channel.me, world)
        shown = leaf_counts(group, axes, 2, leaves, share, 5, ("records", "accuracy"))
        return [shown.records is None, shown.correct]

    return dict.fromkeys(THREE, party)


@scene("statistics/leaf_counts statistics/hidden_counts", THREE)
def leaves_whose_differences_are_small(watched, world):
    """All leaves are large; how many of Ann's records with a = 0 have b = 1 is few or none."""
    tables = [[[9, 6], [3, 0]], [[5, 12], [16, 20]]], [[[9, 9], [0, 0]], [[5, 12], [16, 20]]]
    return counts_of_leaves(watched, world, tables)


@scene("statistics/leaf_counts statistics/hidden_counts", THREE)
def right_predictions_that_stay_hidden(watched, world):
    """The leaves have the same records; of one class there are few or none in one of them."""
    tables = [[[12, 3], [7, 8]], [[5, 12], [6, 20]]], [[[15, 0], [7, 8]], [[5, 12], [6, 20]]]
    return counts_of_leaves(watched, world, tables)


@scene("statistics/tree statistics/hidden_counts", THREE, runs=1)
def a_tree_and_its_predictions(watched, world):
    codes, label = columns(watched, world)
    plan = TreePlan(THREE, SERVERS, tuple(AXES), 2, RECORDS, 2, 5)

    def party(channel, rng):
        transfers = Transfers(channel, rng.fork("transfers"))
        scores = HiddenScores(channel, THREE, SERVERS, RECORDS, rng.fork("scores"))
        mine = own_codes(codes, channel.me)
        tree = grow(transfers, plan, mine, label, scores, rng)
        predict(transfers, plan, tree, mine, RECORDS, "cat" if watched != "cat" else "ann", rng)
        return tree

    return dict.fromkeys(THREE, party)


@scene("statistics/bayesnet", THREE, runs=1)
def a_net(watched, world):
    codes, _ = columns(watched, world)

    def party(channel, rng):
        transfers = Transfers(channel, rng.fork("transfers"))
        scores = HiddenScores(channel, THREE, SERVERS, RECORDS + 3, rng.fork("scores"))
        mine = own_codes(codes, channel.me)
        count = lambda axes: table_shares(  # noqa: E731
            transfers, THREE, SERVERS, axes, mine, RECORDS, rng
        )
        return search(channel, AXES, 1, count, scores)

    return dict.fromkeys(THREE, party)


@pytest.mark.parametrize(
    ("case", "watched"),
    [(case, watched) for case in SCENES for watched in case.watched],
    ids=lambda value: value if isinstance(value, str) else value.name.replace(" ", "_"),
)
def test_nobody_can_tell_the_others_secrets_apart(case, watched):
    assert_alike(
        partial(case.world, watched),
        watched,
        case.runs,
        shares=case.shares,
        drawn=case.drawn,
    )


# Modules whose view tests stand in a file of their own.
ELSEWHERE = {
    "multiparty/coin_toss": "tests/protocols/multiparty/test_coin_toss.py",
    "patterns/frequent_sets": "tests/protocols/patterns/test_frequent_sets.py",
    "patterns/joint_counts": "tests/protocols/patterns/test_joint_counts.py",
    "patterns/unique_cells": "tests/protocols/patterns/test_unique_cells.py",
    "patterns/separation": "tests/protocols/patterns/test_separation.py",
    "integration/bounds": "tests/protocols/integration/test_bounds.py",
    "integration/sensitive/holders": "tests/jobs/test_views.py",
    "integration/sensitive/joint_frequencies": (
        "tests/protocols/integration/sensitive/test_joint_frequencies.py"
    ),
}


def test_every_protocol_that_sends_something_has_a_scene():
    known = {name for case in SCENES for name in case.protocols} | set(ELSEWHERE)
    for place in ELSEWHERE.values():
        assert "assert_alike(" in (ROOT / place).read_text()
    for folder, path in pairs_of([ROOT / "protocols"], (ROOT / "protocols").rglob("*.py")):
        name = str(path.relative_to(folder).with_suffix(""))
        calls = {
            called(node)
            for _, function in functions(ast.parse(path.read_text()))
            for node in ast.walk(function)
            if isinstance(node, ast.Call)
        }
        if calls & SENDING and not name.startswith("messaging/"):
            assert name in known, f"{name} sends something and has no view test"
    for name in known:
        assert (ROOT / f"protocols/{name}.py").exists(), name


def test_every_scene_fails_on_some_mutant():
    """`make secrecy` tries whether each named test does fail."""
    killers = {test for mutant in MUTANTS for test in mutant.tests}
    here = "tests/protocols/test_views.py::test_nobody_can_tell_the_others_secrets_apart"
    for case in SCENES:
        start = f"{here}[{case.name.replace(' ', '_')}-"
        assert any(test.startswith(start) for test in killers), case.name
    for place in ELSEWHERE.values():
        assert any(test.startswith(f"{place}::") for test in killers), place
