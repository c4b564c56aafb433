"""The `integrate` job from its file to its release, in one process."""

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.specialization.scores import SCALE
from coterie.anonymity.specialization.specialize import Labels, Requirement, specialize
from coterie.anonymity.table.columns import categorical_column, continuous_column, encode_text
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.integrate.kind import INTEGRATE
from coterie.jobs.kinds.integrate.release_table import Coded, read_share, write_release, write_share
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.loans import JOB_FILE, SIGNS, ZODIAC, loan_folder, release
from tests.papers.loans import JOB, REQUIREMENTS, ROWS, SEX


def test_columns_in_no_qid_are_raw_sensitive_or_not(tmp_path):
    job = load_job(loan_folder(tmp_path))
    assert INTEGRATE.needs(job, "lender").columns.raw == ("Zodiac",)
    assert INTEGRATE.needs(job, "bank").columns.raw == ()
    sensitive = JOB_FILE.replace("k: 5}", "k: 5, sensitive: Zodiac, l: 2}")
    job = load_job(loan_folder(tmp_path, job=sensitive))
    assert "Zodiac" in job.sensitive_holders
    assert INTEGRATE.needs(job, "lender").columns.raw == ("Zodiac",)


def run(folder, **options):
    path = loan_folder(folder, **options)
    out = folder / "out"
    out.mkdir()
    return simulate(load_job(path), folder, out, seed="1"), out


def single():
    def text(name):
        return [row[name] for row in ROWS]

    columns = [
        categorical_column("Sex", text("Sex"), taxonomy_of(SEX)),
        categorical_column("Job", text("Job"), taxonomy_of(JOB)),
        continuous_column("Salary", text("Salary"), (1, 99)),
    ]
    codes, values = encode_text("Class", text("Class"), "table")
    classes = Labels(codes, tuple(values))
    return specialize(columns, classes, [Requirement(tuple(q), k) for q, k in REQUIREMENTS])


def test_the_release_is_the_single_tables_sorted_and_without_identifiers(tmp_path):
    result, out = run(tmp_path)
    expected = single()
    columns = {}
    for name in ("Sex", "Job", "Salary"):
        codes, values = expected.generalized(name)
        columns[name] = [values[code] for code in codes]
    columns["Zodiac"] = [ZODIAC[i % len(ZODIAC)] for i in range(len(ROWS))]
    columns["Class"] = [row["Class"] for row in ROWS]
    rows = sorted(zip(*columns.values(), strict=True))
    assert [tuple(row.values()) for row in release(out)] == rows
    assert list(release(out)[0]) == ["Sex", "Job", "Salary", "Zodiac", "Class"]
    assert result["records"] == 34
    assert result["cut"] == expected.cut
    assert result["anonymity"] == expected.anonymity
    assert [
        (w["attribute"], w["value"], tuple(w["children"]), round(w["score"] * SCALE))
        for w in result["winners"]
    ] == [(w.attribute, w.value, w.children, w.score) for w in expected.winners]
    holder = {"Sex": "lender", "Job": "bank", "Salary": "bank"}
    assert all(w["party"] == holder[w["attribute"]] for w in result["winners"])
    for party, mu in result["contributions"].items():
        scores = [w["score"] for w in result["winners"] if w["party"] == party]
        assert mu == pytest.approx(sum(scores))
    assert set(result) == {
        *("records", "parties", "seconds", "winners", "cut", "contributions", "anonymity"),
        *("risk", "opened", "job", "utility", "alone", "detail"),
    }
    assert json.loads((out / "result.json").read_text()) == result


@pytest.mark.parametrize(
    ("lender", "bank"),
    [
        (["ID", "Sex", "Zodiac"], None),
        (None, ["ID", "Job", "Salary"]),
    ],
)
def test_one_holder_of_the_class_is_enough(tmp_path, lender, bank):
    result, out = run(tmp_path, lender=lender, bank=bank)
    assert result["cut"] == single().cut
    assert {row["Class"] for row in release(out)} == {"Y", "N"}


