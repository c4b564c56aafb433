"""What receivers refuse, interruptions, and the messages that joint Mondrian sends."""

from types import SimpleNamespace

import numpy as np
import pytest

from coterie.anonymity.cuts.groups import Cut, started_groups
from coterie.anonymity.cuts.regions import Node, NumberSpace, Rest, TaxonomySpace
from coterie.anonymity.table.scales import NUMBER
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import PeerFaultError
from coterie.protocols.integration.mondrian import levels as module
from coterie.protocols.integration.mondrian.cut_together import code_bits
from coterie.protocols.integration.mondrian.level_messages import (
    Shared,
    instruct_message,
    read_ends,
    read_instruct,
    read_keys,
    read_settled,
)
from coterie.protocols.integration.mondrian.winners import bits_of_scores
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.kept import Kept, MemoryAnswers
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from tests.anonymity.cuts.test_width import ADULT, EIGHT
from tests.protocols.integration.mondrian.splits import JointJob, shown

TOWNS = taxonomy_of([["A", "V", "*"], ["B", "V", "*"], ["C", "*"], ["D", "*"]])


@pytest.fixture
def channel():
    return Channel(SimpleNamespace(me="ann", peers=("bob",)), "session")


def state(records=12, k=2):
    spaces = {"town": TaxonomySpace(TOWNS), "x": NumberSpace(0.0, 10.0, NUMBER, False),
              "z": NumberSpace(0.0, 10.0, NUMBER, False)}  # fmt: skip
    partition = started_groups(("town", "x", "z"), k, records, spaces, {})
    return Shared([partition], spaces, {"town": "bob", "x": "bob", "z": "ann"})


def node(label):
    return Node(TOWNS.labels.index(label))


def sent(shared, cut, codes):
    return instruct_message(shared, [(0, 0, cut)], {(0, 0): np.array(codes, np.int64)})


HALVES = NumberSpace(0.0, 10.0, NUMBER, False)
GOOD = Cut(0, (node("C"), Rest(0)), (6, 6), 1)


def test_an_honest_cut_arrives_as_it_was_sent(channel):
    shared = state()
    codes = [0, 1] * 6
    found = read_instruct(channel, shared, "bob", [(0, 0)], sent(shared, GOOD, codes))
    attribute, parts, own, sizes = found[0, 0]
    assert (attribute, parts, own.tolist(), sizes) == (0, GOOD.parts, codes, (6, 6))


@pytest.mark.parametrize(
    ("cut", "codes", "why"),
    [
        (Cut(2, HALVES.halves(HALVES.top, 5.0), (6, 6), 1), [0, 1] * 6, "does not hold"),
        (Cut(0, (node("A"), Rest(0)), (6, 6), 1), [0, 1] * 6, "not parts of the group"),
        (
            Cut(0, (node("V"), node("C"), Rest(0)), (4, 4, 4), 1),
            [0, 1, 2] * 4,
            "not parts of the group",
        ),
        (Cut(0, (node("C"), node("V")), (6, 6), 1), [0, 1] * 6, "not parts of the group"),
        (Cut(1, HALVES.halves(HALVES.top, 11.0), (6, 6), 1), [0, 1] * 6, "not parts of the group"),
        (Cut(0, GOOD.parts, (11, 1), 1), [0] * 11 + [1], "fewer than k"),
        (Cut(0, (node("V"), node("C"), node("D")), (4, 4, 4), 1), [0, 1, 3] * 4, "does not have"),
    ],
)
def test_cuts_that_an_honest_party_cannot_make_name_their_sender(channel, cut, codes, why):
    shared = state()
    with pytest.raises(PeerFaultError, match=why) as error:
        read_instruct(channel, shared, "bob", [(0, 0)], sent(shared, cut, codes))
    assert error.value.peer == "bob"


def test_a_group_does_not_settle_elsewhere(channel):
    shared = state()
    settled = np.array([TOWNS.labels.index("V")], np.uint8)
    read_settled(channel, shared, "bob", [settled])
    assert shared.partitions[0].regions[0][0] == node("V")
    with pytest.raises(PeerFaultError, match="not below its own"):
        read_settled(channel, shared, "bob", [np.array([TOWNS.labels.index("C")], np.uint8)])
    with pytest.raises(PeerFaultError, match="not below its own"):
        read_settled(channel, shared, "bob", [np.array([77], np.uint8)])


def test_a_party_offers_no_more_cuts_of_a_group_than_it_has_attributes(channel):
    shared = state()
    keys = [np.array([5], np.int64), np.array([1], np.uint16)]
    assert read_keys(channel, shared, "bob", [(0, 0)], keys) == [(5, 1)]
    shared.partitions[0].strikes[0] = ("bob", "bob")
    with pytest.raises(PeerFaultError, match="more cuts of a group"):
        read_keys(channel, shared, "bob", [(0, 0)], keys)


