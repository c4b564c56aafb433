"""A release made on disk is verified slice by slice, and a forged one refused, as one in memory is."""

import codecs
import csv
import json

import pytest

from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from coterie.onetable.methods.generalizing.large import anonymise_large
from coterie.onetable.methods.reading import load_table_file
from tests.onetable.people import TABLE_FILE, rows, write_people

APART = TABLE_FILE.replace(
    "{qid: [Age, Place, Sex], k: 3, sensitive: Ill, l: 2}",
    "{qid: [Age, Sex], k: 3}\n  - {qid: [Place], k: 3}",
)


@pytest.fixture
def release(request, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "coterie.onetable.methods.generalizing.verify_stored._SLICE", 7
    )  # so that there are slices
    monkeypatch.setattr("coterie.onetable.methods.generalizing.verify_stored._COUNTS", 20)
    text = getattr(request, "param", TABLE_FILE)
    file = load_table_file(write_people(tmp_path, text, rows(60)))
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


def forged(folder, change, in_order=True):
    """Replaces the rows of the release by what `change` makes of them."""
    (folder / "release.parquet").unlink()
    path = folder / "release.csv"
    with path.open(newline="") as file:
        header, *found = csv.reader(file)
    made = change(found)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *(sorted(made) if in_order else made)])


@pytest.mark.parametrize(
    "release", [TABLE_FILE, APART], ids=["one entry", "two entries"], indirect=True
)
def test_slices_find_what_the_whole_release_has(release):
    on_disk = verify(release)
    apart = len(on_disk["requirements"]) == 2
    assert ("together" in on_disk) is apart
    changed_result(release, lambda result: result.pop("on_disk"))
    assert verify(release) == on_disk


def test_a_byte_order_mark_changes_nothing(release):
    found, path = verify(release), release / "release.csv"
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert verify(release) == found


def test_the_columns_may_be_too_many_for_one_number(release, monkeypatch):
    expected = verify(release)
    monkeypatch.setattr("coterie.onetable.methods.generalizing.verify_stored._ROOM", 50)
    assert verify(release) == expected


FORGED = {
    "another number of records": (
        lambda folder: forged(folder, lambda found: found[1:]),
        "records is 59",
    ),
    "rows out of order": (
        lambda folder: forged(folder, lambda found: [*found[1:], found[0]], in_order=False),
        "is out of order",
    ),
    "a value that the taxonomy lacks": (
        lambda folder: forged(folder, lambda found: [[a, "Paris", *rest] for a, _, *rest in found]),
        "'Paris' is not in its taxonomy",
    ),
    "a group that is too small": (
        lambda folder: forged(
            folder, lambda found: [["20", "San Diego", "F", "cold", "n"], *found[1:]]
        ),
        "has 1 record, fewer than k = 3",
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
    "no rows": (lambda folder: forged(folder, lambda found: []), "has no records"),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_release_is_refused(release, case):
    forge, complaint = FORGED[case]
    forge(release)
    with pytest.raises(VerificationError, match=complaint):
        verify(release)


def test_a_violated_model_is_named_with_its_group(release):
    def one_value(found):
        return [[*row[:3], "cold", row[4]] if row[:3] == found[0][:3] else row for row in found]

    forged(release, one_value)
    with pytest.raises(VerificationError, match=r"the group Age=.* violates .* of Ill"):
        verify(release)
