"""Steps that hide what single bits of a view do not show: orders, keys, and relations of messages."""

from __future__ import annotations

import numpy as np
import pytest
from phe import PaillierPrivateKey, PaillierPublicKey

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.errors import DataError
from coterie.bench._paillier_products import PaillierProducts
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import minindex
from coterie.protocols.integration import class_labels
from coterie.protocols.integration.class_labels import share_class
from coterie.protocols.intersection import multiparty_intersect
from coterie.protocols.intersection.identifiers import Identifiers
from coterie.protocols.intersection.intersect import intersect
from coterie.protocols.multiparty import set_union
from coterie.protocols.multiparty.set_union import union
from coterie.protocols.numbers.inner_product import PaillierEngine
from coterie.protocols.numbers.paillier import adopt, generate
from coterie.protocols.numbers.scalar_product import Sizes, scalar_products
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives import cipher
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.shuffle import shuffled
from coterie.protocols.statistics.shared_tables import Axis
from coterie.protocols.statistics.tree import Node, TreePlan
from coterie.protocols.statistics.tree_predictions import predict
from coterie.protocols.transfer.base_transfer import receive_keys, send_keys
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests.protocols.pairs import KEY
from tests.views import bits, watch

TWO, THREE = ("alice", "bob"), ("ann", "bob", "cat")
POINT_KEY = cipher.random_key(Random("all use this key"))


def order_of(points, expected):
    """Where each of the points stands among those expected."""
    places = {row.tobytes(): at for at, row in enumerate(expected)}
    return [places[row.tobytes()] for row in points]


def uniform(values):
    """Every bit of the words is one as often as not."""
    for words in bits(values):
        deviation = (words.mean(axis=0) - 0.5) * 2 * np.sqrt(len(words))
        assert np.abs(deviation).max() < 5


# Orders


def test_points_of_the_class_come_back_in_a_secret_order(monkeypatch):
    """Else the first holder would see which of its records the other one disagrees on."""
    monkeypatch.setattr(cipher, "random_key", lambda rng: POINT_KEY)
    labels = {
        "ann": Labels(np.zeros(60, np.uint8), ("N", "Y")),
        "bob": Labels(np.r_[np.ones(5, np.uint8), np.zeros(55, np.uint8)], ("N", "Y")),
    }

    def party(channel, rng):
        with pytest.raises(DataError, match="5 common records"):
            share_class(channel, ("ann", "bob"), labels.get(channel.me), 60, rng)

    view = watch(dict.fromkeys(THREE, party), "class")["ann"]
    returned, theirs = [v for v in view.values("bob", "agree") if np.shape(v) == (60, 32)]
    own, others = (
        cipher.hash_and_encrypt(POINT_KEY, class_labels._rows(class_labels._sorted(labels[name])))
        for name in ("ann", "bob")
    )
    first = order_of(returned, cipher.encrypt(POINT_KEY, own))
    second = order_of(theirs, others)
    for order in (first, second):
        assert sorted(order) == list(range(60))
        assert sum(place == at for at, place in enumerate(order)) < 10
    assert first != second


def test_a_set_is_sent_in_an_order_that_says_nothing_of_its_table(monkeypatch):
    """Else a peer would see in which rows of the other's table the common records stand."""
    digests = Identifiers.digests
    monkeypatch.setattr(cipher, "random_key", lambda rng: POINT_KEY)
    monkeypatch.setattr(Identifiers, "digests", lambda self, salt, *r: digests(self, bytes(32), *r))
    values = [b"person %d" % number for number in range(80)]

    def party(channel, rng):
        intersect(channel, TWO, values, rng, protocol="ring")

    view = watch(dict.fromkeys(TWO, party), "order")["alice"]
    points = np.concatenate([v for v in view.values("bob", "ring") if np.shape(v)[1:] == (32,)])
    expected = cipher.hash_and_encrypt(POINT_KEY, digests(Identifiers.pack(values), bytes(32)))
    order = order_of(points, expected)
    assert sorted(order) == list(range(80))
    assert sum(place == at for at, place in enumerate(order)) < 12


def test_a_shuffle_depends_on_the_generator_alone():
    one, two = shuffled(500, Random(1)), shuffled(500, Random(2))
    for order in (one, two):
        assert sorted(order.tolist()) == list(range(500))
        assert (order == np.arange(500)).sum() < 20
    assert (one == two).sum() < 20


