"""Keys by which a coordinator chooses whom a job leaves out, with a bank that brings whom it likes.

Who is left out is known by name to a partner that has the person, so that no key may select people
by a value unless `columns.drop` permits it. Tests that show a leak say why the permission is needed.
"""

import csv
import itertools
from fractions import Fraction

import numpy as np
import pytest
import yaml

from coterie.base.errors import DataError, RefusedError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.books.models import ModelFolder
from coterie.party.config import load_party
from coterie.party.policy import Budget, Policy, judge
from coterie.party.preflight import check_policy
from coterie.party.steward.plain_words import plain_words
from coterie.protocols.integration.bounds import Demand, records_within_bounds
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_tables import Axis
from coterie.protos import jobs_pb2 as pb
from tests.jobs.kinds.predict.kept import part

SINCE = "party: hospital, missing: drop"
YEARS = "values: ['2001', '2002']"
BOTH = f"attributes: {{CancerSince: {{{SINCE}, {YEARS}}}, Sex: {{party: bank, values: [f, m]}}}}"
NUMBERS = f"attributes: {{CancerSince: {{{SINCE}, range: [1990, 2020]}}, Pay: {{party: bank, range: [0, 9]}}}}"
DROPPING = {
    "count": f"{BOTH}\ntables: [[Sex, CancerSince]]",
    "tree": f"class: Late\n{BOTH}",
    "bayesnet": f"class: Late\n{BOTH}",
    "rules": f"{BOTH}\nsupport: 0.5\nconfidence: 0.5",
    "identify": BOTH,
    "aggregate by": f"{BOTH}\nby: [CancerSince]\nmeasures: [{{count: true}}]",
    "aggregate": f"{NUMBERS}\nmeasures: [{{sum: CancerSince}}]",
    "aggregate with noise": f"{NUMBERS}\nmeasures: [{{sum: CancerSince}}]\nminimum: 1\n"
    "noise: {epsilon: 0.001}",
    "regress": f"model: linear\noutcome: Pay\nfeatures: [CancerSince]\n{NUMBERS}",
    "cluster": f"clusters: 2\n{NUMBERS}",
    "integrate": f"class: Late\nattributes: {{CancerSince: {{{SINCE}, flat: true}}}}\n"
    "requirement: [{qid: [CancerSince], k: 5}]",
    "integrate with the column in no entry": "class: Late\nattributes: "
    f"{{CancerSince: {{{SINCE}}}, Sex: {{party: bank, flat: true}}}}\nrequirement: [{{qid: [Sex], k: 5}}]",
    "integrate that suppresses": "class: Late\nattributes: {CancerSince: {party: hospital, flat: "
    "true}}\nrequirement: [{qid: [CancerSince], k: 5}]\nmax_suppression: 0.1",
}


def job_of(name, text=None):
    head = f"kind: {name.split()[0]}\nname: x\nparties: {{bank: {{}}, hospital: {{}}}}\nid: ID\n"
    return parse_job(head + (text or DROPPING[name]) + "\n", {})


def refusals(job, party="hospital", **policy):
    found = judge(Policy(**policy), job, party, "analyst")
    return [one for one in found if "columns.drop" in one]


@pytest.mark.parametrize("name", DROPPING)
def test_people_are_left_out_by_a_value_only_where_the_steward_says_so(name):
    job = job_of(name)
    [reason] = refusals(job)
    assert "'CancerSince', by whose values the job leaves people out" in reason
    assert "write 'drop: [CancerSince]' under policy.columns" in reason
    assert refusals(job, drop=frozenset({"CancerSince"})) == []
    assert refusals(job, "bank") == []  # whose people are not left out
    needs = KINDS[job.kind].needs(job, "hospital")
    told = "\n".join(plain_words(job, "hospital", needs, 20))
    assert (
        "bank, by name: which of its own people the job leaves out because of their 'Cancer" in told
    )


def test_every_column_that_drops_needs_the_permission():
    text = DROPPING["count"].replace(
        "bank, values: [f, m]", "hospital, values: [f, m], missing: drop"
    )
    job = job_of("count", text)
    assert len(refusals(job)) == 2
    for permitted, other in (("Sex", "CancerSince"), ("CancerSince", "Sex")):
        [reason] = refusals(job, drop=frozenset({permitted}))
        assert f"'{other}'" in reason


def test_every_kind_that_can_drop_is_tried():
    tried = {name.split()[0] for name in DROPPING}
    assert tried | {"intersect", "predict"} == set(KINDS)


