"""Keys, seeds, salts and orders have all of their randomness; `tests/strength.py` has the criteria."""

from __future__ import annotations

from types import SimpleNamespace

import gmpy2
import numpy as np
import pytest
from phe import PaillierPrivateKey, PaillierPublicKey

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.randomness import uniform
from coterie.protocols.integration import class_labels
from coterie.protocols.intersection import intersect as intersections
from coterie.protocols.intersection import multiparty_intersect, vole_function
from coterie.protocols.intersection.identifiers import Identifiers
from coterie.protocols.messaging.kept import Kept
from coterie.protocols.messaging.memory import run_parties, run_same
from coterie.protocols.multiparty import set_union
from coterie.protocols.multiparty.coin_toss import _commitment, toss
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.numbers.paillier import _prime, adopt, generate
from coterie.protocols.numbers.randomizers import FixedBase, Randomizers
from coterie.protocols.primitives import cipher, group, randomness, sodium
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.shuffle import shuffled
from coterie.protocols.primitives.store import MemoryStore
from coterie.protocols.transfer.base_transfer import receive_keys, send_keys
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests.protocols.transfer.ideal_transfer import ideal_transfers
from tests.strength import assert_all_drawn, assert_different, assert_whole, numbers
from tests.views import watch

TWO, THREE = ("alice", "bob"), ("ann", "bob", "cat")
SMALL = generate(Random("a small key"), 128)
MANY = 100  # keys among which one of 8 bits comes again


# The generator


def test_a_generator_without_a_seed_is_keyed_by_every_byte_of_the_system(monkeypatch):
    def streamed(rng):
        monkeypatch.setattr(randomness.os, "urandom", rng.bytes)
        return Random().bytes(32)

    assert_all_drawn(streamed, 32)


def test_streams_depend_on_every_byte_of_a_seed_and_of_a_label():
    seeds = [bytes(at) + b"x" + bytes(99 - at) for at in range(100)]
    assert_different(numbers([list(Random(seed).bytes(16)) for seed in seeds]))
    labels = ["-" * at + "x" + "-" * (99 - at) for at in range(100)]
    assert_different(numbers([list(Random(1).fork(label).bytes(16)) for label in labels]))
    assert_different(numbers([list(Random(seed).fork("a").bytes(16)) for seed in range(100)]))


def test_bits_and_large_numbers_fill_their_places():
    assert_whole(numbers(np.packbits(Random(1).bits(64 * 128).reshape(128, 64), axis=1)), 64)
    assert_whole(Random(2).integers(1 << 200, 300), 200)


