"""The policy denies what it does not list, and says which rule and which value."""

import dataclasses

import pytest

from coterie.base.errors import RefusedError
from coterie.jobs.file.job import Job, PartyEntry
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.needs import Answers, Columns, Groups, Matched, Needs
from coterie.party import policy as policy_module
from coterie.party.callers.examinations import Examinations
from coterie.party.policy import (
    Policy,
    asks_about_together,
    judge,
    judge_coordinator,
    judge_examinations,
)

ALL = Policy(
    coordinators=frozenset({"analyst"}),
    kinds=frozenset({"plain"}),
    peers=frozenset({"bank", "card"}),
    use=frozenset({"Sex", "Job"}),
    ids=frozenset({frozenset({"ID"})}),
    release=frozenset({"Sex", "Job"}),
    raw=frozenset({"Job"}),
    smallest_k=4,
    consent="auto",
)
PARTIES = tuple(PartyEntry(name, None, None) for name in ("lender", "bank", "card"))
JOB = Job("plain", "test", PARTIES, "", {})


NEEDS = Needs(
    Columns(used=("Sex", "Job"), released=("Sex", "Job"), raw=("Job",)),
    Matched(by=("ID",), reveal="intersection"),
    Groups(smallest=4),
    Answers(counted={"Sex": "", "Job": ""}, exact=False),
)


def needing(**groups):
    """The needs above with some keys of some groups changed."""
    changed = {
        name: dataclasses.replace(getattr(NEEDS, name), **keys) for name, keys in groups.items()
    }
    return dataclasses.replace(NEEDS, **changed)


class Stand:
    """Stands in the registry for a kind that declares what it is told to."""

    def __init__(self, needs):
        self.declared = needs

    def needs(self, job, party):
        assert party == "lender"
        return self.declared


@pytest.fixture
def kind(monkeypatch):
    made = Stand(NEEDS)
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
        "policy.columns.id",
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
    "use": (frozenset({"Sex"}), ["policy.columns.use does not list the column 'Job'"]),
    "release": (frozenset({"Job"}), ["policy.columns.release does not list the column 'Sex'"]),
    "raw": (NOBODY, ["policy.columns.raw does not list 'Job', which the job releases unchanged"]),
    "smallest_k": (5, ["policy.smallest_k is 5, and the job releases groups of 4"]),
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_refuses_alone(kind, rule):
    value, reasons = RULES[rule]
    assert verdict(**{rule: value}) == reasons


def test_a_job_that_releases_no_groups_needs_no_smallest_k(kind):
    kind.declared = needing(groups={"smallest": None})
    assert verdict(smallest_k=None) == []


def test_a_job_that_releases_groups_needs_a_smallest_k_in_the_policy(kind):
    assert verdict(smallest_k=None) == [
        "policy.smallest_k is not set, and the job releases groups of 4"
    ]


@pytest.mark.parametrize(("rule", "said"), [(None, "not set"), (30, "30")])
def test_groups_that_a_population_hides_need_a_permission_of_their_own(kind, rule, said):
    kind.declared = needing(groups={"smallest": None, "k_map": 20})
    [reason] = verdict(smallest_k=None, smallest_k_map=rule)
    assert reason.startswith(
        f"policy.smallest_k_map is {said}, and the job releases groups that 20"
    )
    assert verdict(smallest_k_map=20) == []


def test_a_job_that_shows_zeros_needs_a_permission_of_its_own(kind):
    kind.declared = needing(groups={"zeros": True})
    assert verdict() == ["policy.zeros does not permit 'zeros: show', which the job asks for"]
    assert verdict(zeros=True) == []


@pytest.mark.parametrize(("field", "what"), [("keeps", "keeps"), ("model", "uses")])
def test_a_model_is_kept_and_used_only_where_the_policy_says_so(kind, field, what):
    kind.declared = needing(answers=dict(**{field: "risk"}))
    assert verdict() == [f"policy.models is 'none', and the job {what} the model 'risk'"]
    assert verdict(models="keep") == verdict(models="shared") == []


def test_whoever_learns_a_class_of_each_person_needs_a_rule(kind):
    kind.declared = needing(answers={"predicted_for": ("lender", "card")})
    assert verdict() == ["policy.recipients does not list the recipient 'card'"]
    assert verdict(recipients=frozenset({"card"})) == []


def test_scores_of_what_is_not_carried_out_need_a_permission(kind):
    kind.declared = needing(groups={"scores": True})
    [refusal] = verdict()
    assert refusal.startswith("policy.scores is 'hidden', and the job says 'hide_scores: false'")
    assert "write 'scores: shown' under policy" in refusal
    assert verdict(scores="shown") == []


def test_exact_ends_of_numbers_need_a_permission_of_their_own(kind):
    kind.declared = needing(groups={"exact_ends": True})
    [refusal] = verdict()
    assert refusal.startswith("policy.boxes does not permit 'boxes: tight'")
    assert verdict(boxes="tight") == []


