"""A peer with its own code: it tells the old digests, says that it kept nothing, and brings other columns.

The lender holds ages; the bank holds the class, its branches and the certificate of a peer. Of one job
the bank learns groups of at least `K` people by age. It breaks off, and has the job go on with another
class or other branches, so that other cuts of the ages come out.
"""

import contextlib
import random
from collections import defaultdict

import numpy as np
import pytest

from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree
from coterie.anonymity.table.taxonomy import flat_taxonomy
from coterie.base.errors import PeerLostError, RefusedError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.party_run import agree
from coterie.protocols.integration.instructions import Exchange
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.mondrian.cut_together import cut_together
from coterie.protocols.integration.mondrian.instructions_of_cuts import Instructions
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.rounds import Rounds
from coterie.protocols.messaging.kept import OTHER_DATA, Kept, MemoryAnswers
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.anonymity.tables import Case
from tests.jobs.run.interrupted import places
from tests.protocols.wrappers import Fault, Faulty, KilledError

JOB = parse_job("kind: intersect\nname: x\nparties: {lender: {}, bank: {}}\nid: ID\n", {})
PEOPLE, K, ATTEMPTS = 60, 10, 20
BRANCHES = ["east", "north", "south", "west"]
AGES = random.Random("ages").sample(range(100), PEOPLE)
SAME = {"ID": b"1" * 32, "Class": b"2" * 32}  # what both say of their columns, whatever they bring


def table(seed, fixed):
    """The ages, and what the bank says of the same people this time, who knows about how old they are.

    With `fixed` the class is always the same, and every second time the branch is much like it.
    """
    chosen = random.Random(seed)
    of_class = random.Random("class") if fixed else chosen
    border, spread = (50, 50) if fixed else (chosen.uniform(20, 80), 10)
    rows = []
    for age in AGES:
        below = age + of_class.gauss(0, spread) < border
        branch = chosen.choice(BRANCHES[:2] if fixed else BRANCHES)
        if fixed and seed % 2 and chosen.random() < 0.9:
            branch = BRANCHES[below]
        rows.append({"Age": str(age), "Branch": branch, "class": "yx"[below]})
    return rows


def plan(case, turns):
    branches = TaxonomyTree(flat_taxonomy(BRANCHES))
    return Plan(
        ("lender", "bank"),
        {"Age": IntervalTree(0, 100), "Branch": branches},
        {"Age": "lender", "Branch": "bank"},
        tuple(case.requirement_list()),
        ("bank",),
        "class",
        {},
        "gain-ratio",
        turns=turns,
        priority={"Age": 1.0, "Branch": 1.0},
    )


class Replay:
    """Both parties of one job, attempt by attempt; the bank forgets everything after each."""

    def __init__(self, method, qid, more=None, k=K):
        self.k = k
        self.method, self.qid, self.more = method, qid, dict(more or {})
        self.turns = self.more.pop("turns", False)
        if method is cut_together:
            self.more.setdefault("hide_scores", False)
        self.messages = 0  # that the bank handled in the last attempt
        self.stores = {name: MemoryAnswers() for name in ("lender", "bank")}

    def attempt(self, seed, fixed=False, until=1 << 30):
        """The groups by age that the bank learns of the people, in the order of the lender's rows."""
        order = np.random.default_rng().permutation(PEOPLE)  # the records are matched anew
        rows = table(seed, fixed)
        attributes = {
            "Age": ("range", (0, 100)),
            "Branch": ("taxonomy", [(b, "*") for b in BRANCHES]),
        }
        case = Case([rows[at] for at in order], attributes, [(self.qid, self.k)])

        def party(channel):
            channel.kept = Kept(self.stores[channel.me])
            agree(channel, JOB, inputs=SAME)
            own = "Age" if channel.me == "lender" else "Branch"
            columns = {own: case.column(own)}
            labels = {"class": case.labels("class")} if channel.me == "bank" else {}
            return self.method(
                channel, plan(case, self.turns), columns, labels, PEOPLE, Random(), rows=order,
                **self.more,
            )  # fmt: skip

        def wrap(transport):
            if transport.me == "lender":
                return transport
            self.bank = Faulty(transport, Fault("kill-after", until))
            return self.bank

        self.stores["bank"].answers = []
        outcome = run_parties(dict.fromkeys(self.stores, party), wrap=wrap)["bank"]
        self.messages = self.bank.handled
        shown = outcome if self.method is cut_together else outcome.table
        codes, _ = shown.generalized("Age")
        told = np.empty(PEOPLE, np.int64)
        told[order] = codes
        return told


