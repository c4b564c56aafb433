"""The entries of `requirement` that refer to files or to the taxonomy of their sensitive attribute."""

import json

import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.integrate.requirements import MOST_REQUIREMENTS
from coterie.jobs.kinds.job_file import load_job

JOB = """\
kind: integrate
name: patients
parties:
  office: {data: office.csv}
  clinic: {data: clinic.csv}
id: ID
class: Class
attributes:
  Age: {party: office, range: [0, 100]}
  Ill: {party: clinic, taxonomy: ill.csv}
requirement:
  - {qid: [Age], k: 2, sensitive: Ill, %s}
"""
ILL = ["flu", "cough", "ulcer", "gastritis"]
TREE = "flu;lungs;*\ncough;lungs;*\nulcer;stomach;*\ngastritis;stomach;*\n"
COSTS = ",flu,cough,ulcer,gastritis\nflu,0,1,4,4\ncough,1,0,4,4\nulcer,4,4,0,1\ngastritis,4,4,1,0\n"
# The young have other diseases of the same organs than the old; who is sixty has stomach trouble.
ROWS = [(20 + i, ILL[i % 2 * 2], 0) for i in range(6)]
ROWS += [(40 + i, ILL[i % 2 * 2 + 1], 1) for i in range(6)]
ROWS += [(60 + i, ILL[2 + i % 2], 1) for i in range(6)]


def written(folder, options, job=JOB):
    (folder / "job.yaml").write_text(job % options)
    (folder / "ill.csv").write_text(TREE)
    (folder / "costs.csv").write_text(COSTS)
    (folder / "office.csv").write_text(
        "ID,Age,Class\n" + "".join(f"{i},{age},{c}\n" for i, (age, _, c) in enumerate(ROWS))
    )
    (folder / "clinic.csv").write_text(
        "ID,Ill\n" + "".join(f"{i},{ill}\n" for i, (_, ill, _) in enumerate(ROWS))
    )
    return folder / "job.yaml"


@pytest.mark.parametrize(
    ("options", "conditions"),
    [
        ("t: 0.5, distance: taxonomy", ""),
        ("t: 0.5, distance: taxonomy", "conditions: holder\n"),
        ("t: 2.0, distance: costs, costs: costs.csv", "conditions: holder\n"),
        ("t: 0.8, distance: kl", "conditions: holder\n"),
    ],
)
def test_a_joint_job_keeps_every_group_close_and_verify_computes_it_again(
    tmp_path, options, conditions
):
    job = load_job(written(tmp_path, options, JOB + conditions))
    out = tmp_path / "out"
    out.mkdir()
    simulate(job, tmp_path, out, seed="close")
    found = verify(out)["requirements"][0]
    bound = float(options.split(",")[0].split()[1])
    assert 0 < next(iter(found["models"].values())) <= bound
    assert found["groups"] > 1
    if "costs" in options:
        assert (out / "job/costs.csv").read_text() == COSTS
    assert json.loads((out / "result.json").read_text())["records"] == len(ROWS)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("t: 0.2, distance: kl", "cannot be decided on shares; 'conditions: holder'"),
        ("t: 2, distance: costs, costs: costs.csv", "cannot be decided on shares"),
        ("t: 2, distance: costs", "'costs' and 'distance: costs' go together"),
        ("t: 0.2, costs: costs.csv", "'costs' and 'distance: costs' go together"),
        ("t: 0.2, distance: taxonomy, order: [flu]", "order has a meaning with"),
        ("t: 2, distance: costs, costs: ill.csv", "ill.csv: the first line must name"),
        ("t: 0.2, distance: far", "one of variational, ordered, kl, taxonomy, costs"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(tmp_path, options, complaint):
    with pytest.raises(UsageError, match=complaint):
        load_job(written(tmp_path, options))


def test_a_distance_over_a_taxonomy_needs_one(tmp_path):
    job = JOB.replace(", taxonomy: ill.csv", "")
    with pytest.raises(UsageError, match="needs a taxonomy of the sensitive attribute"):
        load_job(written(tmp_path, "t: 0.2, distance: taxonomy", job))
    assert MOST_REQUIREMENTS == 200
