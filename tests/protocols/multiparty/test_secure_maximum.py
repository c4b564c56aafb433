"""Secure maximum: right winners, first in order on ties, and a view that shows winners only."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError, PeerFaultError, PeerLostError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.multiparty.secure_maximum import SecureMaximum, argmax, tournament
from coterie.protocols.primitives.randomness import Random
from tests.protocols.wrappers import Fault, Faulty, KilledError
from tests.views import assert_alike, watch


def run(scores, work, seed=0, bits=32, names=None, **options):
    """`work(session, own scores)` at every party."""
    names = names or [f"p{i}" for i in range(len(scores))]

    def party(name, own):
        def body(channel):
            session = SecureMaximum(channel, names, Random(f"{seed} {name}"), bits)
            return work(session, np.asarray(own, np.uint64))

        return body

    return run_parties(
        {name: party(name, own) for name, own in zip(names, scores, strict=True)}, **options
    )


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_the_winner_is_the_first_party_with_the_largest_score(data):
    parties = data.draw(st.integers(2, 4))
    bits = data.draw(st.sampled_from([1, 2, 3, 7, 32, 33, 60]))
    score = st.one_of(st.integers(0, (1 << bits) - 1), st.sampled_from([0, (1 << bits) - 1]))
    row = st.lists(score, min_size=6, max_size=6)
    scores = np.array([data.draw(row) for _ in range(parties)], np.uint64)
    results = run(scores, lambda session, own: session.argmax(own, True), bits=bits)
    for result in results.values():
        assert result.indices.tolist() == scores.argmax(axis=0).tolist()
        assert result.maxima.tolist() == scores.max(axis=0).tolist()


@pytest.mark.parametrize("parties", [5, 6, 7])
def test_larger_tournaments_agree_with_numpy(parties):
    scores = np.random.default_rng(parties).integers(0, 8, (parties, 200), dtype=np.uint64)
    results = run(scores, lambda session, own: session.argmax(own))
    for result in results.values():
        assert (result.indices == scores.argmax(axis=0)).all()
        assert result.maxima is None


def test_one_call_does_it_alone():
    scores = {"x": [3, 9], "y": [4, 9]}
    results = run_parties(
        {
            name: lambda channel, own=own, name=name: argmax(
                channel, ["x", "y"], np.array(own, np.uint64), Random(name), bits=8
            )
            for name, own in scores.items()
        }
    )
    assert [r.indices.tolist() for r in results.values()] == [[1, 0], [1, 0]]


@pytest.mark.parametrize("count", [2, 3, 5, 10, 17])
def test_a_tournament_has_every_party_lose_once_but_one(count):
    matches = tournament(tuple(map(str, range(count))))
    assert len(matches) == count - 1
    assert matches[-1].group == tuple(map(str, range(count)))
    depth = max(sum(str(p) in m.group for m in matches) for p in range(count))
    assert depth == (count - 1).bit_length()


def test_a_thousand_maxima_take_as_many_rounds_as_one():
    rounds = {}
    for count in (1, 1000):
        meters = {}
        scores = np.zeros((3, count), np.uint64)
        run(
            scores,
            lambda session, own: session.argmax(own),
            wrap=lambda t, kept=meters: kept.setdefault(t.me, Metered(t)),
        )
        rounds[count] = meters["p1"].by_step["maximum"].rounds
    assert rounds == {1: 15, 1000: 15}


@pytest.mark.parametrize("parties", [2, 3, 5])
def test_traffic_is_what_the_module_says(parties):
    count, bits = 1000, 32
    meters = {}
    run(
        np.zeros((parties, count), np.uint64),
        lambda session, own: session.argmax(own),
        wrap=lambda t: meters.setdefault(t.me, Metered(t)),
    )
    matches = tournament(tuple(f"p{i}" for i in range(parties)))
    transfers = sum(
        bits * len(m.left) * len(m.right) + bits * len(m.group) * (len(m.group) - 1)
        for m in matches
    )
    ahead = sum(m.by_step["maximum ahead/transfers"].sent_bytes for m in meters.values())
    assert ahead == pytest.approx(4 * count * transfers, rel=0.06)
    for name, meter in meters.items():
        played = sum(5 * bits * (len(m.group) - 1) for m in matches if name in m.group)
        assert meter.by_step["maximum"].sent_bytes == pytest.approx(count * played / 8, rel=0.2)


def test_the_reserve_lasts_for_many_calls_and_is_filled_again():
    meters = {}

    def work(session, own):
        return [int(session.argmax(own).indices[0]) for _ in range(130)]

    results = run([[5], [9], [2]], work, wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    assert results["p0"] == [1] * 130
    assert meters["p0"].by_step["maximum ahead/corrections"].received_messages == 2 * 3
    assert meters["p0"].by_step["maximum setup/base transfers"].received_messages == 2 * 3


# What a coalition sees. One batch of `COUNT` maxima with the same scores is COUNT independent
# draws of the view; several seeds of the session make sure that none is special.
COUNT, BITS = 1500, 5


def opened(values, count):
    """All bits in a message of the protocol, as (positions, maxima)."""
    planes = []
    for value in values:
        if value.ndim == 2:  # words of the last product: whole bytes
            planes.append(np.unpackbits(value, axis=1, bitorder="little").T)
        else:
            usable = value.size * 8 // count * count
            planes.append(np.unpackbits(value, bitorder="little")[:usable].reshape(-1, count))
    return np.concatenate(planes)


def parties(scores, count=COUNT):
    """Everybody finds so many maxima of the same scores, for a view test."""
    names = [f"p{i}" for i in range(len(scores))]

    def party(score):
        own = np.array([score] * count, np.uint64)
        return lambda channel, rng: SecureMaximum(channel, names, rng, BITS).argmax(own)

    return {name: party(score) for name, score in zip(names, scores, strict=True)}


@cache
def view(scores, honest, seed):
    """Bits that the two others receive from the honest one, but for the last, which opens."""
    views = watch(parties(scores), str(seed))
    bits = []
    for name in (f"p{i}" for i in range(3) if i != honest):
        messages = [
            values
            for peer, step, values in views[name].received
            if peer == f"p{honest}" and step == "maximum"
        ]
        bits += [opened(values, COUNT) for values in messages[:-1]]
    rows = np.concatenate(bits)
    return rows[rows.any(axis=1)]  # the unused high bits of whole bytes are zero always


# (scores, whose): the honest party loses with very different scores; the outcome is the same
SCENES = [((9, 31, 0), 2), ((9, 31, 30), 2), ((0, 31, 4), 0), ((30, 31, 4), 0)]


@pytest.mark.parametrize(("scores", "honest"), SCENES)
def test_every_opened_bit_is_uniform(scores, honest):
    for seed in range(3):
        rows = view(scores, honest, seed)
        deviation = (rows.mean(axis=1) - 0.5) * 2 * np.sqrt(COUNT)
        assert np.abs(deviation).max() < 4.5  # some 100 positions: one run in 1,500
        # all together: a chi-square with as many degrees of freedom as positions
        assert (deviation**2).sum() < len(rows) + 5 * np.sqrt(2 * len(rows))


@pytest.mark.parametrize(("scores", "honest"), SCENES)
def test_no_two_opened_bits_hang_together(scores, honest):
    """A mask used twice, or a share in the open, would show as a correlation of 1."""
    rows = np.unique(view(scores, honest, 0), axis=0)  # both accomplices are sent the same
    correlation = np.corrcoef(rows) * np.sqrt(COUNT)
    np.fill_diagonal(correlation, 0)
    assert np.abs(correlation).max() < 5.5  # several thousand pairs


@pytest.mark.parametrize("pair", [SCENES[:2], SCENES[2:]])
def test_the_two_others_together_do_not_learn_what_the_loser_had(pair):
    honest = pair[0][1]
    others = [f"p{i}" for i in range(3) if i != honest]
    assert_alike(lambda world: parties(pair[world][0]), others)


def test_the_winner_is_all_that_is_opened():
    """With the accomplices' final shares known, the honest final share says the index only."""
    views = watch(parties([3, 1, 2], 1), "winner")
    assert views["p0"].result.indices.tolist() == [0]
    last = [values[0] for _, step, values in views["p1"].received if step == "maximum"][-2:]
    assert [value.size for value in last] == [1, 1]  # two bits of index, packed, from each


