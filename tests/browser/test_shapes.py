"""Charts, wide tables and drawings of all kinds in a real browser: nothing is cut, nothing sticks out.

The page is made of the parts that reports are made of, with long names and many columns.
"""

import pytest

from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.models.regress_report import report_model
from coterie.jobs.kinds.models.verify_regress import ClaimedModel, ModelPromise
from coterie.jobs.kinds.statistics.drawing import draw_net
from coterie.jobs.kinds.statistics.report import report_drawing, report_tables
from coterie.jobs.kinds.statistics.verify_tables import ClaimedTable
from coterie.jobs.pages.charts import bars, histogram, overlap, steps, strip
from coterie.jobs.pages.page import Opinion, Part, page, table
from tests.browser.conftest import NEEDS_BROWSER

pytestmark = NEEDS_BROWSER
LONG = "Municipality of residence in the year before"
NAMES = ["Municipality_W", "Age", "Education"]
ACROSS = [f"value number {at}" for at in range(12)]
# Labels of charts that reach beyond the frame of their chart, and so are cut.
CUT = """
return [...document.querySelectorAll('svg:not(.drawn) text')].filter(text => {
  const box = text.getBBox(), frame = text.ownerSVGElement.viewBox.baseVal;
  return box.x < -1 || box.x + box.width > frame.width + 1 || box.y < -1 || box.y + box.height > frame.height + 1;
}).map(text => text.textContent);
"""


def charts():
    return [
        bars("short names", [(name, 1.0 + at, "100 %") for at, name in enumerate(NAMES)]),
        bars("long names", [(LONG, 1.0, "12,345.6"), (f"{LONG}, {LONG}", 0.1, "1 %")]),
        overlap("common", [LONG, "b"]),
        overlap("common", NAMES),
        histogram("sizes", [(f"{n}k–{n + 1}k", 1e6) for n in range(9)], "records in a group"),
        steps("growth", {name: [0.0, 1.0, 12.5] for name in NAMES}, "steps, from first to last"),
        strip("range", [0, 10, 40], [0.25, 0.75], ["[1000000, 2000000)", "[2000000, 40000000]"]),
    ]


def parts():
    counts = tuple(None if at % 3 else at for at in range(2 * len(ACROSS)))
    hidden = ClaimedTable(Claim([]), ("Sex", LONG), (("F", "M"), tuple(ACROSS)), counts)
    columns = (f"{LONG}=Stockholm", "Age")
    promise = ModelPromise(
        "cox", "Died", columns, 2, 5, 10, (), ("no", "yes"), {LONG: "Kiruna"}, LONG
    )
    model = ClaimedModel(
        promise, 40, (9.0, -4.0), (1.0, 1.0), None, None, 3, {}, True, [(10.0, 0.9), (128.0, 0.4)]
    )  # fmt: skip
    net = draw_net(NAMES, [("Age", "Education")], {"Age": "bank"}, ["bank", "lender", "card"])
    return [
        Part("Charts", charts(), public=False),
        report_tables([hidden], 5),
        *report_model(model),
        report_drawing("The net", own=("It is small.", net), public=("It is small.", net)),
        Part("Wide", [table(ACROSS, [ACROSS], range(1, 12))], public=False),
    ]


@pytest.fixture(scope="module")
def shown(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("shapes") / "page.html"
    opinion = Opinion("holds", "It holds", ["because"])
    path.write_text(page("Shapes", [], opinion, parts()), encoding="utf-8")
    browser.get(path.as_uri())
    return browser


@pytest.mark.parametrize("width", [400, 1400])
def test_no_label_of_a_chart_is_cut_and_nothing_is_wider_than_the_window(shown, width):
    emulated = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", emulated)
    assert shown.execute_script(CUT) == []
    inner, whole, net = shown.execute_script(
        "return [document.documentElement.clientWidth, document.documentElement.scrollWidth,"
        " document.querySelector('svg.drawn').getBoundingClientRect().width]"
    )
    assert whole <= inner
    assert net < inner
