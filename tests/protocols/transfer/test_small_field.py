"""Checked transfers of random bits: the relation, the check, and what a chooser's lies risk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives import field128, leaf_sums
from coterie.protocols.primitives.field128 import inner_products
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer import small_field
from coterie.protocols.transfer.small_field import ChooserRows, HolderRows
from tests.protocols.transfer.lies import lying
from tests.strength import assert_whole, numbers


def rows_of(calls, lie=None, seed=0):
    """Both sides after these calls (count, wanted): what `take` gave each, and delta."""

    def holder(channel):
        side = HolderRows(channel, "chooser", Random(f"h{seed}"))
        return side.delta, [side.take(*call) for call in calls]

    def chooser(channel):
        side = ChooserRows(channel, "holder", Random(f"c{seed}"))
        if lie:
            lying(channel, lambda values: lie(values, side))
        return [side.take(*call) for call in calls]

    found = run_parties({"holder": holder, "chooser": chooser})
    return *found["holder"], found["chooser"]


def delta_of(seed):
    """What the seeded holder of `rows_of` draws, as bits."""
    bits = Random(f"h{seed}").bits(128)
    bits[0] = 1
    return bits


def assert_related(delta, q, chosen):
    for mine, (bits, t) in zip(q, chosen, strict=True):
        r = np.unpackbits(bits, bitorder="little").astype(np.uint64)
        assert (t == mine ^ (r[:, None] * delta)).all()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), max_size=5),
    st.integers(0, 2**20),
)
def test_rows_of_any_calls_are_related(sizes, seed):
    calls = [(8 * count, 8 * (count + more)) for count, more in sizes]
    delta, q, chosen = rows_of(calls, seed=seed)
    assert_related(delta, q, chosen)
    assert [len(rows) for rows in q] == [count for count, _ in calls]
    assert delta[0] & np.uint64(1) == 1


def test_many_rows_span_batches_and_are_all_different():
    delta, q, chosen = rows_of([(200_000, 300_000), (100_000, 100_000)])
    assert_related(delta, q, chosen)
    assert len(np.unique(np.concatenate(q), axis=0)) == 300_000
    ones = np.unpackbits(np.concatenate([bits for bits, _ in chosen])).mean()
    assert abs(ones - 0.5) < 6 * 0.5 / 300_000**0.5


def test_portable_code_makes_the_same_rows(monkeypatch):
    found = rows_of([(2000, 2000)])
    monkeypatch.setattr(leaf_sums, "accelerated", lambda: False)
    monkeypatch.setattr(field128, "accelerated", lambda: False)
    again = rows_of([(2000, 2000)])
    assert (found[1][0] == again[1][0]).all()
    assert (found[2][0][1] == again[2][0][1]).all()


# What a chooser risks


class Cheat(ChooserRows):
    """Makes false corrections, {tree: row}, and a check that is right if the guesses are.

    A guess is what the four bits of delta are in the tree.
    """

    lies: dict[int, int]
    guesses: dict[int, int]

    def _factors(self, corrections, rows):
        for tree, row in self.lies.items():
            corrections[tree - 1, row // 8] ^= 1 << row % 8
        self.factors = super()._factors(corrections, rows)
        return self.factors

    def guessed(self, values):
        check = values[1].copy()
        for tree, guess in self.guesses.items():
            row = self.lies[tree]
            error = np.zeros((1, len(self.factors), 2), np.uint64)
            error[0, row // 128, row % 128 // 64] = 1 << row % 64
            [moved] = inner_products(error, self.factors)
            for bit in range(4):
                check[1 + 4 * tree + bit] ^= moved * np.uint64(guess >> bit & 1)
        return [values[0], check]


def cheated(lies, guesses, seed):
    def chooser(channel):
        side = Cheat(channel, "holder", Random(f"c{seed}"))
        side.lies, side.guesses = lies, guesses
        lying(channel, side.guessed)
        return side.take(128, 128)

    def holder(channel):
        side = HolderRows(channel, "chooser", Random(f"h{seed}"))
        return side.delta, side.take(128, 128)

    found = run_parties({"holder": holder, "chooser": chooser})
    return *found["holder"], found["chooser"]


def digits(bits):
    """The four bits of delta in each tree as a number."""
    return (bits.reshape(32, 4) << np.arange(4)).sum(axis=1)


def test_a_false_correction_is_found_unless_delta_has_none_of_the_tree():
    outcomes = []
    for seed in range(80):
        zero = digits(delta_of(seed))[7] == 0
        try:
            cheated({7: 5}, {}, seed)
            outcomes.append((zero, True))
        except PeerFaultError as error:
            assert error.peer == "chooser"  # noqa: PT017 to pass is as good where delta has none
            assert "inconsistent corrections" in str(error)  # noqa: PT017
            outcomes.append((zero, False))
    assert all(zero == passed for zero, passed in outcomes)
    assert 0 < sum(passed for _, passed in outcomes) < 16


@pytest.mark.parametrize("seed", range(4))
def test_a_chooser_passes_with_all_its_guesses_right_and_with_no_other(seed):
    """So the chance to pass is 2^-d for d bits of delta, neither more nor less."""
    right = {tree: int(digits(delta_of(seed))[tree]) for tree in (2, 9, 30)}
    lies = dict.fromkeys(right, 5)
    delta, q, (bits, t) = cheated(lies, right, seed)
    r = np.unpackbits(bits, bitorder="little").astype(np.uint64)
    wrong = t ^ q ^ r[:, None] * delta
    assert np.flatnonzero(wrong.any(axis=1)).tolist() in ([5], [])
    kept = sum(value << 4 * tree for tree, value in right.items())
    assert int(wrong[5, 0]) | int(wrong[5, 1]) << 64 == kept  # no bit beyond the guessed ones
    for tree, bit in ((2, 0), (9, 3), (30, 1)):
        with pytest.raises(PeerFaultError, match="chooser: sent inconsistent corrections"):
            cheated(lies, {**right, tree: right[tree] ^ 1 << bit}, seed)


def test_the_attack_that_reads_delta_from_false_corrections_is_found():
    """Another false correction in every row, each of which tells the four bits of one tree."""
    for seed in range(8):
        with pytest.raises(PeerFaultError, match="chooser: sent inconsistent corrections"):
            cheated({tree: tree for tree in range(1, 32)}, {}, seed)


def test_without_the_check_the_attack_reads_delta(monkeypatch):
    """124 bits from 31 rows: what the test above is about."""
    monkeypatch.setattr(HolderRows, "_check", lambda *rest: None)
    delta, q, (bits, t) = cheated({tree: tree for tree in range(1, 32)}, {}, 3)
    r = np.unpackbits(bits, bitorder="little").astype(np.uint64)
    found = np.zeros(2, np.uint64)
    for tree in range(1, 32):
        # The holder's row, which the chooser sees whenever it knows what a hash of it has sealed.
        row = q[tree] ^ t[tree] ^ r[tree] * delta
        found ^= row
    assert (found == delta & np.array([0xFFFFFFFFFFFFFFF0, 2**64 - 1], np.uint64)).all()


def test_corrections_that_change_under_way_are_found():
    with pytest.raises(PeerFaultError, match="chooser: sent inconsistent corrections"):
        rows_of([(8, 8)], lambda values, side: [values[0] ^ np.uint8(1), values[1]])


@pytest.mark.parametrize("place", [0, 1, 2, 63, 64, 65, 127, 128])
@pytest.mark.parametrize("bit", [0, 63, 64, 127])
def test_every_bit_of_the_check_is_compared(place, bit):
    def lie(values, side):
        check = values[1].copy()
        check[place, bit // 64] ^= np.uint64(1 << bit % 64)
        return [values[0], check]

    with pytest.raises(PeerFaultError, match="chooser: sent inconsistent corrections"):
        rows_of([(8, 8)], lie)


def test_every_batch_is_checked():
    batches = []

    def lie(values, side):
        batches.append(values)
        if len(batches) == 3:
            values = [values[0] ^ np.uint8(1), values[1]]
        return values

    with pytest.raises(PeerFaultError, match="chooser: sent inconsistent corrections"):
        rows_of([(800, 800), (800, 800), (8, 8), (8000, 8000)], lie)
    assert len(batches) >= 3


@pytest.mark.parametrize(
    "change",
    [
        lambda c, k: [c],
        lambda c, k: [c, k, k],
        lambda c, k: [c[:30], k],
        lambda c, k: [c[:, :-1], k],
        lambda c, k: [c.view(np.uint64), k],
        lambda c, k: [c, k[:128]],
        lambda c, k: [c, k.view(np.int64)],
        lambda c, k: [c, 3],
    ],
    ids=["no check", "more", "a tree less", "short", "words", "a plane less", "signed", "a number"],
)
def test_batches_of_another_form_are_refused(change):
    with pytest.raises(PeerFaultError, match=r"chooser: sent no (corrections|check values)"):
        rows_of([(8, 8)], lambda values, side: change(*values))


# What stays hidden


def batches_of(calls, seed=0):
    sent, sides = [], []

    def note(values, side):
        sent.append(values)
        sides.append(side)
        return values

    return *rows_of(calls, note, seed), sent, sides[0]


def test_no_row_that_hides_the_check_is_given_out():
    """Its values would be sums of the bits that the holder must not know."""
    _, _, [(bits, _)], sent, side = batches_of([(8 * 500, 8 * 500)])
    [[corrections, _]] = sent
    given = 8 * len(bits)
    made = 8 * corrections.shape[1]
    assert side._left + given == made - 128
    totals, _ = side._streams.sums(0, made // 128)
    assert (totals[0].view(np.uint8)[: len(bits)] == bits).all()


def test_check_values_are_hidden_by_rows_that_nobody_uses(monkeypatch):
    found = []
    honest = ChooserRows._factors

    def noted(self, corrections, rows):
        found.append(honest(self, corrections, rows))
        return found[-1]

    monkeypatch.setattr(ChooserRows, "_factors", noted)
    hidden = []
    for seed in range(3):
        *_, sent, side = batches_of([(800, 800)], seed)
        [[corrections, check]] = sent
        blocks = corrections.shape[1] // 16
        totals, planes = side._streams.sums(0, blocks)
        rows = np.concatenate([totals[:1], planes.reshape(128, -1)]).reshape(129, -1, 2)
        useful = inner_products(rows[:, : blocks - 1].copy(), found[-1][: blocks - 1])
        hidden.append(check ^ useful)
    assert_whole(numbers(np.concatenate(hidden)), 128)


def test_factors_are_drawn_from_all_corrections_of_the_session():
    """A chooser that knew them before would make corrections that the check does not see."""
    calls, drawn = (4992, 8), []

    def party(channel):
        side = ChooserRows(channel, "holder", Random("c"))
        honest = side._factors

        def noted(corrections, rows):
            start = side._transcript.copy()
            for change in (None, (0, 0), (30, 127), (15, 64)):
                other = corrections.copy()
                if change:
                    other[change] ^= 1
                side._transcript = start.copy()
                drawn.append(honest(other, rows))
            side._transcript = start
            return honest(corrections, rows)

        side._factors = noted
        for count in calls:
            side.take(count, count)

    def hold(channel):
        side = HolderRows(channel, "chooser", Random("h"))
        for count in calls:
            side.take(count, count)

    run_parties(
        {
            "chooser": party,
            "holder": hold,
        }
    )
    assert len(drawn) == 8
    assert all((one[-1] == [1, 0]).all() for one in drawn)
    assert_whole(numbers(np.concatenate([one[:-1] for one in drawn])), 128)


def test_a_session_of_factors_has_keys_of_all_bits():
    """Few keys would let a chooser prepare corrections for one of them."""
    side = ChooserRows.__new__(ChooserRows)
    first = []
    for number in range(300):
        side._transcript = small_field.hashlib.sha256(bytes([number % 256, number // 256]))
        first.append(side._factors(np.zeros((31, 128), np.uint8), 1024)[0])
    assert_whole(numbers(np.stack(first)), 128)


def test_two_sessions_of_one_pair_have_other_factors():
    seen = []

    def party(side_of):
        def run(channel):
            for _ in range(2):
                side = side_of(channel)
                seen.append(side._transcript.digest())

        return run

    run_parties(
        {
            "holder": party(lambda c: HolderRows(c, "chooser", Random("h"))),
            "chooser": party(lambda c: ChooserRows(c, "holder", Random("c"))),
        }
    )
    assert len(seen) == 4
    assert len(set(seen)) == 2


def test_the_largest_batch_has_the_stated_size():
    *_, sent, _ = batches_of([(small_field.BATCH, small_field.BATCH)])
    sizes = [values[0].nbytes + values[1].nbytes for values in sent]
    assert sizes[0] == 31 * small_field.BATCH // 8 + 2064
    assert len(sizes) == 2
