"""The benchmark of integrate on a small table of Adult's form: equal leaves, equal timing."""

import numpy as np
import pytest

from coterie.bench.integrate import measure_adult
from coterie.experiments.secure_data_integration.adult_data import CONTINUOUS, NAMES, load_adult

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "taxonomies").mkdir()
    for name in set(NAMES) - set(CONTINUOUS):
        (tmp_path / "taxonomies" / f"{name}.csv").write_text("a;ab;Any\nb;ab;Any\nc;c;Any\n")
    for part, count in (("train", 900), ("test", 300)):
        columns = [
            rng.integers(*CONTINUOUS[name], count)
            if name in CONTINUOUS
            else rng.choice(list("abc"), count)
            for name in NAMES
        ]
        classes = np.where(rng.random(count) < 0.5 + 0.4 * (columns[3] == "a"), ">50K", "<=50K")
        rows = zip(*columns, classes, strict=True)
        lines = [",".join(map(str, row)) for row in rows]
        (tmp_path / f"adult.{part}.csv").write_text(
            "\n".join([",".join([*NAMES, "class"]), *lines]) + "\n"
        )
    yield tmp_path
    load_adult.cache_clear()


def test_all_ways_are_measured_in_the_same_way_with_as_many_leaves(folder):
    found = measure_adult(folder, runs=2, many=1)
    for entry in (found["adult"], found["many"]):
        assert entry["scikit_learn_leaves"] == max(entry["leaves"], 2)
        assert entry["joint_bytes"] > 0
        for way in ("joint", "single", "scikit_learn"):
            assert 0 < entry[f"{way}_seconds"] < entry[f"{way}_seconds_with_coding"]
            assert f"{way}_cpu_seconds" in entry
