"""What the pictures of the docs show, as text that is the same on every machine.

A picture is old when its page has changed since. Pixels differ between machines and fonts, so the
digests of what the browser was given are compared: the elements and words of the page as far as the
picture reaches, and its style. Times, and what is drawn at random, are in none of them.
"""

from __future__ import annotations

import hashlib
import json
import re
import urllib.request
from pathlib import Path

from coterie.coordinator.demo import demo
from coterie.coordinator.demo.summary_page import PAGE, write_summary
from coterie.coordinator.run.live_page import LivePage
from coterie.coordinator.run.progress import Board
from coterie.jobs.kinds.job_file import load_job
from tests.coordinator.run.test_live_page import Clock, Reader
from tests.coordinator.support import coterie

FILE = "shown.json"
PEOPLE, SEED = 5000, 7  # as of `coterie demo`
_STYLE = re.compile(r"<style>(.*?)</style>", re.S)


def demo_report(folder: Path) -> Path:
    """The report of the demo's job, which a simulation writes as the servers' run does."""
    demo.prepare(folder, PEOPLE, SEED, demo.default_kind(), demo.Setting.local())
    done = coterie("simulate", folder / demo.ANALYST / "job.yaml", "--out", folder / "result")
    assert done.code == 0, done.err
    result = json.loads((folder / "result" / "result.json").read_text())
    write_summary(folder, load_job(folder / demo.ANALYST / "job.yaml"), result)
    return folder / "result" / "report.html"


def summary_of(report: Path) -> Path:
    """The page that the demo ends with, beside the folder of its report."""
    return report.parent.parent / PAGE


def digests_of_summary(page: str) -> dict[str, str]:
    """All of the page but its last section, which has seconds and bytes."""
    return _digests(page[: page.rindex("<section")])


def digests_of_report(page: str, parts: int) -> dict[str, str]:
    """Head, verdict and contents, and the first `parts` of a report; later ones are not in sight."""
    sections = re.split(r"(?=<section )", page)
    return _digests("".join(sections[: 2 + parts]))


def digests_of_live_page() -> dict[str, str]:
    """The live page of a job with a party that works, one that sends and one that waits."""
    clock = Clock()
    board = Board(["lender", "bank", "card"], show=False, clock=clock)
    with LivePage(board, "demo", "integrate", silent_after=10) as page:
        reader = Reader(page.link)
        board.update("lender", "running", "intersect/encrypt", 0, 1000)
        board.update("bank", "running", "intersect", sent_bytes=0, sent_to={"lender": 0})
        clock.now += 2
        board.update("lender", "running", "intersect/encrypt", 500, 1000, 2_000_000, 10, {})
        board.update("bank", "running", "intersect", sent_bytes=9, sent_to={"lender": 4_000_000})
        view = reader.get("view")
        with urllib.request.urlopen(reader.origin, timeout=5) as answer:
            shell = answer.read().decode()
    return _digests(shell + json.dumps(view["parts"], sort_keys=True))


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _digests(page: str) -> dict[str, str]:
    style = "".join(_STYLE.findall(page))
    return {"page": digest(_STYLE.sub("", page).encode()), "style": digest(style.encode())}
