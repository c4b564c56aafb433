"""The intersection equals set arithmetic, at every party in one order, and shows no more than it says."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie.protocols.intersection.intersect as module
from coterie.protocols.messaging.wire import decode
from coterie.protocols.primitives.executor import LocalPool
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.shuffle import shuffled
from tests.protocols.intersection.intersections import NAMES, check, run
from tests.protocols.intersection.sets import WAYS, drawn, numbered
from tests.protocols.wrappers import Traced

QUICK = settings(max_examples=5, deadline=None)


@st.composite
def families(draw) -> list[list[bytes]]:
    """Sets of 2 to 5 parties with a common part, parts shared by some, and parts of their own."""
    parties = draw(st.integers(2, 5))
    universe = draw(st.lists(st.binary(max_size=6), unique=True, max_size=40))
    owners = draw(
        st.lists(st.integers(0, 2**parties - 1), min_size=len(universe), max_size=len(universe))
    )
    return [
        [value for value, mask in zip(universe, owners, strict=True) if mask >> party & 1]
        for party in range(parties)
    ]


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@QUICK
@given(families())
def test_any_family_of_sets_gives_what_set_arithmetic_gives(protocol, reveal, sets):
    check(sets, protocol=protocol, reveal=reveal)


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize(
    "sets",
    [
        numbered([], []),
        numbered([], [1, 2]),
        numbered([1], [1]),
        numbered(range(50), range(50)),
        numbered(range(50), range(50, 90)),
        numbered(range(3), range(700)),
        numbered(range(400), range(300, 700), range(350, 360)),
        numbered([1, 2], [2, 3], [3, 1]),
        numbered(*[range(20)] * 5),
        [
            ["\u00e9".encode(), "e\u0301".encode(), "stra\u00dfe".encode(), "日本".encode()],
            [b"strasse", "日本".encode(), "e\u0301".encode()],
        ],
        [[b"", b"\0", b"\0\0", b"a\0"], [b"\0\0", b"a", b""]],
    ],
    ids=[
        "both empty",
        "one empty",
        "single",
        "full overlap",
        "no overlap",
        "skewed",
        "three",
        "pairs only",
        "five alike",
        "unicode",
        "zeros",
    ],
)
def test_named_cases(protocol, reveal, sets):
    check(sets, protocol=protocol, reveal=reveal)


@pytest.mark.parametrize("parties", range(2, 11))
def test_the_ring_takes_two_to_ten_parties(parties):
    assert check(drawn(parties, 60, parties), protocol="ring", reveal="pairwise")


@pytest.mark.parametrize("parties", [6, 10])
def test_hints_take_many_parties(parties):
    assert check(drawn(parties, 60, parties), protocol="ring")


def test_the_order_is_that_of_neither_party_and_changes_with_the_keys():
    sets = numbered(range(300), range(300))
    for protocol in ("ring", "oprf"):
        one = check(sets, protocol=protocol)
        other = check(sets, protocol=protocol, seed="t")
        assert one != sorted(one)
        assert one != other


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_how_messages_are_cut_changes_nothing(protocol, reveal, parties):
    sets = drawn(parties, 150, 7)
    results, contents = [], []
    for piece in (1, 64, 2048):
        traced = {}
        found = run(
            sets,
            protocol=protocol,
            reveal=reveal,
            piece=piece,
            wrap=lambda t, traced=traced: traced.setdefault(t.me, Traced(t, capture=True)),
        )
        results.append([rows.tolist() for rows in found])
        contents.append(joined(traced))
    assert all(one == other for one, other in pairwise(results))
    assert all(one == other for one, other in pairwise(contents))


def joined(traced: dict[str, Traced]) -> dict:
    """What was sent in each step to each peer, arrays put together again."""
    out: dict = {}
    for name, trace in traced.items():
        for item in trace.captured:
            if item.direction == "sent":
                data = b"".join(
                    value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
                    for value in decode(bytearray(item.body))
                )
                key = (name, item.peer, item.step)
                out[key] = out.get(key, b"") + data
    return out


def test_parties_may_cut_differently():
    sets = drawn(3, 100, 3)
    own = {NAMES[0]: {"piece": 3}, NAMES[1]: {"piece": 50}, NAMES[2]: {"piece": 1000}}
    for protocol, reveal in WAYS:
        check(sets, protocol=protocol, reveal=reveal, own=own)


def test_auto_takes_the_transfers_and_the_ring_where_a_job_asks_for_it():
    assert module.choose("auto", "intersection", 2) == "oprf"
    assert module.choose("ring", "intersection", 2) == "ring"
    assert module.choose("auto", "intersection", 3) == "hints by transfer"
    assert module.choose("ring", "intersection", 3) == "hints by group"
    assert module.choose("auto", "pairwise", 3) == "ring"


def test_a_seeded_run_repeats_to_the_byte():
    for protocol, reveal in WAYS:
        chains = []
        for _ in range(2):
            traced = {}
            run(
                drawn(3, 40, 1),
                protocol=protocol,
                reveal=reveal,
                executor=LocalPool(1),
                wrap=lambda t, traced=traced: traced.setdefault(t.me, Traced(t)),
            )
            chains.append({name: trace.chain for name, trace in traced.items()})
        assert chains[0] == chains[1]


def test_a_shuffle_is_a_permutation_and_uniform():
    assert sorted(shuffled(1000, Random(1)).tolist()) == list(range(1000))
    counts = np.zeros((4, 4), int)
    for seed in range(2000):
        counts[np.arange(4), shuffled(4, Random(seed))] += 1
    assert (abs(counts - 500) < 110).all()  # five standard deviations


def test_progress_counts_the_elements():
    seen: dict[str, list] = {}
    run(
        drawn(2, 100, 1),
        protocol="ring",
        piece=10,
        on_progress=lambda name: (
            lambda step, done, total: seen.setdefault(name, []).append((done, total))
        ),
    )
    for steps in seen.values():
        done = [d for d, t in steps if t]
        assert done == sorted(done)
        assert steps.count((200, 200)) == 1