def test_no_hop_of_a_union_keeps_the_order_of_the_hop_before(monkeypatch):
    """Else the party that merges would see which element of the union came from whose set."""
    pair = set_union.key_pair(Random("one pair for all"))
    monkeypatch.setattr(set_union, "key_pair", lambda rng: pair)
    sets = {name: [b"%s %d" % (name.encode(), i) for i in range(12)] for name in THREE}

    def party(channel, rng):
        return union(channel, THREE, sets[channel.me], rng, longest=12)

    views = watch(dict.fromkeys(THREE, party), "union")

    def again(rows, key=pair[0]):
        return cipher.encrypt(key, np.ascontiguousarray(rows[:, 0]))

    def disordered(rows, expected):
        order = order_of(rows, expected)
        assert sorted(order) == list(range(len(expected)))
        assert sum(place == at for at, place in enumerate(order)) < 8

    hops = {name: views[name].values(before, "encrypt") for name, before in zip(THREE, ("cat", "ann", "bob"), strict=True)}  # fmt: skip
    for name, before in (("ann", "cat"), ("bob", "ann"), ("cat", "bob")):
        blocks = set_union._blocks(before, sets[before], Random(0), 12, set_union.PIECE, None)
        own = set_union.place_on_curve(blocks)
        disordered(hops[name][0][:, 0], cipher.encrypt(pair[0], own))
        disordered(hops[name][1][:, 0], again(hops[before][0]))
    [merged] = views["bob"].values("ann", "decrypt")
    disordered(again(merged), np.unique(again(merged), axis=0))
    [last] = views["cat"].values("bob", "decrypt")
    disordered(again(last), merged[:, 0])


def test_fakes_of_a_union_are_all_different():
    """Equal ones would show how many of them a set has."""
    sets = {"ann": [b"x"], "bob": [b"y", b"z"], "cat": []}
    views = watch(
        dict.fromkeys(THREE, lambda c, rng: union(c, THREE, sets[c.me], rng, pad_to=6)), "fakes"
    )
    rows = [row.tobytes() for v in views["ann"].values("cat", "encrypt") for row in v]
    merged = [row.tobytes() for v in views["bob"].values("ann", "decrypt") for row in v]
    assert len(rows) == len(set(rows)) == 12
    assert len(merged) == 3 * 6


# Keys and seeds


def words_of(view, *steps):
    return {
        data[at : at + 16]
        for _, step, values in view.received
        if step.split("/")[-1] in steps or not steps
        for value in values
        if isinstance(value, np.ndarray)
        for data in [value.tobytes()]
        for at in range(0, len(data) - 15, 16)
    }


def test_every_party_adds_to_the_salt_of_an_intersection(monkeypatch):
    salts = []
    digests = Identifiers.digests
    monkeypatch.setattr(
        Identifiers, "digests", lambda self, salt, *r: salts.append(salt) or digests(self, salt, *r)
    )
    for changed in ("", "alice", "bob"):
        parties = {
            name: lambda c, rng, name=name, changed=changed: intersect(
                c, TWO, [b"1", b"2"], Random("new" if name == changed else name), protocol="ring"
            )
            for name in TWO
        }
        watch(parties, "salt")
    assert len(set(salts)) == 3


@pytest.mark.parametrize("protocol", ["ring", "oprf"])
@pytest.mark.parametrize("names", [TWO, THREE])
def test_two_intersections_of_the_same_digests_have_no_word_in_common(names, protocol, monkeypatch):
    """Under one salt, so that keys alone make the difference."""
    digests = Identifiers.digests
    monkeypatch.setattr(Identifiers, "digests", lambda self, salt, *r: digests(self, bytes(32), *r))
    values = [b"person %d" % number for number in range(40)]

    def party(channel, rng):
        intersect(channel, names, values, rng, protocol=protocol)

    steps = ("ring", "function", "hints", "compare", "transfers")
    one, two = (watch(dict.fromkeys(names, party), seed) for seed in ("one", "two"))
    for name in names:
        seen = [words_of(views[name], *steps) for views in (one, two)]
        assert len(seen[0]) >= 40
        assert not seen[0] & seen[1]


def test_two_unions_of_the_same_sets_have_no_point_in_common_before_the_last():
    def party(channel, rng):
        return union(channel, THREE, [b"a", b"b", b"c"], rng)

    one, two = (watch(dict.fromkeys(THREE, party), seed) for seed in ("one", "two"))
    for name in THREE:
        assert not words_of(one[name], "encrypt", "merge") & words_of(two[name], "encrypt", "merge")


def test_shares_of_zero_hide_what_a_party_holds():
    """The leader gets a party's share on a value that the party holds: it must not know it."""
    tags = Random("tags").array((300, 2))

    def party(channel, rng):
        return multiparty_intersect._share(channel, THREE, tags, rng)

    one, two = (watch(dict.fromkeys(THREE, party), seed) for seed in ("one", "two"))
    shares = {name: view.result for name, view in one.items()}
    assert not (shares["ann"] ^ shares["bob"] ^ shares["cat"]).any()
    for name in THREE:
        uniform(shares[name])
        assert not (shares[name] == two[name].result).any()
    # What the leader knows, its keys with each of the others, does not give it their shares.
    for name in ("bob", "cat"):
        [key] = one[name].values("ann", "keys")
        uniform(shares[name] ^ multiparty_intersect.encrypted(key, tags))


def test_the_secret_of_transfers_is_drawn_anew():
    deltas = []

    def sender(channel, rng):
        deltas.append(Sender(channel, "bob", rng).delta)

    for seed in range(12):
        watch(
            {"alice": sender, "bob": lambda c, rng: Receiver(c, "alice", rng) and None}, str(seed)
        )
    for word in (0, 1):
        assert len({int(delta.reshape(-1)[word]) for delta in deltas}) == 12
    ones = np.unpackbits(np.stack(deltas).view(np.uint8)).mean()
    assert 0.4 < ones < 0.6