def test_a_kept_model_does_not_bring_the_key_along(houses):
    """`predict` has no key `missing`: the model says it, which another policy may have permitted."""
    attributes = {"Sex": ("lender", ["f", "m"], []), "Job": ("bank", ["x", "y"], [])}
    houses.state("bank").mkdir()
    folder = ModelFolder(houses.state("bank"))
    for name, missing in (("gaps", "drop"), ("whole", "error")):
        left = houses.folder / name
        left.mkdir()
        part("tree", attributes, "bank", name=name, missing=missing).write(left)
        assert folder.take(left, "analyst", "a" * 32) == ""
    job = yaml.safe_load(houses.job(parties=["lender", "bank"])) | {
        "kind": "predict",
        "recipients": ["bank"],
        "attributes": {name: {"party": holder} for name, (holder, _, _) in attributes.items()},
    }
    for drop, model in ([], "gaps"), ([], "whole"), (["Job"], "gaps"):
        houses.write(
            "bank",
            policy={
                "kinds": ["predict"],
                "models": "keep",
                "exact": ["lender"],
                "columns": {"id": ["ID"], "use": ["Job"], "drop": drop},
            },
        )
        told = ""
        try:
            text = yaml.safe_dump(job | {"model": model})
            check_policy(load_party(houses.path("bank")), parse_job(text, {}), "analyst")
        except RefusedError as error:
            told = str(error)
        assert ("policy.columns.drop does not list 'Job'" in told) is (model == "gaps" and not drop)
        assert not told or "policy.columns.drop" in told


# ---- why the permission is needed: what the bank sees


