"""Integrate jobs with a population, from the tables to the verified release."""

import csv
import json
from collections import Counter

import pytest

from coterie.base.errors import DataError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.pages.report import report_release
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.pages.markup import element
from coterie.jobs.results.folder import summary
from tests.jobs.loans import SIGNS, WITNESSED, loan_folder, population, release, write_csv
from tests.jobs.pages.reading import Reading
from tests.papers.loans import JOB, SEX


def played(folder, text=WITNESSED):
    job = load_job(loan_folder(folder, text, zodiac=SIGNS))
    (folder / "out").mkdir()
    return job, simulate(job, folder, folder / "out", seed="1")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("witness")
    return *played(folder), folder / "out"


def above(paths):
    return {leaf: set(path) | {leaf} for path in paths for leaf in [path[0]]}


def test_each_group_of_the_release_has_k_people_in_the_population(done):
    _, result, out = done
    sex, job = above(SEX), above(JOB)
    groups = Counter((row["Sex"], row["Job"]) for row in release(out))
    assert min(groups.values()) < 20  # in the table alone the groups are too small
    for shown_sex, shown_job in groups:
        people = [
            p for p in population() if shown_sex in sex[p["Sex"]] and shown_job in job[p["Job"]]
        ]
        assert len(people) >= 20
    assert result["anonymity"][0]["k_map"] == 20
    assert sorted(result["contributions"]) == ["bank", "lender"]
    assert sorted(result["parties"]) == ["bank", "lender", "registry"]


def test_the_witness_learns_candidates_and_combinations_and_no_record(done):
    _, result, _ = done
    told = {entry["what"] for entry in result["opened"] if "registry" in entry["to"]}
    assert told == {
        "job: digest of the job",
        "job: silent transfers",
        "job: answers that are kept",
        "job: digests of what was told to all",
        "integrate: candidate for the witness",
        "integrate: answer of the witness",
        "integrate: combinations for the witness",
        "integrate: groups without people",
    }


def test_the_result_says_who_counted_and_verify_what_it_cannot_count(done):
    job, result, out = done
    found = verify(out)
    assert found["verdict"].startswith("holds: ")
    [left] = [said for said in found["unchecked"] if "population" in said]
    assert left == (
        "whether 20 people of the population share the values of each group of Sex, Job, which "
        "its holder alone can count"
    )
    lines = summary(job, result, out)
    assert "34 records in common among 2 parties" in lines[0]
    assert any("k_map=20 on Sex, Job: counted by registry in its population" in x for x in lines)


def test_the_report_says_whom_the_population_hides(done):
    job, result, out = done
    promise, risk, *_ = report_release(job, Claim(result), out)
    words = Reading(str(element("div", *promise.content))).words
    assert "at least 20 people of the population share each group's values" in words
    assert "protects from readers who do not know who is in the table" in words
    assert "at most 5.00%" in Reading(str(element("div", *risk.content))).words


@pytest.mark.parametrize("claimed", [None, 30])
def test_a_result_that_claims_another_k_map_is_rejected(done, tmp_path, claimed):
    job, result, out = done
    changed = json.loads(json.dumps(result))
    changed["anonymity"][0]["k_map"] = claimed
    with pytest.raises(VerificationError, match=f"says k_map = {claimed}, the job 20"):
        KINDS["integrate"].verify(job, Claim(changed), out)


def test_no_class_and_three_houses_go_with_a_population(tmp_path):
    text = WITNESSED.replace("class: Class\n", "score: discernibility\n").replace(
        "  bank:", "  card: {data: card.csv}\n  bank:"
    )
    job = load_job(loan_folder(tmp_path, text, zodiac=SIGNS))
    with (tmp_path / "lender.csv").open(newline="") as file:
        write_csv(tmp_path / "card.csv", csv.DictReader(file), ["ID"])
    (tmp_path / "out").mkdir()
    result = simulate(job, tmp_path, tmp_path / "out")
    assert result["records"] == 34
    assert verify(tmp_path / "out")["verdict"].startswith("holds: ")


@pytest.mark.parametrize(
    ("people", "names", "message"),
    [
        (population(), ["Sex", "Salary"], "registry.csv: no column 'Job'"),
        (
            [*population(), {"Sex": "Male", "Job": "Pilot"}],
            ["Sex", "Job"],
            "'Pilot' is not in its tax",
        ),
        (population()[:19], ["Sex", "Job"], "has 19 records, fewer than the k_map = 20 required"),
        ([*population(), {"Sex": "", "Job": "Mover"}], ["Sex", "Job"], "has no value"),
    ],
)
def test_a_population_that_does_not_fit_is_refused_before_anything_leaves(
    tmp_path, people, names, message
):
    job = load_job(loan_folder(tmp_path, WITNESSED))
    write_csv(tmp_path / "registry.csv", people, names)
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError) as error:
        simulate(job, tmp_path, tmp_path / "out")
    assert message in str(error.value)


def test_a_value_of_the_population_outside_the_range_is_refused(tmp_path):
    text = WITNESSED.replace("k_map: 20}", "k: 4}").replace("k: 5}", "k_map: 5}")
    job = load_job(loan_folder(tmp_path, text))
    people = [*population(), {"Sex": "Male", "Salary": "100"}]
    write_csv(tmp_path / "registry.csv", people, ["Sex", "Salary"])
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="outside the range"):
        simulate(job, tmp_path, tmp_path / "out")


def test_a_table_with_people_whom_the_population_lacks_is_not_released(tmp_path):
    job = load_job(loan_folder(tmp_path, WITNESSED))
    men = [person for person in population() if person["Sex"] == "Male"]
    write_csv(tmp_path / "registry.csv", men, ["Sex", "Job"])
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="groups of Sex, Job have nobody in the population"):
        simulate(job, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out" / "release.csv").exists()


def test_stewards_read_what_a_population_changes(tmp_path):
    job = load_job(loan_folder(tmp_path, WITNESSED))
    kind = KINDS["integrate"]
    house, witness = ("\n".join(kind.told_of(job, name)) for name in ("bank", "registry"))
    assert "rows of the release that may be of one common person alone" in house
    assert "registry, which has no common people: in each round the column" in house
    assert "whether each combination of 'Sex' and 'Job' that occurs in your table" in witness
    assert "no number" in witness
    assert "which values of" not in witness
    text = WITNESSED.replace("[Sex, Job]", "[Sex, Salary]")
    told = kind.told_of(load_job(loan_folder(tmp_path, text)), "registry")
    assert told[0] == "every party: which values of 'Salary' at least 20 people of your table have"
    needs = kind.needs(job, "registry")
    assert (needs.columns.used, needs.columns.released, needs.matching.reveal) == (
        ("Sex", "Job"),
        (),
        None,
    )
    assert (needs.groups.smallest, needs.groups.k_map) == (None, 20)
