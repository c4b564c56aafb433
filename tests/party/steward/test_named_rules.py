"""Every rule by which a policy can refuse a job is named where the steward decides on it."""

import dataclasses

import pytest

from coterie.jobs.kinds.registry import KINDS
from coterie.party.config import load_party
from coterie.party.job_record import Record
from coterie.party.policy import Policy, rules
from coterie.party.steward.explain import explain, lines
from tests.chosen_inputs import test_policy_rules as chosen

PERMITS = dataclasses.replace(chosen.EVERYTHING, scores="shown")
DROPS = chosen.COUNT.replace("[F, M]", "[F, M], missing: drop")
ASKED = {  # a job, what its policy lacks, and the rule in the way
    **chosen.WORST,
    "coordinators": (chosen.COUNT, {"coordinators": frozenset()}, "policy.coordinators"),
    "id": (chosen.COUNT, {"ids": frozenset()}, "policy.columns.id"),
    "missing": (DROPS, {"drop": frozenset()}, "policy.columns.drop"),
    "exact": (chosen.COUNT, {"exact": frozenset()}, "policy.exact"),
    "hide_scores": (
        chosen.TABLE.replace("score: discernibility", "class: Class\nhide_scores: false"),
        {"scores": "hidden"},
        "policy.scores",
    ),
}
OF_THE_BOOKS = {"most_owed", "predictions"}  # touched by jobs, and refused by `party.preflight`
SETTINGS = {  # how a job is answered, and what counts the questions of an analyst
    "analysts",
    "answer_within",
    "consent",
    "descriptions",
    "examinations",
    "explain",
    "output",
    "silent",
}
KEYS = {"ids": "columns.id", "classes": "columns.class"}
KEYS |= {name: f"columns.{name}" for name in ("use", "release", "raw", "drop")}


@pytest.fixture
def shown(houses):
    """The facts about a job under a policy, as the lender's steward sees them."""
    config = load_party(houses.path("lender"))

    def facts(text, policy):
        job = chosen.parsed(text)
        record = Record("0" * 32, "analyst", job.name, job.kind, "", config.state, job)
        return explain(dataclasses.replace(config, policy=policy), record, job)

    return facts


@pytest.mark.parametrize("key", ASKED)
def test_a_rule_that_a_job_touches_is_named_whether_it_refuses_or_permits(shown, key):
    text, strict, rule = ASKED[key]
    name = rule.removeprefix("policy.").removesuffix(".epsilon").removesuffix(".delta")
    refused = shown(text, dataclasses.replace(PERMITS, **strict))
    assert refused["refusals"]
    assert name in {one["rule"] for one in refused["rules"]}
    assert any(line.startswith(f"not permitted: {rule} ") for line in lines(refused))
    if strict:
        permitted = shown(text, PERMITS)
        [line] = [line for line in lines(permitted) if line.startswith("permitted by: ")]
        named = line.removeprefix("permitted by: ").split(", ")
        assert set(named) == {one["rule"] for one in permitted["rules"]}
        assert name in named or name in ("purposes", "repeat")  # without them nothing is asked


def test_no_rule_of_a_policy_is_forgotten():
    """A new key of a policy is a rule in the table, with a job above, or a setting."""
    job = chosen.parsed(chosen.COUNT)
    needs = KINDS["count"].needs(job, "lender")
    table = {rule.key for rule in rules(Policy(), job, needs, "lender", "analyst")}
    fields = {field.name for field in dataclasses.fields(Policy)}
    assert table == {KEYS.get(name, name) for name in fields - SETTINGS}
    tried = {rule.split(".")[1] for _, _, rule in ASKED.values()} - {"columns"}
    tried |= {rule.removeprefix("policy.") for _, _, rule in ASKED.values() if "columns." in rule}
    assert tried == table - OF_THE_BOOKS


def test_a_job_names_no_rule_that_it_does_not_touch(shown):
    named = [one["rule"] for one in shown(chosen.COUNT, PERMITS)["rules"]]
    assert named == [
        "coordinators",
        "kinds",
        "peers",
        "columns.id",
        "reveal",
        "largest_peer_set",
        "columns.use",
        "servers",
        "exact",
        "smallest_k",
    ]
