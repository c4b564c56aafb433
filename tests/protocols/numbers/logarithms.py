"""Runs of the secure logarithm between two parties in memory."""

from __future__ import annotations

from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers.logarithm import Logarithms, Session, Settings
from coterie.protocols.numbers.shares import split
from coterie.protocols.primitives.randomness import Random
from tests.protocols.pairs import KEY, run_pair


def run(function, agreed: Settings, xs, evaluation: str = "transfer", seed: int = 0, **options):
    """The opened result of `function` on random shares of xs, and one party's Logarithms."""
    other = options.pop("other", agreed)
    key = options.pop("key", KEY)
    shares = split(agreed.input_ring, xs, Random(seed))

    def party(first: bool):
        def work(channel: Channel) -> Logarithms:
            rng = Random(f"{seed} {first}")
            session = Session(
                channel, channel.peers[0], first, rng, evaluation, key.bits, None if first else key
            )
            mine = agreed if first else other
            session.prepare(mine, len(xs))
            return function(session, mine, shares[0 if first else 1], rng)

        return work

    one, two = run_pair(party(True), party(False), **options)
    return one.values(one.ring.add(one.share, two.share)), one
