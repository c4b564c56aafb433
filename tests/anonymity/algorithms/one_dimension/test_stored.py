"""Quantiles of a table on disk: the release of the table in memory, in two passes over the file."""

import csv
from collections import Counter

import numpy as np
import pytest

from coterie.anonymity.table.stored import SLICE
from coterie.base.errors import UsageError
from coterie.onetable.methods.generalizing.large import anonymise_large, is_large
from coterie.onetable.methods.quantiles import streamed
from coterie.onetable.methods.reading import load_table_file
from tests.onetable.methods.generalizing.test_large import both_ways, with_gaps
from tests.onetable.methods.quantiles.test_verify_quantiles import TABLE
from tests.onetable.people import write_people

GIVEN = TABLE.replace("[17, 90]}", "[17, 90], cuts: [25, 30, 50]}") + "clusters: given\n"
WAYS = {
    "even": TABLE,
    "of least cost": TABLE + "clusters: cellular\n",
    "sampled": TABLE + "clusters: sampled\nepsilon: 0.2\ndelta: 0.1\n",
    "between given cuts": GIVEN,
    "without a condition": TABLE.replace(", sensitive: Ill, l: 2", "") + "clusters: sampled\n",
    "gaps dropped": TABLE + "missing: drop\nclusters: sampled\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_release_on_disk_is_that_in_memory(tmp_path, way):
    people = with_gaps() if "gaps" in way else None
    both_ways(write_people(tmp_path, WAYS[way], people), tmp_path)


@pytest.fixture
def many(tmp_path):
    """More records than one slice has, of many different numbers, and a file about them."""
    drawn = np.random.default_rng(5).normal(50, 9, SLICE + 3000).round(2)
    lines = "".join(f"p{i},{number}\n" for i, number in enumerate(drawn))
    (tmp_path / "many.csv").write_text("ID,Pay\n" + lines)
    path = tmp_path / "many.yaml"
    path.write_text(
        "data: many.csv\nid: ID\nmethod: quantiles\nclusters: sampled\nepsilon: 0.05\ndelta: 0.05\n"
        "attributes: {Pay: {range: [-50, 150]}}\nrequirement: [{qid: [Pay], k: 2000}]\n"
    )
    return path


def test_the_source_is_read_twice_in_pieces_and_every_group_has_k_by_count(many, monkeypatch):
    file = load_table_file(many)
    assert is_large(file, 10**6)
    begun = []
    honest = streamed.batches

    def counting(source, names, memory):
        begun.append(0)
        for piece in honest(source, names, memory):
            begun[-1] = max(begun[-1], piece.num_rows)
            yield piece

    monkeypatch.setattr(streamed, "batches", counting)
    out = many.parent / "out"
    out.mkdir()
    with anonymise_large(file, 10**6) as large:
        large.write(out)
    assert len(begun) == 2
    assert max(begun) < SLICE
    with (out / "release.csv").open(newline="") as release:
        groups = Counter(row["Pay"] for row in csv.DictReader(release))
    assert sum(groups.values()) == SLICE + 3000
    assert min(groups.values()) >= 2000
    assert len(groups) > 20


def test_groups_by_rank_need_the_table_in_memory(tmp_path):
    file = load_table_file(write_people(tmp_path, TABLE + "by: rank\n"))
    assert not is_large(file, 1)
    with pytest.raises(UsageError, match="has the whole table in memory"), anonymise_large(file, 1):
        pass
