"""Three parties and a coordinator in networks of their own, from which only the relay can be reached."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coterie.coordinator.demo import demo
from coterie.trust.certificates import issue

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"]).returncode != 0,
        reason="network namespaces need root",
    ),
]
RELAY = "10.77.0.1:443"
HOSTS = ("relay", *demo.PARTIES, demo.ANALYST)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Networks:
    """One namespace a host; a wire from each to the relay, which passes no packets on."""

    def __init__(self):
        self.names = {host: f"coterie-{os.getpid()}-{host}" for host in HOSTS}

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        for name in self.names.values():
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        relay = self.names["relay"]
        forwarding = "echo 0 > /proc/sys/net/ipv4/ip_forward"  # a container engine turns it on
        subprocess.run(["ip", "netns", "exec", relay, "sh", "-c", forwarding], check=True)
        ip("-n", relay, "addr", "add", "10.77.0.1/32", "dev", "lo")
        for number, host in enumerate(HOSTS[1:], 1):
            name, near, far = self.names[host], f"w{number}", "out"
            ip("-n", relay, "link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
            ip("-n", relay, "addr", "add", f"10.77.{number}.1/24", "dev", near)
            ip("-n", name, "addr", "add", f"10.77.{number}.2/24", "dev", far)
            ip("-n", relay, "link", "set", near, "up")
            ip("-n", name, "link", "set", far, "up")
            ip("-n", name, "route", "add", "default", "via", f"10.77.{number}.1")

    def __exit__(self, *_):
        for name in self.names.values():
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("netns", "del", name)

    def start(self, host, log, *words):
        command = ["ip", "netns", "exec", self.names[host], sys.executable, "-m", "coterie", *words]
        with Path(log).open("ab") as out:
            return subprocess.Popen([str(word) for word in command], stdout=out, stderr=out)

    def run(self, host, *words):
        command = ["ip", "netns", "exec", self.names[host], sys.executable, "-m", "coterie", *words]
        return subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=120
        )


def moved(path, *changes):
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """The demo's organisations, each in a network of its own, and a relay that can be started."""
    folder = tmp_path_factory.mktemp("deployed") / "demo"
    layout = demo.Setting.local()
    demo.prepare(folder, 2000, 1, "integrate", layout)
    issue(folder / "authority", "relay", ["10.77.0.1"], days=9)
    (folder / "relay.yaml").write_text(
        "name: relay\nlisten: 0.0.0.0:443\ntls: {certificate: authority/relay/relay.crt, "
        "key: authority/relay/relay.key, authority: authority/relay/ca.crt}\n"
        "parties: [lender, bank, card]\ncallers: [analyst]\n"
    )
    everybody = [(address, f"relay://{RELAY}") for address in layout.addresses.values()]
    for name in demo.PARTIES:
        own = layout.listen[name]
        others = [pair for pair in everybody if pair[0] != own]
        listen = (f"listen: {own}", f"listen: 127.0.0.1:0\nrelays: ['{RELAY}']")
        moved(folder / name / "party.yaml", listen, *others)
    moved(folder / demo.ANALYST / "job.yaml", *everybody)
    started = []
    with Networks() as networks:
        try:
            for name in demo.PARTIES:
                log = folder / name / "server.log"
                path = folder / name / "party.yaml"
                started.append(networks.start(name, log, "party", "serve", path))
            yield networks, folder, started
        finally:
            for process in started:
                process.kill()
            for process in started:
                process.wait()


def relay_of(networks, folder, started):
    process = networks.start("relay", folder / "relay.log", "relay", "serve", folder / "relay.yaml")
    started.append(process)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        waiting = [
            (folder / name / "server.log").read_text().count("waits for calls")
            for name in demo.PARTIES
        ]
        if min(waiting) > relay_of.before:
            relay_of.before = min(waiting)
            return process
        time.sleep(0.1)
    raise AssertionError((folder / "relay.log").read_text())


relay_of.before = 0


def test_parties_that_nobody_can_reach_release_a_table_and_a_killed_relay_loses_no_job(deployed):
    networks, folder, started = deployed
    relay = relay_of(networks, folder, started)
    analyst, job = folder / "analyst", folder / "analyst" / "job.yaml"
    # Nobody has a way to anybody but the relay, whose system passes no packets on.
    words = ["ip", "netns", "exec", networks.names["relay"], "cat", "/proc/sys/net/ipv4/ip_forward"]
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"0\n"

    done = networks.run("analyst", "doctor", job, "--identity", analyst)
    assert done.returncode == 0, done.stdout
    done = networks.run("analyst", "run", job, "--out", folder / "out", "--identity", analyst)
    assert done.returncode == 0, done.stderr
    first = (folder / "out" / "release.csv").read_bytes()

    detached = networks.run(
        "analyst",
        "run",
        job,
        "--out",
        folder / "again",
        "--identity",
        analyst,
        "--detach",
        "--json",
    )
    assert detached.returncode == 0, detached.stderr
    relay.send_signal(signal.SIGKILL)
    relay.wait()
    relay_of(networks, folder, started)
    for _ in range(5):  # attach goes on when all are back
        done = networks.run("analyst", "attach", folder / "again", "--identity", analyst)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr
    assert (folder / "again" / "release.csv").read_bytes() == first
    assert json.loads((folder / "again" / "result.json").read_text())["records"] > 1000
