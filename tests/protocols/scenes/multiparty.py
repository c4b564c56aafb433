"""Scenes of sums, maxima and unions of several parties."""

from __future__ import annotations

import numpy as np

from coterie.protocols.models.concordance import ranked
from coterie.protocols.multiparty.secure_maximum import SecureMaximum
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.multiparty.set_union import union
from tests.protocols.scenes.form import THREE, scene, words


@scene("multiparty/secure_sum", THREE, runs=16)
def parts_of_a_sum(watched, world):
    others = [name for name in THREE if name != watched]
    values = {watched: 4, others[0]: (0, 1000)[world], others[1]: (1000, 0)[world]}

    def party(channel, rng):
        sums = SecureSum(channel, THREE, rng)
        value = values[channel.me]
        return [
            sums.modular(words(value)).tolist(),
            sums.modular(words(value), 1009).tolist(),
            sums.big([value] * 40, 3**70),
            sums.fixed(np.full(50, float(value))).tolist(),
        ]

    return dict.fromkeys(THREE, party)


@scene("models/concordance", THREE, runs=2)
def pairs_that_are_ranked(watched, world):
    """The other two exchange their counts, one of which is large and the other zero."""
    others = [name for name in THREE if name != watched]
    counts = {watched: 5, others[0]: (0, 2**40)[world], others[1]: (2**40, 0)[world]}

    def party(channel, rng):
        mine = words(counts[channel.me], 6).reshape(2, 3)
        return ranked(channel, THREE, ("ann", "bob"), mine, mine[::-1], rng)

    return dict.fromkeys(THREE, party)


@scene("multiparty/gmw multiparty/secure_maximum", THREE)
def losing_scores(watched, world):
    """The watched party loses, or wins by more or less."""
    others = [name for name in THREE if name != watched]
    scores = {watched: 20, others[0]: 31, others[1]: (0, 30)[world]}

    def party(channel, rng):
        session = SecureMaximum(channel, THREE, rng, 5)
        return session.argmax(words(scores[channel.me], 200))

    return dict.fromkeys(THREE, party)


@scene("multiparty/set_union", THREE, runs=3)
def who_holds_an_element(watched, world):
    sets = {name: [b"mine"] for name in THREE}
    others = [name for name in THREE if name != watched]
    sets |= dict(zip(others, [[b"red", b"blue"], [b"green", b"black"]], strict=True))
    if world:
        sets[others[0]], sets[others[1]] = sets[others[1]], sets[others[0]]
    return dict.fromkeys(
        THREE, lambda channel, rng: union(channel, THREE, sets[channel.me], rng, pad_to=4)
    )
