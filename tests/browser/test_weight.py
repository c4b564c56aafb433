"""Reports of 500 columns or ten million records are light enough to open at once.

Seconds depend on the machine and are not asserted here; the size of the file and the number of
elements, which make them, do not.
"""

import pytest

from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.page import Opinion, page, public_parts
from coterie.jobs.pages.release import release_parts
from coterie.onetable.methods.generalizing.report import report_generalized
from coterie.onetable.methods.reading import load_table_file
from tests.browser.conftest import NEEDS_BROWSER
from tests.jobs.pages.test_release import wide

__all__ = ["wide"]
pytestmark = NEEDS_BROWSER
BYTES, ELEMENTS = 3_000_000, 30_000
RECORDS = 10_000_000
COLUMNS = [f"a column of a wide table {at}" for at in range(500)]


def table_file(folder):
    attributes = "".join(f"  {name}: {{range: [0, 9]}}\n" for name in COLUMNS)
    path = folder / "table.yaml"
    path.write_text(
        f"data: people.csv\nmethod: mondrian\nattributes:\n{attributes}requirement:\n"
        f"  - {{qid: [{', '.join(COLUMNS)}], k: 10}}\n"
    )
    return load_table_file(path)


def result_of_ten_millions():
    """As `coterie anonymise --memory` leaves it."""
    qid = {"qid": COLUMNS}
    return {
        "records": RECORDS, "suppressed": 0, "on_disk": True,
        "anonymity": [{**qid, "k": 10, "smallest": 10, "groups": 716_801}],
        "risk": {"by_qid": [{**qid, "prosecutor": 0.1, "marketer": 0.0716801}]},
        "utility": {"discernibility": 143_000_000, "normalised_width": 0.31},
        "job": {"date": "2026-01-01T00:00:00Z", "version": "1", "digest": "0" * 64},
        "seconds": {"read": 40.0, "anonymise": 80.0},
    }  # fmt: skip


@pytest.fixture(params=["columns", "records"])
def parts(request, wide, tmp_path):
    if request.param == "columns":
        return release_parts(wide)
    return report_generalized(table_file(tmp_path), Claim(result_of_ten_millions()), tmp_path)


def test_a_large_report_stays_small_and_opens(browser, parts, tmp_path):
    for name, shown in (("report.html", parts), ("public.html", public_parts(parts))):
        path = tmp_path / name
        whole = page("Report", [], Opinion("holds", "The promise holds", []), shown)
        path.write_text(whole, encoding="utf-8")
        assert path.stat().st_size < BYTES
        browser.get(path.as_uri())
        elements, tall = browser.execute_script(
            "return [document.querySelectorAll('*').length, document.body.offsetHeight]"
        )
        assert elements < ELEMENTS
        assert tall > 300
        assert browser.get_log("browser") == []
