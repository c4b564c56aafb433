"""Keys that change what is computed: whatever they say, the answer keeps what the policy was promised."""

import csv
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import DataError, RefusedError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.matching.executors import executor_for
from coterie.jobs.matching.identifiers import prepare_identifiers
from tests.jobs.kinds.identify import test_kind as identify
from tests.jobs.kinds.rules import test_kind as rules
from tests.jobs.loans import JOB_FILE, loan_folder, release
from tests.papers.loans import ROWS

SEARCHES = {
    "scores": "hide_scores: false\n",
    "information gain": "score: information-gain\n",
    "anonymity loss": "score: information-gain-per-anonymity-loss\n",
    "no class": "score: discernibility\n",
    "split": "score: discernibility\nsplit: quantile\n",
    "a second phase of columns": "refine: columns\n",
    "a second phase of groups": "refine: groups\n",
    "a strategy that never ends": "adversary: malicious\nepsilon: 1e9\n",
    "a strategy that ends at once": "adversary: malicious\nepsilon: 0\n",
}


@pytest.mark.parametrize("search", SEARCHES)
def test_however_a_table_is_searched_its_groups_have_k_people(tmp_path, search):
    """`score`, `split`, `adversary`, `epsilon` and `hide_scores` choose among tables that hold k."""
    text = JOB_FILE + SEARCHES[search]
    if "discernibility" in text:
        text = text.replace("class: Class\n", "")
    path = loan_folder(tmp_path, text)
    (tmp_path / "out").mkdir()
    simulate(load_job(path), tmp_path, tmp_path / "out", seed="1")
    rows = release(tmp_path / "out")
    assert len(rows) == len(ROWS)
    for qid, k in ((("Sex", "Job"), 4), (("Sex", "Salary"), 5)):
        assert min(Counter(tuple(row[name] for name in qid) for row in rows).values()) >= k


@pytest.mark.parametrize(
    "keys", ["", "boxes: tight\n", "score: gain-ratio\n", "adversary: malicious\n"]
)
def test_however_groups_are_cut_they_have_k_people(tmp_path, keys):
    """`method: mondrian` with extreme priorities: entries that share Sex keep 5 together."""
    text = JOB_FILE + "method: mondrian\nepsilon: 1000\n" + keys
    text = text.replace("range: [1, 99]", "range: [1, 99], priority: 1000000")
    path = loan_folder(tmp_path, text.replace("Sex.csv", "Sex.csv, priority: 0"))
    (tmp_path / "out").mkdir()
    simulate(load_job(path), tmp_path, tmp_path / "out", seed="1")
    groups = Counter((r["Sex"], r["Job"], r["Salary"]) for r in release(tmp_path / "out"))
    assert len(groups) > 1
    assert min(groups.values()) >= 5


def test_no_step_of_identify_is_finer_than_eight_pairs(tmp_path):
    """`round: 0` with the fewest `pairs`: a share moves by eight pairs or by none."""
    keys = "alpha: 0.01\nround: 0\npairs: 1024\nlongest: 2\n"
    result = identify.run(tmp_path, keys)
    shares = [one["separation"] for one in result["sets"] if one["separation"] is not None]
    steps = [(1 - share) * 1024 / 8 for share in shares]
    assert len(steps) > 2
    assert steps == pytest.approx(np.round(steps), abs=1e-4)


def test_no_class_of_supports_is_narrower_than_the_minimum(tmp_path):
    """`round: 0`, the lowest `support` and `confidence`: two supports are equal or classes apart."""
    keys = "support: 0.0001\nconfidence: 0.0001\nlongest: 4\nminimum: 5\nround: 0\n"
    result = rules.run(rules.vertical(tmp_path, keys, rules.people()))
    supports = sorted({one["support"] * rules.N for one in result["sets"]})
    assert len(supports) > 3
    assert min(high - low for low, high in pairwise(supports)) >= 5
    counts = Counter(frozenset(items) for items in zip(*rules.people().values(), strict=True))
    assert min(counts.values()) < 5  # there are few people to be found


HEAD = "kind: intersect\nname: x\nparties: {a: {data: a.csv}, b: {data: b.csv}}\nid: ID\n"


@pytest.mark.parametrize("keys", ["protocol: ring\n", "protocol: oprf\n", "pad_to: 40\n"])
def test_however_records_are_matched_the_same_people_are_common(tmp_path, keys):
    """The partner brings every identifier that it can think of, and finds those that are there."""
    for party, people in (("a", range(0, 30, 3)), ("b", range(40))):
        (tmp_path / f"{party}.csv").write_text("ID\n" + "".join(f"p{i}\n" for i in people))
    path = tmp_path / "job.yaml"
    path.write_text(HEAD + keys)
    (tmp_path / "out").mkdir()
    result = simulate(load_job(path), tmp_path, tmp_path / "out", seed="1")
    assert result["records"] == 10
    with (tmp_path / "out" / "parties" / "b" / "common.csv").open() as file:
        assert [row["ID"] for row in csv.DictReader(file)] == [f"p{i}" for i in range(0, 30, 3)]


def test_a_padding_below_the_set_ends_the_job_without_its_size():
    """`pad_to` as a ruler: the number of records stands in a field that the coordinator is not told."""
    job = parse_job(HEAD + "pad_to: 3\n", {})
    with pytest.raises(DataError) as found:
        prepare_identifiers(job.matching, pa.table({"ID": list("abcd")}), "a.csv")
    assert "4" not in found.value.message(rows=True, value=False)


def test_a_cluster_that_the_party_file_does_not_name_gets_no_key():
    """`compute` would send a secret key to whoever answers at an address of the coordinator."""
    with (
        pytest.raises(RefusedError, match="does not permit"),
        executor_for("dask://attacker:8786", "local", "lender"),
    ):
        pass
