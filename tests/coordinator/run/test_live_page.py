"""What the live page shows, without a browser."""

import http.client
import json
import re
import threading

import pytest

from coterie.base.errors import CancelledError
from coterie.coordinator.run.interrupts import never
from coterie.coordinator.run.live_page import LivePage, live
from coterie.coordinator.run.progress import Board
from tests.jobs.pages.reading import Reading


class Reader:
    """A browser that only asks."""

    def __init__(self, link):
        self.origin, token = link.split("/#")
        self.session = self.post("enter", token)["session"]

    def post(self, name, body=""):
        return self._ask("POST", name, body)

    def get(self, name):
        return self._ask("GET", name)

    def _ask(self, method, name, body=None):
        headers = {"Origin": self.origin, "Authorization": f"Bearer {getattr(self, 'session', '')}"}
        connection = http.client.HTTPConnection(self.origin.removeprefix("http://"), timeout=60)
        connection.request(method, f"/{name}", body, headers)
        return json.loads(connection.getresponse().read())


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def board(clock):
    return Board(["lender", "bank"], show=False, clock=clock)


@pytest.fixture
def page(board):
    with LivePage(board, "loans", "integrate", silent_after=10) as opened:
        opened.reader = Reader(opened.link)
        yield opened


def test_a_view_has_each_partys_step_rows_rate_and_traffic(board, clock, page):
    board.update("lender", "running", "intersect/encrypt", 0, 1000)
    clock.now += 2
    board.update("lender", "running", "intersect/encrypt", 500, 1000, 2_000_000, 10, {})
    view = page.reader.get("view")
    table, houses = view["parts"]["phases"], view["parts"]["houses"]
    for words in ("intersect/encrypt", "500 of 1,000", "250/s", "2.0 s", "2.0 MB"):
        assert words in table
    assert "Nothing flows between them now" in houses
    assert houses.count("flow out") == 0
    assert view["notice"] == "loans: running, intersect"
    assert [line.split("  ")[1] for line in view["log"]] == ["lender: intersect"]


def test_what_flows_is_drawn_between_the_two_parties_that_it_flows_between(board, clock, page):
    board.update("lender", "running", "rounds", sent_bytes=0, sent_to={"bank": 0, "<b>": 0})
    clock.now += 2
    board.update("lender", "running", "rounds", sent_bytes=9, sent_to={"bank": 4_000_000, "<b>": 9})
    houses = page.reader.get("view")["parts"]["houses"]
    assert "lender sends bank 2.0 MB/s" in houses
    assert houses.count("flow out") == 1
    assert houses.count('class="road"') == 1
    assert "&lt;b" not in houses  # nobody of this name is in the job
    clock.now += 60
    assert "Nothing flows" in page.reader.get("view")["parts"]["houses"]


def test_a_party_is_marked_after_a_silence_and_no_longer_when_it_is_back(board, clock, page):
    clock.now += 11
    board.sign("bank")
    parts = page.reader.get("view")["parts"]
    assert "no sign of life for 11 s" in parts["phases"]
    assert parts["houses"].count("house silent") == 1
    board.update("lender", "running")
    assert "silent" not in page.reader.get("view")["parts"]["houses"]


def test_what_a_party_writes_is_text(board, page):
    hostile = "<img src=x onerror=alert(1)>"
    board.update("bank", "running", hostile)
    view = page.reader.get("view")
    for part in view["parts"].values():
        assert "img" not in Reading(part).names
    assert "&lt;img" in view["parts"]["phases"]


def test_the_button_ends_the_run(page):
    page.check()
    assert "being cancelled" in page.reader.post("cancel")["notice"]
    with pytest.raises(CancelledError, match="cancelled on the live page"):
        page.check()


def test_the_end_waits_for_a_browser_and_gives_it_the_report(page, tmp_path):
    report = tmp_path / "report.html"
    report.write_text("<p>done</p>")
    page.reader.get("view")
    ending = threading.Thread(target=page.end, args=(report,))
    ending.start()
    while not (view := page.reader.get("view"))["over"]:
        pass
    assert view["report"]
    assert page.reader.get("report") == {"page": "<p>done</p>"}
    ending.join(60)
    assert not ending.is_alive()


def test_an_error_is_the_last_that_the_page_shows(board):
    page = LivePage(board, "loans", "integrate", silent_after=10)
    board.update("lender", "running", "rounds")
    board.update("bank", "refused", "")
    assert "rounds" in page._view()["parts"]["phases"]
    with pytest.raises(CancelledError), page:
        raise CancelledError("bank: said no")
    view = page._view()
    assert view["notice"] == "loans: ended. bank: said no"
    told = Reading(view["parts"]["phases"]).words
    assert "What each party has done" in told
    assert "lender stopped" in told  # and works no more
    assert "bank refused" in told


def test_without_the_option_nothing_is_served(board, capsys):
    with live(False, board, "loans", "integrate", None, 20) as with_button:
        assert with_button(never) is never
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("parties", [2, 3, 4, 5, 9])
def test_the_houses_stand_in_the_middle_of_their_picture(clock, parties):
    board = Board([f"p{at}" for at in range(parties)], show=False, clock=clock)
    with LivePage(board, "loans", "integrate", silent_after=10) as opened:
        houses = Reader(opened.link).get("view")["parts"]["houses"]
    assert 'class="centred"' in houses
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', houses).groups())
    corners = re.findall(r"([\d.]+),([\d.]+)", " ".join(re.findall(r'points="([^"]*)"', houses)))
    words = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', houses)
    x, y = zip(*((float(a), float(b)) for a, b in [*corners, *words]), strict=True)
    assert (min(x) + max(x)) / 2 == pytest.approx(width / 2, abs=25)
    assert 0 < min(y) < 35
    assert 0 < height - max(y) < 35
