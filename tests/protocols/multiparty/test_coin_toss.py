"""A joint seed is everybody's and nobody's."""

import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties, run_same
from coterie.protocols.multiparty import coin_toss
from coterie.protocols.multiparty.coin_toss import toss
from coterie.protocols.primitives.randomness import Random
from tests.views import assert_alike, watch

NAMES = ("a", "b", "c")


def tossed(seeds):
    return run_parties(
        {n: lambda channel, seed=seeds[n]: toss(channel, NAMES, Random(seed)) for n in NAMES}
    )


def test_all_parties_get_the_same_seed():
    found = run_same(NAMES, lambda channel: toss(channel, NAMES, Random(channel.me)))
    assert len(set(found.values())) == 1
    assert len(found["a"]) == 32


@pytest.mark.parametrize("name", NAMES)
def test_every_party_adds_to_the_seed(name):
    seeds = dict.fromkeys(NAMES, "same")
    assert tossed(seeds)["a"] != tossed(seeds | {name: "other"})["a"]


def test_nobody_sees_a_string_before_it_has_committed_to_its_own():
    views = watch({n: lambda channel, rng: toss(channel, NAMES, rng) for n in NAMES}, "1")
    for peer in ("b", "c"):
        [committed], [shown] = views["a"].values(peer, "commit"), views["a"].values(peer, "show")
        assert len(committed) == 32
        assert committed not in shown
        assert shown[:32] not in committed


def test_who_shows_another_string_is_named():
    def cheat(channel):
        with channel.step("commit"):
            channel.broadcast(coin_toss._commitment("b", bytes(32)))
            for peer in channel.peers:
                channel.recv(peer)
        with channel.step("show"):
            channel.broadcast(b"x" * 64)

    honest = lambda channel: toss(channel, NAMES, Random(channel.me))  # noqa: E731
    with pytest.raises(PeerFaultError, match="had committed to"):
        run_parties({"a": honest, "b": cheat, "c": honest})


def test_who_commits_to_different_strings_is_found_out():
    def cheat(channel):
        with channel.step("commit"):
            for at, peer in enumerate(channel.peers):
                channel.send(peer, coin_toss._commitment("b", bytes([at]) * 32))
            heard = {peer: channel.recv(peer) for peer in channel.peers}
        with channel.step("show"):
            for at, peer in enumerate(channel.peers):
                secret = bytes([at]) * 32
                order = {**heard, "b": coin_toss._commitment("b", secret)}
                digest = coin_toss.hashlib.sha256(b"".join(order[n] for n in NAMES)).digest()
                channel.send(peer, secret + digest)

    honest = lambda channel: toss(channel, NAMES, Random(channel.me))  # noqa: E731
    with pytest.raises(PeerFaultError, match="heard other commitments"):
        run_parties({"a": honest, "b": cheat, "c": honest})


@pytest.mark.parametrize("watched", NAMES)
def test_what_is_shown_looks_random_whatever_the_others_draw_it_from(watched):
    def scene(world):
        def party(channel, rng):
            toss(channel, NAMES, rng.fork("" if channel.me == watched else f"{world}"))

        return dict.fromkeys(NAMES, party)

    assert_alike(scene, watched, 16)