def people(folder, since, bank=None):
    """The hospital's table, and the bank's with the people of `bank`."""
    with (folder / "hospital.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("ID", "CancerSince"), *since])
    sexes = [(i, "fm"[at % 2], "yn"[at % 2]) for at, i in enumerate(bank or [i for i, _ in since])]
    with (folder / "bank.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("ID", "Sex", "Late"), *sexes])


def simulated(folder, name, text, **keys):
    content = {
        "kind": name,
        "name": "x",
        "parties": {p: {"data": f"{p}.csv"} for p in ("bank", "hospital")},
        "id": "ID",
        **yaml.safe_load(text or "{}"),
        **keys,
    }
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return simulate(load_job(path), folder, folder / "out", seed="7")


def test_a_column_with_gaps_that_drops_names_people_under_any_noise(tmp_path):
    """The number of common records, which all learn, is that of people with a value."""
    since = [(f"p{i}", "2001" if i < 13 else "") for i in range(40)]
    people(tmp_path, since)
    text = DROPPING["count"]
    assert simulated(tmp_path, "count", text)["records"] == 13
    people(tmp_path, since, ["p5"])
    assert simulated(tmp_path, "count", text, minimum=1)["records"] == 1
    people(tmp_path, since, ["p20"])
    with pytest.raises(DataError, match="no common records"):
        simulated(tmp_path, "count", text)


def test_a_gap_that_is_a_value_of_its_own_leaves_nobody_out_and_no_small_number_follows(tmp_path):
    """All tables that agree with what is shown: the number of gaps is none of 1 to 4 in all of them."""
    since = [
        (f"p{i}", ("2001", "2002", "")[0 if i < 20 else 1 if i < 37 else 2]) for i in range(40)
    ]
    people(tmp_path, since)
    text = DROPPING["count"].replace("drop", "value").replace("'2002'", "'2002', '?'")
    result = simulated(tmp_path, "count", text, tables=[["CancerSince"]], minimum=5)
    assert result["records"] == 40
    assert refusals(job_of("count", text)) == []
    cells = dict(result["tables"][0]["cells"])
    hidden = [value for value, count in cells.items() if count is None]
    left = 40 - sum(count for count in cells.values() if count is not None)
    gaps = {
        dict(zip(hidden, guess, strict=True))["?"]
        for guess in itertools.product(range(left + 1), repeat=len(hidden))
        if sum(guess) == left
    }
    assert 3 in gaps
    assert gaps - {1, 2, 3, 4}, "the gaps would be known to be few"


def test_suppression_names_who_has_a_rare_value():
    """The bank brings ten people with flu and one more, alone: who is left out has another disease."""
    names = ("bank", "hospital")
    axes = [Axis("Diagnosis", "hospital", 3)]

    def party(name, target):
        own = {"Diagnosis": np.array([0] * 10 + [target])} if name == "hospital" else {}
        return lambda channel: records_within_bounds(
            channel, names, axes, own, [Demand((0,), 5)], 11, 1, Random(name)
        )

    seen = [
        run_parties({name: party(name, target) for name in names})["bank"].tolist()
        for target in (0, 1)
    ]
    assert seen == [[True] * 11, [True] * 10 + [False]]


# ---- keys that select nobody by a value


@pytest.mark.parametrize("order", [1, -1])
def test_who_is_common_does_not_depend_on_which_of_several_rows_is_kept(tmp_path, order):
    """`deduplicate: first` keeps a row by its place: every identifier stays, whatever its values."""
    since = [("p1", ""), ("p1", "2001"), ("p2", "2001"), ("p2", "2002"), ("p3", "")][::order]
    people(tmp_path, since, ["p1", "p2", "p3", "p4"])
    simulated(tmp_path, "intersect", "", deduplicate="first")
    with (tmp_path / "out" / "parties" / "bank" / "common.csv").open() as file:
        assert [row[0] for row in csv.reader(file)] == ["ID", "p1", "p2", "p3"]


def test_digits_tell_who_shares_them_and_no_value(tmp_path):
    """Different people with equal digits count as one, and nothing but the identifier decides."""
    for gap in ("", "2001"):
        people(tmp_path, [("A-1", gap), ("B-1", "2002"), ("C-2", gap)], ["X1", "X2", "X3"])
        simulated(tmp_path, "intersect", "", deduplicate="first", normalise=["digits"])
        with (tmp_path / "out" / "parties" / "bank" / "common.csv").open() as file:
            assert [row[0] for row in csv.reader(file)] == ["ID", "X1", "X2"]
        with pytest.raises(DataError):  # without the key, they are an error
            simulated(tmp_path, "intersect", "", normalise=["digits"])


@pytest.mark.parametrize(
    ("attribute", "keys"),
    [
        ({"range": [2000, 2010]}, {"measures": [{"sum": "CancerSince"}]}),
        ({"values": ["2001"]}, {"measures": [{"count": True}], "by": ["CancerSince"]}),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_and_leaves_nobody_out(tmp_path, attribute, keys):
    people(tmp_path, [("p1", "2001"), ("p2", "1999"), ("p3", "2001")])
    attributes = {"CancerSince": {"party": "hospital", **attribute}}
    with pytest.raises(DataError, match="CancerSince"):
        simulated(tmp_path, "aggregate", "", attributes=attributes, minimum=1, **keys)


def test_a_filter_in_a_job_file_is_nothing_to_a_server(houses):
    """`where` and `exclude` of a job are for simulations: a server reads its own file's."""
    houses.serve("bank")
    coordinator = houses.coordinator()
    coordinator.stubs = {"bank": coordinator.stubs["bank"]}
    job = yaml.safe_load(houses.job())
    job["parties"]["bank"] |= {"data": "bank.csv", "where": {"Sex": "f"}}
    answer = coordinator.propose(yaml.safe_dump(job))[1]["bank"]
    assert answer.state == pb.ACCEPTED
    assert answer.records == 20


GAPS = {
    "mixed": "id: ID\npartition: mixed\nattributes: {Pay: {range: [0, 9]}, Sex: {values: [f, m]}}\n",
    "horizontal": "partition: horizontal\nattributes: {Pay: {range: [0, 9], missing: drop}, Sex: {values: [f, m]}}\n",
}


def asked_with_noise(folder, partition, pay):
    """What the bank sees besides noise, by whether the hospital's one person has a value."""
    folder.mkdir()
    (folder / "hospital.csv").write_text(f"ID,Sex,Pay\np1,f,{pay}\n")
    mine = ",," if partition == "mixed" else ",m,5"
    (folder / "bank.csv").write_text(f"ID,Sex,Pay\np1{mine}\n")
    path = folder / "job.yaml"
    path.write_text(
        "kind: aggregate\nname: x\nparties: {bank: {data: bank.csv}, hospital: {data: hospital.csv}}\n"
        f"{GAPS[partition]}by: [Sex]\nmeasures: [{{sum: Pay}}]\nminimum: 1\nnoise: {{epsilon: 0.001}}\n"
    )
    (folder / "out").mkdir()
    try:
        return simulate(load_job(path), folder, folder / "out", seed="1")["records"]
    except DataError:
        return "ended"


@pytest.mark.parametrize("partition", GAPS)
def test_where_noise_does_not_hide_gaps_a_partner_needs_its_name(tmp_path, partition):
    """The bank brings one person, with an empty cell: the job ends, or counts, by the hospital's value."""
    seen = {pay: asked_with_noise(tmp_path / f"pay{pay}", partition, pay) for pay in ("", "7")}
    assert seen[""] != seen["7"]  # an exact answer, whatever the noise
    job = load_job(tmp_path / "pay7" / "job.yaml")
    rules = {
        "coordinators": frozenset({"analyst"}), "kinds": frozenset({"aggregate"}), "peers": frozenset({"bank"}),
        "use": frozenset({"Pay", "Sex"}), "ids": frozenset({frozenset({"ID"})}), "smallest_k": 1,
        "budget": Budget(Fraction(1), Fraction(0), 30),
    }  # fmt: skip
    [reason] = judge(Policy(**rules), job, "hospital", "analyst")
    assert reason.startswith("policy.exact does not list bank")
    assert "write 'exact: [bank]' under policy, or leave out 'partition: mixed'" in reason
    assert judge(Policy(**rules, exact=frozenset({"bank"})), job, "hospital", "analyst") == []