@pytest.mark.parametrize("place", range(128))
def test_an_order_is_sorted_by_every_bit_of_128(place):
    """Of keys that differ in one bit alone."""
    keys = np.zeros((2, 2), np.uint64)
    keys[place // 64, 0] = np.uint64(1 << place % 64)
    given = SimpleNamespace(array=lambda shape: keys)
    assert Random.permutation(given, 2).tolist() == [1, 0]


def test_an_order_of_many_keeps_nothing_of_the_order_before():
    """Sorting by few bits would leave most neighbours rising; in a random order half of them fall."""
    count = 1 << 18
    for order in (Random(1).permutation(count), shuffled(count, Random(1))):
        falling = int((np.diff(order) < 0).sum())
        assert abs(falling - count / 2) < 10 * np.sqrt(count / 12)
        assert int((order == np.arange(count)).sum()) < 50  # one is expected


def test_a_shuffle_reaches_every_place():
    """The last of 2^18 comes from anywhere, by all 18 bits of its place, and so does the first."""
    orders = [shuffled(1 << 18, Random(seed)) for seed in range(64)]
    assert_whole([int(order[-1]) for order in orders], 18)
    assert_whole([int(order[0]) for order in orders], 18)


def test_numbers_of_the_system_have_all_52_bits():
    found = uniform((120,), np.random.default_rng(1).bytes)
    assert_whole([int(one * 2**53) >> 1 for one in found], 52)


# Paillier


def test_primes_have_all_their_bits_and_are_far_from_each_other():
    primes = [int(_prime(Random(seed), 128)) for seed in range(150)]
    assert_whole([prime >> 24 & ((1 << 100) - 1) for prime in primes], 100)
    for seed in range(10):
        key = generate(Random(seed), 256)
        assert abs(int(key.p) - int(key.q)) >> (128 - 60)


def test_bases_have_all_their_bits():
    given = PaillierPrivateKey(PaillierPublicKey(int(SMALL.n)), int(SMALL.p), int(SMALL.q))
    bases = [int(adopt(given, Random(seed)).base) for seed in range(180)]
    assert_whole([base & ((1 << 120) - 1) for base in bases], 120)


@pytest.mark.parametrize("count", [3, 300])
def test_exponents_of_randomizers_have_all_their_bits(count):
    """The e-th power of 1 + n is 1 + e n modulo n², for a power each and by a table."""
    root = gmpy2.next_prime(1 << 200)
    powers = []
    rng = Random("exponents")
    while len(powers) < 300:
        powers += FixedBase(1 + root, root, 160).random_powers(count, rng)
    exponents = [int(power // root) for power in powers]
    assert max(exponents).bit_length() <= 168
    assert_whole([one & ((1 << 160) - 1) for one in exponents], 160)


def test_pools_of_randomizers_have_streams_of_their_own():
    rng = Random("pools")
    assert_different([int(Randomizers(SMALL, rng).take(1)[0]) for _ in range(MANY)])


def test_randomizers_made_elsewhere_have_seeds_of_their_own():
    pool, seeds = Randomizers(SMALL.public, Random("elsewhere")), []
    executor = SimpleNamespace(submit=lambda work, *rest: seeds.append(rest[-1]))
    for _ in range(MANY):
        pool._elsewhere(pool._powers[0], 1, executor)
    assert {len(seed) for seed in seeds} == {32}
    assert_different([int.from_bytes(seed, "little") for seed in seeds])


def test_exact_randomizers_are_powers_of_any_unit():
    n, p, q = int(SMALL.n), int(SMALL.p), int(SMALL.q)
    root = pow(n, -1, (p - 1) * (q - 1))
    made = Randomizers(SMALL.public, Random("units"), "exact").take(180)
    assert_whole([pow(int(one), root, n) & ((1 << 120) - 1) for one in made], 120)
    made = Randomizers(SMALL, Random("units"), "exact").take(180)
    for prime in (p, q):
        assert_whole([int(one) % prime & ((1 << 60) - 1) for one in made], 60)


# Sums, unions and tosses


def test_every_pair_of_a_sum_has_a_seed_of_its_own_from_both():
    def seeds(name, changed=""):
        def party(channel):
            own = "new" if channel.me == changed else "old"
            return SecureSum(channel, THREE, Random(f"{name} {own} {channel.me}"))._seeds

        return run_same(THREE, party)

    sent = []

    def party(channel, rng):
        SecureSum(channel, THREE, rng)

    for seed in range(MANY // 2):
        views = watch(dict.fromkeys(THREE, party), f"seeds {seed}")
        sent += [views[name].values("ann", "seeds")[0] for name in ("bob", "cat")]
    assert_different([int.from_bytes(seed, "little") for seed in sent])
    before = seeds("one")["ann"]["bob"]
    assert len({before, seeds("one", "ann")["ann"]["bob"], seeds("one", "bob")["ann"]["bob"]}) == 3


def test_the_key_and_the_fakes_of_a_union_have_all_their_bits():
    keys = [int.from_bytes(set_union.key_pair(Random(seed))[0], "little") for seed in range(300)]
    assert_whole([key >> 3 & ((1 << 250) - 1) for key in keys], 250)
    blocks = set_union._blocks("ann", [], Random("fakes"), 46, 2 * set_union.PIECE, 200)
    fakes = [set_union.unmix(row.tobytes()) for row in blocks]
    assert_whole([int.from_bytes(fake[1:17], "little") for fake in fakes], 128)


def test_the_parts_of_a_toss_have_all_their_bits():
    shown = []

    def party(channel, rng):
        toss(channel, TWO, rng)

    for seed in range(MANY):
        [message] = watch(dict.fromkeys(TWO, party), f"toss {seed}")["bob"].values("alice", "show")
        shown.append(int.from_bytes(message[:32], "little"))
    assert_different(shown)


def test_a_commitment_binds_to_every_byte_and_to_its_party():
    secret = Random("secret").bytes(32)
    changed = [secret[:at] + bytes([secret[at] ^ 1]) + secret[at + 1 :] for at in range(32)]
    found = {_commitment("ann", one) for one in [secret, *changed]}
    assert len(found | {_commitment("bob", secret)}) == 34


def test_the_token_of_an_attempt_is_different_in_each():
    tokens = []
    for at in range(MANY):
        kept = Kept()
        kept.begin({"a": at.to_bytes(16, "little"), "b": bytes(16)}, [])
        tokens.append(int.from_bytes(kept._token, "little"))
    assert_different(tokens)


# Intersections


def test_a_digest_depends_on_every_byte_of_the_salt():
    data, offsets = np.frombuffer(b"somebody", np.uint8), np.array([0, 8], np.int64)
    assert_all_drawn(lambda rng: sodium.digests(data, offsets, rng.bytes(32)).tobytes(), 32)


@pytest.fixture
def sets(monkeypatch):
    """The values as they enter the ring, in the order in which they are sent, by runs."""
    seen = []
    honest = intersections.ring_intersect

    def noted(channel, names, values, *rest):
        if channel.me == "alice":
            seen.append(values.copy())
        return honest(channel, names, values, *rest)

    monkeypatch.setattr(intersections, "ring_intersect", noted)
    return seen


def run_ring(seed, values, **options):
    def party(channel, rng):
        intersections.intersect(channel, TWO, values, rng, protocol="ring", **options)

    return watch(dict.fromkeys(TWO, party), seed)


def test_salts_and_their_parts_are_different_in_every_intersection():
    salts, parts = [], []

    def party(channel, rng):
        own = Identifiers.pack([b"1"])
        return intersections._agree(channel, TWO, own, rng, None, None, MemoryStore()).salt

    for seed in range(MANY):
        view = watch(dict.fromkeys(TWO, party), f"salts {seed}")["alice"]
        salts.append(view.result)
        parts.append(view.values("bob", "sizes")[1])
    for words in (salts, parts):
        assert_different([int.from_bytes(word, "little") for word in words])


def test_padding_looks_like_digests_and_stands_among_them(sets, monkeypatch):
    digests = Identifiers.digests
    monkeypatch.setattr(Identifiers, "digests", lambda self, salt, *r: digests(self, bytes(32), *r))
    people = [b"person %d" % at for at in range(200)]
    run_ring("padding", people, pad_to=400)
    own = {row.tobytes() for row in digests(Identifiers.pack(people), bytes(32))}
    [values] = sets
    padding = np.array([row.tobytes() not in own for row in values])
    assert padding.sum() == 200
    assert_whole(numbers(values[padding]), 128)
    assert 40 < padding[:200].sum() < 160  # more than eight standard deviations


def test_a_set_is_sent_in_another_order_every_time(sets, monkeypatch):
    digests = Identifiers.digests
    monkeypatch.setattr(Identifiers, "digests", lambda self, salt, *r: digests(self, bytes(32), *r))
    for seed in ("one", "two"):
        run_ring(seed, [b"person %d" % at for at in range(80)])
    one, two = ([row.tobytes() for row in values] for values in sets)
    assert set(one) == set(two)
    assert sum(a == b for a, b in zip(one, two, strict=True)) < 20


def test_encrypted_sets_are_compared_in_the_order_of_their_points():
    """Any other order could be that of somebody's table."""

    def party(channel, rng):
        people = [b"person %d" % at for at in range(600)]
        intersections.intersect(channel, THREE, people, rng, protocol="ring", reveal="pairwise")

    view = watch(dict.fromkeys(THREE, party), "pairwise")["ann"]
    for peer in ("bob", "cat"):
        parts = [v for v in view.values(peer, "compare") if np.shape(v)[1:] == (16,)]
        rows = np.concatenate(parts).view(np.uint64)
        assert (np.lexsort((rows[:, 1], rows[:, 0])) == np.arange(600)).all()


def test_every_pair_has_a_key_of_its_own_for_shares_of_zero():
    tags, keys = Random("tags").array((3, 2)), []

    def party(channel, rng):
        multiparty_intersect._share(channel, THREE, tags, rng)

    for seed in range(MANY // 2):
        views = watch(dict.fromkeys(THREE, party), f"keys {seed}")
        keys += [views[name].values("ann", "keys")[0] for name in ("bob", "cat")]
    assert_different([int.from_bytes(key, "little") for key in keys])


def test_outputs_under_hints_have_all_their_bits(monkeypatch):
    tags, masked = Random("tags").array((200, 2)), []

    def helper(channel, rng):
        share = np.zeros((200, 2), np.uint64)
        multiparty_intersect._help_by_transfer(channel, "bob", tags, share, 1, b"salt", rng)

    def leader(channel, rng):
        function = vole_function.FunctionReceiver(channel, "alice", rng)
        function.set_up()
        function.fix(*vole_function.store_of(tags[:1], b"salt", rng))
        function.outputs(tags[:1])

    monkeypatch.setattr(
        multiparty_intersect, "_send_hint", lambda channel, leader, tags, m, rng: masked.append(m)
    )
    watch({"alice": helper, "bob": leader}, "outputs")
    assert_whole(numbers(masked[0]), 128)


def parts_of(sender):
    """What is drawn for the joint number of a function, by a sender or a receiver."""
    tags = Random("tags").array((2, 2))

    def send(channel, rng):
        function = vole_function.FunctionSender(channel, "bob", rng)
        function.set_up()
        function.fix(tags, 2)
        return function._share

    def receive(channel, rng):
        function = vole_function.FunctionReceiver(channel, "alice", rng)
        function.set_up()
        function.fix(*vole_function.store_of(tags, b"salt", rng))
        return function._share

    found = []
    with ideal_transfers():
        for seed in range(300):
            views = watch({"alice": send, "bob": receive}, f"share {seed}")
            found.append(views["alice" if sender else "bob"].result)
    return [int.from_bytes(part, "little") for part in found]


@pytest.mark.parametrize("sender", [True, False])
def test_parts_of_a_joint_number_have_all_their_bits(sender):
    assert_whole(parts_of(sender), 256)


# Keys of groups and of transfers


def test_keys_of_the_ring_and_scalars_of_the_group_take_all_that_is_drawn():
    assert_all_drawn(cipher.random_key, 32)
    assert_all_drawn(group.random_scalar, 64)


def test_the_secret_of_the_transfers_has_all_its_bits():
    deltas = []

    def sender(channel, rng):
        deltas.append(Sender(channel, "bob", rng).delta)

    for seed in range(180):
        watch(
            {"alice": sender, "bob": lambda c, rng: Receiver(c, "alice", rng) and None}, f"{seed}"
        )
    assert_whole([one >> 1 for one in numbers(np.stack(deltas).reshape(180, 2))], 127)


def transferred(channel, seed, count=80):
    """Keys of base transfers; nothing but the seed is drawn."""
    if channel.me == "alice":
        return send_keys(channel, "bob", count, Random(f"{seed} alice"))
    return receive_keys(channel, "alice", np.zeros(count, np.uint8), Random(f"{seed} bob"))


def test_keys_and_points_of_base_transfers_have_all_their_bits():
    views = watch(dict.fromkeys(TWO, lambda channel, rng: transferred(channel, 1)), "keys")
    assert_different(numbers(views["alice"].result.reshape(160, 16)))
    [points] = views["alice"].values("bob", "")
    assert_different(numbers(points.reshape(160, 32)))
    assert min(len(set(key.tolist())) for key in views["bob"].result) > 4


def test_base_transfers_of_two_runs_and_of_two_sessions_have_different_keys():
    """Also where both parties would draw the same again."""

    def party(channel):
        return [transferred(channel, "same", 2).tobytes() for _ in range(2)]

    found = [run_parties(dict.fromkeys(TWO, party), session=name)["bob"] for name in ("one", "two")]
    assert len({keys for both in found for keys in both}) == 4


# Orders


def test_points_of_the_class_come_back_in_another_order_every_time(monkeypatch):
    key = cipher.random_key(Random("all use this key"))
    monkeypatch.setattr(cipher, "random_key", lambda rng: key)
    labels = Labels(np.arange(60, dtype=np.uint8) % 2, ("N", "Y"))
    rows = class_labels._rows(labels)
    own = [row.tobytes() for row in cipher.hash_and_encrypt(key, rows)]
    again = [row.tobytes() for row in cipher.encrypt(key, cipher.hash_and_encrypt(key, rows))]
    orders = []

    def party(channel, rng):
        count = (
            class_labels._count_at_first if channel.me == "alice" else class_labels._count_at_other
        )
        count(channel, channel.peers[0], rows, rng)

    for seed in ("one", "two"):
        returned, theirs = watch(dict.fromkeys(TWO, party), seed)["alice"].values("bob", "")
        orders += [[again.index(row.tobytes()) for row in returned]]
        orders += [[own.index(row.tobytes()) for row in theirs]]
    for at, one in enumerate(orders):
        for other in orders[:at]:
            assert sum(a == b for a, b in zip(one, other, strict=True)) < 20


def test_sets_of_a_union_are_sent_in_another_order_every_time(monkeypatch):
    pair = set_union.key_pair(Random("one pair for all"))
    monkeypatch.setattr(set_union, "key_pair", lambda rng: pair)
    items = [b"item %d" % at for at in range(60)]

    def party(channel, rng):
        set_union.union(channel, TWO, items, rng)

    one, two = (
        [
            row.tobytes()
            for row in watch(dict.fromkeys(TWO, party), seed)["bob"].values("alice", "encrypt")[0]
        ]
        for seed in ("one", "two")
    )
    assert set(one) == set(two)
    assert sum(a == b for a, b in zip(one, two, strict=True)) < 20
