"""Charts draw what they are given, within their frame, and say what they show."""

import itertools
import re

import numpy as np
import pytest

from coterie.jobs.pages.charts import WIDTH, bars, histogram, overlap, short_number, steps, strip
from tests.jobs.pages.reading import Reading


def shapes(chart, tag):
    return [attributes for name, attributes in Reading(str(chart)).tags if name == tag]


def test_bars_are_as_long_as_their_values():
    drawn = shapes(
        bars("lengths", [("a", 1.0, "one"), ("b", 0.5, "half"), ("c", 0.0, "none")]), "rect"
    )
    lengths = [float(bar["width"]) for bar in drawn]
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=0.2)
    assert lengths[2] == 1


def test_a_histogram_has_a_column_for_every_value_but_nothing():
    drawn = shapes(histogram("sizes", [("1", 4.0), ("2", 0.0), ("3", 2.0)], "size"), "rect")
    assert [float(bar["height"]) for bar in drawn] == [154.0, 77.0]


def test_numbers_that_would_touch_are_written_short():
    drawn = str(histogram("sizes", [(f"{n}", 1_234_567.0 + n) for n in range(9)], "size"))
    assert "1.23M" in drawn
    assert "1,234,567" not in drawn
    assert "1,234,567" in str(histogram("sizes", [("1", 1_234_567.0)], "size"))


def test_short_numbers_have_at_most_five_characters():
    shown = [short_number(value) for value in (0, 7, 999, 1000, 12_345, 999_499, 10**7, 2.5e9)]
    assert shown == ["0", "7", "999", "1k", "12.3k", "999k", "10M", "2.5G"]


def test_steps_end_where_the_series_do_and_names_do_not_cover_each_other():
    chart = steps("growth", {"one": [0, 1, 1], "two": [0, 1, 1], "three": [0, 0, 0]}, "time")
    assert len(shapes(chart, "path")) == 3
    places = sorted(
        float(text["y"]) for text in shapes(chart, "text") if "ink" in text.get("class", "")
    )
    assert all(b - a >= 15.9 for a, b in itertools.pairwise(places))


def test_a_strip_fills_the_width_with_its_intervals():
    drawn = shapes(strip("range", [0, 10, 40], [0.25, 0.75], ["[0, 10)", "[10, 40]"]), "rect")
    assert sum(float(part["width"]) for part in drawn) == pytest.approx(WIDTH)
    assert float(drawn[0]["width"]) == pytest.approx(WIDTH / 4)


@pytest.mark.parametrize(
    "chart",
    [bars("words", []), histogram("words", [], ""), steps("words", {"a": [0.0]}, ""), strip("words", [0, 0], [1.0], ["0"])],
)  # fmt: skip
def test_a_chart_without_data_is_still_a_chart_and_says_what_it_shows(chart):
    page = Reading(str(chart))
    assert page.tags[0][1]["role"] == "img"
    assert page.tags[0][1]["aria-label"] == "words"


def test_ten_thousand_steps_of_twenty_parties_stay_small_and_end_where_they_end():
    grown = {f"party {at}": np.cumsum(np.arange(10_001) % 20 == at).tolist() for at in range(20)}
    chart = str(steps("growth", grown, "time"))
    assert len(chart) < 200_000
    [path] = list(shapes(steps("growth", {"a": grown["party 0"]}, ""), "path"))
    last = [float(number) for number in re.findall(r"[HV]([\d.]+)", path["d"])[-2:]]
    assert last == [414.0, 14.0]  # the end of the axis, and the largest value


def test_what_a_chart_shows_is_told_on_one_line_without_marks_of_direction():
    drawn = str(bars("mean of \u202eegA\n by " + "x" * 10_000, [("a", 1.0, "1")]))
    assert "mean of ?egA by x" in drawn
    assert "\u202e" not in drawn
    assert len(drawn) < 3_000


def test_long_names_stand_above_their_bars_and_short_ones_beside_them():
    short, long = (bars("", [(name, 1.0, "one"), ("b", 1.0, "one")]) for name in ("a", "a" * 40))
    for chart, above in ((short, False), (long, True)):
        name, bar = shapes(chart, "text")[0], shapes(chart, "rect")[0]
        assert (float(name["y"]) < float(bar["y"])) is above
        assert (float(name["x"]) < float(bar["x"])) is not above


def test_of_very_long_names_the_middle_is_left_out_and_shown_on_request():
    name = f"diagnosis_code_{'x' * 60}_of_2019_first"
    drawn = str(bars("lengths", [(name, 1.0, "one")]))
    assert "diagnosis_code_xxx" in drawn
    assert "xxx_of_2019_first<" in drawn
    assert f"<title>{name}</title>" in drawn


def test_an_overlap_fills_equally_much_of_each_row_and_leaves_the_rest_open():
    chart = overlap("common", ["bank", "lender", "card"])
    assert len({bar["width"] for bar in shapes(chart, "rect")}) == 1
    assert len(shapes(chart, "path")) == len(shapes(chart, "rect")) == 3
