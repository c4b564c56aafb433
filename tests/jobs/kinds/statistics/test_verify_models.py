"""Trees and nets that keep what their job promises pass; others are found out."""

import copy
import json
import re

import numpy as np
import pytest

from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.statistics.verify_models import TreePromise, verify_net, verify_tree
from tests.coordinator.support import coterie

JOB = """\
kind: KIND
name: models
parties: {lender: {data: lender.csv}, bank: {data: bank.csv}}
id: ID
class: Class
attributes:
  Sex: {party: lender, values: [f, m]}
  Job: {party: bank}
"""
KINDS = {
    "tree": "max_depth: 2\nminimum: 10\npredict: bank\nprune: true\n",
    "bayesnet": "max_parents: 2\nparameters: true\n",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A simulated tree and a simulated net of 300 people whose class follows from sex and job."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(3)
    sexes, jobs = rng.choice(["f", "m"], 300), rng.choice(["cook", "judge"], 300)
    label = np.where((sexes == "f") & (jobs == "cook"), "y", "n")
    lender = [f"{i},{s},{c}\n" for i, (s, c) in enumerate(zip(sexes, label, strict=True))]
    (folder / "lender.csv").write_text("ID,Sex,Class\n" + "".join(lender))
    (folder / "bank.csv").write_text("ID,Job\n" + "".join(f"{i},{j}\n" for i, j in enumerate(jobs)))
    found = {}
    for kind, keys in KINDS.items():
        path = folder / f"{kind}.yaml"
        path.write_text(JOB.replace("KIND", kind) + keys)
        found[kind] = folder / kind
        done = coterie("simulate", path, "--out", found[kind])
        assert done.code == 0, done.err
    return found


def test_an_honest_tree_is_verified(folders):
    found = verify(folders["tree"])
    assert (found["depth"], found["leaves"]) == (2, 3)
    assert "bank has a class of the tree for each record" in found["verdict"]


def test_an_honest_net_is_verified(folders):
    found = verify(folders["bayesnet"])
    assert found["edges"] == len(
        json.loads((folders["bayesnet"] / "result.json").read_text())["edges"]
    )
    assert "counts of 3 sets of an attribute and" in found["verdict"]


def test_the_summary_tells_what_was_found(folders):
    again = folders["tree"].parent / "again"
    done = coterie("simulate", folders["tree"].parent / "tree.yaml", "--out", again)
    assert re.search(r"a tree of depth 2 with 3 leaves, by (Sex, Job|Job, Sex)", done.out)


@pytest.mark.parametrize(
    ("party", "file", "old", "new", "reason"),
    [
        ("bank", "predictions.csv", '"n"', '"x"', "predicts 'x', which no leaf says"),
        ("lender", "branches.csv", ",f", ",x", "'Sex' has other values than the job says"),
        ("bank", "branches.csv", ",cook", ",judge", "each branch of 'Job' one value"),
        ("bank", "branches.csv", "branch", "number", "must have the columns"),
    ],
)
def test_what_parties_keep_of_a_tree_is_checked_in_a_simulation(
    folders, party, file, old, new, reason
):
    path = folders["tree"] / "parties" / party / file
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    with pytest.raises(VerificationError, match=reason):
        verify(folders["tree"])
    path.write_text(before)


TREE = {
    "attribute": "Sex",
    "party": "lender",
    "branches": {
        "f": {
            "attribute": "Job",
            "party": "bank",
            "branches": {"cook": {"class": "y"}, "judge": {"class": "n"}},
        },
        "m": {"class": "n"},
    },
}


def promise(**changes):
    says = {
        "attributes": {"Sex": ("f", "m"), "Job": None},
        "owners": {"Sex": "lender", "Job": "bank"},
        "max_depth": 2,
        "numbered": False,
        "pruned": True,
    }
    return TreePromise(**says | changes)


def test_the_form_of_a_tree_is_told():
    form = verify_tree(Claim(TREE), promise())
    assert (form.depth, form.leaves, form.splits) == (2, 3, ("Sex", "Job"))
    assert form.classes == {"y", "n"}


def inner(tree):
    return tree["branches"]["f"]


TREES = {
    "a split again": (lambda t: inner(t).update(attribute="Sex", party="lender"), "'Sex' again"),
    "a strange attribute": (lambda t: t.update(attribute="Age"), "not an attribute of the job"),
    "another owner": (lambda t: t.update(party="bank"), "is not an attribute of bank"),
    "a missing branch": (lambda t: t["branches"].pop("m"), "one for each of its values"),
    "a further branch": (lambda t: t["branches"].update(x={"class": "n"}), "one for each"),
    "a leaf with more": (lambda t: t["branches"]["m"].update(records=3), "must be a leaf"),
    "a leaf without": (lambda t: t["branches"].update(m={"class": 3}), "must be a text"),
    "one class": (lambda t: inner(t)["branches"].update(cook={"class": "n"}), "one class only"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_of_another_form_is_found_out(name):
    change, reason = TREES[name]
    tree = copy.deepcopy(TREE)
    change(tree)
    with pytest.raises(VerificationError, match=reason):
        verify_tree(Claim(tree), promise())


def test_a_tree_deeper_than_promised_is_found_out():
    with pytest.raises(VerificationError, match=r"branches\.f: is deeper than the job's max_depth"):
        verify_tree(Claim(TREE), promise(max_depth=1))


def test_a_tree_that_shows_values_where_it_should_number_them_is_found_out():
    with pytest.raises(VerificationError, match="the branches of 'Sex'"):
        verify_tree(Claim(TREE), promise(numbered=True))


NET = {"nodes": ["A", "B", "C"], "edges": [["A", "C"], ["B", "C"]]}


def test_the_parents_of_a_net_are_told():
    assert verify_net(Claim(NET), ["A", "B", "C"], 2) == {"A": [], "B": [], "C": ["A", "B"]}


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ([["C", "A"]], "'C' does not stand before 'A'"),
        ([["A", "A"]], "does not stand before"),
        ([["A", "D"]], "must be two nodes"),
        ([["A", "B", "C"]], "must be two nodes"),
        ([["A", "C"], ["A", "C"]], "stands here twice"),
        ([["A", "C"], ["B", "C"]], "'C' has more than 1 parents"),
    ],
)
def test_a_net_of_another_form_is_found_out(edges, reason):
    with pytest.raises(VerificationError, match=reason):
        verify_net(Claim(NET | {"edges": edges}), ["A", "B", "C"], 1)


def test_a_net_over_another_order_is_found_out():
    with pytest.raises(VerificationError, match="must be the job's order, B, A, C"):
        verify_net(Claim(NET), ["B", "A", "C"], 2)


def test_parameters_that_the_job_does_not_ask_for_are_found_out(folders):
    folder = folders["bayesnet"]
    path = next((folder / "job").rglob("job.yaml"))
    before = path.read_text()
    path.write_text(before.replace("parameters: true", "parameters: false"))
    with pytest.raises(VerificationError, match="asks for no parameters"):
        verify(folder)
    path.write_text(before)
