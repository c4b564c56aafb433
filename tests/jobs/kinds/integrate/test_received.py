"""The finished table at its recipients: what they are given, and what each of them checks."""

import csv
import json

import pytest

from coterie.base.errors import UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.integrate.kind import INTEGRATE
from coterie.jobs.kinds.integrate.received import check_expected
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.loans import JOB_FILE, loan_folder
from tests.papers.loans import ROWS

ALL = JOB_FILE + "recipients: all\n"


def played(folder, job=ALL, **options):
    path = loan_folder(folder, job=job, **options)
    out = folder / "out"
    out.mkdir(parents=True)
    return load_job(path), simulate(load_job(path), folder, out, seed="1"), out


def test_every_recipient_gets_the_coordinators_table(tmp_path):
    job, result, out = played(tmp_path)
    assert job.recipients == ("lender", "bank")
    release = (out / "release.csv").read_bytes()
    for name in job.recipients:
        assert (out / "parties" / name / "received" / "release.csv").read_bytes() == release
    assert len(set(result["recipients"].values())) == 1
    assert json.loads((out / "result.json").read_text())["recipients"] == result["recipients"]
    told = {tuple(o["to"]) for o in result["opened"] if o["what"].startswith("integrate: finished")}
    assert told == {("lender", "bank")}


def test_only_the_named_party_gets_it(tmp_path):
    _, result, out = played(tmp_path, JOB_FILE + "recipients: [bank]\n")
    assert list(result["recipients"]) == ["bank"]
    assert not (out / "parties" / "lender" / "received").exists()
    assert not (out / "parties" / "lender" / "expected.json").exists()
    assert not [o for o in result["opened"] if "digest of the finished" in o["what"]]


def test_without_the_key_nobody_does(tmp_path):
    _, result, out = played(tmp_path, JOB_FILE)
    assert "recipients" not in result
    assert not list(out.rglob("received"))


def test_a_recipients_folder_verifies_by_itself(tmp_path):
    _, _, out = played(tmp_path)
    found = verify(out / "parties" / "bank" / "received")
    assert found["verdict"].startswith("holds: ")
    assert found["records"] == len(ROWS)


def rewrite(path, change):
    """Changes rows of a release, and sorts them again."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    rows = sorted(change([dict(zip(header, row, strict=True)) for row in rows]), key=_row)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)


def _row(row):
    return list(row.values())


def one_fewer(rows):
    return rows[1:]


def another_value(rows):
    values = sorted({row["Sex"] for row in rows})
    assert len(values) > 1
    return [{**rows[0], "Sex": next(v for v in values if v != rows[0]["Sex"])}, *rows[1:]]


def exchanged(rows):
    """Every column by itself as before: two people exchange their classes."""
    other = next(
        i
        for i, row in enumerate(rows)
        if row["Class"] != rows[0]["Class"] and row["Sex"] != rows[0]["Sex"]
    )
    first, second = rows[0], rows[other]
    changed = {0: {**first, "Class": second["Class"]}, other: {**second, "Class": first["Class"]}}
    return [changed.get(i, row) for i, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (one_fewer, "records, and this party knows of"),
        (another_value, "'Sex' of the release has other counts than this party knows: 2 values"),
        (exchanged, "are not the table that this party knows"),
    ],
)
def test_a_recipient_finds_what_does_not_fit_what_it_knows(tmp_path, change, words):
    job, _, out = played(tmp_path)
    folder = out / "parties" / "bank"
    check_expected(job, folder, folder / "received")
    rewrite(folder / "received" / "release.csv", change)
    with pytest.raises(VerificationError, match=words):
        check_expected(job, folder, folder / "received")


def test_a_recipient_cannot_judge_anothers_column_in_no_qid(tmp_path):
    job, _, out = played(tmp_path)
    for name, fits in (("bank", True), ("lender", False)):
        folder = out / "parties" / name
        rewrite(
            folder / "received" / "release.csv",
            lambda rows: [{**rows[0], "Zodiac": "Ophiuchus"}, *rows[1:]],
        )
        if fits:
            check_expected(job, folder, folder / "received")
        else:
            with pytest.raises(VerificationError, match="'Zodiac'"):
                check_expected(job, folder, folder / "received")


def signs(order):
    """The sign of each person: two people of the same row of the release exchange theirs."""
    return [f"sign {i}" for i in order]


def test_what_a_recipient_is_given_does_not_say_whose_value_a_row_has(tmp_path):
    """Two worlds in which people who are alike to the bank have exchanged their signs."""
    alike = {}
    for at, row in enumerate(ROWS):
        alike.setdefault(tuple(row.values()), []).append(at)
    first, second = next(people for people in alike.values() if len(people) > 1)[:2]
    worlds = []
    for swapped in (False, True):
        zodiac = signs(range(len(ROWS)))
        if swapped:
            zodiac[first], zodiac[second] = zodiac[second], zodiac[first]
        folder = tmp_path / str(swapped)
        folder.mkdir()
        _, _, out = played(folder, zodiac=zodiac)
        received = out / "parties" / "bank"
        worlds.append({p.relative_to(received): p.read_bytes() for p in received.rglob("*.csv")})
    assert worlds[0] == worlds[1]
    assert worlds[0]


@pytest.mark.parametrize("wrong", ["[nobody]", "[]", "[bank, bank]", "some"])
def test_recipients_are_all_or_parties(tmp_path, wrong):
    with pytest.raises(UsageError, match="recipients"):
        load_job(loan_folder(tmp_path, job=JOB_FILE + f"recipients: {wrong}\n"))


def test_an_analyst_is_warned_of_what_a_recipient_reads_by_its_own_columns(tmp_path):
    job = load_job(loan_folder(tmp_path, job=ALL))
    [warning] = [one for one in job.warnings if one.startswith("recipients: ")]
    assert warning.startswith("recipients: bank may learn 'Zodiac' of lender, in no qid")


def test_the_policy_judges_recipients(tmp_path):
    job = load_job(loan_folder(tmp_path, job=ALL))
    assert INTEGRATE.needs(job, "lender").answers.recipients == ("lender", "bank")
