"""Silent transfers: the relation, what serves for what, what a cheating peer reaches, and bytes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.multiparty.gmw import Gmw, Product
from coterie.protocols.primitives import field128, half_trees, leaf_sums, local_code
from coterie.protocols.primitives.local_code import LocalCode, Size
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer import silent
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from coterie.protocols.transfer.silent import ChooserTransfers, HolderTransfers
from tests.protocols.transfer.sizes import transfer_bytes
from tests.strength import assert_whole, numbers

SMALL, NEXT = Size(3, 320), Size(4, 160)  # rounds that give out 256 transfers each


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Every session is silent from its first transfer on, in small rounds."""
    monkeypatch.setattr(silent, "FEWEST", 1)
    monkeypatch.setattr(silent, "FIRST", SMALL)
    monkeypatch.setattr(silent, "LATER", NEXT)


def rows_of(calls, seed=0, holder_lie=None, chooser_lie=None, silent_at=(True, True)):
    """Both sides after these calls (count, wanted): what `take` gave each, delta, and messages."""
    sent = {"holder": [], "chooser": []}

    def noted(channel, lie):
        """`lie` changes the messages after those of the checked transfers' start."""
        honest = channel.send

        def send(peer, *values):
            number = len(sent[channel.me])
            if lie and len(values) == 1:
                values = (lie(number, values[0]),)
            sent[channel.me].append(values)
            honest(peer, *values)

        channel.send = send

    def holder(channel):
        channel.silent = silent_at[0]
        side = HolderTransfers(channel, "chooser", Random(f"h{seed}"))
        noted(channel, holder_lie)
        return side.delta, [side.take(*call) for call in calls]

    def chooser(channel):
        channel.silent = silent_at[1]
        side = ChooserTransfers(channel, "holder", Random(f"c{seed}"))
        noted(channel, chooser_lie)
        return [side.take(*call) for call in calls]

    found = run_parties({"holder": holder, "chooser": chooser})
    return *found["holder"], found["chooser"], sent


