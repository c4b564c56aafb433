"""What is wrong with an `integrate` job is said before anything leaves a house."""

import pytest

from coterie.base.errors import CoterieError, DataError, UsageError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.loans import JOB_FILE, SIGNS, loan_folder


def refused(folder, message, job=JOB_FILE, change=None, **options):
    path = loan_folder(folder, job=job, **options)
    if change:
        change(folder)
    out = folder / "out"
    out.mkdir()
    with pytest.raises(CoterieError) as error:
        simulate(load_job(path), folder, out)
    assert message in str(error.value)
    assert not (out / "release.csv").exists()
    return error.value


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("qid: [Sex, Job]", "qid: [Sex, Jop]", ":14: requirement[0].qid: 'Jop' is not among"),
        ("qid: [Sex, Job]", "qid: [Sex, Sex]", "names an attribute twice"),
        ("qid: [Sex, Job]", "qid: []", "must name at least one attribute"),
        ("class: Class", "class: Class\nsplit: quantile", "split: is only for 'score: discernib"),
        ("class: Class", "class: Class\nsplit: half", "split: must be one of even, quantile"),
        ("k: 4}", "k: 0}", "must be at least 1, not 0"),
        ("k: 4}", "k: 4, l: 3}", "'l' has no meaning without 'sensitive'"),
        ("k: 4}", "k: 4, sensitive: Zodiac}", "'sensitive' needs one of l, alpha"),
        ("k: 4}", "k: 4, sensitive: Zodiac, l: 1}", "l must be at least 2"),
        ("k: 4}", "k: 4, sensitive: Salary, l: 2}", "'Salary' is in a qid; it must be in none"),
        ("k: 4}", "k: 4, sensitive: Taste, l: 2}", "'Taste' is neither an attribute nor the class"),
        ("k: 4}", "k: 4, kk: 3}", "unknown key; did you mean 'k'?"),
        ("Zodiac: {party: lender}", "Zodiac: {party: lendr}", "'lendr' is not among the parties"),
        ("  Zodiac:", "  Sex:", "attributes.Sex: the key stands here twice"),
        ("{party: lender}", "{party: [lender, bank]}", "Zodiac.party: must be a text, not a list"),
        ("range: [1, 99]", "range: [99, 1]", "the lowest value must be below the highest"),
        ("range: [1, 99]", "range: [1]", "must be [lowest, highest]"),
        ("range: [1, 99]", "range: [1, 9], taxonomy: Sex.csv", "both a taxonomy and a range"),
        ("  Zodiac:", "  Class:", "is the class, which is released without being listed"),
        ("  Zodiac:", "  ID:", "is a column of 'id', which is never released"),
        ("class: Class", "class: ID", "is a column of 'id', which is never released"),
        ("class: Class\n", "", "the key 'class' is missing"),
        ("class: Class", "class: Class\nscore: best", "must be one of gain-ratio"),
        ("class: Class", "class: Class\nadversary: nice", "must be one of semi-honest, malicious"),
        ("class: Class", "class: Class\nepsilon: -1", "must be at least 0"),
        ("class: Class", "class: Class\nmax_suppression: 2", "must be at most 0.5"),
        ("class: Class", "class: Class\nmax_supression: 0.1", "did you mean 'max_suppression'?"),
    ],
)
def test_a_job_file_that_cannot_be_meant_is_refused(tmp_path, old, new, message):
    assert old in JOB_FILE
    error = refused(tmp_path, message, job=JOB_FILE.replace(old, new, 1))
    assert isinstance(error, UsageError)


def test_suppression_goes_with_k_alone(tmp_path):
    job = JOB_FILE.replace("k: 4}", "k: 4, sensitive: Zodiac, l: 2}") + "max_suppression: 0.1\n"
    refused(tmp_path, "max_suppression: is only for requirements on k alone", job=job)


