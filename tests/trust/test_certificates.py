"""Certificates that the commands make are good ones by OpenSSL's own judgement, and bad ones show."""

import shutil
import ssl
import stat
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from coterie.base.errors import CertificateError, ExpiredError, UsageError
from coterie.trust import certificates as certs
from coterie.trust.identity import find_identity
from tests import ROOT
from tests.coordinator.support import coterie


@pytest.fixture
def authority(tmp_path):
    assert coterie("certs", "init", tmp_path / "ca").code == 0
    return tmp_path / "ca"


@pytest.fixture
def bank(authority):
    done = coterie("certs", "issue", "bank", "--dir", authority, "--host", "bank.example")
    assert done.code == 0
    return authority / "bank"


def handshake(server_folder, client_folder, name, server="bank", client="bank"):
    """A TLS handshake in memory between two identities; raises what OpenSSL complains about."""
    one = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    one.load_cert_chain(server_folder / f"{server}.crt", server_folder / f"{server}.key")
    one.load_verify_locations(server_folder / "ca.crt")
    one.verify_mode = ssl.CERT_REQUIRED
    two = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    two.load_cert_chain(client_folder / f"{client}.crt", client_folder / f"{client}.key")
    two.load_verify_locations(client_folder / "ca.crt")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        one.wrap_bio(to_server, to_client, server_side=True),
        two.wrap_bio(to_client, to_server, server_hostname=name),
    ]
    waiting = list(ends)
    for _ in range(10):
        for end in list(waiting):
            try:
                end.do_handshake()
                waiting.remove(end)
            except ssl.SSLWantReadError:
                pass
    assert not waiting


def test_two_issued_identities_trust_each_other_by_name(authority, bank):
    coterie("certs", "issue", "analyst", "--dir", authority)
    for name in ("bank", "bank.example"):
        handshake(bank, authority / "analyst", name, client="analyst")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(bank, authority / "analyst", "lender", client="analyst")


def test_an_identity_of_another_authority_is_not_trusted(bank, tmp_path):
    coterie("certs", "init", tmp_path / "other")
    coterie("certs", "issue", "bank", "--dir", tmp_path / "other")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(bank, tmp_path / "other" / "bank", "bank")


