"""Makes the pictures of README and docs from a real run in a real browser: `make pictures`.

    python -m tests.browser.pictures docs/pictures

Needs chromium and chromedriver. The pictures show the demo's generated people.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.browser.conftest import opened

PEOPLE = 100_000  # so many that the page is seen while the job runs
WIDTH, HEIGHT = 1000, 1060
RATE = re.compile(r"sends (\w+ )?[\d.]+ [kM]B/s")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, opened(Path(place) / "profile") as browser:
        browser.set_window_size(WIDTH, HEIGHT)
        command = ["demo", "--live", "--people", str(PEOPLE), "--out", f"{place}/demo"]
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
        browser.save_screenshot(str(folder / "live.png"))
        demo.stderr.read()
        assert demo.wait() == 0
        browser.get((Path(place) / "demo" / "result" / "report.html").as_uri())
        browser.save_screenshot(str(folder / "report.png"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
