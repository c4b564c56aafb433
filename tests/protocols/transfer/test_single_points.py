"""Trees opened over a channel: the relation, and a check that finds every false block."""

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.field128 import multiply, packed
from coterie.protocols.primitives.half_trees import at_missing, missing
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.single_points import PointFinder, PointOwner
from tests.strength import assert_whole, numbers

DELTA = Random("delta").array(2) | np.array([1, 0], np.uint64)


def transfers(count, rng):
    """q, r and t of correlated transfers, by a dealer."""
    q, r = rng.array((count, 2)), rng.bits(count)
    return q, r, q ^ r[:, None].astype(np.uint64) * DELTA


def products(count, rng):
    """a, b and c of products in the field, by a dealer."""
    a, b = rng.array((count, 2)), rng.array((count, 2))
    return a, b, b ^ multiply(a, np.tile(DELTA, (count, 1)))


def run(depth, trees, field, owner_lie=None, finder_lie=None, seed=0, sides=None):
    """Two rounds of both parties: leaves v and w, places, a."""
    rng = Random(f"dealer {depth} {trees} {seed}")
    rounds = []
    for _ in range(2):
        q, r, t = transfers(trees * depth, rng)
        if sides is not None:
            r = sides.reshape(-1)
            t = q ^ r[:, None].astype(np.uint64) * DELTA
        rounds.append((q, r, t, products(trees, rng), products(1, rng)))

    def changed(channel, lie):
        honest, number = channel.send, iter(range(1000))
        if lie:
            channel.send = lambda peer, value: honest(peer, lie(next(number), value))
        return channel

    def owner(channel):
        side, found = PointOwner(changed(channel, owner_lie), "finder", DELTA), []
        for q, _, _, (_, b, _), (_, mask, _) in rounds:
            leaves = side.open(q, depth, Random(f"owner {seed}"), b if field else None)
            side.prove(leaves, mask[0])
            found.append(leaves)
        return found

    def finder(channel):
        side, found = PointFinder(changed(channel, finder_lie), "owner"), []
        for _, r, t, (a, _, c), (x, _, mask) in rounds:
            turns = r.reshape(trees, depth)
            leaves = side.open(t, turns, c if field else None)
            noise = at_missing(a, turns).reshape(-1, 2) if field else None
            side.check(leaves, x[0], mask[0], noise)
            found.append((leaves, turns, a))
        return found

    found = run_parties({"owner": owner, "finder": finder})
    return list(zip(found["owner"], found["finder"], strict=True))


@pytest.mark.parametrize(("depth", "trees"), [(1, 3), (4, 5), (8, 200)])
def test_bits_are_correlated_in_one_place_of_each_tree(depth, trees):
    for v, (w, turns, _) in run(depth, trees, False):
        places = missing(turns) + (np.arange(trees) << depth)
        assert np.flatnonzero((v ^ w).any(axis=1)).tolist() == places.tolist()
        assert (v[places] ^ w[places] == DELTA).all()
        assert np.flatnonzero(w[:, 0] & np.uint64(1)).tolist() == places.tolist()


@pytest.mark.parametrize(("depth", "trees"), [(1, 3), (4, 5), (8, 200)])
def test_field_points_hold_the_products(depth, trees):
    for v, (w, turns, a) in run(depth, trees, True):
        places = missing(turns) + (np.arange(trees) << depth)
        due = np.zeros_like(v)
        due[places] = multiply(a, np.tile(DELTA, (trees, 1)))
        assert (v ^ w == due).all()


def test_128_transfers_make_one_product():
    q, r, t = transfers(256, Random("packed"))
    bits = np.packbits(r, bitorder="little").view(np.uint64).reshape(2, 2)
    found = packed(q.reshape(2, 128, 2)) ^ multiply(bits, np.tile(DELTA, (2, 1)))
    assert (packed(t.reshape(2, 128, 2)) == found).all()


def flip(message, *place, bit=0):
    """The lie that changes one bit of one message."""

    def lie(number, value):
        if number == message:
            value = value.copy()
            value[place] ^= np.uint64(1) << np.uint64(bit)
        return value

    return lie


@pytest.mark.parametrize("field", [False, True])
@pytest.mark.parametrize("message", [0, 2])
@pytest.mark.parametrize("bit", [0, 1, 63])
def test_a_false_block_is_found(field, message, bit):
    """On the levels below the first, an error in any bit reaches leaves that the finder knows."""
    for tree, level, word in ((0, 1, 0), (3, 2, 1), (4, 3, 0)):
        with pytest.raises(PeerFaultError, match="owner: sent inconsistent trees for silent"):
            run(4, 5, field, flip(message, tree, level, word, bit=bit))


def test_a_false_product_is_found():
    for bit in (0, 63):
        with pytest.raises(PeerFaultError, match="owner: sent inconsistent trees for silent"):
            run(4, 5, True, flip(0, 2, 4, 1, bit=bit))


def test_the_second_round_is_checked_with_factors_of_its_own():
    def lie(number, value):
        return bytes(32) if number == 3 else value

    with pytest.raises(PeerFaultError, match="owner: sent inconsistent trees for silent"):
        run(4, 5, False, lie)


def test_a_false_sum_of_places_helps_nobody():
    """The finder's one message: with another, the finder's own check fails."""
    with pytest.raises(PeerFaultError, match="sent inconsistent trees for silent"):
        run(4, 5, False, finder_lie=flip(0, 0))


