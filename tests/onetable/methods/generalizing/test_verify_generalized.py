"""`coterie verify` on releases of one table: it finds whatever was changed afterwards."""

import codecs
import json

import pyarrow.parquet as pq
import pytest

from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from tests.onetable.people import SEVERAL_COLUMNS, TABLE_FILE, anonymised


@pytest.fixture
def folder(tmp_path):
    anonymised(tmp_path)
    return tmp_path / "out"


def change(path, old, new, count=1):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def test_an_untouched_release_holds(folder):
    found = verify(folder)
    assert found["records"] == 40
    assert found["requirements"][0]["models"] == {"distinct 2-diversity": 2.0}


def test_a_byte_order_mark_as_spreadsheets_write_it_changes_nothing(folder):
    found, path = verify(folder), folder / "release.csv"
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert verify(folder) == found


def test_a_row_taken_out_is_found(folder):
    lines = (folder / "release.csv").read_text().splitlines(keepends=True)
    (folder / "release.csv").write_text("".join(lines[:-1]))
    with pytest.raises(VerificationError, match="records is 39"):
        verify(folder)


def test_rows_out_of_order_are_found(folder):
    header, *lines = (folder / "release.csv").read_text().splitlines(keepends=True)
    assert lines[0] != lines[-1]
    (folder / "release.csv").write_text("".join([header, *lines[::-1]]))
    with pytest.raises(VerificationError, match="out of order"):
        verify(folder)


def test_a_group_too_small_is_found(folder):
    header, first, *lines = (folder / "release.csv").read_text().splitlines(keepends=True)
    finer = '"17",' + first.split('",', 1)[1]
    (folder / "release.csv").write_text("".join([header, *sorted([finer, *lines])]))
    with pytest.raises(VerificationError, match="1 record, fewer than k = 3"):
        verify(folder)


def test_a_value_outside_of_the_range_is_found(folder):
    header, *lines = (folder / "release.csv").read_text().splitlines(keepends=True)
    group = lines[0].split('",', 1)[0]
    changed = sorted(line.replace(group, '"[1, 2]', 1) for line in lines)
    (folder / "release.csv").write_text("".join([header, *changed]))
    with pytest.raises(VerificationError, match=r"'\[1, 2\]' is not in its range"):
        verify(folder)


def test_a_value_that_no_taxonomy_has_is_found(folder):
    text = (folder / "release.csv").read_text()
    label = next(
        v for v in ("Lincoln", "Kansas", "Midwest", "California", "USA") if f'"{v}"' in text
    )
    header, *lines = text.replace(f'"{label}"', '"Utopia"').splitlines(keepends=True)
    (folder / "release.csv").write_text("".join([header, *sorted(lines)]))
    with pytest.raises(VerificationError, match="'Utopia' is not in its taxonomy"):
        verify(folder)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("suppressed", 5, "suppressed; the table file allows"),
        ("method", "cluster", "method is mondrian"),
    ],
)
def test_a_result_that_claims_something_else_is_found(folder, key, value, told):
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps(result | {key: value}))
    with pytest.raises(VerificationError, match=told):
        verify(folder)


def test_a_better_utility_than_the_release_has_is_found(folder):
    result = json.loads((folder / "result.json").read_text())
    result["utility"]["discernibility"] -= 1
    (folder / "result.json").write_text(json.dumps(result))
    with pytest.raises(VerificationError, match="discernibility"):
        verify(folder)


@pytest.mark.parametrize("key", ["prosecutor", "marketer", "uniques"])
@pytest.mark.parametrize("of_qid", [False, True])
def test_another_risk_than_claimed_is_found(folder, key, of_qid):
    result = json.loads((folder / "result.json").read_text())
    (result["risk"]["by_qid"][0] if of_qid else result["risk"])[key] *= 0.5
    (result["risk"]["by_qid"][0] if of_qid else result["risk"])[key] += 0.1
    (folder / "result.json").write_text(json.dumps(result))
    with pytest.raises(VerificationError, match=f"the {key} risk by"):
        verify(folder)


def test_the_risk_of_other_qids_is_no_claim_of_this_release(folder):
    result = json.loads((folder / "result.json").read_text())
    result["risk"]["by_qid"] = []
    (folder / "result.json").write_text(json.dumps(result))
    with pytest.raises(VerificationError, match="other qids than those required"):
        verify(folder)


def test_a_smaller_smallest_group_than_claimed_is_found(folder):
    result = json.loads((folder / "result.json").read_text())
    result["anonymity"][0]["smallest"] += 1
    (folder / "result.json").write_text(json.dumps(result))
    with pytest.raises(VerificationError, match="smallest"):
        verify(folder)


def test_a_value_above_the_bounds_is_found(tmp_path):
    bounds = TABLE_FILE.replace("Place.csv}", "Place.csv, at_most: [California, Kansas, Nebraska]}")
    anonymised(tmp_path, bounds + "max_suppression: 0.5\n")
    release = tmp_path / "out/release.csv"
    text = release.read_text()
    for state in ("California", "Kansas", "Nebraska", "Lincoln", "Wichita", "San Diego"):
        text = text.replace(f'"{state}"', '"USA"')
    header, *lines = text.splitlines(keepends=True)
    release.write_text("".join([header, *sorted(lines)]))
    with pytest.raises(VerificationError, match="'USA' is above the bounds"):
        verify(tmp_path / "out")


@pytest.mark.parametrize("method", SEVERAL_COLUMNS)
def test_the_release_of_every_method_holds(tmp_path, method):
    bounds = TABLE_FILE.replace("Place.csv}", "Place.csv, at_most: [West, Midwest]}")
    for text in (TABLE_FILE, bounds):
        result = anonymised(tmp_path, text.replace("method: mondrian", f"method: {method}"))
        assert result["method"] == method
        assert verify(tmp_path / "out")["records"] == 40


def test_overlapping_values_of_a_whole_column_are_found(tmp_path):
    text = TABLE_FILE.replace("method: mondrian", "method: incognito")
    anonymised(tmp_path, text)
    release = tmp_path / "out/release.csv"
    shown = release.read_text()
    label = next(v for v in ("Kansas", "Midwest", "USA", "Lincoln") if f'"{v}"' in shown)
    half = shown.count(f'"{label}"') // 2
    other = "USA" if label != "USA" else "West"
    header, *lines = shown.replace(f'"{label}"', f'"{other}"', half).splitlines(keepends=True)
    release.write_text("".join([header, *sorted(lines)]))
    with pytest.raises(VerificationError, match="overlap"):
        verify(tmp_path / "out")


def test_a_parquet_file_beside_the_release_has_its_rows(tmp_path):
    anonymised(tmp_path, TABLE_FILE, "--parquet")
    verify(tmp_path / "out")
    path = tmp_path / "out/release.parquet"
    table = pq.read_table(path)
    assert table.num_rows == 40
    pq.write_table(table.slice(1), path)
    with pytest.raises(VerificationError, match=r"release.parquet: column 'Age'"):
        verify(tmp_path / "out")
