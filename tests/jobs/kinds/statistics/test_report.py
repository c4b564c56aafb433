"""Tables in a report have a row for every value and hatch what is hidden."""

from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.statistics.report import report_tables
from coterie.jobs.kinds.statistics.verify_tables import ClaimedTable
from coterie.jobs.pages.markup import element
from tests.jobs.pages.reading import Reading


def page(*tables):
    return Reading(str(element("div", *report_tables(tables, 5).content)))


def table(counts, *domains):
    return ClaimedTable(Claim([]), tuple("ABC"[: len(domains)]), domains, tuple(counts))


def test_counts_stand_in_the_row_and_column_of_their_values():
    shown = page(table([7, None, 9, 11], ("a", "b"), ("x", "y")))
    assert "A x y a 7 hidden b 9 11" in shown.words


def test_three_attributes_have_two_columns_of_labels():
    shown = page(table(range(8), ("a", "b"), ("x", "y"), ("p", "q")))
    assert "a x 0 1 a y 2 3 b x 4 5 b y 6 7" in shown.words


def test_one_attribute_is_one_row():
    assert "x y 5 6" in page(table([5, 6], ("x", "y"))).words


def test_large_tables_are_cut_and_say_so():
    shown = page(table([5] * 5000, tuple(map(str, range(500))), tuple(map(str, range(10)))))
    assert "The rest is in result.json." in shown.words
    assert sum(tag == "td" for tag, _ in shown.tags) == 4000