def assert_related(delta, q, chosen):
    for mine, (bits, t) in zip(q, chosen, strict=True):
        r = np.unpackbits(bits, bitorder="little").astype(np.uint64)
        assert (t == mine ^ (r[:, None] * delta)).all()


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 60)), max_size=5),
    st.integers(0, 2**20),
)
def test_rows_of_any_calls_are_related(sizes, seed):
    calls = [(8 * count, 8 * (count + more)) for count, more in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(silent, "FEWEST", 400)  # some calls before it
        delta, q, chosen, _ = rows_of(calls, seed)
    assert_related(delta, q, chosen)
    assert [len(rows) for rows in q] == [count for count, _ in calls]


def test_rounds_of_the_real_sizes_give_different_rows_and_even_bits(monkeypatch):
    monkeypatch.undo()
    delta, q, chosen, sent = rows_of([(200_000, 400_000), (200_000, 200_000), (600_000, 600_000)])
    assert_related(delta, q, chosen)
    assert len(np.unique(np.concatenate(q), axis=0)) == 1_000_000
    ones = np.unpackbits(np.concatenate([bits for bits, _ in chosen])).mean()
    assert abs(ones - 0.5) < 6 * 0.5 / 1_000_000**0.5
    shapes = [values[0].shape for values in sent["holder"][::2]]
    assert shapes == [(560, 9, 2), (850, 10, 2), (850, 10, 2)]


def test_few_transfers_are_checked_ones_and_many_are_silent(monkeypatch):
    monkeypatch.setattr(silent, "FEWEST", 2000)
    assert rows_of([(800, 800), (1192, 1192)])[3]["holder"] == []
    assert len(rows_of([(800, 800), (1200, 1200)])[3]["holder"]) > 1
    assert len(rows_of([(800, 2000)])[3]["holder"]) > 1


@pytest.mark.parametrize("count", [256, 257 * 8])
def test_a_round_sends_what_the_specification_says(count):
    """Without framing: the checked transfers, the trees, the check, and the seed once."""
    _, _, _, sent = rows_of([(count, count)])
    rounds = -(-count // 256)
    trees = 16 * (SMALL.points + (rounds - 1) * NEXT.points)
    data = {
        name: sum(getattr(v, "nbytes", None) or len(v) for values in found for v in values)
        for name, found in sent.items()
    }
    assert data["holder"] == trees + 32 * rounds
    # `transfer_bytes` counts a bit for each choice, which is sent above this.
    assert data["chooser"] == transfer_bytes(1856) - 1856 // 8 + 16 * rounds + 16


def test_portable_code_makes_the_same_rows(monkeypatch):
    found = rows_of([(1000, 1000)])
    for module in (leaf_sums, field128, half_trees):
        monkeypatch.setattr(module, "accelerated", lambda: False)
    monkeypatch.setattr(local_code, "portable", lambda: True)
    again = rows_of([(1000, 1000)])
    assert (found[1][0] == again[1][0]).all()
    assert (found[2][0][1] == again[2][0][1]).all()


@pytest.mark.parametrize("chunks", [64, 100, 5000])
def test_rows_do_not_depend_on_how_many_are_coded_together(monkeypatch, chunks):
    found = rows_of([(1000, 1000)])
    monkeypatch.setattr(silent, "_CODED", chunks)
    again = rows_of([(8, 8), (992, 992)])
    assert (found[1][0] == np.concatenate(again[1])).all()


def test_what_is_reserved_is_taken_without_a_message():
    def holder(channel):
        side = HolderTransfers(channel, "chooser", Random("h"))
        side.reserve(1600)
        return side.delta, side.take(1600, 1600)  # while the chooser does something else

    def chooser(channel):
        side = ChooserTransfers(channel, "holder", Random("c"))
        side.reserve(1600)
        channel.recv = channel.send = None
        return side.take(1600, 1600)

    found = run_parties({"holder": holder, "chooser": chooser})
    delta, q = found["holder"]
    assert_related(delta, [q], [found["chooser"]])


def test_products_of_three_parties_that_all_choose_first_do_not_wait_for_each_other():
    names = ("a", "b", "c")

    def party(channel):
        gmw = Gmw(channel, names, Random(channel.me))
        product = Product(names, names)
        own = np.array([1, 0, 1, 1] * 300, np.uint8)
        found = []
        for _ in range(2):
            gmw.prepare([(product, len(own))])
            mine = own if channel.me != "c" else 0 * own
            found.append(gmw.reveal(gmw.multiply(product, mine, mine), 1, names))
        return np.concatenate(found)

    # The value is the XOR of a's and b's shares, which are equal, so that all products are 0.
    for shown in run_parties(dict.fromkeys(names, party)).values():
        assert not shown.any()


# What serves for what


def roles_of(monkeypatch, calls):
    """All rows of the chooser by what they served for, in the order of their use."""
    used = {"secret": [], "trees": [], "mask": [], "given": []}
    leaves = ChooserTransfers._leaves

    def noted(self, size, opening, hiding):
        used["trees"].append(opening.copy())
        used["mask"].append(hiding.copy())
        return leaves(self, size, opening, hiding)

    outputs = silent._Outputs.__init__

    def made(self, code, secret, blocks):
        outputs(self, code, secret, blocks)
        if (secret[:, 0] & np.uint64(1)).any():  # the lowest bits of the holder's are zeros
            used["secret"].append(secret.copy())

    monkeypatch.setattr(ChooserTransfers, "_leaves", noted)
    monkeypatch.setattr(silent._Outputs, "__init__", made)
    _, _, chosen, _ = rows_of(calls)
    used["given"] = [rows for _, rows in chosen]
    return {name: np.concatenate(rows) for name, rows in used.items()}


def test_no_transfer_serves_twice(monkeypatch):
    """As a part of a secret, to open a tree, to hide a check, or given out: one of these, once."""
    used = roles_of(monkeypatch, [(1000, 1000), (600, 600)])
    assert {name: len(rows) for name, rows in used.items()} == {
        "secret": SMALL.secret + 6 * NEXT.secret,
        "trees": SMALL.points + 6 * NEXT.points,
        "mask": 7 * 128,
        "given": 1600,
    }
    together = [set(numbers(rows)) for rows in used.values()]
    assert len(set.union(*together)) == sum(map(len, used.values()))


def test_no_row_of_the_code_serves_twice(monkeypatch):
    """Two rounds with the same rows would be one problem with half of the unknowns."""
    used = []
    honest = LocalCode.add

    def add(self, secrets, outputs, first=None):
        used.append((id(self), first, len(outputs[0])))
        honest(self, secrets, outputs, first)

    monkeypatch.setattr(LocalCode, "add", add)
    rows_of([(1600, 1600)])
    for code in {code for code, _, _ in used}:
        rows = [row for c, first, size in used if c == code for row in range(first, first + size)]
        assert len(set(rows)) == len(rows)


# What a cheating peer reaches


def flipped(message, change):
    """The lie that changes the message of this number."""
    return lambda number, value: change(value) if number == message else value


def wrong_block(blocks):
    blocks = blocks.copy()
    blocks[5, 2, 1] ^= np.uint64(8)
    return blocks


@pytest.mark.parametrize("number", [0, 2, 4])
@pytest.mark.parametrize("liar", ["blocks", "digest"])
def test_a_holder_that_lies_in_any_round_is_named_and_gets_nothing(number, liar):
    """Messages of a holder are, in each round, blocks and a digest."""
    lie = (
        flipped(number, wrong_block)
        if liar == "blocks"
        else flipped(number + 1, lambda digest: digest[:31] + bytes([digest[31] ^ 1]))
    )
    sent = []

    def run(channel):
        side = ChooserTransfers(channel, "holder", Random("c"))
        honest = channel.send
        channel.send = lambda peer, *values: (sent.append(values), honest(peer, *values))
        side.take(8, 8)
        side.take(700, 700)

    def holder(channel):
        side = HolderTransfers(channel, "chooser", Random("h"))
        honest, count = channel.send, iter(range(100))
        channel.send = lambda peer, *values: honest(
            peer, *(lie(next(count), value) for value in values)
        )
        side.take(8, 8)
        side.take(700, 700)

    with pytest.raises(PeerFaultError, match="holder: sent inconsistent trees for silent"):
        run_parties({"holder": holder, "chooser": run})
    # Corrections, the seed and a check value in the first round, a check value in each other one.
    assert len(sent) == 3 + number // 2


SHAPES = {
    "fewer trees": lambda value: value[:-1],
    "another type": lambda value: value.tobytes(),
    "a number": lambda value: 7,
}


@pytest.mark.parametrize("change", SHAPES)
@pytest.mark.parametrize("number", [0, 2])
def test_blocks_of_another_form_name_the_holder(number, change):
    with pytest.raises(PeerFaultError, match="holder: sent no sums of the trees of silent"):
        rows_of([(300, 300)], holder_lie=flipped(number, SHAPES[change]))


@pytest.mark.parametrize("change", [lambda d: d[:31], lambda d: 3, lambda d: np.zeros(32)])
def test_digests_of_another_form_name_the_holder(change):
    with pytest.raises(PeerFaultError, match="holder: sent no digest of the check of silent"):
        rows_of([(300, 300)], holder_lie=flipped(1, change))


@pytest.mark.parametrize("change", [lambda s: s[:15], lambda s: s + b"0", lambda s: 5])
def test_seeds_of_another_form_name_the_chooser(change):
    with pytest.raises(PeerFaultError, match="chooser: sent no seed of silent transfers"):
        rows_of([(300, 300)], chooser_lie=flipped(1, change))


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("change", [lambda x: x[:1], lambda x: x.view(np.uint8), lambda x: b"x"])
def test_check_values_of_another_form_name_the_chooser(number, change):
    with pytest.raises(PeerFaultError, match="chooser: sent no check value of silent"):
        rows_of([(300, 300)], chooser_lie=flipped(number, change))


def test_where_silent_transfers_are_forbidden_there_are_none():
    delta, q, chosen, sent = rows_of([(1000, 1000)], silent_at=(False, False))
    assert_related(delta, q, chosen)
    assert sent["holder"] == []


# What stays hidden


def test_the_code_depends_on_the_session_on_the_blocks_and_on_the_seed():
    """Each alone; a holder could otherwise look for blocks with a weak code before it sends them."""

    def codes(channel):
        side = silent._Rounds(channel, "b", silent.PointFinder(channel, "b"))
        found = []
        for seed in (bytes(16), b"1" + bytes(15), bytes(15) + b"1"):
            side._agree(seed)
            found.append(side._seed)
        for word in (0, 3):
            side._points._opened(np.full((1, 2, 2), word, np.uint64))
            side._agree(bytes(16))
            found.append(side._seed)
        return found

    found = []
    for session in ("one", "two"):
        roles = {"a": codes, "b": lambda channel: None}
        found += run_parties(roles, session=session)["a"]
    assert len(set(found)) == 10


def test_the_seed_is_drawn_after_the_first_blocks_and_has_all_its_bits():
    """A holder that knew it before could look for blocks for which the code is weak."""
    seeds = []
    for seed in range(180):
        order = []

        def holder(channel, order=order, seed=seed):
            side = HolderTransfers(channel, "chooser", Random("h"))
            honest = channel.send
            channel.send = lambda peer, value: (order.append("holder"), honest(peer, value))
            side.take(8, 8)

        def chooser(channel, order=order, seed=seed):
            side = ChooserTransfers(channel, "holder", Random(f"c{seed}"))
            honest = channel.send

            def send(peer, *values):
                order.append(values[0])
                honest(peer, *values)

            channel.send = send
            side.take(8, 8)

        run_parties({"holder": holder, "chooser": chooser})
        at = next(i for i, one in enumerate(order) if isinstance(one, bytes))
        assert any(isinstance(one, str) for one in order[:at])
        seeds.append(order[at])
    assert_whole(numbers(np.frombuffer(b"".join(seeds), np.uint8).reshape(-1, 16)), 128)


def test_the_bits_do_not_depend_on_what_the_holder_sends():
    """A false block shows in no choice that a chooser sends under them, but for the check's outcome."""
    bits = []
    for lie in (None, flipped(0, wrong_block)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                silent.PointFinder, "settle", lambda self, due: self._channel.recv("holder")
            )
            patch.setattr(silent.ChooserTransfers, "_agree", lambda s, _: setattr(s, "_seed", b""))
            patch.setattr(silent.HolderTransfers, "_agree", lambda s, _: setattr(s, "_seed", b""))
            _, _, chosen, _ = rows_of([(200, 200)], holder_lie=lie)
        bits.append(chosen[0][0].tobytes())
    assert bits[0] == bits[1]


def test_all_kinds_of_transfers_give_the_same_products_silently():
    choices = np.array([0, 1, 1, 0, 1] * 200, np.uint8)
    first, second = np.zeros((1000, 20), np.uint8), np.full((1000, 20), 9, np.uint8)
    meters = {}

    def wrap(transport):
        meters[transport.me] = Metered(transport)
        return meters[transport.me]

    def alice(channel):
        session = Sender(channel, "bob", Random("a"))
        session.send(first, second)
        return session.correlated(1000), session.delta, session.random(1000)

    def bob(channel):
        session = Receiver(channel, "alice", Random("b"))
        found = session.receive(choices, 20)
        return found, session.correlated(choices), session.random(choices)

    both = run_parties({"alice": alice, "bob": bob}, wrap=wrap)
    (q, delta, pads), (got, t, pad) = both["alice"], both["bob"]
    chosen = choices[:, None].astype(bool)
    assert (got == np.where(chosen, second, first)).all()
    assert (t == q ^ choices[:, None].astype(np.uint64) * delta).all()
    assert (pad == np.where(chosen, pads[1], pads[0])).all()
