"""Everyday data in one table: numbers without a value, dates and times, in every method."""

import csv
import datetime
import json

import numpy as np
import pyarrow as pa
import pytest

from coterie.__main__ import run
from coterie.jobs.run.archive import saved_path
from coterie.onetable.interface.frames import anonymise
from tests.onetable.people import SEVERAL_COLUMNS

N = 120
FILE = """\
data: people.csv
method: {method}
class: Class
attributes:
  Pay: {{range: [0, 100], missing: value}}
  Born: {{range: [1950-01-01, 1999-12-31]}}
requirement:
  - {{qid: [Pay, Born], k: 4}}
max_suppression: 0.1
"""


def table(seed=2):
    rng = np.random.default_rng(seed)
    pay = [str(value) for value in rng.integers(0, 101, N)]
    pay[:40] = [""] * 20 + ["?"] * 20
    days = np.datetime64("1950-01-01") + rng.integers(0, 18_000, N)
    return list(zip(pay, map(str, days), rng.choice(["Y", "N"], N), strict=True))


def write(folder, method, rows):
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Pay", "Born", "Class"])
        writer.writerows(rows)
    path = folder / "people.yaml"
    path.write_text(FILE.format(method=method))
    return path


@pytest.mark.parametrize("method", SEVERAL_COLUMNS)
def test_every_method_covers_each_value_missing_ones_too(tmp_path, method):
    rows = table()
    out = tmp_path / "out"
    assert run(["anonymise", str(write(tmp_path, method, rows)), "--out", str(out)]) == 0
    assert run(["verify", str(out)]) == 0
    with (out / "release.csv").open(newline="") as file:
        released = list(csv.DictReader(file))
    pays = {row["Pay"] for row in released}
    # How many released rows may stand for a missing value, and how many for a number.
    unknown = sum("?" in row["Pay"] for row in released)
    known = sum(row["Pay"] != "?" for row in released)
    suppressed = json.loads((out / "result.json").read_text())["suppressed"]
    assert unknown >= 40 - suppressed
    assert known >= N - 40 - suppressed
    assert all(value == "?" or value[0] in "[0123456789" for value in pays)
    assert all(row["Born"].lstrip("[")[:2] == "19" for row in released)


def test_a_frame_with_dates_and_gaps_needs_no_more_words():
    rng = np.random.default_rng(1)
    born = [
        datetime.date(1980, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 900, 60)
    ]
    frame = pa.table({"age": [None] * 20 + list(range(40)), "born": born})
    release = anonymise(frame, ["age", "born"], 5, missing="value")
    assert "?" in release.table.column("age").to_pylist()
    shown = release.table.column("born").to_pylist()
    assert all(value.removeprefix("[").startswith("198") for value in shown)


def test_a_release_that_hides_a_gap_in_an_interval_is_found(tmp_path, capsys):
    out = tmp_path / "out"
    run(["anonymise", str(write(tmp_path, "datafly", table())), "--out", str(out)])
    path = saved_path(out)
    path.write_text(path.read_text().replace(", missing: value", ""))
    capsys.readouterr()
    assert run(["verify", str(out)]) == 8
