"""The report in a real browser: it asks nobody for anything, fits its window, and can be read."""

import pytest

from tests.browser.axe import violations
from tests.browser.conftest import NEEDS_BROWSER
from tests.coordinator.support import coterie
from tests.jobs.loans import JOB_FILE, loan_folder

pytestmark = NEEDS_BROWSER
HOSTILE = ["<img src=x onerror=document.title='taken'>", "‮evil", "x" * 10_000]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loans")
    path = loan_folder(folder, JOB_FILE, zodiac=HOSTILE)
    assert coterie("simulate", path, "--out", folder / "out").code == 0
    return folder / "out"


@pytest.fixture(params=["report.html", "public.html"])
def page(request, browser, folder):
    browser.set_window_size(1400, 1000)
    browser.get((folder / request.param).as_uri())
    return browser


def test_nothing_is_loaded_and_nothing_is_complained_about(page):
    loaded = page.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert loaded == []
    assert page.get_log("browser") == []


def test_screen_readers_find_nothing_to_complain_about(page):
    assert violations(page) == []


def test_the_verdict_is_seen_first(page):
    first = page.find_element("css selector", "main section h2")
    assert first.text == "Each of the 2 entries holds, but not all columns together"
    assert first.location["y"] < 400


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_is_never_wider_than_its_window(page, width):
    page.set_window_size(width, 1000)
    page.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    inner, whole = page.execute_script(
        "return [document.documentElement.clientWidth, document.documentElement.scrollWidth]"
    )
    assert whole <= inner


def test_hostile_values_are_text(page):
    assert page.title != "taken"
    assert page.find_elements("css selector", "img, script") == []


CONTRAST = """
const luminance = ([r, g, b]) => {
  const linear = [r, g, b].map(c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4 });
  return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2];
};
const parsed = text => text.match(/[\\d.]+/g).map(Number);
const behind = node => {
  for (let at = node; at; at = at.parentElement) {
    const found = parsed(getComputedStyle(at).backgroundColor);
    if (found.length === 3 || found[3] > .99) return found;
  }
  return [255, 255, 255];
};
let worst = [99, ''];
for (const node of document.querySelectorAll('h1,h2,h3,p,li,td,th,a,summary,svg:not(.drawn) text')) {
  if (!node.textContent.trim()) continue;
  const style = getComputedStyle(node);
  const ink = luminance(parsed(node instanceof SVGElement ? style.fill : style.color));
  const paper = luminance(behind(node));
  const ratio = (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05);
  if (ratio < worst[0]) worst = [ratio, node.textContent.slice(0, 60)];
}
return worst;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_light_and_dark(page, scheme):
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    ratio, text = page.execute_script(CONTRAST)
    assert ratio >= 4.5, text


def test_headings_lead_from_the_contents_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    page.find_element("tag name", "body").send_keys(Keys.TAB)
    link = page.switch_to.active_element
    assert link.tag_name == "a"
    link.send_keys(Keys.ENTER)
    anchor = link.get_attribute("href").split("#")[1]
    assert (
        page.find_element("id", anchor).location["y"] >= page.execute_script("return scrollY") - 1
    )
