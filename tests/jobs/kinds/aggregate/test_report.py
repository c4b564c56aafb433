"""The report of an aggregate shows every group, hidden ones as hidden."""

from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.aggregate.report import report_groups
from coterie.jobs.kinds.aggregate.verify_groups import read_groups
from coterie.jobs.kinds.job_file import parse_job

JOB = """kind: aggregate
name: x
parties: {a: {}, b: {}}
id: ID
attributes: {Job: {party: a, values: [Clerk, Nurse]}, Pay: {party: b, range: [0, 99]}}
by: [Job]
measures: [{count: true}, {mean: Pay}]
"""


def test_hidden_groups_are_hatched_and_others_have_their_numbers():
    job = parse_job(JOB, {})
    groups = [
        {"by": ["Clerk"], "measures": [1200, 4.5]},
        {"by": ["Nurse"], "measures": [None, None]},
    ]
    part = report_groups(job, read_groups(Claim(groups), job))
    text = "".join(map(str, part.content))
    assert part.public
    for words in ("1 of 2 groups are shown", "1,200", "4.5", "mean of Pay", "hidden"):
        assert words in text, words
