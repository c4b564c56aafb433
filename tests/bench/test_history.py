"""The benchmark of judgements remembers real jobs, and they go on or are refused as it says."""

from coterie.anonymity.counts import linear_audit
from coterie.bench import history
from coterie.bench.written_tables.of_jobs import history_judgements


def test_a_growing_set_of_people_goes_on_and_sets_at_random_are_refused(tmp_path, monkeypatch):
    few = history.measure_counts(tmp_path / "few", 4000, 6, history.growing)
    monkeypatch.setattr(linear_audit, "_CELLS", 1000)
    many = history.measure_counts(tmp_path / "many", 200, 12, history.random_half)
    released = history.measure_releases(tmp_path / "releases", 400, 2)
    assert (few["found"], many["found"], released["found"]) == ([], ["differences"], [])
    assert few["state_bytes"] > 6 * 4000 // 10
    assert min(one["memory_bytes"] for one in (few, many, released)) > 0
    rows = history_judgements(
        {"counts": {"few sets": few, "sets at random": many}, "releases": released}
    )
    assert [line.split(" | ")[-1].strip(" |\n") for line in rows.splitlines()[2:]] == [
        "goes on",
        "refused",
        "goes on",
    ]
