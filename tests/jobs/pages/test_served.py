"""The shell of a served page holds what everybody may read, and is well-formed."""

from coterie.jobs.pages.served import SCRIPT, action, hidden, log_box, shell
from tests.jobs.pages.reading import Reading


def test_a_shell_has_a_place_for_every_part_and_one_script_of_its_own():
    page = Reading(shell("Title", ["first", "second"], log_box()))
    ids = [attributes.get("id") for _, attributes in page.tags]
    assert {"notice", "first", "second", "log"} <= set(ids)
    assert [attributes["src"] for tag, attributes in page.tags if tag == "script"] == ["/script.js"]


def test_a_form_carries_its_fields_and_asks_first_where_it_should():
    form = Reading(str(action("approve", "Approve", hidden("job", '"><b>'), sure="Really?")))
    assert form.tags[0] == ("form", {"data-action": "approve", "data-sure": "Really?"})
    assert form.tags[1][1]["value"] == '"><b>'
    assert "b" not in form.names


def test_the_script_never_builds_markup_from_text():
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"):
        assert name not in SCRIPT