def test_a_certificate_says_who_for_what_and_how_long(authority, bank):
    done = coterie("certs", "issue", "card", "--dir", authority, "--host", "10.0.0.7", "--json")
    assert datetime.fromisoformat(done.json["expires"]) - datetime.now(UTC) > timedelta(days=364)
    certificate = x509.load_pem_x509_certificate((authority / "card" / "card.crt").read_bytes())
    extensions = certificate.extensions
    names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["card"]
    assert [str(ip) for ip in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.7"]
    uses = set(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
    assert uses == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_private_keys_are_for_their_owner_only(authority, bank):
    for path in (authority / "ca.key", bank / "bank.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not (bank / "ca.key").exists()


def test_an_authority_is_never_overwritten_and_an_identity_is_renewed(authority, bank):
    before = (authority / "ca.crt").read_bytes(), (bank / "bank.crt").read_bytes()
    done = coterie("certs", "init", authority)
    assert (done.code, "never overwritten" in done.error) == (2, True)
    assert coterie("certs", "issue", "bank", "--dir", authority, "--force").code == 0
    after = (authority / "ca.crt").read_bytes(), (bank / "bank.crt").read_bytes()
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("name", ["ca", "../x", "a b", "", "x" * 65])
def test_a_name_that_is_none_is_refused(authority, name):
    done = coterie("certs", "issue", name, "--dir", authority)
    assert (done.code, "is not a name" in done.error) == (2, True)


def test_a_certificate_cannot_outlive_its_authority(tmp_path):
    coterie("certs", "init", tmp_path, "--days", "10")
    done = coterie("certs", "issue", "bank", "--dir", tmp_path, "--days", "11")
    assert (done.code, "has 9 days left" in done.error) == (2, True)


def test_issue_without_an_authority_names_the_file(tmp_path):
    done = coterie("certs", "issue", "bank", "--dir", tmp_path)
    assert (done.code, done.error) == (11, f"{tmp_path}/ca.crt: No such file or directory")


def test_a_folder_that_cannot_be_written_is_the_machines_fault(tmp_path):
    (tmp_path / "file").write_text("")
    done = coterie("certs", "init", tmp_path / "file" / "ca")
    assert (done.code, "Not a directory" in done.error) == (9, True)


def test_check_is_content_with_what_issue_made(authority, bank):
    done = coterie("certs", "check", authority)
    assert done.code == 0
    assert {line.split()[0] for line in done.out.splitlines()} == {"ok"}
    assert len(done.out.splitlines()) == 8
    assert coterie("certs", "check", bank / "bank.crt", "--json").json["ok"] is True


def expire(monkeypatch, days):
    """Makes certificates as if `days` ago."""
    real = datetime

    class Past(datetime):
        @classmethod
        def now(cls, tz=None):
            return real.now(tz) - timedelta(days=days)

    monkeypatch.setattr(certs, "datetime", Past)


@pytest.fixture
def expired(authority, monkeypatch):
    with monkeypatch.context() as past:
        expire(past, 400)
        certs.issue(authority, "old", [], 365)
    return authority / "old"


def failures(place):
    done = coterie("certs", "check", place, "--json")
    return done.code, {
        c["name"]: c["detail"] for c in done.json["checks"] if c["state"] == "failed"
    }


def test_check_reports_an_expired_certificate(expired):
    code, found = failures(expired)
    assert (code, list(found)) == (12, ["expiry"])
    assert found["expiry"].startswith("expired on ")
    with pytest.raises(ExpiredError, match="expired on"):
        find_identity(expired)


def test_check_warns_of_one_that_expires_soon(authority):
    coterie("certs", "issue", "bank", "--dir", authority, "--days", "5")
    done = coterie("certs", "check", authority / "bank")
    assert done.code == 0
    assert done.out.startswith("warning")


def test_check_reports_wrong_keys_permissions_and_chains(authority, bank, tmp_path):
    coterie("certs", "issue", "card", "--dir", authority)
    shutil.copy(authority / "card" / "card.key", bank / "bank.key")
    (bank / "bank.key").chmod(0o644)
    coterie("certs", "init", tmp_path / "other")
    shutil.copy(tmp_path / "other" / "ca.crt", bank / "ca.crt")
    code, found = failures(bank)
    assert code == 11
    assert found["key"] == "bank.key belongs to another one"
    assert "mode 0644" in found["permissions"]
    assert found["chain"].startswith("not signed by ")
    with pytest.raises(CertificateError, match="belongs to another one"):
        find_identity(bank)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "bank.key").unlink(), "bank.key is missing"),
        (lambda folder: (folder / "ca.crt").unlink(), "ca.crt is missing"),
        (lambda folder: (folder / "bank.key").write_text("x"), "not an unencrypted private key"),
        (lambda folder: (folder / "bank.crt").write_text("x"), "not a certificate in PEM form"),
    ],
)
def test_an_identity_that_lacks_something_is_refused(bank, spoil, message):
    spoil(bank)
    with pytest.raises(CertificateError, match=message):
        find_identity(bank)


def test_an_identity_folder_holds_one_identity(authority, bank, tmp_path):
    with pytest.raises(UsageError, match="no certificate here"):
        find_identity(authority)
    shutil.copy(bank / "bank.crt", bank / "second.crt")
    with pytest.raises(UsageError, match="2 certificates here"):
        find_identity(bank)
    assert find_identity(bank / "bank.crt").name == "bank"
    with pytest.raises(UsageError, match="no such identity folder"):
        find_identity(tmp_path / "nowhere")


def test_no_key_and_no_certificate_is_in_the_project():
    if not shutil.which("git"):
        pytest.skip("git is not installed: nothing lists the project's files")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a clone: nothing to list")
    for name in filter(None, listed.stdout.split("\0")):
        assert not name.endswith((".key", ".pem", ".crt", ".p12")), name
        path = ROOT / name
        if path.is_file():
            assert b"-----BEGIN EC PRIVATE" + b" KEY" not in path.read_bytes(), name
            assert b"-----BEGIN PRIVATE" + b" KEY" not in path.read_bytes(), name


def test_a_second_certificate_of_a_name_needs_force_and_keeps_the_hosts(authority, bank):
    before = (bank / "bank.key").read_bytes()
    again = coterie("certs", "issue", "bank", "--dir", authority)
    assert again.code == 2
    assert "--force" in again.err
    assert (bank / "bank.key").read_bytes() == before
    done = coterie("certs", "issue", "bank", "--dir", authority, "--host", "10.0.0.7", "--force")
    assert done.code == 0
    assert (bank / "bank.key").read_bytes() != before
    assert coterie("certs", "issue", "bank", "--dir", authority, "--force").code == 0
    names = certs.load_certificate(bank / "bank.crt").extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["bank", "bank.example"]
    assert [str(a) for a in names.value.get_values_for_type(x509.IPAddress)] == ["10.0.0.7"]


def test_a_key_that_others_can_read_is_no_identity(bank):
    (bank / "bank.key").chmod(0o640)
    with pytest.raises(CertificateError, match=r"others may read bank\.key.*chmod 600"):
        find_identity(bank)
