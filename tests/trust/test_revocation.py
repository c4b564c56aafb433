"""Certificates that were taken back: the list, and who reads it."""

import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from coterie.base.errors import CertificateError, ExpiredError
from coterie.trust import certificates as certs
from coterie.trust.identity import find_identity
from coterie.trust.revocation import load_revoked, revoke
from tests.coordinator.support import coterie
from tests.trust.test_certificates import authority, expire

__all__ = ["authority"]


def serial(path):
    return x509.load_pem_x509_certificate(path.read_bytes()).serial_number


def test_a_list_holds_what_was_revoked_and_openssl_agrees(authority, tmp_path):
    coterie("certs", "issue", "bank", "--dir", authority)
    coterie("certs", "issue", "card", "--dir", authority)
    done = coterie("certs", "revoke", "bank", "--dir", authority, "--json")
    assert (done.code, done.json["names"], done.json["listed"]) == (0, ["bank"], 1)
    listed = load_revoked(authority / "ca.crl", authority / "ca.crt")
    assert listed == {serial(authority / "bank" / "bank.crt")}
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here")
    for name, code in (("bank", 2), ("card", 0)):
        words = ["verify", "-crl_check", "-CAfile", "ca.crt", "-CRLfile", "ca.crl"]
        told = subprocess.run(
            [openssl, *words, f"{name}/{name}.crt"], cwd=authority, capture_output=True, text=True
        )
        assert told.returncode == code
        assert ("certificate revoked" in told.stderr) == (name == "bank")


def test_a_name_means_all_its_certificates_and_a_file_means_one(authority):
    coterie("certs", "issue", "bank", "--dir", authority)
    first = serial(authority / "bank" / "bank.crt")
    coterie("certs", "issue", "bank", "--dir", authority, "--force")
    second = serial(authority / "bank" / "bank.crt")
    revoke(authority, str(authority / "bank" / "bank.crt"))
    assert load_revoked(authority / "ca.crl", authority / "ca.crt") == {second}
    made = revoke(authority, "bank")
    assert (sorted(made.serials), made.listed) == (sorted([first, second]), 2)
    assert load_revoked(authority / "ca.crl", authority / "ca.crt") == {first, second}


def test_an_identity_that_was_revoked_is_not_used(authority):
    certs.issue(authority, "bank", [], 30)
    revoke(authority, "bank")
    shutil.copy(authority / "ca.crl", authority / "bank")
    with pytest.raises(CertificateError, match=r"ca\.crl lists it"):
        find_identity(authority / "bank")
    checked = coterie("certs", "check", authority / "bank")
    assert checked.code == 11


def test_who_is_issued_a_certificate_later_gets_the_list_with_it(authority):
    certs.issue(authority, "bank", [], 30)
    revoke(authority, "bank")
    certs.issue(authority, "bank", [], 30)
    assert find_identity(authority / "bank").revoked


def test_a_list_of_another_authority_or_a_changed_one_is_refused(authority, tmp_path):
    certs.create_authority(tmp_path / "other", 30)
    certs.issue(tmp_path / "other", "bank", [], 20)
    revoke(tmp_path / "other", "bank")
    with pytest.raises(CertificateError, match="is not signed by"):
        load_revoked(tmp_path / "other" / "ca.crl", authority / "ca.crt")
    (tmp_path / "ca.crl").write_text("nothing")
    with pytest.raises(CertificateError, match="not a revocation list in PEM form"):
        load_revoked(tmp_path / "ca.crl", authority / "ca.crt")


def test_a_list_past_its_date_is_told_as_such(authority):
    certs.issue(authority, "bank", [], 30)
    revoke(authority, "bank")
    later = datetime.now(UTC) + timedelta(days=3660)
    with pytest.raises(ExpiredError, match="a newer list was due on"):
        load_revoked(authority / "ca.crl", authority / "ca.crt", later)


def test_an_authority_past_its_date_revokes_nothing(tmp_path, monkeypatch):
    with monkeypatch.context() as past:
        expire(past, 100)
        certs.create_authority(tmp_path, 30)
        certs.issue(tmp_path, "bank", [], 20)
    with pytest.raises(ExpiredError, match="the authority itself has expired"):
        revoke(tmp_path, "bank")


def test_what_nobody_issued_cannot_be_revoked(authority):
    done = coterie("certs", "revoke", "nobody", "--dir", authority)
    assert (done.code, "neither a certificate's file nor a name" in done.error) == (2, True)