@pytest.mark.parametrize("field", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda c: c[:-1],
        lambda c: c[:, :-1],
        lambda c: c[..., :1],
        lambda c: c.view(np.int64),
        lambda c: c.tobytes(),
        lambda c: 7,
    ],
    ids=["a tree less", "a level less", "half blocks", "signed", "bytes", "a number"],
)
def test_sums_of_another_form_are_refused(field, change):
    with pytest.raises(PeerFaultError, match="owner: sent no sums of the trees of silent"):
        run(4, 5, field, lambda number, value: change(value) if number == 0 else value)


@pytest.mark.parametrize(
    "change",
    [lambda d: d[:31], lambda d: d + b"0", lambda d: 3],
    ids=["short", "long", "a number"],
)
def test_digests_of_another_form_are_refused(change):
    with pytest.raises(PeerFaultError, match="owner: sent no digest of the check of silent"):
        run(4, 5, False, lambda number, value: change(value) if number == 1 else value)


@pytest.mark.parametrize(
    "change",
    [lambda x: x[:1], lambda x: x.view(np.uint32), lambda x: x[None], lambda x: x.tobytes()],
    ids=["a word", "other words", "a row", "bytes"],
)
def test_check_values_of_another_form_are_refused(change):
    with pytest.raises(PeerFaultError, match="finder: sent no check value of silent transfers"):
        run(4, 5, False, finder_lie=lambda number, value: change(value))


def guessed(sides, guess, seed):
    """Whether an owner passes whose last sum of the first tree is false, and who guesses the pair of
    leaves that are then wrong at the finder: the missing one and the leaf beside it."""
    rng = Random(f"guess {seed}")
    trees, depth = sides.shape
    q, _, _ = transfers(trees * depth, rng)
    t = q ^ sides.reshape(-1)[:, None].astype(np.uint64) * DELTA
    x, mask, mask_t = products(1, rng)
    error = np.array([2, 9], np.uint64)

    def owner(channel):
        side = PointOwner(channel, "finder", DELTA)
        lied = q.copy()
        lied[depth - 1] ^= error
        leaves = side.open(lied, depth, Random(seed))
        leaves[[guess, guess + (1 << depth - 1)]] ^= error
        side.prove(leaves, mask[0])

    def finder(channel):
        side = PointFinder(channel, "owner")
        side.check(side.open(t, sides), x[0], mask_t[0])

    try:
        run_parties({"owner": owner, "finder": finder})
    except PeerFaultError as found:
        if found.peer != "owner" or "inconsistent trees" not in str(found):
            raise
        return False
    return True


def test_an_owner_passes_with_a_right_guess_of_the_place_and_with_no_other():
    """So a lie that would tell d bits of a place passes with probability 2^-d."""
    for seed in range(8):
        sides = Random(f"sides {seed}").bits(15).reshape(5, 3)
        right = int(missing(sides)[0]) & 3
        assert [guessed(sides, guess, seed) for guess in range(4)] == [g == right for g in range(4)]


# What stays hidden


def test_roots_of_trees_are_drawn_with_all_their_bits():
    """From few roots the finder would know its missing leaf, and delta."""
    roots = []

    def owner(channel):
        side, rng = PointOwner(channel, "finder", DELTA), Random("roots")
        channel.send = lambda peer, sent: roots.append(sent[:, 0])
        for _ in range(3):
            side.open(np.zeros((180, 2), np.uint64), 3, rng)

    run_parties({"owner": owner, "finder": lambda channel: None})
    assert_whole(numbers(np.concatenate(roots)), 128)


def test_the_finders_message_is_its_sum_of_places_under_its_mask():
    """The same places in all runs; without the mask the sum would be one of few values."""
    sent = []
    for seed in range(100):
        run(
            4,
            5,
            False,
            None,
            lambda _, value: sent.append(value) or value,
            seed,
            np.ones((5, 4), np.uint8),
        )
    assert_whole(numbers(np.stack(sent)), 128)


def factors_of(change=None, session="one"):
    """The first factor of the second check, after blocks of which one is changed."""
    found = []

    def owner(channel):
        side = PointOwner(channel, "finder", DELTA)
        for number in range(2):
            sent = np.zeros((2, 3, 2), np.uint64)
            if change and change[0] == number:
                sent[change[1:]] = 1
            side._opened(sent)
        found.append(side._weighed(1, lambda part, factors: factors[0]))

    run_parties({"owner": owner, "finder": lambda channel: None}, session=session)
    return found[0]


def test_factors_depend_on_every_block_that_was_sent_and_on_the_session():
    """An owner that knew them before would send blocks whose errors cancel."""
    places = [
        (n, tree, level, word)
        for n in (0, 1)
        for tree in (0, 1)
        for level in (0, 2)
        for word in (0, 1)
    ]
    found = [factors_of(place) for place in [None, *places]] + [factors_of(session="two")]
    assert len({int(block[0]) for block in found}) == len(found)


def test_factors_have_keys_of_all_bits():
    found = [factors_of(session=f"session {number}") for number in range(200)]
    assert_whole(numbers(np.stack(found)), 128)


@pytest.mark.parametrize("at", [0, 15, 16, 31])
def test_every_byte_of_the_digest_is_compared(at):
    def lie(number, value):
        return value[:at] + bytes([value[at] ^ 8]) + value[at + 1 :] if number == 1 else value

    with pytest.raises(PeerFaultError, match="owner: sent inconsistent trees for silent"):
        run(4, 5, False, lie)