def test_the_coordinator_is_given_no_value_that_only_other_records_have(tmp_path, monkeypatch):
    """What the file of released columns holds, not only what the release shows of it."""
    path = loan_folder(tmp_path)
    with (tmp_path / "lender.csv").open("a") as file:
        file.write("z1,Female,Ophiuchus,Y\n")  # a person whom only the lender knows
    given = []

    def watched(columns, folder):
        given.append(columns)
        write_share(columns, folder)

    monkeypatch.setattr("coterie.jobs.kinds.integrate.party_side.write_share", watched)
    out = tmp_path / "out"
    out.mkdir()
    simulate(load_job(path), tmp_path, out)
    plain = [columns[name] for columns in given for name in ("Zodiac", "Class") if name in columns]
    assert len(plain) == 2
    for column in plain:
        assert sorted({column.values[code] for code in column.codes}) == sorted(column.values)


def test_without_a_class_the_groups_alone_decide(tmp_path):
    job = JOB_FILE.replace("class: Class\n", "score: discernibility\n")
    result, out = run(tmp_path, job=job)
    assert list(release(out)[0]) == ["Sex", "Job", "Salary", "Zodiac"]
    assert all(entry["smallest"] >= entry["k"] for entry in result["anonymity"])
    assert result["winners"]


def test_without_a_class_numbers_may_be_split_towards_groups_of_k(tmp_path):
    """The salaries of 34 people make three groups of 12, 10 and 12; halves stop at 16 and 18."""
    found = {}
    for split in ("even", "quantile"):
        folder = tmp_path / split
        folder.mkdir()
        job = JOB_FILE.replace("class: Class\n", f"score: discernibility\nsplit: {split}\n")
        job = job.replace("{qid: [Sex, Salary], k: 5}", "{qid: [Salary], k: 10}")
        _, out = run(folder, job=job)
        sizes = Counter(row["Salary"] for row in release(out))
        assert min(sizes.values()) >= 10
        assert verify(out)["records"] == 34
        found[split] = sorted(sizes.values())
    assert found == {"even": [16, 18], "quantile": [10, 12, 12]}


def test_a_sensitive_column_limits_the_other_partys_specializations(tmp_path):
    free, _ = run(tmp_path)
    job = JOB_FILE.replace("k: 4}", "k: 4, sensitive: Zodiac, l: 5}")
    other = tmp_path / "other"
    other.mkdir()
    result, out = run(other, job=job, zodiac=SIGNS)
    assert len(result["winners"]) < len(free["winners"])
    groups = {}
    for row in release(out):
        groups.setdefault((row["Sex"], row["Job"]), set()).add(row["Zodiac"])
    assert min(map(len, groups.values())) >= 5


def test_the_class_can_be_the_sensitive_column(tmp_path):
    job = JOB_FILE.replace("k: 4}", "k: 4, sensitive: Class, alpha: 0.9}")
    result, out = run(tmp_path, job=job)
    groups = {}
    for row in release(out):
        groups.setdefault((row["Sex"], row["Job"]), []).append(row["Class"])
    assert all(max(map(g.count, "YN")) <= 0.9 * len(g) for g in groups.values())
    assert result["records"] == 34


def test_suppression_leaves_out_no_more_than_it_may_and_says_how_many(tmp_path):
    job = JOB_FILE.replace("class: Class", "class: Class\nmax_suppression: 0.15")
    result, out = run(tmp_path, job=job)
    assert 0 < result["suppressed"] <= 5
    assert result["records"] == 34 - result["suppressed"] == len(release(out))
    for (qid, k), entry in zip(REQUIREMENTS, result["anonymity"], strict=True):
        groups = [tuple(row[name] for name in qid) for row in release(out)]
        assert min(map(groups.count, groups)) == entry["smallest"] >= k


@pytest.mark.parametrize("extra", ["", "max_suppression: 0.15\n", "score: discernibility\n"])
def test_however_the_winner_is_found_the_release_is_the_same(tmp_path, extra):
    """The strategy with a generous epsilon keeps nobody back."""
    hidden, strategy = "hide_scores: true\n", "adversary: malicious\nepsilon: 50\n"
    found = []
    for i, keys in enumerate(["", hidden, strategy, strategy + hidden]):
        folder = tmp_path / str(i)
        folder.mkdir()
        result, out = run(folder, job=JOB_FILE + keys + extra)
        found.append((result["winners"], result["cut"], (out / "release.csv").read_bytes()))
    assert all(one == found[0] for one in found)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from("abc")), min_size=1, max_size=30))