def replace_in(name, old, new):
    def change(folder):
        path = folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            replace_in("bank.csv", "Mover", "Driver"),
            "bank.csv: row 11: column 'Job': 'Driver' is not in its taxonomy",
        ),
        (replace_in("bank.csv", "Mover", "Manual"), "'Manual' is not in its taxonomy"),
        (
            replace_in("bank.csv", "Mover", "White-collar"),
            "'White-collar' is not a leaf of its taxonomy",
        ),
        (
            replace_in("bank.csv", "32,", "thirty,"),
            "bank.csv: row 11: column 'Salary': 'thirty' is not a number",
        ),
        (
            replace_in("bank.csv", "32,", "100,"),
            "row 11: column 'Salary': '100' is outside the range [1, 99]",
        ),
        (replace_in("bank.csv", "32,", ","), "row 11: column 'Salary' has no value (1 of "),
        (replace_in("bank.csv", ",Y", ","), "column 'Class' has no value ("),
        (replace_in("lender.csv", "p033", "p032"), "column 'ID': row 2 repeats 1"),
        (replace_in("Sex.csv", "Female;ANY_Sex", "Female;Other"), "a taxonomy has one root"),
        (
            replace_in("Job.csv", "Mover;Non-Technical", "Mover;Technical"),
            "'Technical' is under 'Blue-collar'",
        ),
        (replace_in("lender.csv", "Sex", "Gender"), "lender.csv: no column 'Sex'"),
    ],
)
def test_a_table_or_taxonomy_that_cannot_be_used_is_named(tmp_path, change, message):
    if "Technical" in message:
        change = replace_in("Job.csv", "Mover;Non-Technical;Blue", "Mover;Technical;White")
        message = "Job.csv:3: 'Technical' is under 'Blue-collar', but it is under 'White-collar'"
    assert isinstance(refused(tmp_path, message, change=change), DataError)


def test_k_above_a_partys_own_records_is_refused_there(tmp_path):
    job = JOB_FILE.replace("k: 4}", "k: 40}")
    refused(tmp_path, "lender.csv: has 39 records, fewer than the k = 40 required", job=job)


def test_k_above_the_common_records_is_refused(tmp_path):
    job = JOB_FILE.replace("k: 4}", "k: 36}")
    refused(tmp_path, "requirement 1 (Sex, Job): k = 36 is more than the 34 common records", job)


def test_no_common_records(tmp_path):
    def change(folder):
        path = folder / "lender.csv"
        path.write_text(path.read_text().replace("p0", "q0"))

    refused(tmp_path, "the parties have no common records", change=change)


def test_disagreement_on_the_class_is_counted(tmp_path):
    def change(folder):
        path = folder / "lender.csv"
        path.write_text(path.read_text().replace(",N", ",Y", 3))

    refused(tmp_path, "lender and bank disagree on the class of 3 common records", change=change)


def test_a_class_of_many_values_is_no_class(tmp_path):
    def change(folder):
        rows = [f"p{i:03},Male,,c{i}" for i in range(300)]
        (folder / "lender.csv").write_text("\n".join(["ID,Sex,Zodiac,Class", *rows]) + "\n")

    message = "lender.csv: column 'Class' has 300 different values; a class has at most 256"
    refused(tmp_path, message, change=change)


def test_nobody_has_the_class(tmp_path):
    names = {"lender": ["ID", "Sex", "Zodiac"], "bank": ["ID", "Job", "Salary"]}
    refused(tmp_path, "no party has (or may use) the class column 'Class'", **names)


def test_a_model_that_the_whole_table_violates_is_refused(tmp_path):
    job = JOB_FILE.replace("k: 4}", "k: 4, sensitive: Zodiac, l: 6}")
    message = "requirement 1 (Sex, Job): not even the whole table satisfies"
    refused(tmp_path, message, job, zodiac=SIGNS)


def test_an_empty_sensitive_value_is_refused(tmp_path):
    job = JOB_FILE.replace("k: 4}", "k: 4, sensitive: Zodiac, l: 2}")
    refused(
        tmp_path,
        "lender.csv: rows 1, 6, 11, 16, 21 and 2 more: column 'Zodiac' has no value (7 of 39 rows",
        job,
    )
