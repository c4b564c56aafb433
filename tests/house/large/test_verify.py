"""A release made on disk is verified slice by slice, and a forged one refused, as one in memory is."""

import json

import pytest

from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from coterie.house.large.release import anonymise_large
from coterie.house.table_file import load_table_file
from tests.house.people import TABLE_FILE, rows, write_people


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.house.large.verify._SLICE", 7)  # so that there are slices
    monkeypatch.setattr("coterie.house.large.verify._COUNTS", 20)
    file = load_table_file(write_people(tmp_path, TABLE_FILE, rows(60)))
    out = tmp_path / "out"
    out.mkdir()
    with anonymise_large(file, 10**7, most=9) as large:
        large.write(out, parquet=True)
    return out


def changed_result(folder, change):
    path = folder / "result.json"
    result = json.loads(path.read_text())
    change(result)
    path.write_text(json.dumps(result))


def without_parquet(folder, change):
    (folder / "release.parquet").unlink()
    path = folder / "release.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *change(lines)]) + "\n")


def test_slices_find_what_the_whole_release_has(release):
    on_disk = verify(release)
    changed_result(release, lambda result: result.pop("on_disk"))
    assert verify(release) == on_disk


def test_the_columns_may_be_too_many_for_one_number(release, monkeypatch):
    expected = verify(release)
    monkeypatch.setattr("coterie.house.large.verify._ROOM", 50)
    assert verify(release) == expected


FORGED = {
    "another number of records": (
        lambda folder: without_parquet(folder, lambda lines: lines[1:]),
        "records is 59",
    ),
    "rows out of order": (
        lambda folder: without_parquet(folder, lambda lines: [*lines[1:], lines[0]]),
        "is out of order",
    ),
    "a value that the taxonomy lacks": (
        lambda folder: without_parquet(
            folder, lambda lines: sorted(line.replace(",Wichita,", ",Paris,").replace(",Midwest,", ",Paris,").replace(",USA,", ",Paris,") for line in lines)
        ),
        "'Paris' is not in its taxonomy",
    ),
    "a group that is too small": (
        lambda folder: without_parquet(
            folder, lambda lines: sorted(['20,San Diego,F,cold,n', *lines[1:]])
        ),
        "records, fewer than k = 3",
    ),
    "another discernibility": (
        lambda folder: changed_result(
            folder, lambda result: result["utility"].update(discernibility=1)
        ),
        "a discernibility of 1",
    ),
    "another risk": (
        lambda folder: changed_result(folder, lambda result: result["risk"].update(marketer=0.5)),
        "the marketer risk",
    ),
    "another smallest group": (
        lambda folder: changed_result(
            folder, lambda result: result["anonymity"][0].update(smallest=50)
        ),
        "says smallest = 50",
    ),
    "another Parquet file": (
        lambda folder: (folder / "release.parquet").write_bytes(
            (folder / "release.parquet").read_bytes()[:-9]
        ),
        "release.parquet",
    ),
    "no rows": (lambda folder: without_parquet(folder, lambda lines: []), "has no records"),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_release_is_refused(release, case):
    forge, complaint = FORGED[case]
    forge(release)
    with pytest.raises(VerificationError, match=complaint):
        verify(release)


def test_a_violated_model_is_named_with_its_group(release):
    def one_value(lines):
        first = lines[0].rsplit(",", 2)[0]
        return sorted(
            f"{line.rsplit(',', 2)[0]},cold,n" if line.startswith(first) else line for line in lines
        )

    without_parquet(release, one_value)
    with pytest.raises(VerificationError, match=r"the group Age=.* violates .* of Ill"):
        verify(release)
