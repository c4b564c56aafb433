"""What a process does before it forks for the tests of mutants: import them, and load compiled loops."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Collection
from functools import partial

from tests.protocols.scenes import SCENES
from tests.protocols.transfer.ideal_transfer import ideal_transfers
from tests.secrecy.mutants import MUTANTS
from tests.views import assert_alike

_OFTEN = (
    2  # mutants that name a file of tests, from which on importing it before all forks is worth it
)
# Between them, these call nearly all compiled loops that view tests of protocols call.
SCENES_OF_LOOPS = ("keys_of_the_losers", "intersection of 2 sets by oprf", "shares_of_logarithms")


def prepare() -> None:
    named = Counter(
        file for mutant in MUTANTS for file in {test.partition("::")[0] for test in mutant.tests}
    )
    for file, times in named.items():
        if times >= _OFTEN:
            importlib.import_module(file.removesuffix(".py").replace("/", "."))
    with ideal_transfers():
        play(SCENES_OF_LOOPS)


def play(names: Collection[str]) -> None:
    """Plays both worlds of these scenes once, for the first of the parties that are watched."""
    cases = {case.name: case for case in SCENES}
    for case in map(cases.__getitem__, names):
        world = partial(case.world, case.watched[0])
        assert_alike(world, case.watched[0], 1, shares=case.shares, drawn=case.drawn)
