"""What a release costs: for the parties everything that was measured, for all what the release gives."""

from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import element
from coterie.jobs.pages.measures import measures_part
from coterie.jobs.pages.page import public_parts
from tests.jobs.pages.reading import Reading

UTILITY = {
    "discernibility": 12_345,
    "normalised_width": 0.25,
    "precision": 0.75,
    "entropy_loss": 0.5,
    "query_error": {"mean": 0.111, "median": 0.1, "queries": 200},
    "class_error": {"release": 0.222, "raw": 0.2, "none": 0.4},
}


def words(part):
    return Reading(str(element("div", *part.content))).words


def test_every_measure_has_its_value_and_a_sentence():
    told = words(measures_part(Claim(UTILITY), Claim({"bank": 0.333}).entries()))
    for shown in ("discernibility 12,345 For", "entropy loss 0.5 The", "query error mean 0.111 How",
                  "class error release 0.222 The", "class error bank 0.333 The same"):  # fmt: skip
        assert shown in told
    assert "columns of bank alone" in told
    assert "queries" not in told.replace("random queries", "")


def test_the_public_variant_has_the_measures_of_the_release_itself():
    [public] = public_parts([measures_part(Claim(UTILITY), Claim({"bank": 0.333}).entries())])
    told = words(public)
    assert "discernibility 12,345" in told
    assert "precision 0.75" in told
    for raw in ("entropy", "query", "class error", "bank"):
        assert raw not in told


def test_measures_that_all_need_the_table_are_not_public():
    assert public_parts([measures_part(Claim({"entropy_loss": 0.5}))]) == []
