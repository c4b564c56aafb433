"""Connections without a certificate do not shut anybody out."""

import re
import resource
import socket
import time
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from coterie.base.errors import UnreachableError
from coterie.coordinator.run.probe import require
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


ENDINGS = {"certificate": "crt", "key": "key"}


def sent_by_a_stranger(houses, message, calls):
    """The codes of calls of somebody with a certificate that nobody's file has."""
    houses.authority.issue("mallory")
    identity = houses.authority.identity("mallory")
    channel = identity.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    houses.stack.callback(channel.close)
    codes = []
    for method in calls:
        try:
            codes.append(channel.unary_unary(method)(message, timeout=60))
        except grpc.RpcError as error:
            codes.append(error.code())
    return codes


@pytest.mark.slow
def test_messages_of_strangers_are_not_read(houses):
    houses.spawn("bank")
    pid = houses.processes["bank"].pid

    def memory(what):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(re.search(rf"{what}:\s+(\d+) kB", status)[1]) / 1000

    assert coterie("party", "health", "--config", houses.path("bank")).code == 0
    before = memory("VmHWM")
    methods = [f"/coterie.v1.{m}" for m in ("Jobs/Start", "Jobs/List", "Peers/Part")]
    codes = sent_by_a_stranger(houses, b"\xff" * 60_000_000, methods * 5)
    assert set(codes) <= {grpc.StatusCode.NOT_FOUND, grpc.StatusCode.PERMISSION_DENIED}
    assert memory("VmHWM") - before < 150  # not the 60 MB of each, but of gRPC's own window


def test_a_coordinator_whose_certificate_begins_tomorrow_is_told_of_the_clocks(houses):
    """To the server, the certificate is as one of an hour ago is to a server that is a day behind."""
    houses.serve("bank")
    houses.authority.issue("analyst", file="early", start=1)
    usual = houses.authority.identity("analyst")  # reading the early one here would be refused
    early = {n: usual.files.certificate.with_name(f"early.{e}") for n, e in ENDINGS.items()}
    pem = early["certificate"].read_bytes()
    identity = replace(usual, files=replace(usual.files, **early), certificate=pem)
    with pytest.raises(UnreachableError, match=r"closed the connection: .*compare its clock"):
        require("bank", f"127.0.0.1:{houses.ports['bank']}", identity, 10)
