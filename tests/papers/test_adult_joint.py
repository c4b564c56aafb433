"""Paper 1 §7: the joint run on Adult is that of one table, for the paper's divisions of its columns."""

import numpy as np
import pytest

from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.specialization.specialize import Labels, Requirement, specialize
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree, encode_text
from coterie.experiments.secure_data_integration.adult_data import (
    CONTINUOUS,
    NAMES,
    PARTY_A,
    PARTY_B,
    load_adult,
    top,
)
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests import ADULT

pytestmark = pytest.mark.skipif(
    not (ADULT / "adult.train.csv").exists(), reason="the Adult table is not at hand"
)

TWO = {"A": PARTY_A, "B": PARTY_B}
FOUR = {  # §7.2
    "A": ("age", "workclass", "fnlwgt", "education-num"),
    "B": ("marital-status", "relationship", "race", "sex"),
    "C": ("capital-gain", "hours-per-week", "native-country"),
    "D": ("education", "occupation", "capital-loss"),
}


@pytest.mark.parametrize("division", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize(
    "qids",
    [[NAMES], [top(7)], [top(5), ("race", "sex", "workclass"), ("fnlwgt", "education", "age")]],
    ids=["all", "top7", "three"],
)
def test_the_joint_run_on_adult_is_that_of_one_table(division, qids):
    adult = load_adult(ADULT)
    requirements = tuple(Requirement(tuple(qid), 50) for qid in qids)
    used = [name for name in NAMES if any(name in qid for qid in qids)]
    single = specialize(adult.columns(used), adult.classes, requirements)
    holders = {name: party for party, names in division.items() for name in names}
    last = list(division)[-1]

    def plan():
        trees = {
            name: IntervalTree(*CONTINUOUS[name])
            if name in CONTINUOUS
            else TaxonomyTree(adult.taxonomies[name])
            for name in used
        }
        own = {name: holders[name] for name in used}
        return Plan(tuple(division), trees, own, requirements, (last,), "class", turns=True)

    def party(me):
        columns = {name: adult.column(name) for name in used if holders[name] == me}
        labels = {"class": adult.classes} if me == last else {}
        return lambda channel: integrate(
            channel, plan(), columns, labels, len(adult.target), Random(me)
        )

    for outcome in run_parties({me: party(me) for me in division}).values():
        assert outcome.table.winners == single.winners
        assert outcome.table.anonymity == single.anonymity
        for name in used:
            ours, theirs = outcome.table.generalized(name), single.generalized(name)
            assert ours[1] == theirs[1]
            assert np.array_equal(ours[0], theirs[0])


@pytest.mark.parametrize(
    ("options", "rejects"),
    [
        ({"l": 4}, False),
        ({"alpha": 0.3}, True),
        ({"confidence": {"Sales": 0.3, "Exec-managerial": 0.3}}, True),
        ({"t": 0.3}, True),
    ],
    ids=["distinct", "alpha", "confidence", "closeness"],
)
def test_conditions_on_shares_give_the_release_of_one_table(options, rejects):
    """Paper 1 §8, with the occupation at one party and the QID at both."""
    adult = load_adult(ADULT)
    codes, values = encode_text("occupation", adult.table["occupation"], "adult")
    sensitive = {"occupation": Labels(codes, tuple(values))}
    used = [name for name in NAMES if name != "occupation"]
    model = model_from_options(options)
    requirements = (Requirement(tuple(used), 50, "occupation", model),)
    single = specialize(adult.columns(used), adult.classes, requirements, sensitive=sensitive)
    free = specialize(adult.columns(used), adult.classes, (Requirement(tuple(used), 50),))
    assert (single.winners != free.winners) == rejects
    holders = {name: "AAB"[at % 3] for at, name in enumerate(used)}

    def party(me):
        columns = {name: adult.column(name) for name in used if holders[name] == me}
        labels = {"class": adult.classes, **sensitive} if me == "B" else {}

        def run(channel):
            trees = {
                name: IntervalTree(*CONTINUOUS[name])
                if name in CONTINUOUS
                else TaxonomyTree(adult.taxonomies[name])
                for name in used
            }
            held = {"occupation": "B"}
            plan = Plan(("A", "B"), trees, holders, requirements, ("B",), "class", held)
            return integrate(channel, plan, columns, labels, len(adult.target), Random(me))

        return run

    for outcome in run_parties({me: party(me) for me in "AB"}).values():
        assert outcome.table.winners == single.winners
        assert outcome.table.anonymity == single.anonymity
