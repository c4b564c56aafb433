"""Parties without an open port work together through a relay, which learns nothing of their data."""

import base64
import contextlib
import dataclasses
import os
import socket
import threading
import time

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from coterie.coordinator.run.probe import probe
from coterie.party.config import load_party
from coterie.protos import jobs_pb2 as pb
from coterie.relay import server
from coterie.relay.config import load_relay
from coterie.relay.server import Relay
from coterie.transport.call_errors import failure_reason
from coterie.trust import reach
from coterie.trust.reach import ReachError
from tests.party.authority import Authority
from tests.party.houses import Coordinator
from tests.relay.relays import Proxy, address, behind, listening, relay_file, serve_relay


def analyst(houses, *relays, **changes):
    identity = dataclasses.replace(houses.authority.identity("analyst"), **changes)
    coordinator = Coordinator(identity, dict.fromkeys(houses.names, address(*relays)))
    houses.stack.callback(coordinator.close)
    return coordinator


def run(houses, coordinator):
    job_id, decisions = coordinator.propose(houses.job())
    assert {decision.state for decision in decisions.values()} == {pb.ACCEPTED}
    coordinator.queue(job_id)
    ends = [coordinator.end(job_id, name) for name in houses.names]
    assert [end.state for end in ends] == [pb.FINISHED] * 3, ends
    return job_id


def dialled(houses, relay, party, caller="analyst"):
    identity = houses.authority.identity(caller)
    return reach.reach(address(relay), party, identity.traveller, 5.0)


def test_a_job_runs_and_the_relay_sees_neither_data_nor_certificates(houses, monkeypatch):
    seen = []

    def recorded(one, other):
        def copied(source, target):
            with contextlib.suppress(OSError):
                while piece := source.recv(1 << 16):
                    seen.append(piece)
                    target.sendall(piece)
                target.shutdown(socket.SHUT_WR)

        back = threading.Thread(target=copied, args=(other, one))
        back.start()
        copied(one, other)
        back.join()
        return 0, 0

    monkeypatch.setattr(server, "passed_on", recorded)
    relay = serve_relay(houses)
    behind(houses, relay)
    houses.serve_all()
    assert listening(relay, *houses.names)
    run(houses, analyst(houses, relay))
    carried = b"".join(seen)
    assert len(carried) > 10_000
    for name in (*houses.names, "analyst"):
        pem = (houses.folder / "certs" / f"{name}.crt").read_bytes()
        key = x509.load_pem_x509_certificate(pem)
        assert key.public_bytes(Encoding.DER)[60:120] not in carried
    # The words of the job and of its messages would be in the clear without the parties' own TLS.
    for word in (b"intersect", b"Propose", b"coterie.v1", b"p12"):
        assert word not in carried


def test_the_next_relay_serves_where_one_is_gone_and_a_new_one_is_found_again(houses):
    first, second = serve_relay(houses, 1), serve_relay(houses, 2)
    behind(houses, first, second)
    houses.serve_all()
    assert listening(first, *houses.names)
    assert listening(second, *houses.names)
    first.stop()
    run(houses, analyst(houses, first, second))
    again = serve_relay(houses, 1, listen=f"127.0.0.1:{first.port}")
    assert listening(again, *houses.names)
    second.stop()
    run(houses, analyst(houses, again, second))


def test_a_relay_that_pairs_with_somebody_else_is_noticed(houses):
    class Swapping(Relay):
        def _dial(self, secured, caller, party):
            super()._dial(secured, caller, "bank")

    relay = serve_relay(houses, kind=Swapping)
    behind(houses, relay)
    houses.serve_all()
    assert listening(relay, *houses.names)
    identity = houses.authority.identity("analyst")
    *_, last = probe("lender", address(relay), identity, 5.0)
    assert last.state == "failed"
    assert "is not of 'lender'" in last.detail
    with pytest.raises(grpc.RpcError):
        analyst(houses, relay).stubs["lender"].Describe(pb.DescribeRequest(), timeout=10)


def test_only_listed_names_call_and_only_listed_parties_are_called(houses):
    relay = serve_relay(houses, parties=["lender", "bank"])
    behind(houses, relay)
    houses.serve_all()
    assert listening(relay, "lender", "bank")
    dialled(houses, relay, "lender").close()
    with pytest.raises(ReachError, match="'mallory' is not listed at localhost"):
        dialled(houses, relay, "lender", caller="mallory")
    with pytest.raises(ReachError, match="'card' does not wait for calls at localhost"):
        dialled(houses, relay, "card")
    assert "card" not in relay._listeners


def test_a_call_is_answered_by_the_party_that_was_called_alone(houses):
    relay = serve_relay(houses)
    lender, bank = (houses.authority.identity(name).traveller for name in ("lender", "bank"))
    place = f"localhost:{relay.port}"
    with reach.at_relay(place, lender, 5.0) as listener:
        reach.say(listener, "LISTEN")
        assert reach.heard(listener) == "OK"

        def call():
            with contextlib.suppress(OSError):
                dialled(houses, relay, "lender")

        caller = threading.Thread(target=call)
        caller.start()
        word, token, who = reach.heard(listener).split()
        assert (word, who) == ("CALL", "analyst")
        with reach.at_relay(place, bank, 5.0) as thief:
            reach.say(thief, f"ACCEPT {token}")
            with pytest.raises(ReachError, match="nobody waits for this answer"):
                reach.admitted(thief)
        relay.stop()
        caller.join()


