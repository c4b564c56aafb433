"""The pages of `inspect`, `attack` and the demo in a real browser."""

import pytest

from tests.browser.axe import violations, violations_anywhere
from tests.browser.conftest import NEEDS_BROWSER
from tests.browser.shown import demo_report, summary_of
from tests.browser.waiting import fits
from tests.coordinator.support import coterie
from tests.onetable.people import anonymised

pytestmark = NEEDS_BROWSER
HOSTILE = "<img src=x onerror=document.title='taken'>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Both pages, of a table with a hostile column name and a release."""
    folder = tmp_path_factory.mktemp("pages")
    text = "".join(f"{n % 7},{n % 3},{n}\n" for n in range(60))
    (folder / "table.csv").write_text(f'"{HOSTILE}",b,c\n{text}')
    assert coterie("inspect", folder / "table.csv", "--html", folder / "inspect.html").code == 0
    anonymised(folder)
    done = coterie(
        "attack", folder / "out", "--known", folder / "people.csv", "--html", folder / "attack.html"
    )
    assert done.code == 0
    return folder


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summary_of(demo_report(tmp_path_factory.mktemp("demo")))


@pytest.mark.parametrize("name", ["inspect.html", "attack.html"])
@pytest.mark.parametrize("width", [400, 1400])
def test_a_page_loads_nothing_fits_its_window_and_can_be_read_by_everybody(
    browser, folder, name, width
):
    browser.set_window_size(width, 1000)
    browser.get((folder / name).as_uri())
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    inner, whole = browser.execute_script(
        "return [document.documentElement.clientWidth, document.documentElement.scrollWidth]"
    )
    assert whole <= inner
    assert browser.title != "taken"
    assert violations(browser) == []


def test_the_summary_of_the_demo_can_be_read_by_everybody(browser, summary):
    browser.get(summary.as_uri())
    assert [width for width in (400, 1400) if not fits(browser, width)] == []
    assert violations_anywhere(browser) == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.get_log("browser") == []
    finding = browser.find_element("css selector", "main h1")
    assert (finding.location["y"] < 300, "times as often" in finding.text) == (True, True)
    assert len(browser.find_elements("css selector", ".grid .shade")) == 9
