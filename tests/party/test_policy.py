"""The policy denies what it does not list, and says which rule and which value."""

import dataclasses

import pytest

from coterie.base.errors import RefusedError
from coterie.jobs.file.job import Job, PartyEntry
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.kind import Needs
from coterie.party import policy as policy_module
from coterie.party.callers.examinations import Examinations
from coterie.party.policy import Policy, judge, judge_coordinator, judge_examinations

ALL = Policy(
    coordinators=frozenset({"analyst"}),
    kinds=frozenset({"plain"}),
    peers=frozenset({"bank", "card"}),
    use=frozenset({"ID", "Sex", "Job"}),
    release=frozenset({"Sex", "Job"}),
    raw=frozenset({"Job"}),
    smallest_k=4,
    consent="auto",
)
PARTIES = tuple(PartyEntry(name, None, None) for name in ("lender", "bank", "card"))
JOB = Job("plain", "test", PARTIES, "", {})


NEEDS = Needs(
    used=("ID", "Sex", "Job"),
    released=("Sex", "Job"),
    optional=(),
    raw=("Job",),
    smallest_group=4,
    smallest_k_map=None,
    matching="intersection",
    pad_to=None,
    servers=(),
    recipients=(),
    zeros=False,
    slack=False,
    contributes=False,
    shows_proposals=False,
    noise=None,
    identified_by=("ID",),
    counted={"Sex": "", "Job": ""},
    groups=False,
    keeps=None,
    model=None,
    predicted_for=(),
)


class Declared:
    """Stands in the registry for a kind that declares what it is told to."""

    def __init__(self, needs):
        self.declared = needs

    def needs(self, job, party):
        assert party == "lender"
        return self.declared


@pytest.fixture
def kind(monkeypatch):
    made = Declared(NEEDS)
    monkeypatch.setitem(policy_module.KINDS, "plain", made)
    return made


def verdict(**changes):
    return judge(dataclasses.replace(ALL, **changes), JOB, "lender", "analyst")


def test_a_policy_that_lists_everything_permits(kind):
    assert verdict() == []


def test_the_default_policy_refuses_for_every_rule(kind):
    rules = [reason.split()[0] for reason in judge(Policy(), JOB, "lender", "analyst")]
    assert rules == [
        "policy.coordinators",
        "policy.kinds",
        "policy.peers",
        "policy.peers",
        "policy.columns.use",
        "policy.columns.use",
        "policy.columns.use",
        "policy.columns.release",
        "policy.columns.release",
        "policy.columns.raw",
        "policy.smallest_k",
    ]


