"""A coordinator writes the worst value of a key that it can think of; the policy has the last word.

Each job is one that a steward could permit. The policy permits all of it but one thing, for which it
has the default; the job is refused for that thing alone, before anything is exchanged.
"""

import dataclasses
from fractions import Fraction

import pytest

from coterie.base.errors import UsageError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.policy import Budget, Policy, judge
from coterie.party.settings import Repeat
from tests.chosen_inputs.every_key import EXAMPLES, FILES

COLUMNS = frozenset(
    [
        "Sex",
        "Job",
        "Age",
        "Town",
        "Born",
        "Illness",
        "Loan",
        "Salary",
        "Pay",
        "Died",
        "Days",
        "Sick",
        "Diagnosis",
    ]
)
EVERYTHING = Policy(
    coordinators=frozenset({"analyst"}),
    kinds=frozenset(KINDS),
    peers=frozenset({"lender", "bank", "card"}),
    use=COLUMNS,
    release=COLUMNS,
    raw=COLUMNS,
    ids=frozenset({frozenset({"ID"}), frozenset({"First", "Birth"})}),
    classes=frozenset({"Class", "Diagnosis"}),
    drop=COLUMNS,
    exact=frozenset({"lender", "bank", "card"}),
    together="allow",
    smallest_k=1,
    smallest_k_map=2,
    reveal="pairwise",
    servers=frozenset({"lender", "bank", "card"}),
    conditions="holder",
    zeros=True,
    slack=True,
    boxes="tight",
    recipients=frozenset({"lender", "bank", "card"}),
    budget=Budget(Fraction(100), Fraction(1), 365),
    models="shared",
)


def parsed(text):
    return parse_job(text, {name: data for name, data in FILES.items() if name in text})


def verdict(text, party="lender", **strict):
    return judge(dataclasses.replace(EVERYTHING, **strict), parsed(text), party, "analyst")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_steward_can_permit_every_key(kind):
    for text in EXAMPLES[kind]:
        for party in parsed(text).party_names:
            assert verdict(text, party) == []


HEAD = "name: x\nparties: {bank: {}, card: {}, lender: {}}\n"
SEX = "attributes: {Sex: {party: lender, values: [F, M]}}\n"
OF_BANK = "attributes: {Job: {party: bank, values: [Cook]}}\n"
COUNT = f"kind: count\n{HEAD}id: ID\nservers: [lender, bank]\n{SEX}tables: [[Sex]]\n"
AGES = "attributes: {Age: {party: lender, range: [1, 99]}}\n"
TABLE = f"kind: integrate\n{HEAD}id: ID\nscore: discernibility\n{AGES}requirement: [{{qid: [Age], k: 4}}]\n"
TREE = f"kind: tree\n{HEAD}id: ID\nservers: [lender, bank]\n{SEX}class: Class\n"
NET = f"kind: bayesnet\n{HEAD}id: ID\nservers: [lender, bank]\n{SEX}class: Class\n"
SUM = f"kind: aggregate\n{HEAD}id: ID\nservers: [lender, bank]\n{AGES}measures: [{{sum: Age}}]\n"
IDENTIFY = f"kind: identify\n{HEAD}id: ID\nservers: [lender, bank]\n{SEX}"
BOUNDED = "".join(
    f"  {name}: {{party: {party}, taxonomy: Job.csv, at_most: [White collar]}}\n"
    for name, party in (("Town", "bank"), ("Loan", "card"), ("Job", "lender"))
)
FIT = (
    f"kind: regress\n{HEAD}id: ID\nservers: [lender, bank]\nmodel: linear\noutcome: Pay\n"
    "features: [Age]\nattributes: {Age: {party: bank, range: [0, 9]}, "
    "Pay: {party: lender, range: [0, 9]}}\n"
)
CLUSTER = f"kind: cluster\n{HEAD}id: ID\nservers: [lender, bank]\n{AGES}clusters: 50\n"
RULES = (
    f"kind: rules\n{HEAD}id: ID\nservers: [lender, bank]\nattributes: {{Sex: {{party: lender, "
    "values: [F, M]}, Job: {party: bank, values: [a, b]}}\nsupport: 0.001\nconfidence: 0.001\n"
)
PREDICT = (
    f"kind: predict\n{HEAD}id: ID\nservers: [lender, bank]\nmodel: kept\nrecipients: [lender]\n"
    "attributes: {Sex: {party: lender}}\n"
)