@pytest.mark.parametrize("ends", [(-1.0, 5.0), (5.0, 4.0), (1.0, 11.0), (np.nan, np.nan)])
def test_exact_ends_lie_within_their_group(channel, ends):
    shared = state()
    shared.partitions[0].close()
    with pytest.raises(PeerFaultError, match="outside its group"):
        read_ends(channel, shared, "bob", [np.array([ends]), np.zeros(1, np.uint8)])


@pytest.mark.parametrize("hidden", [False, True])
def test_a_score_that_the_cut_does_not_have_names_its_sender(monkeypatch, hidden):
    joint = JointJob.random(3, parties=2)
    honest = module.best_cuts

    def boasting(partition, spaces, cutters, scoring, classes):
        found = honest(partition, spaces, cutters, scoring, classes)
        mine = any(joint.holders[name] == "bob" for name in cutters)
        return [c and Cut(c.attribute, c.parts, c.sizes, c.score + mine) for c in found]

    monkeypatch.setattr(module, "best_cuts", boasting)
    joint.job.requirements = tuple(type(r)(r.qid, r.k) for r in joint.job.requirements)
    joint.holders = dict.fromkeys(joint.holders, "bob")
    with pytest.raises(PeerFaultError, match="declared the score") as error:
        joint.run(hide_scores=hidden)
    assert error.value.peer == "bob"


def test_scores_have_bits_for_the_largest_that_a_cut_can_have():
    assert bits_of_scores(1000, 10, 1.0) == (100 * 2**30 + 1).bit_length()
    assert bits_of_scores(20, 10, 1.0) == (8 * 2**30 + 1).bit_length()


@pytest.mark.parametrize("seed", range(8))
def test_an_attempt_that_goes_on_after_an_interruption_ends_in_the_same_groups(seed):
    joint = JointJob.random(seed + 100, parties=3)
    stores = {name: MemoryAnswers() for name in joint.names}
    whole = joint.run(hide_scores=False)

    def attempt(name, stop):
        def run(channel):
            channel.kept = Kept(stores[name])
            nonces = dict.fromkeys(joint.names, bytes([stop]) * 16)
            claims = [Kept(stores[other]).claim for other in joint.names if other != name]
            channel.kept.begin(nonces, claims)
            return joint.party(name, hide_scores=False)(channel)

        return run

    first = run_parties({name: attempt(name, 1) for name in joint.names})
    for store in stores.values():
        stored = store.read()
        store.replace(stored[: len(stored) // 2])
    second = run_parties({name: attempt(name, 2) for name in joint.names})
    for name in joint.names:
        assert shown(first[name]) == shown(second[name]) == shown(whole[name])
        assert second[name].contributions == whole[name].contributions
        assert second[name].tree == whole[name].tree


@pytest.mark.skipif(not ADULT.exists(), reason=f"no Adult table in {ADULT}")
@pytest.mark.parametrize(("k", "levels", "bits"), [(10, 22, 19), (50, 17, 15)])
def test_adult_takes_the_levels_and_the_bits_of_the_rule(k, levels, bits):
    from coterie.anonymity.specialization.specialize import Requirement
    from coterie.experiments.secure_data_integration.adult_data import load_adult

    data = load_adult(ADULT)
    rows = np.arange(data.training)
    joint = JointJob.random(0, parties=2)
    joint.job.columns = {c.name: c.take(rows) for c in data.columns(EIGHT)}
    joint.job.names, joint.job.score = list(EIGHT), "width"
    joint.job.requirements = (Requirement(EIGHT, k),)
    joint.job.priority = {}
    joint.job.texts["ill"] = ["cold"] * len(rows)
    joint.job.texts["class"] = ["x"] * len(rows)
    joint.holders = {n: "ann" if i < 4 else "bob" for i, n in enumerate(EIGHT)} | {"ill": "ann"}
    meters = []

    def metered(transport):
        meters.append(Metered(transport))
        return meters[-1]

    outcome = joint.run(metered, hide_scores=False)["ann"]
    assert outcome.levels == levels
    assert round(code_bits(outcome) / len(rows)) == bits
    rounds = [
        sum(t.rounds for step, t in meter.by_step.items() if step in ("cut/winner", "cut/instruct"))
        for meter in meters
    ]
    # The last level finds that nothing is left to cut and sends no instruction.
    assert max(rounds) <= 2 * levels
    sent = sum(meter.total.sent_bytes for meter in meters)
    print(f"k={k}: {sent * 8 / len(rows):.1f} bits a record in all, {max(rounds)} messages")
