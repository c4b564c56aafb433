"""Connections without a certificate do not shut anybody out."""

import re
import resource
import socket
import time
from pathlib import Path

import pytest

from tests.coordinator.support import coterie


@pytest.mark.slow
def test_idle_strangers_are_gone_after_a_deadline_and_the_operator_is_served_meanwhile(houses):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    houses.spawn("bank")
    limits = Path(f"/proc/{houses.processes['bank'].pid}/limits").read_text()
    assert re.search(r"Max open files\s+(\d+)\s+(\d+)", limits).groups() == (str(hard), str(hard))
    idle = [socket.create_connection(("127.0.0.1", houses.ports["bank"])) for _ in range(100)]
    try:
        done = coterie("party", "health", "--config", houses.path("bank"))
        assert done.code == 0, done.err
        end = time.monotonic() + 60
        for one in idle:
            one.settimeout(max(end - time.monotonic(), 0.1))
            while one.recv(4096):  # the server's settings, and then the end
                pass
    finally:
        for one in idle:
            one.close()
