"""Joint Mondrian: equal to the rule on the joined table, whoever holds which columns."""

import contextlib
import math
from collections import Counter

import pytest

from coterie.anonymity.cuts.groups import listed
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import continuous_column
from coterie.base.errors import DataError
from tests.anonymity.cuts.jobs import RandomJob, shown_rows
from tests.anonymity.cuts.reference import Numbers, Tree, text
from tests.protocols.integration.mondrian.splits import JointJob, shown


def trees(outcome):
    names = {number: part.names for number, part in enumerate(outcome.partitions)}
    found = [listed(branch, names[branch.condition], outcome.spaces) for branch in outcome.tree]
    return sorted(found, key=lambda cut: (cut["level"], cut["condition"]))


def check_equal(joint, outcomes, answer):
    for outcome in outcomes.values():
        assert trees(outcome) == answer.details["tree"]
        assert shown(outcome) == shown_rows(answer)
        assert outcome.parties == [joint.holders[cut["attribute"]] for cut in by_level(outcome)]


def by_level(outcome):
    names = {number: part.names for number, part in enumerate(outcome.partitions)}
    return [listed(branch, names[branch.condition], outcome.spaces) for branch in outcome.tree]


@pytest.mark.parametrize("seed", range(120))
def test_the_joint_release_is_that_of_the_joined_table(seed):
    joint = JointJob.random(seed)
    check_equal(joint, joint.run(hide_scores=seed % 4 == 0), joint.job.released())


@pytest.mark.parametrize("seed", range(40))
def test_tight_boxes_are_those_of_the_joined_table(seed):
    joint = JointJob.random(seed + 500)
    joint.tight = True
    outcomes = joint.run(hide_scores=False)
    for outcome in outcomes.values():
        assert shown(outcome) == shown_rows(joint.job.released(tight=True))


@pytest.mark.parametrize("seed", range(40))
def test_bounds_begin_at_the_start_values_of_the_joined_table(seed):
    joint = JointJob.random(seed + 1000)
    job = joint.job
    for name in job.names:
        if isinstance(job.domains[name], Tree):
            inner = list(job.columns[name].taxonomy.labels[1:])
            joint.starts[name] = tuple(job.rng.sample(inner, min(len(inner), 2)))
    answer = None
    with contextlib.suppress(DataError):
        answer = job.released(joint.starts, most=len(job.texts["ill"]))
    if answer is None:
        return
    outcomes = joint.run(rows=answer.kept, hide_scores=False)
    check_equal(joint, outcomes, answer)


@pytest.mark.parametrize("seed", range(60))
def test_the_participation_strategy_is_that_of_the_reference(seed):
    joint = JointJob.random(seed + 2000)
    epsilon = [0.0, 0.01, 0.3][seed % 3]
    held = {name: joint.holders[name] for name in joint.job.names}
    # A party without an attribute of a qid has contributed nothing, and holds all others back.
    joint.names = tuple(name for name in joint.names if name in held.values())
    if len(joint.names) < 2:
        return
    joint.holders["ill"] = joint.names[-1]
    tree, rows, mu = joint.job.expected(holders=held, epsilon=epsilon)
    for outcome in joint.run(hide_scores=seed % 5 == 0, strategy=epsilon).values():
        assert sorted(map(repr, trees(outcome))) == sorted(map(repr, tree))
        assert shown(outcome) == [{n: text(row[n]) for n in joint.job.names} for row in rows]
        assert outcome.contributions == mu


@pytest.mark.parametrize("seed", range(30))
def test_contributions_add_up_to_the_entropy_of_the_groups(seed):
    joint = JointJob.random(seed + 3000)
    outcome = joint.run(hide_scores=False)[joint.names[0]]
    total = 0.0
    for partition in outcome.partitions:
        groups = Counter(partition.shown(0, outcome.records)[0].tolist())
        shares = [size / outcome.records for size in groups.values()]
        total -= sum(share * math.log2(share) for share in shares)
    assert sum(outcome.contributions.values()) / 2**30 == pytest.approx(total, abs=1e-6)


def two_columns():
    """x = 0...7 of one party, y = 0 0 9 9 5 5 5 5 of another, and k = 2."""
    job = RandomJob(0)
    texts = {"x": [str(i) for i in range(8)], "y": ["0", "0", "9", "9", "5", "5", "5", "5"]}
    job.names, job.texts = ["x", "y"], {**texts, "class": ["a"] * 8, "ill": ["cold"] * 8}
    job.columns = {
        "x": continuous_column("x", texts["x"], (0, 10)),
        "y": continuous_column("y", texts["y"], (0, 100)),
    }
    job.domains = {"x": Numbers(0.0, 10.0), "y": Numbers(0.0, 100.0)}
    job.requirements, job.score = (Requirement(("x", "y"), 2),), "width"
    job.priority = {"x": 1.0, "y": 1.0}
    return JointJob(job, ("ann", "bob"), {"x": "ann", "y": "bob", "ill": "bob"})


@pytest.mark.parametrize("hidden", [False, True])
def test_a_party_that_is_ahead_stays_away_and_cuts_what_is_left_later(hidden):
    outcome = two_columns().run(hide_scores=hidden, strategy=0.5)["bob"]
    assert [(c["level"], c["attribute"], c["parts"]) for c in trees(outcome)] == [
        (1, "x", ["[0, 4)", "[4, 10]"]),
        (2, "y", ["[0, 9)", "[9, 100]"]),
        (3, "x", ["[4, 6)", "[6, 10]"]),
    ]
    assert outcome.parties == ["ann", "bob", "ann"]
    assert outcome.contributions == {"ann": 3 << 29, "bob": 1 << 29}