def test_the_point_beside_the_chosen_one_is_drawn_anew():
    """The sender of base transfers must not recognize the point of which the key is not known."""
    seen = set()
    for seed in range(3):
        views = watch(
            {
                "alice": lambda c, rng: send_keys(c, "bob", 8, rng),
                "bob": lambda c, rng: receive_keys(c, "alice", np.zeros(8, np.uint8), rng),
            },
            f"points {seed}",
        )
        [points] = views["alice"].values("bob", "")
        seen |= {point.tobytes() for point in points.reshape(-1, 32)}
    assert len(seen) == 3 * 16


def test_two_garblings_have_no_label_or_row_in_common():
    def party(channel, rng):
        role = (Garbler if channel.me == "alice" else Evaluator)(channel, channel.peers[0], rng)
        return minindex(role, np.zeros((6, 2), np.uint64), 1 << 16)

    one, two = (watch(dict.fromkeys(TWO, party), seed)["bob"] for seed in ("one", "two"))
    assert len(words_of(one)) > 500
    assert not words_of(one) & words_of(two)


def test_paillier_keys_and_bases_are_drawn_anew():
    keys = [generate(Random(f"key {seed}"), 512) for seed in range(3)]
    assert len({int(prime) for key in keys for prime in (key.p, key.q)}) == 6
    given = PaillierPrivateKey(PaillierPublicKey(int(KEY.n)), int(KEY.p), int(KEY.q))
    bases = {int(adopt(given, Random(f"base {seed}")).base) for seed in range(3)}
    assert len(bases) == 3


# Relations


class Ones:
    """Randomizers that hide nothing, for the owner of a key that reads the answers' randomizers."""

    def take(self, count):
        return [1] * count


def answers(view, key):
    """The randomizers of the ciphertexts that were received: 1 modulo n where there is none."""
    rows = [v for _, step, values in view.received for v in values if "key" not in step]
    return [
        int.from_bytes(row.tobytes(), "little") % int(key.n)
        for array in rows
        if isinstance(array, np.ndarray)
        for row in array
    ]


def test_answers_of_inner_products_are_randomized_anew():
    """Else the owner of the key could read the other's numbers from the answers' randomizers."""

    def party(channel, rng):
        first = channel.me == "alice"
        engine = PaillierEngine(
            channel, channel.peers[0], first, rng, KEY.bits, None if first else KEY
        )
        if not first:
            engine.randomizers = Ones()
        engine.inner_products(Ring(1 << 16), np.full((20, 1), 5, np.uint64), rng)

    found = answers(watch(dict.fromkeys(TWO, party), "answers")["bob"], KEY)
    assert found
    assert 1 not in found
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("output", ["shares", "many"])
def test_answers_of_scalar_products_are_randomized_anew(output):
    def party(channel, rng):
        many = channel.me == "alice"
        ways = PaillierProducts(
            channel, channel.peers[0], many, rng, KEY.bits, KEY if many else None
        )
        if many:
            ways.randomizers = Ones()
        values = np.ones((30, 3 if many else 2), np.int64)
        ring = Ring(1 << 16) if output == "shares" else None
        scalar_products(ways, Sizes(30, 3, 2), values, rng, output, ring)

    found = answers(watch(dict.fromkeys(TWO, party), "answers")["alice"], KEY)
    assert found
    assert 1 not in found
    assert len(set(found)) == len(found)


class OpenTransfers:
    """Transfers whose pads everybody knows: what they hide is plain to see."""

    def __init__(self, channel):
        self.channel = channel

    def sender(self, peer):
        return self

    def receiver(self, peer):
        return self

    def random(self, counted, words):
        zeros = np.zeros((counted if isinstance(counted, int) else len(counted), words), np.uint64)
        return (zeros, zeros) if isinstance(counted, int) else zeros


def test_the_receiver_of_predictions_sees_nothing_but_their_sum():
    """What it gets of each party is uniform even if it knew the pads of the transfers."""
    attributes = (Axis("x", "ann", 2), Axis("y", "bob", 2))
    leaves = [Node(0, 1, [Node(1), Node(0)]), Node(0, 1, [Node(0), Node(1)])]
    tree = Node(0, 0, leaves)
    plan = TreePlan(THREE, ("ann", "bob"), attributes, 2, 400, 2, 1)
    draw = np.random.default_rng(1)
    codes = {"ann": {"x": draw.integers(0, 2, 400)}, "bob": {"y": draw.integers(0, 2, 400)}}

    def party(channel, rng):
        own = codes.get(channel.me, {})
        return predict(OpenTransfers(channel), plan, tree, own, 400, ["cat"], rng)

    view = watch(dict.fromkeys(THREE, party), "predict")["cat"]
    assert (view.result == (codes["ann"]["x"] == codes["bob"]["y"])).all()
    for name in ("ann", "bob"):
        [part] = view.values(name, "predict")
        uniform(part)