def test_the_release_reads_back_as_the_sorted_rows(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("release")
    columns = {}
    for name, texts in zip(("a", "b,", 'c"'), zip(*rows, strict=True), strict=True):
        values = sorted(set(texts), key=texts.index)
        columns[name] = Coded(np.array([values.index(t) for t in texts]), values)
    write_share(columns, folder)
    write_release(read_share(folder, "p"), folder / "release.csv")
    with (folder / "release.csv").open(newline="", encoding="utf-8") as file:
        header, *read = csv.reader(file)
    assert header == ["a", "b,", 'c"']
    assert [tuple(row) for row in read] == sorted(rows)


def test_a_damaged_share_is_its_partys_error(tmp_path):
    with pytest.raises(VerificationError, match="bank: its columns are missing or damaged"):
        read_share(tmp_path, "bank")
    (tmp_path / "columns.arrow").write_bytes(b"ARROW1")
    with pytest.raises(VerificationError, match="bank: its columns are missing or damaged"):
        read_share(tmp_path, "bank")
    table = pa.table({"a": ["x"]})
    path = str(tmp_path / "columns.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    with pytest.raises(VerificationError, match="bank: the column 'a' is not one of codes"):
        read_share(tmp_path, "bank")


def shares(folder):
    """What both parties of the loan job release, kept."""
    path = loan_folder(folder)
    released = {}

    def keep(job, folders, out):
        for party, source in folders.items():
            released[party] = folder / f"kept-{party}"
            shutil.copytree(source, released[party])
        return []

    out = folder / "out"
    out.mkdir()
    job = load_job(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(INTEGRATE, "assemble", keep)
        simulate(job, folder, out)
    return job, released


def test_a_column_that_is_not_what_the_others_were_told_names_its_party(tmp_path):
    job, released = shares(tmp_path)
    INTEGRATE.assemble(job, released, tmp_path)
    share = read_share(released["bank"], "bank")
    salary = share["Salary"]
    share["Salary"] = Coded(salary.codes[::-1].copy(), salary.values)
    write_share(share, released["bank"])
    message = "bank: released another column 'Salary' than the one that lender knows"
    with pytest.raises(VerificationError, match=message):
        INTEGRATE.assemble(job, released, tmp_path)
    for text in ("[]", "[" * 100_000):  # the second is nested too deep
        (released["lender"] / "known.json").write_text(text)
        with pytest.raises(VerificationError, match="lender: does not say which columns it knows"):
            INTEGRATE.assemble(job, released, tmp_path)


def test_a_party_can_take_part_with_its_identifiers_alone(tmp_path):
    job = JOB_FILE.replace("  bank: {data", "  third: {data: third.csv}\n  bank: {data")
    path = loan_folder(tmp_path, job=job)
    ids = [f"p{i:03}" for i in range(30)]
    (tmp_path / "third.csv").write_text("\n".join(["ID", *ids]) + "\n")
    out = tmp_path / "out"
    out.mkdir()
    result = simulate(load_job(path), tmp_path, out)
    assert result["records"] == len(release(out)) == 30
    assert result["contributions"]["third"] == 0


def test_columns_of_another_party_are_refused(tmp_path):
    job = load_job(loan_folder(tmp_path))
    folders = {}
    for party, names in (("lender", ["Sex", "Zodiac", "Job"]), ("bank", ["Job", "Salary"])):
        folders[party] = Path(tmp_path / party)
        folders[party].mkdir()
        share = {name: Coded(np.zeros(3, np.int8), ["x"]) for name in names}
        write_share(share, folders[party])
    with pytest.raises(VerificationError, match="lender: released Sex, Zodiac, Job, not its own"):
        INTEGRATE.assemble(job, folders, tmp_path)
