"""Several runs become one result: medians and spreads of what differs, the rest as it is."""

from coterie.bench.saved_results.figures import caption, merged, shown, stamped
from coterie.bench.saved_results.surroundings import now, since


def test_what_differs_gets_its_median_and_spread():
    runs = [
        {"seconds": s, "records": 7, "tool": "x", "parts": [{"bytes": s * 10}]} for s in (3, 1, 2)
    ]
    assert merged(runs) == {
        "seconds": {"median": 2, "low": 1, "high": 3},
        "records": 7,
        "tool": "x",
        "parts": [{"bytes": {"median": 20, "low": 10, "high": 30}}],
    }


def test_a_key_that_one_run_lacks_is_left_out():
    assert merged([{"a": 1, "b": 2}, {"a": 1}]) == {"a": 1}


def test_a_figure_shows_its_spread_where_it_has_one():
    assert shown({"median": 0.0521, "low": 0.05, "high": 0.0634}, " s") == "0.052 s (0.05 to 0.063)"
    assert shown({"median": 0.0521, "low": 0.0519, "high": 0.0521}) == "0.052"
    assert shown(45222) == "45,222"


def test_a_result_says_when_and_how_often_it_was_measured():
    result = stamped([{"seconds": 1.0}, {"seconds": 2.0}], ["--quick"], since(now()))
    assert result["measured"]["arguments"] == ["--quick"]
    assert result["measured"]["date"] in caption(result)
    assert "of 2 runs" in caption(result)
    assert "The load was " in caption(result)


def test_a_result_of_which_only_the_load_was_kept_has_its_old_caption():
    measured = {"date": "2026-01-02", "runs": 1, "arguments": [], "cores": 2, "processor": "P",
                "python": "3.11", "load": 3.0, "version": "1"}  # fmt: skip
    assert caption({"measured": measured}) == (
        "2026-01-02, version 1, 2 cores of P, Python 3.11, load 3.0: one run."
    )