def test_a_score_with_too_many_bits_names_party_and_round():
    def work(session, own):
        with session._gmw.channel.step("round 7"):
            return session.argmax(own)

    with pytest.raises(
        DataError, match=r"row 2: p1: secure maximum in round 7: a score is '300', .* 8 bits"
    ):
        run([[1, 2], [3, 300]], work, bits=8)


def test_a_party_with_fewer_scores_is_named_at_its_step():
    with pytest.raises(PeerFaultError, match=r"p.: sent shares of another length .*'maximum'"):
        run([[1, 2], [3], [3, 4]], lambda session, own: session.argmax(own))


def test_a_party_that_stops_in_the_middle_of_a_round_is_named():
    def work(session, own):
        with session._gmw.channel.step("round 3"):
            if session._gmw.channel.me == "p2":
                raise KilledError
            return session.argmax(own)

    with pytest.raises((PeerLostError, KilledError)):
        run([[1], [2], [3]], work)


@pytest.mark.parametrize("at", [30, 36, 40, 44])
def test_a_party_killed_at_any_message_ends_everybody(at):
    def wrap(transport):
        return Faulty(transport, Fault("kill-before", at)) if transport.me == "p1" else transport

    with pytest.raises((PeerLostError, KilledError)):
        run([[1], [2], [3]], lambda session, own: session.argmax(own), wrap=wrap)


@pytest.mark.parametrize("bits", [0, 63, -1])
def test_an_impossible_number_of_bits_is_refused(bits):
    with pytest.raises(ValueError, match="bits"):
        run([[1], [2], [3]], lambda session, own: session.argmax(own), bits=bits)
