"""New people and a kept model that do not fit each other are named, before anything leaves."""

from dataclasses import replace

import pyarrow as pa
import pytest

from coterie.base.errors import DataError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from tests.jobs.kinds.predict.kept import Parts, part

ATTRIBUTES = {
    "Sex": ("lender", ["F", "M"], []),
    "Job": ("bank", ["x", "y", "?"], []),
    "Age": ("bank", ["<30", "[30, 50)", ">=50"], [30.0, 50.0]),
}
JOB = """kind: predict
name: new
parties: {lender: {}, bank: {}}
id: ID
model: risk
recipients: [lender]
attributes: {Sex: {party: lender}, Job: {party: bank}, Age: {party: bank}}
"""
BANK = {"ID": ["p1", "p2", "p3"], "Job": ["x", "y", "x"], "Age": ["29", "50", "30"]}


def recalled(text=JOB, model=None, **columns):
    job = parse_job(text, {})
    kind = KINDS["predict"]
    table = pa.table({n: pa.array(v, pa.string()) for n, v in {**BANK, **columns}.items()})
    prepared = kind.prepare(job, "bank", table, "bank.csv")
    return kind.recall(job, "bank", prepared, Parts(model or part("tree", ATTRIBUTES, "bank")))


def test_columns_are_coded_by_the_domain_of_the_model():
    found = recalled()
    assert found.codes["Job"].tolist() == [0, 1, 0]
    assert found.codes["Age"].tolist() == [0, 2, 1]


def test_a_value_that_the_model_does_not_know_is_named_and_where_it_stands():
    with pytest.raises(DataError) as caught:
        recalled(Job=["x", "w", "x"])
    assert "row 2" in str(caught.value)
    assert "'w' is not among the attribute's values (by the model 'risk')" in str(caught.value)
    told = caught.value.message(rows=False)
    assert "'w'" not in told
    assert "row" not in told


def test_gaps_are_treated_as_the_model_says():
    model = part("bayesnet", ATTRIBUTES, "bank", missing="value")
    assert recalled(model=model, Job=["x", None, "x"]).codes["Job"].tolist() == [0, 2, 0]
    dropping = part(
        "bayesnet", {**ATTRIBUTES, "Job": ("bank", ["x", "y"], [])}, "bank", missing="drop"
    )
    found = recalled(model=dropping, Job=["x", None, "x"])
    assert found.codes["Age"].tolist() == [0, 1]
    assert found.dropped.number == 1
    with pytest.raises(DataError, match="row 3"):  # counted as it was read
        recalled(model=dropping, Job=["x", None, "w"])
    with pytest.raises(DataError, match="no value"):
        recalled(Age=["1", None, "3"])


def test_a_model_that_is_not_kept_is_named():
    with pytest.raises(DataError, match="no model 'other' is kept here"):
        recalled(JOB.replace("risk", "other"))


WRONG = {
    "of the parties 'lender' and 'bank'": ("bank: {}}", "bank: {}, card: {}}"),
    "knows no attribute 'Zodiac'": (
        "Age: {party: bank}",
        "Age: {party: bank}, Zodiac: {party: bank}",
    ),
    "'Sex' is of lender, not of bank": ("Sex: {party: lender}", "Sex: {party: bank}"),
    "also looks at 'Age': list each under": (", Age: {party: bank}", ""),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_job_about_other_parties_or_columns_than_the_models_is_refused(message):
    old, new = WRONG[message]
    extra = {"Sex": ["F"] * 3, "Zodiac": ["a"] * 3}
    with pytest.raises(DataError, match=message):
        recalled(JOB.replace(old, new), **extra)


def test_a_column_that_a_tree_does_not_test_may_be_left_out_or_named():
    model = part("tree", ATTRIBUTES, "bank")
    model.tree["branches"][1] = {"label": 0}
    assert set(recalled(model=model).codes) == {"Job"}
    assert set(recalled(JOB.replace(", Age: {party: bank}", ""), model=model).codes) == {"Job"}


def test_a_part_that_lost_a_column_is_not_used():
    model = part("tree", ATTRIBUTES, "bank")
    with pytest.raises(DataError, match="is not whole"):
        recalled(model=replace(model, own={"Job": model.own["Job"]}))


def test_the_servers_of_a_net_are_those_that_keep_its_shares():
    three = {**ATTRIBUTES, "Sex": ("card", ["F", "M"], [])}
    model = part("net", three, "bank", parties=("lender", "bank", "card"))
    text = JOB.replace("bank: {}}", "bank: {}, card: {}}").replace("lender}, Job", "card}, Job")
    assert set(recalled(text, model=model).codes) == {"Job", "Age"}
    assert recalled(f"{text}servers: [bank, lender]\n", model=model)
    with pytest.raises(DataError, match="lender and bank keep the shares: name them as 'servers'"):
        recalled(f"{text}servers: [lender, card]\n", model=model)
    alone = part(
        "net", three, "bank", parties=("lender", "bank", "card"), families={"Job": ("Class",)}
    )
    assert recalled(f"{text}servers: [lender, card]\n", model=alone)  # nothing is shared


def test_a_part_that_lost_its_shares_is_not_used():
    model = part("net", ATTRIBUTES, "bank")
    with pytest.raises(DataError, match="is not whole"):
        recalled(model=replace(model, net=replace(model.net, shares={})))


MIXED = JOB.replace("party: lender", "").replace("party: bank", "") + "partition: mixed\n"


def mixed_part(kind="tree"):
    return part(f"mixed-{kind}", {**ATTRIBUTES, "Job": ("bank", ["x", "y"], [])}, "bank")


def test_cells_of_other_parties_have_no_code():
    found = recalled(
        MIXED, mixed_part(), Sex=["F", None, None], Job=[None, "y", "x"], Age=["50", None, "1"]
    )
    assert {name: codes.tolist() for name, codes in found.codes.items()} == {
        "Sex": [0, -1, -1],
        "Job": [-1, 1, 0],
        "Age": [2, -1, 0],
    }


def test_a_model_classifies_people_whose_columns_are_divided_as_they_were():
    with pytest.raises(DataError, match="was made with 'partition: mixed'"):
        recalled(model=mixed_part("net"))
    with pytest.raises(DataError, match="was made with 'partition: vertical'"):
        recalled(MIXED, part("net", ATTRIBUTES, "bank"), Sex=["F"] * 3)
