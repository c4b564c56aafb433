"""The notification hook: a command, or a webhook on this machine."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from coterie.base.errors import UsageError
from coterie.party.config import load_party
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import wait_for
from tests.party.test_live import audited


def propose(houses):
    houses.serve("bank")
    stub = houses.coordinator().stubs["bank"]
    return stub.Propose(pb.Proposal(job_id="a" * 32, job_yaml=houses.job()), timeout=60)


def test_a_command_is_told_that_a_job_waits(houses):
    target = houses.folder / "told.json"
    script = "import pathlib,sys; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read())"
    command = [sys.executable, "-c", script, str(target)]
    houses.write("bank", policy={"consent": "manual"}, notify={"command": command})
    assert propose(houses).state == pb.WAITING
    wait_for(lambda: target.exists() and target.read_text(), "the notice")
    told = json.loads(target.read_text())
    assert (told["event"], told["job"], told["name"]) == ("waiting", "a" * 32, "common")
    assert (told["coordinator"], told["party"]) == ("analyst", "bank")


def test_a_webhook_gets_what_the_steward_asked_for(houses):
    got = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_): ...

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    houses.write("bank", notify={"webhook": url, "on": ["accepted", "cancelled"]})
    assert propose(houses).state == pb.ACCEPTED
    houses.coordinator().stubs["bank"].Cancel(pb.Cancellation(job_id="a" * 32), timeout=60)
    wait_for(lambda: len(got) == 2, "two notices")
    assert [told["event"] for told in got] == ["accepted", "cancelled"]
    server.shutdown()
    server.server_close()


def test_a_hook_that_fails_stops_no_job_and_is_noted(houses):
    command = ["/nowhere/to/be/found"]
    houses.write("bank", policy={"consent": "manual"}, notify={"command": command})
    assert propose(houses).state == pb.WAITING
    wait_for(lambda: audited(houses, "bank", "not notified"), "a line")
    [line] = audited(houses, "bank", "not notified")
    assert (line["job"], line["about"]) == ("a" * 32, "waiting")


@pytest.mark.parametrize(
    "wrong", [{}, {"webhook": "file:///etc"}, {"command": []}, {"command": ["x"], "on": ["never"]}]
)
def test_a_hook_that_cannot_be_is_refused_with_the_file(houses, wrong):
    houses.write("bank", notify=wrong)
    with pytest.raises(UsageError, match="notify"):
        load_party(houses.path("bank"))
