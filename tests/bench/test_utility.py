"""The benchmark of what methods keep, on a small table of Adult's form."""

import json

import pytest

from coterie.bench import utility
from tests.bench.test_integrate import folder  # noqa: F401 - a fixture


@pytest.mark.filterwarnings("ignore")
def test_the_joint_table_is_that_of_one_table_and_every_way_has_its_figures(
    folder,  # noqa: F811
    capsys,
    monkeypatch,
):
    monkeypatch.setattr(utility, "TRAINING", 900)
    options = ["--data", str(folder), "--k", "10", "--records", "3000"]
    assert utility.main(options) == 0
    result = json.loads(capsys.readouterr().out)
    for name in utility.TABLES:
        rows = {row["tool"]: row for row in result[name]}
        assert len(rows) == len(utility.WAYS) + len(utility.JOINT)
        joint, one = (
            rows["joint, method: mondrian"],
            rows["one table, method: mondrian, rule: width"],
        )
        assert joint["groups"] == one["groups"] > 10
        assert joint["query_error"] == pytest.approx(one["query_error"])
        assert joint["messages"] > 0 < joint["sent_bytes"]
        tight = rows["one table, method: mondrian, rule: width, boxes: tight"]
        assert tight["width"] <= one["width"]
        wide = rows["one table, method: mondrian, boxes: regions"]
        assert wide["groups"] == rows["one table, method: mondrian"]["groups"]
        assert wide["width"] >= rows["one table, method: mondrian"]["width"]
    assert [row["records"] for row in result["scale"]] == [3000, 3000]
    assert len(result["targets"]) == 3
    assert all(entry["figure"] is not None for entry in result["targets"])
