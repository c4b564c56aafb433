"""Worlds in which anything may go wrong at any moment come to the same release or to a named error."""

import json

import pytest

from tests.world import script
from tests.world.kind import NAME
from tests.world.model import World
from tests.world.mutants import MUTANTS
from tests.world.run import CORPUS, play, ready
from tests.world.shrink import shrunk, sign_of
from tests.world.stage import stage_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # on a busy machine, too
CHEAP, REAL, PIECES = 1000, 50, 10
KEPT = sorted(CORPUS.glob("*.json"))


@pytest.fixture(scope="module", autouse=True)
def world_ready():
    with ready():
        yield


@pytest.mark.parametrize("piece", range(PIECES))
def test_cheap_worlds_end_in_the_release_or_a_named_error(piece):
    for seed in range(piece * CHEAP // PIECES, (piece + 1) * CHEAP // PIECES):
        assert not play(script.cheap(seed)), f"python -m tests.world.run --seed {seed}"


@pytest.mark.parametrize("piece", range(PIECES))
def test_worlds_of_real_kinds_end_in_the_release_or_a_named_error(piece):
    for seed in range(piece * REAL // PIECES, (piece + 1) * REAL // PIECES):
        again = f"python -m tests.world.run --kind real --seed {seed}"
        assert not play(script.real(seed)), again


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_went_wrong_once_does_not_go_wrong_again(path):
    assert not play(json.loads(path.read_text()))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_mistake_is_noticed(name):
    """By one of a few worlds: how much of a file a power cut takes is drawn."""
    mutant = MUTANTS[name]
    assert not play(mutant.script)
    with mutant.planted():
        worlds = (play(mutant.script | {"seed": seed}) for seed in range(1, 13))
        assert any(mutant.says in text for found in worlds for text in found)


def test_a_script_shrinks_to_what_matters():
    mutant = MUTANTS["the kept answers stay"]
    wide = script.cheap(11)
    with mutant.planted():
        small = shrunk(wide, play)
        assert sign_of(play(small)) == sign_of(play(wide))
    assert len(small["steps"]) == 1


def _trace(found):
    world = World(found, stage_of(NAME))
    try:
        world.play()
        jobs = {name: world.jobs_of(name) for name in world.servers}
        return world.time.steps, world.time.now, jobs, world.faults.happened
    finally:
        world.close()


def test_the_same_script_gives_the_same_world():
    for seed in (3, 4, 5):
        assert _trace(script.cheap(seed)) == _trace(script.cheap(seed))
