"""Several runs become one result: medians and spreads of what differs, the rest as it is."""

from coterie.bench._figures import caption, merged, shown, stamped


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
    result = stamped([{"seconds": 1.0}, {"seconds": 2.0}], ["--quick"])
    assert result["measured"]["arguments"] == ["--quick"]
    assert result["measured"]["date"] in caption(result)
    assert "of 2 runs" in caption(result)
