"""Makes the pictures of README and docs from real runs in a real browser: `make pictures`.

    python -m tests.browser.pictures docs/pictures

Needs chromium and chromedriver. The pictures show the demo's generated people. Beside them is
`shown.json`, by which `tests/browser/test_pictures.py` finds a picture that is old.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.browser import shown
from tests.browser.conftest import opened

PEOPLE = 40_000  # so many that the page is seen while the job runs
WIDTH, HEIGHT = 1000, 1060
RATE = re.compile(r"sends (\w+ )?[\d.]+ [kM]B/s")
IN_SIGHT = """
const tops = [...document.querySelectorAll('section > h2[id^=part]')].map(h => h.getBoundingClientRect().top);
return tops.filter(top => top < innerHeight).length;
"""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, opened(Path(place) / "profile") as browser:
        browser.set_window_size(WIDTH, HEIGHT)
        take_live(browser, Path(place) / "demo", folder / "live.png")
        parts = take_report(browser, report := shown.demo_report(Path(place) / "small"), folder)
        summary = take_summary(browser, report, folder)
        digests = {
            "summary.png": shown.digests_of_summary(summary),
            "live.png": shown.digests_of_live_page(),
            "report.png": {"parts": parts, **shown.digests_of_report(report.read_text(), parts)},
        }
    for name, found in digests.items():
        found["picture"] = shown.digest((folder / name).read_bytes())
    (folder / shown.FILE).write_text(json.dumps(digests, indent=1) + "\n")


def take_live(browser, place: Path, picture: Path) -> None:
    command = ["demo", "--live", "--people", str(PEOPLE), "--out", str(place)]
    demo = subprocess.Popen(
        [sys.executable, "-m", "coterie", *command], stderr=subprocess.PIPE, text=True
    )
    link = next(found[1] for line in demo.stderr if (found := re.match(r"live: (\S+)", line)))
    browser.get(link)
    while houses := browser.find_elements("id", "houses"):
        if RATE.search(houses[0].text):
            break
        time.sleep(0.02)
    else:
        raise SystemExit("the job ended before the live page showed what flows: more PEOPLE")
    browser.save_screenshot(str(picture))
    demo.stderr.read()
    assert demo.wait() == 0


def take_report(browser, report: Path, folder: Path) -> int:
    """Takes the picture; returns how many parts of the report begin in it."""
    browser.get(report.as_uri())
    browser.save_screenshot(str(folder / "report.png"))
    return int(browser.execute_script(IN_SIGHT))


def take_summary(browser, report: Path, folder: Path) -> str:
    page = shown.summary_of(report)
    browser.get(page.as_uri())
    browser.save_screenshot(str(folder / "summary.png"))
    return page.read_text()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