NOBODY = frozenset()
RULES = {
    "coordinators": (NOBODY, ["policy.coordinators does not list the coordinator 'analyst'"]),
    "kinds": (frozenset({"integrate"}), ["policy.kinds does not list the kind 'plain'"]),
    "peers": (frozenset({"bank"}), ["policy.peers does not list the party 'card'"]),
    "use": (frozenset({"ID", "Sex"}), ["policy.columns.use does not list the column 'Job'"]),
    "release": (frozenset({"Job"}), ["policy.columns.release does not list the column 'Sex'"]),
    "raw": (NOBODY, ["policy.columns.raw does not list 'Job', which the job releases as it is"]),
    "smallest_k": (5, ["policy.smallest_k is 5, and the job releases groups of 4"]),
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_refuses_alone(kind, rule):
    value, reasons = RULES[rule]
    assert verdict(**{rule: value}) == reasons


def test_a_job_that_releases_no_groups_needs_no_smallest_k(kind):
    kind.declared = dataclasses.replace(NEEDS, smallest_group=None)
    assert verdict(smallest_k=None) == []


def test_a_job_that_releases_groups_needs_a_smallest_k_in_the_policy(kind):
    assert verdict(smallest_k=None) == [
        "policy.smallest_k is not set, and the job releases groups of 4"
    ]


@pytest.mark.parametrize(("rule", "said"), [(None, "not set"), (30, "30")])
def test_groups_that_a_population_hides_need_a_permission_of_their_own(kind, rule, said):
    kind.declared = dataclasses.replace(NEEDS, smallest_group=None, smallest_k_map=20)
    [reason] = verdict(smallest_k=None, smallest_k_map=rule)
    assert reason.startswith(
        f"policy.smallest_k_map is {said}, and the job releases groups that 20"
    )
    assert verdict(smallest_k_map=20) == []


def test_a_job_that_shows_zeros_needs_a_permission_of_its_own(kind):
    kind.declared = dataclasses.replace(NEEDS, zeros=True)
    assert verdict() == ["policy.zeros does not permit 'zeros: show', which the job asks for"]
    assert verdict(zeros=True) == []


@pytest.mark.parametrize(("field", "what"), [("keeps", "keeps"), ("model", "uses")])
def test_a_model_is_kept_and_used_only_where_the_policy_says_so(kind, field, what):
    kind.declared = dataclasses.replace(NEEDS, **{field: "risk"})
    assert verdict() == [f"policy.models is 'none', and the job {what} the model 'risk'"]
    assert verdict(models="keep") == verdict(models="shared") == []


def test_whoever_learns_a_class_of_each_person_needs_a_rule(kind):
    kind.declared = dataclasses.replace(NEEDS, predicted_for=("lender", "card"))
    assert verdict() == ["policy.recipients does not list the recipient 'card'"]
    assert verdict(recipients=frozenset({"card"})) == []


def test_a_job_that_tells_its_slack_needs_a_permission_of_its_own(kind):
    kind.declared = dataclasses.replace(NEEDS, slack=True)
    assert verdict() == ["policy.slack does not permit 'slack: tell', which the job asks for"]
    assert verdict(slack=True) == []


def test_larger_groups_than_asked_for_are_permitted(kind):
    kind.declared = dataclasses.replace(NEEDS, smallest_group=100)
    assert verdict() == []


def test_whoever_receives_the_result_besides_the_coordinator_needs_a_rule(kind):
    kind.declared = dataclasses.replace(NEEDS, recipients=("bank",))
    assert verdict() == ["policy.recipients does not list the recipient 'bank'"]


def test_a_way_of_matching_that_no_rule_knows_is_refused(kind):
    kind.declared = dataclasses.replace(NEEDS, matching="everything")
    assert verdict(reveal="pairwise") == [
        "policy.reveal is 'pairwise', and the job reveals 'everything'"
    ]


def test_names_are_compared_exactly():
    assert judge_coordinator(ALL, "analyst") == []
    assert judge_coordinator(ALL, "Analyst") != []
    assert judge_coordinator(ALL, "analyst ") != []


def test_examinations_are_counted_for_each_coordinator_and_forgotten_after_an_hour():
    now = [0.0]
    examinations = Examinations(lambda: Policy(examinations=2), lambda: now[0])
    examinations.add("analyst")
    now[0] = 1800.0
    examinations.add("analyst")
    examinations.add("other")
    now[0] = 3599.0
    with pytest.raises(RefusedError, match=r"policy.examinations is 2, .* 2 times for 'analyst'"):
        examinations.add("analyst")
    now[0] = 3600.0
    examinations.add("analyst")
    with pytest.raises(RefusedError):
        examinations.add("analyst")
    examinations.add("other")


def test_the_default_is_a_hundred_examinations_an_hour():
    assert judge_examinations(Policy(), "analyst", 99) == []
    assert judge_examinations(Policy(), "analyst", 100) != []


PERMISSIVE = dataclasses.replace(
    ALL,
    kinds=frozenset({"intersect", "count"}),
    use=frozenset({"ID", "Sex", "Age"}),
    smallest_k=1,
)
INTERSECT = "kind: intersect\nname: common\nparties: {PARTIES}\nid: ID\nreveal: REVEAL\n"
COUNT = """\
kind: count
name: counts
parties: {lender: {}, bank: {}, card: {}}
id: ID
attributes:
  Sex: {party: lender, values: [m, f]}
  Age: {party: bank, cuts: [30]}
tables: [[Sex, Age]]
"""


def rules(text, **changes):
    return judge(
        dataclasses.replace(PERMISSIVE, **changes), parse_job(text, {}), "lender", "analyst"
    )


def test_pairwise_overlaps_of_three_parties_need_a_permission():
    three = INTERSECT.replace("PARTIES", "lender: {}, bank: {}, card: {}")
    two = INTERSECT.replace("PARTIES", "lender: {}, bank: {}")
    pairwise = three.replace("REVEAL", "pairwise")
    reason = "policy.reveal is 'intersection', and the job reveals 'pairwise'"
    assert rules(pairwise) == [reason]
    assert rules(COUNT + "reveal: pairwise\n") == [reason]
    assert rules(pairwise, reveal="pairwise") == []
    assert rules(three.replace("REVEAL", "intersection")) == []
    assert rules(three.replace("REVEAL", "intersection"), reveal="pairwise") == []
    assert rules(two.replace("REVEAL", "pairwise")) == []


def test_servers_that_the_policy_does_not_list_are_refused():
    trusted = frozenset({"lender", "card"})
    assert rules(COUNT) == []  # without the rule any will do
    assert rules(COUNT, servers=trusted) == ["policy.servers does not list the server 'bank'"]
    assert rules(COUNT + "servers: [card, lender]\n", servers=trusted) == []
    assert len(rules(COUNT, servers=frozenset())) == 2
    alone = INTERSECT.replace("PARTIES", "lender: {}, bank: {}").replace("REVEAL", "intersection")
    assert rules(alone, servers=frozenset()) == []  # it has none


def test_proposals_are_shown_only_where_the_policy_says_so(kind):
    kind.declared = dataclasses.replace(NEEDS, shows_proposals=True)
    [reason] = verdict()
    assert reason.startswith("policy.conditions is 'shares', and the job shows proposals")
    assert verdict(conditions="holder") == []
