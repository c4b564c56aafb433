"""What the messages of an intersection show, and what they cost."""

import numpy as np
import pytest

from coterie.protocols.intersection.binned_store import shape_for
from coterie.protocols.intersection.identifiers import Identifiers
from coterie.protocols.messaging.wire import encode
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives import cipher
from coterie.protocols.transfer.vole import plan
from tests.protocols.intersection.intersections import NAMES, check, run
from tests.protocols.intersection.sets import WAYS, drawn, numbered, shapes, watched


def sent(messages, *without: str) -> dict[str, list]:
    """The values each party sent, but for some steps."""
    return {
        name: [v for _, step, values in own if step.split("/")[-1] not in without for v in values]
        for name, own in messages.items()
    }


def words(values: list, size: int) -> set[bytes]:
    """Every `size` bytes that stand at a multiple of 8 in an array that was sent."""
    found = set()
    for value in values:
        if isinstance(value, np.ndarray):
            data = value.tobytes()
            found |= {data[at : at + size] for at in range(0, len(data) - size + 1, 8)}
    return found


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_no_identifier_digest_or_hashed_point_is_on_the_wire(
    protocol, reveal, parties, monkeypatch
):
    salts = []
    digests = Identifiers.digests
    monkeypatch.setattr(
        Identifiers,
        "digests",
        lambda self, salt, *rest: salts.append(salt) or digests(self, salt, *rest),
    )
    sets = [
        [b"patient %d" % i for i in range(start, start + 40)] for start in (0, 30, 35)[:parties]
    ]
    messages = sent(watched(sets, protocol=protocol, reveal=reveal), "confirm")
    everything = b"".join(b"".join(encode(own)) for own in messages.values())
    assert len(set(salts)) == 1
    for values in sets:
        hashed = digests(Identifiers.pack(values), salts[0])
        for identifier, digest, point in zip(
            values, hashed, cipher.hash_to_curve(hashed), strict=True
        ):
            assert identifier not in everything
            assert digest.tobytes() not in everything
            assert point.tobytes()[:16] not in everything


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_two_runs_on_the_same_sets_have_no_word_in_common(protocol, reveal, parties):
    sets = drawn(parties, 40, 2)
    seen = [
        set().union(
            *(
                words(own, 16)
                for own in sent(watched(sets, seed=seed, protocol=protocol, reveal=reveal)).values()
            )
        )
        for seed in ("one", "two")
    ]
    assert len(seen[0]) > 100
    assert not seen[0] & seen[1]


@pytest.mark.parametrize("protocol", ["ring", "oprf"])
def test_of_three_parties_no_two_send_the_same_word_though_two_of_them_hold_the_same_set(protocol):
    sets = numbered(range(40), range(40), range(100, 140))
    own = sent(watched(sets, protocol=protocol), "confirm")
    for first, second in ((0, 1), (0, 2), (1, 2)):
        shared = words(own[NAMES[first]], 8) & words(own[NAMES[second]], 8)
        # The leader tells every peer the same blinded elements, and hints hold nothing of these.
        assert not shared


def test_the_plain_ring_does_show_pairwise_overlaps():
    """The leak that `reveal: pairwise` accepts: a test that the test above can fail."""
    sets = numbered(range(40), range(40), range(100, 140))
    own = sent(watched(sets, protocol="ring", reveal="pairwise"), "ring")
    assert len(words(own[NAMES[0]], 16) & words(own[NAMES[1]], 16)) >= 40


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_the_sizes_of_messages_depend_on_the_sizes_of_sets_alone(protocol, reveal, parties):
    alike = numbered(range(60), range(60), range(60))[:parties]
    apart = numbered(range(60), range(100, 160), range(200, 260))[:parties]
    one, other = (
        shapes(watched(s, protocol=protocol, reveal=reveal), "confirm") for s in (alike, apart)
    )
    assert sorted(one) == sorted(other)


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
def test_padding_hides_the_sizes(protocol, reveal):
    few = numbered(range(3), range(2, 5), [2])
    many = numbered(range(60), range(59, 120), [59])
    one, other = (
        shapes(watched(s, protocol=protocol, reveal=reveal, pad_to=64)) for s in (few, many)
    )
    assert sorted(one) == sorted(other)
    assert check(few, protocol=protocol, reveal=reveal, pad_to=64) == [b"2"]


@pytest.mark.parametrize(
    ("parties", "protocol", "reveal"), [(2, "ring", "intersection"), (3, "ring", "pairwise")]
)
def test_the_ring_sends_what_its_docstring_says(parties, protocol, reveal):
    meters: dict[str, Metered] = {}
    sets = numbered(*[range(2000)] * parties)
    run(sets, protocol=protocol, reveal=reveal, wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    each = 32 * (parties - 1) + 16 + (16 * (parties - 1) if parties > 2 else 0)
    for meter in meters.values():
        assert each * 2000 < meter.total.sent_bytes < each * 2000 * 1.02


def test_the_transfers_send_what_their_docstrings_say():
    meters: dict[str, Metered] = {}
    run(
        numbered(range(4000), range(5000)),
        protocol="oprf",
        wrap=lambda t: meters.setdefault(t.me, Metered(t)),
    )
    receiver, sender = (
        {step.split("/")[-1]: traffic.sent_bytes for step, traffic in meters[name].by_step.items()}
        for name in NAMES[:2]
    )
    assert 16 * 1.28 * 4000 < receiver["function"] < 16 * 1.34 * 4000
    assert receiver["transfers"] + sender["transfers"] < 2.0e6
    assert sender["function"] < 300
    assert 16 * 5000 < sender["compare"] < 16 * 5000 * 1.01
    assert 5000 / 8 + 32 < receiver["confirm"] < 5000 / 8 + 132


def test_two_sets_of_a_million_take_less_than_40_megabytes():
    """From the shapes alone: 16 bytes a word and a value, a bit a value, and the products."""
    words = shape_for(10**6).words
    first, rounds = plan(words)
    transfers = 128 * first + sum(size.points for size in rounds)
    trees = sum(16 * (size.depth + 1) * size.trees for size in rounds)
    assert 16 * words + 16 * 10**6 + 10**6 / 8 + 4.05 * transfers + trees + 20_000 < 38.7e6
