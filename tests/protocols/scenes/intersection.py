"""Scenes of intersections."""

from __future__ import annotations

from functools import partial
from unittest import mock

import numpy as np

from coterie.protocols.intersection import multiparty_intersect
from coterie.protocols.intersection.intersect import intersect
from tests.protocols.scenes.form import JOINT_ORDER, THREE, TWO, scene


class KnownSalt:
    """A generator whose first draw, the share of the salt of an intersection, everybody knows.

    With a salt that is drawn anew even bare digests would look random.
    """

    def __init__(self, rng):
        self._rng, self._first = rng, True

    def bytes(self, size):
        first, self._first = self._first, False
        return bytes(size) if first else self._rng.bytes(size)

    def __getattr__(self, name):
        return getattr(self._rng, name)


def sets_apart(names, protocol, reveal, alone, watched, world):
    """Ten people in common, and `alone` more that each party but the watched one has alone.

    Of three parties without `pairwise`, each other one has people of the watched one that the third
    has not: who of them has which, depends on the world.
    """
    others = [name for name in names if name != watched]

    def party(channel, rng):
        mine = range(40)
        if channel.me != watched:
            place = 1000 * (1 + names.index(channel.me)) + 100000 * world
            half = 10 * (others.index(channel.me) ^ world)
            some = range(half, half + 10) if len(others) > 1 and reveal == "intersection" else ()
            mine = [*some, *range(30, 40), *range(place, place + alone)]
        values = [b"person %d" % number for number in mine]
        salted = KnownSalt(rng)
        if channel.me != watched:
            intersect(channel, names, values, salted, protocol=protocol, reveal=reveal)
            return None
        given = []

        def noting(leader, *arguments):
            found = honest(leader, *arguments)
            if leader.me == watched:
                given.append(found)
            return found

        honest = multiparty_intersect._given
        with mock.patch.object(multiparty_intersect, "_given", noting):
            rows = intersect(channel, names, values, salted, protocol=protocol, reveal=reveal)
        assert sorted(rows.tolist()) == list(range(30, 40))
        return [np.sort(rows), *given]  # what a leader can read in the hints is received, too

    return dict.fromkeys(names, party)


# The party with the smallest set finds the intersection: its part is another one.
for names, protocol, reveal, modules, alone, more in (
    (TWO, "ring", "intersection", "ring intersect", 25, ""),
    (TWO, "oprf", "intersection", "vole_function vole_intersect", 25, ""),
    (TWO, "oprf", "intersection", "vole_function vole_intersect", 60, " with the smallest"),
    (THREE, "ring", "intersection", "multiparty_intersect confirm", 15, ""),
    (THREE, "ring", "intersection", "multiparty_intersect confirm", 60, " with the smallest"),
    (THREE, "oprf", "intersection", "multiparty_intersect vole_function confirm", 15, ""),
    (
        THREE,
        "oprf",
        "intersection",
        "multiparty_intersect vole_function confirm",
        60,
        " with the smallest",
    ),
    (THREE, "ring", "pairwise", "ring", 25, ""),
):
    products = " transfer/vole" if protocol == "oprf" else ""
    scene(
        " ".join(f"intersection/{module}" for module in modules.split()) + products,
        names, shares=True,
        name=f"{reveal} of {len(names)} sets by {protocol}{more}", drawn=JOINT_ORDER,
    )(partial(sets_apart, names, protocol, reveal, alone))  # fmt: skip
