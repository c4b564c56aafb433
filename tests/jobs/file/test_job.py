"""A job file becomes a typed job, or an error that names the key and the line."""

from dataclasses import replace

import pytest

from coterie.base.errors import UsageError
from coterie.jobs.kinds.job_file import load_job, parse_job

GOOD = """\
kind: intersect
name: pilot
parties:
  lender: {address: lender:7000, data: lender.csv}
  bank: {address: "[::1]:7001"}
id: ID
"""


def complaint(old, new):
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(UsageError) as caught:
        parse_job(text, {}, "job.yaml")
    return str(caught.value)


def test_a_job_has_what_the_file_says():
    job = parse_job(GOOD, {})
    assert (job.kind, job.name, job.party_names) == ("intersect", "pilot", ("lender", "bank"))
    assert [party.address for party in job.parties] == ["lender:7000", "[::1]:7001"]
    assert [party.data and party.data.text() for party in job.parties] == ["lender.csv", None]


CASES = {
    "an unknown kind": ("kind: intersect", "kind: join", "job.yaml:1: kind: must be one of "),
    "no kind": ("kind: intersect\n", "", "job.yaml:1: the key 'kind' is missing"),
    "a name with blanks": ("pilot", "my pilot", "job.yaml:2: name: 'my pilot' is not a name"),
    "a name that is a path": ("pilot", "../x", "job.yaml:2: name: '../x' is not a name"),
    "an address without port": (
        "lender:7000",
        "lender",
        "job.yaml:4: parties.lender.address: must be HOST:PORT, or relay://HOST:PORT, not 'lender'",
    ),
    "a port that is none": (
        "lender:7000",
        "lender:70000",
        "job.yaml:4: parties.lender.address: must be HOST:PORT",
    ),
    "a party of one word": (
        '{address: "[::1]:7001"}',
        "here",
        "job.yaml:5: parties.bank: must be a mapping",
    ),
    "an unknown key of a party": (
        "data:",
        "date:",
        "job.yaml:4: parties.lender.date: unknown key; did you mean 'data'?",
    ),
    "a party twice": ("bank:", "lender:", "job.yaml:5: parties.lender: the key stands here twice"),
    "a party twice but for capitals": ("bank:", "Lender:", "job.yaml:5: parties.Lender: the name"),
    "one party": (
        '  bank: {address: "[::1]:7001"}\n',
        "",
        "job.yaml:4: parties: a job needs at least two parties",
    ),
    "a key of another kind": ("id: ID", "id: ID\nclasses: x", "job.yaml:7: classes: unknown key"),
    "no id": ("id: ID\n", "", "job.yaml:1: the key 'id' is missing"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_in_a_job_file_names_key_and_line(case):
    old, new, message = CASES[case]
    assert complaint(old, new).startswith(message)


def test_the_digest_depends_on_text_and_files():
    first = replace(parse_job(GOOD, {}), files={"a": b"bc"})
    assert first.digest == replace(parse_job(GOOD, {}), files={"a": b"bc"}).digest
    others = [
        replace(parse_job(GOOD + "# x", {}), files={"a": b"bc"}),
        replace(parse_job(GOOD, {}), files={"a": b"bd"}),
        replace(parse_job(GOOD, {}), files={"ab": b"c"}),
        parse_job(GOOD, {}),
    ]
    assert len({first.digest, *(job.digest for job in others)}) == 5


def test_a_file_that_is_not_there_or_not_text_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        load_job(tmp_path / "job.yaml")
    with pytest.raises(UsageError, match="Is a directory"):
        load_job(tmp_path)
    (tmp_path / "job.yaml").write_bytes(b"kind: intersect\nname: \xff\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_job(tmp_path / "job.yaml")


@pytest.mark.parametrize(
    ("path", "message"), [("none.csv", "No such file"), ("/etc/passwd", "relative")]
)
def test_a_taxonomy_that_cannot_be_sent_is_named_with_its_line(tmp_path, path, message):
    (tmp_path / "job.yaml").write_text(
        GOOD.replace("intersect", "integrate")
        + f"attributes:\n  Sex: {{party: lender, taxonomy: {path}}}\n"
    )
    with pytest.raises(UsageError, match=f"job.yaml:8: attributes.Sex.taxonomy: .*{message}"):
        load_job(tmp_path / "job.yaml")
