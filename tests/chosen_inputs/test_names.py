"""Names and paths that a coordinator writes into a job, which parties and recipients use for files."""

import pytest

from coterie.base.errors import UsageError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.archive import save_job
from tests.chosen_inputs.every_key import EXAMPLES, FILES

TABLE = EXAMPLES["integrate"][0]


def parsed(text, **files):
    given = {name: data for name, data in FILES.items() if name in text}
    return parse_job(text, {**given, **files})


@pytest.mark.parametrize(
    ("kind", "written", "instead"),
    [
        ("intersect", "name: pilot", "name: NAME"),
        ("intersect", "table: people", "table: NAME"),
        ("intersect", "lender: {", "NAME: {"),
        ("tree", "keep: model", "keep: NAME"),
        ("predict", "model: model", "model: NAME"),
    ],
)
@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", "a/b", '"a\\nb"'])
def test_a_name_is_no_path(kind, written, instead, name):
    text = EXAMPLES[kind][0]
    assert written in text
    with pytest.raises(UsageError, match="not a name"):
        parsed(text.replace(written, instead.replace("NAME", name)))


@pytest.mark.parametrize("key", ["taxonomy: Job.csv", "costs: costs.csv"])
def test_a_file_of_a_job_is_not_written_to_a_place_that_the_coordinator_chose(tmp_path, key):
    """A recipient stores the job beside the result: no file may land outside of that folder."""
    name, file = key.split(": ")
    target = tmp_path / "home" / "authorized_keys"
    with pytest.raises(UsageError, match="must be relative to the job file"):
        parsed(TABLE.replace(key, f"{name}: {target}"), **{str(target): FILES[file]})


@pytest.mark.parametrize("path", ["../../../Job.csv", "a/../../b/Job.csv", "./x/Job.csv"])
def test_a_path_that_climbs_stays_inside_the_folder_of_the_job(tmp_path, path):
    text = TABLE.replace("taxonomy: Job.csv", f"taxonomy: {path}")
    job = parse_job(text, {path: FILES["Job.csv"], "costs.csv": FILES["costs.csv"]})
    out = tmp_path / "one" / "two" / "three" / "four"
    save_job(job, out)
    written = {p for p in tmp_path.rglob("*") if p.is_file()}
    assert len(written) == 3
    assert all(p.resolve().is_relative_to((out / "job").resolve()) for p in written)


def test_a_purpose_is_one_printable_line():
    """It is shown to stewards on terminals and pages, who decide by it."""
    for words in ('"a\\u001b[2Jb"', '"a\\nb"', '"a\\u202eb"', "x" * 201):
        with pytest.raises(UsageError, match="purpose"):
            parsed(TABLE.replace("purpose: test", f"purpose: {words}"))
