"""Houses with different people agree on joint quantiles and release their columns between them.

The files are those of docs/one-table.md: the job of kind `aggregate`, and the table file of each house.
"""

import csv
import json
import re
from collections import Counter

import numpy as np
import pytest

from coterie.__main__ import run
from coterie.coordinator.results.verify import verify
from tests import ROOT

HOUSES = {"north": (45, 12, 300), "south": (35, 8, 200), "west": (60, 9, 250)}


def documented():
    """The job and the table file of the page."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/one-table.md").read_text(), re.DOTALL)
    (job,) = (block for block in blocks if "name: joint-quantiles" in block)
    (table,) = (block for block in blocks if block.startswith("data: north.csv"))
    return job, table


@pytest.fixture(scope="module")
def ages(tmp_path_factory):
    """A folder with each house's people, of different ages."""
    folder = tmp_path_factory.mktemp("houses")
    draw = np.random.default_rng(11)
    people = {}
    for house, (mean, spread, count) in HOUSES.items():
        people[house] = np.clip(draw.normal(mean, spread, count), 17, 90).astype(int).tolist()
        lines = "".join(f"{house}{i},{age}\n" for i, age in enumerate(people[house]))
        (folder / f"{house}.csv").write_text("ID,Age\n" + lines)
    return folder, people


def test_every_group_of_the_union_has_k_people_between_the_joint_quantiles(ages, capsys):
    folder, people = ages
    job, table = documented()
    (folder / "joint.yaml").write_text(job)
    assert run(["simulate", str(folder / "joint.yaml"), "--out", str(folder / "joint")]) == 0
    (group,) = json.loads((folder / "joint/result.json").read_text())["groups"]
    cuts = group["measures"]
    every = sorted(age for own in people.values() for age in own)
    plain = [every[-(-len(every) * share // 4) - 1] for share in (1, 2, 3)]
    assert cuts == plain  # ages are whole numbers, and so are the buckets

    union = Counter()
    for house, own in people.items():
        text = re.sub(r"cuts: \[.*?\]", f"cuts: {cuts}", table).replace("north", house)
        (folder / f"{house}.yaml").write_text(text)
        out = folder / f"{house}-release"
        assert run(["anonymise", str(folder / f"{house}.yaml"), "--out", str(out)]) == 0
        assert verify(out, data=folder / f"{house}.csv")["records"] == len(own)
        with (out / "release.csv").open(newline="") as release:
            shown = Counter(row["Age"] for row in csv.DictReader(release))
        assert min(shown.values()) >= 10
        union += shown
        for label in shown:
            low, high = (float(end) for end in label.strip("[]").split(", "))
            merged = sum(low < cut <= high for cut in cuts)
            between = [sum(a <= age < b for age in own) for a, b in zip([0, *cuts], [*cuts, 99], strict=True)]  # fmt: skip
            assert not merged or min(between) < 10  # a cut is crossed only where too few are left
    assert min(union.values()) >= 10
    assert sum(union.values()) == len(every)
    capsys.readouterr()