def test_a_job_that_tells_its_slack_needs_a_permission_of_its_own(kind):
    kind.declared = needing(groups={"slack": True})
    assert verdict() == ["policy.slack does not permit 'slack: tell', which the job asks for"]
    assert verdict(slack=True) == []


def test_larger_groups_than_asked_for_are_permitted(kind):
    kind.declared = needing(groups={"smallest": 100})
    assert verdict() == []


def test_whoever_receives_the_result_besides_the_coordinator_needs_a_rule(kind):
    kind.declared = needing(answers={"recipients": ("bank",)})
    assert verdict() == ["policy.recipients does not list the recipient 'bank'"]


def test_a_way_of_matching_that_no_rule_knows_is_refused(kind):
    kind.declared = needing(matching={"reveal": "everything"})
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
    use=frozenset({"Sex", "Age"}),
    exact=frozenset({"bank", "card"}),
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
    assert rules(COUNT) == []  # without the rule this party is one of them
    [reason] = rules(COUNT + "servers: [bank, card]\n")
    assert reason.startswith(
        "policy.servers is not set, and lender is not one of the job's servers"
    )
    assert reason.endswith("write 'servers: [bank, card]' under policy")
    assert rules(COUNT + "servers: [bank, card]\n", servers=frozenset({"bank", "card"})) == []
    assert rules(COUNT, servers=trusted) == ["policy.servers does not list the server 'bank'"]
    assert rules(COUNT + "servers: [card, lender]\n", servers=trusted) == []
    assert len(rules(COUNT, servers=frozenset())) == 1
    alone = INTERSECT.replace("PARTIES", "lender: {}, bank: {}").replace("REVEAL", "intersection")
    assert rules(alone, servers=frozenset()) == []  # it has none


def test_proposals_are_shown_only_where_the_policy_says_so(kind):
    kind.declared = needing(groups={"proposals": True})
    [reason] = verdict()
    assert reason.startswith("policy.conditions is 'shares', and the job shows proposals")
    assert verdict(conditions="holder") == []


def test_people_are_matched_by_what_the_steward_calls_an_identifier_alone():
    two = INTERSECT.replace("PARTIES", "lender: {}, bank: {}").replace("REVEAL", "intersection")
    both = two.replace("id: ID", "id: [ID, Sex]")
    [reason] = rules(both)
    assert "policy.columns.id does not list [ID, Sex] as an identifier" in reason
    assert "write 'id: [[ID, Sex]]' under policy.columns" in reason
    composite = frozenset({frozenset({"ID", "Sex"})})
    assert rules(both, ids=composite) == []
    assert rules(both.replace("[ID, Sex]", "[Sex, ID]"), ids=composite) == []
    assert len(rules(two, ids=composite)) == 1  # a part of an identifier is another one
    assert len(rules(two.replace("id: ID", "id: Sex"))) == 1


def test_the_class_needs_a_permission_of_its_own(kind):
    kind.declared = needing(columns={"label": "Job"})
    [reason] = verdict()
    assert "policy.columns.class does not list 'Job'" in reason
    assert reason.endswith("write 'class: [Job]' under policy.columns")
    assert verdict(classes=frozenset({"Job"})) == []
    kind.declared = needing(columns={"label": "Class"})  # which another party may bring
    assert verdict() == []
    kind.declared = needing(columns={"label": "Class", "owes": True})
    assert len(verdict()) == 1


def test_rows_are_left_out_by_a_value_only_where_the_policy_says_so(kind):
    kind.declared = needing(columns={"dropped": ("Sex",)})
    [reason] = verdict()
    assert "policy.columns.drop does not list 'Sex'" in reason
    assert verdict(drop=frozenset({"Sex"})) == []


def test_exact_answers_are_for_partners_that_the_policy_names(kind):
    kind.declared = needing(answers={"exact": True})
    [reason] = verdict(exact=frozenset({"bank"}))
    assert "policy.exact does not list card" in reason
    assert "write 'exact: [card]' under policy" in reason
    assert verdict(exact=frozenset({"bank", "card"})) == []


def test_padding_does_not_hide_a_set_that_is_too_large(kind):
    kind.declared = needing(matching={"pad_to": 101})
    [reason] = verdict(largest_peer_set=100)
    assert reason.startswith("policy.largest_peer_set is 100, and 'pad_to: 101'")
    assert verdict(largest_peer_set=101) == verdict() == []


def test_entries_that_may_be_unique_together_are_asked_about_by_default(kind):
    kind.declared = needing(groups={"together": True})
    assert verdict() == []
    assert asks_about_together(ALL, kind.declared)
    [reason] = verdict(together="refuse")
    assert reason.startswith("policy.together is 'refuse'")
    assert verdict(together="allow") == []
    assert not asks_about_together(dataclasses.replace(ALL, together="allow"), kind.declared)