# The worst value of a key; the rule of the policy that stands in the way, and where it must stand.
WORST = {
    "kind": (COUNT, {"kinds": frozenset({"intersect"})}, "policy.kinds"),
    "parties": (COUNT, {"peers": frozenset({"bank"})}, "policy.peers"),
    "purpose": (COUNT, {"purposes": frozenset({"audit"})}, "policy.purposes"),
    "attributes": (COUNT, {"use": frozenset({"Age"})}, "policy.columns.use"),
    "values left out": (
        COUNT.replace(", values: [F, M]", ""),
        {"release": frozenset()},
        "policy.columns.release",
    ),
    "measures": (SUM, {"release": frozenset()}, "policy.columns.release"),
    "outcome": (FIT, {"release": frozenset()}, "policy.columns.release"),
    "clusters": (CLUSTER, {"release": frozenset()}, "policy.columns.release"),
    "qid left out": (
        TABLE.replace("Age: {", "Illness: {party: lender}, Age: {"),
        {"raw": frozenset()},
        "policy.columns.raw",
    ),
    "class": (
        TREE.replace("Class", "Diagnosis"),
        {"classes": frozenset({"Class"})},
        "policy.columns.class",
    ),
    "class of a table": (
        TABLE.replace("score: discernibility", "class: Diagnosis"),
        {"classes": frozenset()},
        "policy.columns.class",
    ),
    "servers": (
        COUNT.replace("[lender, bank]", "[bank, card]"),
        {"servers": None},
        "policy.servers",
    ),
    "servers by default": (
        COUNT.replace("servers: [lender, bank]\n", ""),
        {"servers": None},
        "policy.servers",
    ),
    "servers, one of them listed": (
        COUNT.replace("[lender, bank]", "[bank, card]"),
        {"servers": frozenset({"bank"})},
        "policy.servers",
    ),
    "at_most of three": (
        f"kind: integrate\n{HEAD}id: ID\nscore: discernibility\nattributes:\n{BOUNDED}"
        "requirement: [{qid: [Town, Loan, Job], k: 4}]\n",
        {"servers": None},
        "policy.servers",
    ),
    "reveal": (COUNT + "reveal: pairwise\n", {"reveal": "intersection"}, "policy.reveal"),
    "pad_to": (COUNT + f"pad_to: {2**40}\n", {}, "policy.largest_peer_set"),
    "recipients": (TABLE + "recipients: all\n", {"recipients": frozenset()}, "policy.recipients"),
    "predict": (TREE + "predict: bank\n", {"recipients": frozenset()}, "policy.recipients"),
    "recipients of classes": (
        PREDICT.replace("recipients: [lender]", "recipients: [bank]"),
        {"recipients": frozenset()},
        "policy.recipients",
    ),
    "model": (PREDICT, {"models": "none"}, "policy.models"),
    "keep": (TREE + "keep: m\n", {"models": "none"}, "policy.models"),
    "keep of a net": (NET + "keep: m\n", {"models": "none"}, "policy.models"),
    "uniques": (IDENTIFY + "uniques: [[Sex]]\n", {"smallest_k": 2}, "policy.smallest_k"),
    "k": (TABLE.replace("k: 4", "k: 1"), {"smallest_k": 2}, "policy.smallest_k"),
    "minimum of count": (COUNT + "minimum: 1\n", {"smallest_k": 2}, "policy.smallest_k"),
    "minimum of aggregate": (SUM + "minimum: 1\n", {"smallest_k": 2}, "policy.smallest_k"),
    "minimum of tree": (TREE + "minimum: 1\n", {"smallest_k": 2}, "policy.smallest_k"),
    "minimum of a net": (
        NET + "parameters: true\nminimum: 1\n",
        {"smallest_k": 2},
        "policy.smallest_k",
    ),
    "minimum of regress": (FIT + "minimum: 1\n", {"smallest_k": 2}, "policy.smallest_k"),
    "minimum of cluster": (CLUSTER + "minimum: 1\n", {"smallest_k": 2}, "policy.smallest_k"),
    "minimum of rules": (RULES + "minimum: 1\n", {"smallest_k": 2}, "policy.smallest_k"),
    "k_map": (
        TABLE.replace("k: 4", "k_map: 2") + "universe: card\n",
        {"smallest_k_map": None},
        "policy.smallest_k_map",
    ),
    "universe": (
        TABLE.replace("k: 4", "k_map: 2").replace("party: lender", "party: bank")
        + "universe: lender\n",
        {"smallest_k_map": 3},
        "policy.smallest_k_map",
    ),
    "conditions": (
        TABLE.replace("}}\nreq", "}, Job: {party: bank}}\nreq").replace(
            "k: 4", "k: 4, sensitive: Job, l: 2"
        )
        + "conditions: holder\n",
        {"conditions": "shares"},
        "policy.conditions",
    ),
    "slack": (TABLE + "slack: tell\n", {"slack": False}, "policy.slack"),
    "boxes": (
        TABLE.replace("score: discernibility\n", "") + "method: mondrian\nboxes: tight\n",
        {"boxes": "regions"},
        "policy.boxes",
    ),
    "zeros": (COUNT + "zeros: show\n", {"zeros": False}, "policy.zeros"),
    "zeros of a net": (
        NET + "parameters: true\nzeros: show\n",
        {"zeros": False},
        "policy.zeros",
    ),
    "noise without a budget": (
        SUM + "noise: {epsilon: 0.001}\n",
        {"budget": None},
        "policy.budget",
    ),
    "noise.epsilon": (
        SUM + "noise: {epsilon: 10}\n",
        {"budget": Budget(Fraction(1), Fraction(0), 365)},
        "policy.budget.epsilon",
    ),
    "noise.delta": (
        SUM + "noise: {epsilon: 1, delta: 1e-3}\n",
        {"budget": Budget(Fraction(1), Fraction(0), 365)},
        "policy.budget.delta",
    ),
    "partition": (
        f"kind: count\n{HEAD}servers: [lender, bank]\npartition: horizontal\n"
        "attributes: {Sex: {values: [F, M]}}\ntables: [[Sex]]\n",
        {"repeat": Repeat()},
        "policy.repeat",
    ),
    "together": (
        TABLE.replace("}}\nreq", "}, Sex: {party: lender, flat: true}}\nreq").replace(
            "k: 4}", "k: 4}, {qid: [Sex], k: 4}"
        ),
        {"together": "refuse"},
        "policy.together",
    ),
}


