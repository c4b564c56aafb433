"""Each thing that can be wrong with a connection has a check, and an error, of its own."""

import contextlib
import socket
import ssl
import threading

import pytest

from coterie.base.errors import CertificateError, ExpiredError, UnreachableError
from coterie.coordinator.run.probe import probe, require
from coterie.trust import certificates as certs
from coterie.trust.identity import find_identity
from tests.trust.test_certificates import expire

REFUSED = (
    "connection refused; does the party's server run there ('coterie party serve'), on this port?"
)


@pytest.fixture
def authority(tmp_path):
    certs.create_authority(tmp_path / "ca", 3650)
    return tmp_path / "ca"


@pytest.fixture
def analyst(authority):
    certs.issue(authority, "analyst", [], 365)
    return find_identity(authority / "analyst")


@contextlib.contextmanager
def listening(serve):
    """A server on a free port; `serve` is given each connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.settimeout(10)
                serve(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(15)


def tls_server(folder, name, authority=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.crt", folder / f"{name}.key")
    context.load_verify_locations(authority or folder / "ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED

    def serve(connection):
        with context.wrap_socket(connection, server_side=True) as secured:
            secured.sendall(b"hello")
            secured.recv(1)

    return serve


def last(address, identity, name="bank", seconds=60):
    *before, check = probe(name, address, identity, seconds)
    assert all(one.state == "ok" for one in before)
    return check.name, check.state, check.detail


def test_a_good_party_passes_every_check(authority, analyst):
    certs.issue(authority, "bank", [], 365)
    with listening(tls_server(authority / "bank", "bank")) as address:
        checks = list(probe("bank", address, analyst, 5))
        require("bank", address, analyst, 5)
    assert [(check.name, check.state) for check in checks] == [
        ("name", "ok"),
        ("port", "ok"),
        ("tls", "ok"),
        ("expiry", "ok"),
    ]


def test_a_name_that_does_not_resolve(analyst):
    name, state, detail = last("no-such-host.invalid:7000", analyst)
    assert (name, state) == ("name", "failed")
    assert "'no-such-host.invalid' does not resolve" in detail
    with pytest.raises(UnreachableError, match="bank: 'no-such-host"):
        require("bank", "no-such-host.invalid:7000", analyst, 5)


def test_a_port_that_is_closed(analyst):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        assert last(address, analyst) == ("port", "failed", f"{address}: {REFUSED}")


def test_a_server_that_says_nothing(analyst):
    release = threading.Event()
    with listening(lambda connection: release.wait(10)) as address:
        name, state, detail = last(address, analyst, seconds=0.3)
        release.set()
    assert (name, state) == ("tls", "failed")
    assert "says nothing for 0.3 s" in detail


def test_a_server_that_speaks_no_tls(analyst):
    with listening(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")) as address:
        name, state, detail = last(address, analyst)
    assert (name, state) == ("tls", "failed")
    assert "does not speak TLS" in detail


def test_a_certificate_of_another_party(authority, analyst):
    certs.issue(authority, "card", [], 365)
    with listening(tls_server(authority / "card", "card")) as address:
        detail = last(address, analyst)[2]
        with pytest.raises(CertificateError) as caught:
            require("bank", address, analyst, 5)
    assert detail == f"{address} shows a certificate that is not of 'bank' but of CN=card"
    assert caught.value.exit_code == 11


def test_a_certificate_of_another_authority(analyst, tmp_path):
    certs.create_authority(tmp_path / "other", 3650)
    certs.issue(tmp_path / "other", "bank", [], 365)
    with listening(tls_server(tmp_path / "other" / "bank", "bank")) as address:
        detail = last(address, analyst)[2]
        with pytest.raises(CertificateError):
            require("bank", address, analyst, 5)
    assert "certificate of another authority" in detail


def test_an_expired_certificate(authority, analyst, monkeypatch):
    with monkeypatch.context() as past:
        expire(past, 400)
        certs.issue(authority, "bank", [], 365)
    with listening(tls_server(authority / "bank", "bank")) as address:
        detail = last(address, analyst)[2]
        with pytest.raises(ExpiredError) as caught:
            require("bank", address, analyst, 5)
    assert "has expired (it is valid from " in detail
    assert caught.value.exit_code == 12


def test_a_server_that_does_not_accept_our_certificate(authority, analyst, tmp_path):
    certs.issue(authority, "bank", [], 365)
    certs.create_authority(tmp_path / "other", 3650)
    serve = tls_server(authority / "bank", "bank", tmp_path / "other" / "ca.crt")
    with listening(serve) as address:
        detail = last(address, analyst)[2]
        with pytest.raises(CertificateError):
            require("bank", address, analyst, 5)
    assert "does not accept the certificate of 'analyst'" in detail