def test_strangers_have_a_deadline_and_few_places_and_nobody_else_is_shut_out(houses):
    relay = serve_relay(houses, limits={"strangers": 8, "strangers_each": 4, "handshake": 2})
    behind(houses, relay)
    houses.serve("lender")
    assert listening(relay, "lender")
    place = ("127.0.0.1", relay.port)
    began = time.monotonic()
    idle = [socket.create_connection(place, 10, ("127.0.0.2", 0)) for _ in range(6)]
    try:
        # The fifth and the sixth are closed at once, the others by their deadline; one sends
        # a byte now and then, which does not help.
        assert [one.recv(1) for one in idle[4:]] == [b"", b""]
        dialled(houses, relay, "lender").close()  # from another address, meanwhile
        with contextlib.suppress(OSError):
            for _ in range(40):
                idle[0].send(b"\x16")
                time.sleep(0.1)
        for one in idle[:4]:
            with contextlib.suppress(ConnectionResetError):
                assert one.recv(1) == b""
        assert time.monotonic() - began > 1.5
    finally:
        for one in idle:
            one.close()
    end = time.monotonic() + 20
    while relay._strangers:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_one_certificate_has_a_bounded_number_of_connections(houses):
    relay = serve_relay(houses, limits={"each": 2})
    behind(houses, relay)
    houses.serve("lender")
    assert listening(relay, "lender")
    held = [dialled(houses, relay, "lender") for _ in range(2)]
    with pytest.raises(ReachError, match="'analyst' has 2 connections already"):
        dialled(houses, relay, "lender")
    dialled(houses, relay, "lender", caller="bank").close()
    for one in held:
        one.close()


def test_a_revoked_certificate_and_one_of_another_authority_are_turned_away(houses, tmp_path):
    houses.authority.issue("mallory")
    file = relay_file(houses, callers=["mallory"])
    text = file.read_text().replace(
        "tls:", f"tls:\n  revoked: {houses.authority.revoke('mallory')}"
    )
    file.write_text(text)
    relay = Relay(load_relay(file))
    relay.start()
    try:
        with pytest.raises(OSError, match="certificate"):
            dialled(houses, relay, "lender", caller="mallory")
        other = Authority(tmp_path / "other")
        files = dataclasses.replace(other.identity("lender").files, authority=houses.authority.path)
        with pytest.raises(OSError, match="certificate"):
            reach.reach(address(relay), "bank", reach.Traveller(files), 5.0)
    finally:
        relay.stop()


def test_every_connection_goes_through_a_proxy_with_a_password(houses):
    user = "Basic " + base64.b64encode(b"carol:p@ss").decode()
    proxy = Proxy(user)
    houses.stack.callback(proxy.close)
    url = f"http://carol:p%40ss@127.0.0.1:{proxy.port}"
    relay = serve_relay(houses)
    behind(houses, relay, proxy=url)
    houses.serve_all()
    assert listening(relay, *houses.names)
    run(houses, analyst(houses, relay, proxy=reach.Proxy.read(url)))
    assert set(proxy.asked) == {f"localhost:{relay.port}"}
    # Without a relay, too: then the proxy connects with the parties themselves.
    direct = dataclasses.replace(houses.authority.identity("analyst"), proxy=reach.Proxy.read(url))
    port = houses.servers["bank"].port
    checks = list(probe("bank", f"127.0.0.1:{port}", direct, 5.0))
    assert checks[-2].state == "ok"
    assert proxy.asked[-1] == f"127.0.0.1:{port}"
    wrong = dataclasses.replace(direct, proxy=reach.Proxy.read(url.replace("carol", "eve")))
    [check] = probe("bank", f"127.0.0.1:{port}", wrong, 5.0)
    assert "407 Proxy Authentication Required" in check.detail
    assert "p@ss" not in check.detail
    assert "p%40ss" not in check.detail


def test_an_unreachable_relay_is_named_by_grpc_calls_and_by_doctor(houses):
    relay = serve_relay(houses)
    stub = analyst(houses, relay).stubs["lender"]
    with pytest.raises(grpc.RpcError) as error:
        stub.Describe(pb.DescribeRequest(), timeout=10)
    assert "'lender' does not wait for calls at localhost" in failure_reason(error.value)
    relay.stop()
    [check] = probe("lender", address(relay), houses.authority.identity("analyst"), 5.0)
    assert f"relay localhost:{relay.port}" in check.detail


def test_another_user_of_the_machine_cannot_use_a_gateway(houses, monkeypatch):
    relay = serve_relay(houses)
    who = houses.authority.identity("analyst").traveller
    target = reach.target_of(address(relay), "lender", who).removeprefix("unix-abstract:")
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    dials = []
    monkeypatch.setattr(reach, "reach", lambda *_: dials.append(1))
    with socket.socket(socket.AF_UNIX) as near:
        near.connect(f"\0{target}")
        assert near.recv(1) == b""
    assert not dials


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("relays", ["localhost"], "must be HOST:PORT of a relay"),
        ("proxy", "https://proxy:1", "must be http://HOST:PORT"),
        ("peers", {"bank": {"address": "relay://a:1/b"}}, "or relay://HOST:PORT"),
    ],
)
def test_wrong_keys_of_a_party_file_are_named_with_their_line(houses, key, value, said):
    houses.write("lender", **{key: value})
    with pytest.raises(Exception, match=said):
        load_party(houses.path("lender"))
