"""A page loads nothing, has its verdict first, and is built so that a reader of screens finds its way."""

from coterie.jobs.pages.page import Opinion, Part, file_text, folded, moment, note, page, table
from tests.jobs.pages.reading import Reading, loads

PARTS = [
    Part("First", [note("words"), table(["a", "b"], [["x", "1"]], (1,))], public=True),
    Part("Second", [folded("more", note("less"))], public=False),
]
PAGE = page("Title", ["about"], Opinion("holds", "It holds", ["because"]), PARTS)


def test_a_page_loads_nothing_and_its_own_policy_forbids_it():
    assert loads(PAGE) == []
    policies = [a["content"] for tag, a in Reading(PAGE).tags if a.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_the_verdict_stands_before_everything_else():
    words = Reading(PAGE).words
    assert words.index("It holds") < words.index("First") < words.index("Second")


def test_what_the_lines_of_a_verdict_are_is_said_before_them():
    opinion = Opinion("holds", "It holds", ["because"], "Checked again:")
    assert "It holds Checked again: because" in Reading(page("Title", [], opinion, [])).words


def test_a_time_is_written_for_a_person_and_anything_else_stays_text():
    assert Reading(str(moment("2026-01-31T09:05:07Z"))).words == "2026-01-31 09:05:07 UTC"
    assert Reading(str(moment("2026-01-31T09:05:07.25+00:00"))).words == "2026-01-31 09:05:07 UTC"
    strange = Reading(str(moment("<b>now</b>")))
    assert "b" not in strange.names
    assert strange.words == "<b>now</b>"


def test_every_heading_of_the_contents_leads_to_a_part():
    tags = Reading(PAGE).tags
    links = {a["href"].removeprefix("#") for tag, a in tags if tag == "a"}
    assert links == {a["id"] for tag, a in tags if tag == "h2" and a["id"] != "verdict"}


def test_tables_can_be_scrolled_by_keyboard_and_have_headings():
    tags = Reading(PAGE).tags
    assert [a["tabindex"] for _, a in tags if a.get("class") == "wide"] == ["0"]
    assert [a["scope"] for tag, a in tags if tag == "th"] == ["col", "col"]


def test_a_page_says_its_language_and_fits_a_phone():
    tags = Reading(PAGE).tags
    assert ("html", {"lang": "en"}) in tags
    assert any(a.get("name") == "viewport" for _, a in tags)


def test_a_table_of_sentences_names_the_head_of_every_cell():
    cells = [
        attributes
        for tag, attributes in Reading(
            str(table(["what", "why"], [["a", "b"]], sentences=True))
        ).tags
        if tag == "td"
    ]
    assert [cell["data-head"] for cell in cells] == ["what", "why"]


def test_a_long_file_is_shown_up_to_a_length():
    shown = str(file_text("x" * 200_000, "job.yaml"))
    assert len(shown) < 101_000
    assert "the rest is in job.yaml" in shown
