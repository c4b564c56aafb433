"""A peer with its own code: it tells the old digests, says that it kept nothing, and brings other columns.

The lender holds ages; the bank holds the class, its branches and the certificate of a peer. Of one job
the bank learns groups of at least `K` people by age. It breaks off, and has the job go on with another
class or other branches, so that other cuts of the ages come out.
"""

import contextlib
import csv
import random
from collections import defaultdict

import numpy as np
import pytest

from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree
from coterie.anonymity.table.taxonomy import flat_taxonomy
from coterie.base.errors import RefusedError
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.run.party_run import agree
from coterie.protocols.integration.instructions import Exchange
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.mondrian.cut_together import cut_together
from coterie.protocols.integration.mondrian.instructions_of_cuts import Instructions
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.kept import OTHER_DATA, Kept, MemoryAnswers
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.anonymity.tables import Case
from tests.jobs.loans import JOB_FILE, loan_folder, write_csv
from tests.jobs.run.interrupted import World
from tests.protocols.wrappers import Fault

JOB = parse_job("kind: intersect\nname: x\nparties: {lender: {}, bank: {}}\nid: ID\n", {})
PEOPLE, K, ATTEMPTS = 60, 10, 20
BRANCHES = [f"b{at}" for at in range(4)]
AGES = random.Random("ages").sample(range(100), PEOPLE)
SAME = {"ID": b"1" * 32, "Class": b"2" * 32}  # what both say of their columns, whatever they bring


def table(seed):
    """The ages, and what the bank says of the same people this time, who knows about how old they are."""
    chosen = random.Random(seed)
    border = chosen.uniform(20, 80)
    return [
        {
            "Age": str(age),
            "Branch": chosen.choice(BRANCHES),
            "class": "yx"[age + chosen.gauss(0, 10) < border],
        }
        for age in AGES
    ]


def plan(case):
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
        priority={"Age": 1.0, "Branch": 1.0},
    )


class Replay:
    """Both parties of one job, attempt by attempt; the bank forgets everything after each."""

    def __init__(self, method, qid):
        self.method, self.qid = method, qid
        self.stores = {name: MemoryAnswers() for name in ("lender", "bank")}

    def attempt(self, seed):
        """The groups by age that the bank learns of the people, in the order of the lender's rows."""
        order = np.random.default_rng().permutation(PEOPLE)  # the records are matched anew
        rows = table(seed)
        attributes = {
            "Age": ("range", (0, 100)),
            "Branch": ("taxonomy", [(b, "*") for b in BRANCHES]),
        }
        case = Case([rows[at] for at in order], attributes, [(self.qid, K)])

        def party(channel):
            channel.kept = Kept(self.stores[channel.me])
            agree(channel, JOB, inputs=SAME)
            own = "Age" if channel.me == "lender" else "Branch"
            columns = {own: case.column(own)}
            labels = {"class": case.labels("class")} if channel.me == "bank" else {}
            more = {"hide_scores": False} if self.method is cut_together else {}
            return self.method(
                channel, plan(case), columns, labels, PEOPLE, Random(), rows=order, **more
            )

        self.stores["bank"].answers = []
        outcome = run_parties(dict.fromkeys(self.stores, party))["bank"]
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
def test_without_the_comparison_replays_would_tell_single_people(method, monkeypatch):
    """The attack is one: this is what stops it."""
    monkeypatch.setattr(Kept, "compare", lambda *arguments: True)
    job = Replay(method, ["Age", "Branch"])
    assert smallest([job.attempt(seed) for seed in range(ATTEMPTS)]) == 1


# Whole jobs: the bank breaks off at any message, also when it has heard an instruction and before the
# lender could keep it.

TURNED = (
    JOB_FILE.replace("party: lender", "party: X").replace("party: bank", "party: lender")
).replace("party: X", "party: bank")
WAYS = {
    "turns": "",
    "confirmed": "adversary: malicious\n",
    "hidden": "hide_scores: true\n",
    "levels": "method: mondrian\nhide_scores: false\n",
    "levels hidden": "method: mondrian\nadversary: malicious\n",
}


class OtherDataError(Exception):
    """The lender has refused the attempt."""


def attempted(world, until):
    """One attempt; whatever else ends it is an error of the test."""
    try:
        world.attempt({"bank": Fault("kill-after", until)})
    except AssertionError as error:
        raise (OtherDataError if str(error.__cause__) == OTHER_DATA else error.__cause__) from None


def replays(folder, more, monkeypatch, until):
    """What the lender tells at each place, over attempts that the bank breaks off at message `until`."""
    given = defaultdict(set)
    give, exchange = Exchange.give, Instructions.exchange

    def giving(self, instruction, peers, proposal=False):
        if self.channel.me == "lender":
            one = (instruction.attribute, instruction.node, instruction.split, instruction.score)
            given[len(self.table.winners)].add(one)
        return give(self, instruction, peers, proposal)

    def exchanging(self, number, due, best, codes):
        if self._run.channel.me == "lender":
            given[number].add(repr([(group, best[group]) for group in due["lender"]]))
        return exchange(self, number, due, best, codes)

    monkeypatch.setattr(Exchange, "give", giving)
    monkeypatch.setattr(Instructions, "exchange", exchanging)
    lender = ["ID", "Job", "Salary"]
    path = loan_folder(folder, TURNED + more, lender, ["ID", "Sex", "Zodiac", "Class"])
    world = World(load_job(path), folder, folder / "run")
    rows = list(csv.DictReader((folder / "bank.csv").open()))
    for seed in range(4):
        others = random.Random(seed).sample(rows, len(rows))
        changed = [
            {**row, "Class": other["Class"], "Sex": other["Sex"]}
            for row, other in zip(rows, others, strict=True)
        ]
        write_csv(folder / "bank.csv", changed, list(rows[0]))
        (folder / "run" / "bank" / "answers").unlink(missing_ok=True)
        with contextlib.suppress(OtherDataError):
            attempted(world, until)
    return given, world.messages["bank"]


@pytest.mark.parametrize("way", WAYS)
def test_the_lender_tells_one_thing_at_each_place_wherever_the_bank_breaks_off(
    way, tmp_path, monkeypatch
):
    (tmp_path / "whole").mkdir()
    given, last = replays(tmp_path / "whole", WAYS[way], monkeypatch, 1 << 30)
    assert given
    for until in range(last // 2, last):
        folder = tmp_path / str(until)
        folder.mkdir()
        given, _ = replays(folder, WAYS[way], monkeypatch, until)
        assert all(len(told) == 1 for told in given.values()), until