def smallest(groups):
    """The fewest people whom all groups together leave alike."""
    _, sizes = np.unique(np.column_stack(groups), axis=0, return_counts=True)
    return sizes.min()


METHODS = [integrate, cut_together]


@pytest.mark.parametrize("qid", [["Age"], ["Age", "Branch"]])
@pytest.mark.parametrize("method", METHODS)
def test_replays_with_other_columns_tell_no_more_than_the_first_attempt(method, qid):
    job, groups = Replay(method, qid), []
    for seed in range(ATTEMPTS):
        if not groups:
            groups.append(job.attempt(seed))
        else:
            with pytest.raises(RefusedError, match=OTHER_DATA):
                job.attempt(seed)
    assert groups[0].max() > 0  # something was cut
    assert smallest(groups) >= K


@pytest.mark.parametrize("method", METHODS)
def test_the_same_columns_in_another_joint_order_are_no_replay(method):
    job = Replay(method, ["Age", "Branch"])
    groups = [job.attempt(3) for _ in range(4)]
    assert all(np.array_equal(groups[0], one) for one in groups)


@pytest.mark.parametrize("method", METHODS)
def test_without_the_comparison_replays_would_tell_of_one_or_two_people(method, monkeypatch):
    """The attack is one: this is what stops it."""
    monkeypatch.setattr(Kept, "compare", lambda *arguments: True)
    job = Replay(method, ["Age", "Branch"])
    assert smallest([job.attempt(seed) for seed in range(ATTEMPTS)]) <= 2


# The bank breaks off at any message, also when it has heard an instruction and before the lender could
# keep it, and brings other branches; the class stays, since another one would end the attempt at once.


def confirm(channel, winner, digest):
    """As under `adversary: malicious` with three parties: all wait for each other before they go on."""
    channel.broadcast(digest)
    channel.gather()


WAYS = {
    "turns": (integrate, {"turns": True}),
    "rounds": (integrate, {}),
    "confirmed": (integrate, {"confirm": confirm}),
    "levels": (cut_together, {}),
    "levels hidden": (cut_together, {"hide_scores": True}),
}


def told_by_the_lender(way, until, monkeypatch, first=0):
    """What the lender tells or follows at each place, over attempts that end at the bank's message `until`."""
    told = defaultdict(set)
    give, exchange, keep = Exchange.give, Instructions.exchange, Rounds._keep

    def giving(self, instruction, peers, proposal=False):
        if self.channel.me == "lender":
            one = (instruction.attribute, instruction.node, instruction.score)
            told[len(self.table.winners)].add(one)
        return give(self, instruction, peers, proposal)

    def keeping(self, winner, values=(), **rest):
        keep(self, winner, values, **rest)
        if self.channel.me == "lender" and winner == "bank":
            told[len(self.winners) - 1].add(tuple(values[:3]))

    def exchanging(self, number, due, best, codes):
        if self._run.channel.me == "lender":
            told[number].add(repr([(group, best[group]) for group in due["lender"]]))
        return exchange(self, number, due, best, codes)

    job = Replay(WAYS[way][0], ["Age", "Branch"], WAYS[way][1], 3)
    with monkeypatch.context() as patch:
        patch.setattr(Exchange, "give", giving)
        patch.setattr(Rounds, "_keep", keeping)
        patch.setattr(Instructions, "exchange", exchanging)
        for seed in range(first, first + 4):
            with contextlib.suppress(KilledError, PeerLostError, RefusedError):
                job.attempt(seed, True, until)
    return told, job.messages


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", [0, 1])
def test_the_lender_tells_one_thing_at_each_place_wherever_the_bank_breaks_off(
    way, first, monkeypatch
):
    _, last = told_by_the_lender(way, 1 << 30, monkeypatch)
    for until in places(last, 6 if "hidden" in way else 20):
        told, _ = told_by_the_lender(way, until, monkeypatch, first)
        assert all(len(one) == 1 for one in told.values()), until


@pytest.mark.parametrize("way", WAYS)
def test_without_the_comparison_it_would_tell_several(way, monkeypatch):
    monkeypatch.setattr(Kept, "compare", lambda *arguments: True)
    told, _ = told_by_the_lender(way, 1 << 30, monkeypatch)
    assert max(len(one) for one in told.values()) > 1
