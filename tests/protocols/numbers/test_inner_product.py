"""Inner products of two parties' rows: bounds, masks, faults and costs."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.numbers.inner_product import MASK_BITS, PaillierEngine, mask_bound, sum_bound
from coterie.protocols.numbers.paillier import KeySizeError, generate
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from tests.protocols.pairs import ENGINES, KEY, run_engines
from tests.protocols.transfer.sizes import transfer_bytes
from tests.views import watch

RINGS = [Ring(2**64), Ring(2**62), Ring(2**17), Ring(2**32 - 5), Ring(2**61 - 1)]


def test_a_product_of_extreme_shares_does_not_overflow_its_slots() -> None:
    """All elements at their largest, and enough rows to fill several plaintexts."""
    ring = Ring(2**64)
    full = np.full((9, 3), 2**64 - 1, np.uint64)
    one, two = run_engines(
        "paillier",
        lambda engine, rng: engine.inner_products(ring, full, rng),
        lambda engine, rng: engine.inner_products(ring, full, rng),
    )
    assert ring.add(one, two).tolist() == [3] * 9


def test_the_mask_of_a_sum_is_64_bits_longer_than_the_sum() -> None:
    for ring in RINGS:
        largest = sum_bound(ring, 5)
        assert mask_bound(largest) >= largest << (MASK_BITS - 1)
        assert MASK_BITS >= 40
        assert mask_bound(largest) & (mask_bound(largest) - 1) == 0


def test_what_the_key_owner_decrypts_is_spread_over_the_masks_range() -> None:
    """With all inputs zero the owner's plaintexts are the masks alone: uniform below the bound."""
    ring = Ring(2**16)
    zeros = np.zeros((2000, 1), np.uint64)
    decrypted = []
    original = type(KEY).decrypt

    class Watched(type(KEY)):  # type: ignore[misc]
        def decrypt(self, ciphertexts):
            decrypted.extend(plain := original(self, ciphertexts))
            return plain

    key = Watched(KEY.phe_private, int(KEY.base))

    def second(engine, rng):
        engine.inner_products(ring, zeros, rng)
        return engine.slots(ring, 1)

    _, slots = run_engines(
        "paillier", lambda engine, rng: engine.inner_products(ring, zeros, rng), second, key=key
    )
    masks = slots.unpack(decrypted, slots.count).reshape(-1)[:2000]
    bound = mask_bound(sum_bound(ring, 1))
    assert abs(sum(int(m) for m in masks) / 2000 / bound - 0.5) < 5 * (1 / 12) ** 0.5 / 2000**0.5
    assert max(int(m) for m in masks) > bound * 0.99


def test_equal_inputs_are_never_sent_twice_alike() -> None:
    ring = Ring(2**16)
    same = np.full((4, 1), 7, np.uint64)

    def party(channel, rng):
        first = channel.me == "alice"
        key = None if first else KEY
        engine = PaillierEngine(channel, channel.peers[0], first, rng, KEY.bits, key)
        engine.inner_products(ring, same, rng)

    views = watch({"alice": party, "bob": party}, "equal")
    rows = [
        row.tobytes()
        for view in views.values()
        for _, _, values in view.received
        for value in values
        if isinstance(value, np.ndarray) and value.ndim == 2
        for row in value
    ]
    assert len(set(rows)) == len(rows) >= 5


def test_a_key_too_small_for_the_ring_is_refused_before_any_work() -> None:
    small = generate(Random("small"), 256)

    def first(engine: PaillierEngine, rng: Random) -> None:
        engine.prepare(Ring(2**100), 10, 3)

    with pytest.raises(
        KeySizeError, match=r"3 products modulo a number of 100 bits needs 280 bits"
    ):
        run_engines("paillier", first, lambda engine, rng: None, key=small)


@pytest.mark.parametrize("kind", ENGINES)
def test_rows_that_differ_between_the_parties_are_a_named_fault(kind: str) -> None:
    def work(rows: int):
        return lambda engine, rng: engine.inner_products(
            Ring(2**32), np.ones((rows, 2), np.uint64), rng
        )

    with pytest.raises(PeerFaultError, match="sent"):
        run_engines(kind, work(3), work(5))


def test_inner_products_cost_what_the_module_says() -> None:
    ring, rows, columns = Ring(2**64), 20, 2
    meters = {}

    def wrap(transport):
        meters[transport.me] = Metered(transport)
        return meters[transport.me]

    def work(engine, rng):
        engine.inner_products(ring, ring.random((rows, columns), rng), rng)
        return engine.slots(ring, columns) if isinstance(engine, PaillierEngine) else None

    slots, _ = run_engines("paillier", work, work, wrap=wrap)
    traffic = {name: meter.by_step["inner products"] for name, meter in meters.items()}
    frame = 128  # of the encoding, for a message
    assert 0 <= traffic["bob"].sent_bytes - rows * columns * KEY.width < frame
    messages = traffic["alice"].sent_messages
    answers = slots.plaintexts(rows) * KEY.width
    assert 0 <= traffic["alice"].sent_bytes - answers < frame * messages
    assert traffic["bob"].rounds == 1

    run_engines("transfer", work, work, wrap=wrap)
    sent = {
        name: sum(t.sent_bytes for step, t in meter.by_step.items() if "inner" in step)
        for name, meter in meters.items()
    }
    transfers = rows * columns * 64
    assert 0 <= sent["bob"] - transfer_bytes(transfers) < frame
    assert 0 <= sent["alice"] - 8 * transfers < frame
