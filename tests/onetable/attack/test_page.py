"""The page of an attack counts the people as a plain count does."""

from tests.coordinator.support import coterie
from tests.jobs.pages.reading import Reading
from tests.onetable.people import anonymised


def test_the_page_counts_who_is_found_and_who_could_be_which_record(tmp_path):
    anonymised(tmp_path)
    page = tmp_path / "attack.html"
    done = coterie(
        "attack", tmp_path / "out", "--known", tmp_path / "people.csv", "--html", page, "--json"
    )
    people = done.json["people"]
    words = Reading(page.read_text()).words
    matched = sum(person["candidates"] > 0 for person in people)
    found = sum(person["candidates"] == 1 == person["rivals"] for person in people)
    assert f"match at least one record: {matched} of {len(people)}." in words
    assert f"and so are found: {found}." in words