@pytest.mark.parametrize("key", WORST)
def test_the_worst_value_of_a_key_needs_a_permission(key):
    text, strict, rule = WORST[key]
    if strict:
        assert verdict(text) == []
    reasons = verdict(text, **strict)
    assert reasons
    assert {reason.split()[0] for reason in reasons} == {rule}


EXACT = {"count": COUNT, "tree": TREE, "bayesnet": NET, "aggregate": SUM, "regress": FIT}
EXACT |= {"cluster": CLUSTER, "identify": IDENTIFY, "rules": RULES, "predict": PREDICT}


@pytest.mark.parametrize("kind", EXACT)
def test_exact_answers_with_columns_that_a_partner_wrote_need_its_name(kind):
    reasons = verdict(EXACT[kind], exact=frozenset({"bank"}))
    assert len(reasons) == 1
    assert reasons[0].startswith("policy.exact does not list card,")


def test_only_noise_matching_shares_and_releases_go_without_the_name():
    """Every kind is in one of the two lists, so that a new one must be thought about."""
    intersect = f"kind: intersect\n{HEAD}id: ID\n"
    for text in (intersect, TABLE, SUM + "noise: {epsilon: 1}\n", COUNT + "output: shares\n"):
        assert verdict(text, exact=frozenset()) == []
    assert {*EXACT, "intersect", "integrate"} == set(KINDS)


def test_shares_of_a_count_lie_only_with_servers_that_the_policy_permits():
    """With `output: shares` nothing is hidden from the two servers together."""
    text = COUNT.replace("[lender, bank]", "[bank, card]") + "output: shares\nminimum: 1\n"
    [reason] = verdict(text, servers=None)
    assert reason.startswith("policy.servers is not set")


def test_whoever_is_said_to_hold_a_column_is_asked_about_it():
    """`party` of an attribute cannot turn a column of this party into somebody else's."""
    secret = COUNT.replace("Sex", "Secret")
    assert verdict(secret) == ["policy.columns.use does not list the column 'Secret'"]
    assert verdict(secret.replace("party: lender", "party: bank")) == []


def test_a_party_that_brings_no_column_still_answers_for_its_people():
    """Who is common is told by matching alone, so that a job without its columns is judged, too."""
    text = f"kind: count\n{HEAD}id: [ID, Diagnosis]\nservers: [lender, bank]\n{OF_BANK}tables: [[Job]]\n"
    [reason] = verdict(text)
    assert reason.startswith("policy.columns.id does not list [ID, Diagnosis]")


@pytest.mark.parametrize("where", ["data", "where", "exclude", "tables"])
def test_what_a_simulation_reads_changes_nothing_at_a_party(where):
    """Whatever the coordinator writes there, the needs and the job's matching are the same."""
    values = {"data": "other.csv", "where": "{Sex: F}", "exclude": "{data: o.csv, on: ID}"}
    entry = f"lender: {{{where}: {values.get(where, '{x: {data: other.csv}}')}}}"
    plain, chosen = parsed(COUNT), parsed(COUNT.replace("lender: {}", entry))
    kind = KINDS["count"]
    assert kind.needs(plain, "lender") == kind.needs(chosen, "lender")
    assert plain.table_of("lender") is chosen.table_of("lender") is None


@pytest.mark.parametrize(
    ("key", "where"),
    [
        ("noise: {epsilon: 0}", "noise.epsilon"),
        ("noise: {epsilon: 1e9}", "noise.epsilon"),
        ("noise: {epsilon: 1, delta: 0.5}", "noise.delta"),
        ("noise: {epsilon: 1}\nround: 2", "round"),
        ("noise: {epsilon: 1}\ndominance: 0.5", "dominance"),
        ("dominance: 1", "dominance"),
        ("round: 1", "round"),
        ("minimum: 0", "minimum"),
        ("compute: http://elsewhere", "compute"),
    ],
)
def test_values_beyond_all_sense_are_no_job(key, where):
    with pytest.raises(UsageError, match=rf": {where}: "):
        parsed(SUM + key + "\n")
