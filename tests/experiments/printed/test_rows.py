"""The inventory of what the sources print names things that exist."""

from coterie.experiments.printed.listing import text
from coterie.experiments.printed.rows import ROWS, SOURCES, STATES
from coterie.experiments.registry import EXPERIMENTS
from tests import ROOT


def test_every_row_is_shown_by_something_that_exists():
    for row in ROWS:
        kind, _, name = row.place.partition(" ")
        if kind == "experiment":
            assert name in EXPERIMENTS, row.item
        else:
            assert (ROOT / row.place).exists(), row.item


def test_every_source_has_rows_and_every_row_says_what_became_of_it():
    assert {row.source for row in ROWS} == set(SOURCES)
    for row in ROWS:
        assert row.state in STATES
        assert row.printed
        assert bool(row.ours) == (row.state != "lost"), row.item
        if row.state in ("shape", "lost"):
            assert row.note or row.state == "shape", row.item


def test_the_list_has_every_row():
    listed = text()
    assert all(row.item in listed for row in ROWS)
