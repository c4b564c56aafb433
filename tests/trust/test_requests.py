"""A key that never leaves its house: requests, what an authority signs, and what it does not."""

import shutil
import stat

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from tests.coordinator.support import coterie
from tests.trust.test_certificates import authority, handshake

__all__ = ["authority"]


def request_of(name, key, *dns):
    builder = x509.CertificateSigningRequestBuilder().subject_name(
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    )
    if dns:
        names = x509.SubjectAlternativeName([x509.DNSName(one) for one in dns])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(key, hashes.SHA256())


def signed(authority, house, name="bank", *options):
    """What the organisation has after it asked and the authority signed."""
    assert coterie("certs", "request", name, "--out", house).code == 0
    done = coterie("certs", "sign", name, house / f"{name}.csr", "--dir", authority, *options)
    assert done.code == 0, done.err
    for file in (f"{name}.crt", "ca.crt"):
        shutil.copy(authority / name / file, house / file)
    return house


def test_a_signed_request_is_a_good_identity_and_the_key_stays(authority, tmp_path):
    house = signed(authority, tmp_path / "house", "bank", "--host", "bank.example")
    coterie("certs", "issue", "analyst", "--dir", authority)
    for name in ("bank", "bank.example"):
        handshake(house, authority / "analyst", name, client="analyst")
    assert coterie("certs", "check", house).code == 0
    assert stat.S_IMODE((house / "bank.key").stat().st_mode) == 0o600
    assert not list(authority.rglob("bank.key"))


def test_a_renewal_keeps_the_key_and_makes_another_certificate(authority, tmp_path):
    house = signed(authority, tmp_path / "house")
    before = {path.name: path.read_bytes() for path in house.iterdir()}
    again = coterie("certs", "request", "bank", "--out", house)
    assert "bank.key: used again; it stays here" in again.out
    signed(authority, house)
    assert (house / "bank.key").read_bytes() == before["bank.key"]
    assert (house / "bank.crt").read_bytes() != before["bank.crt"]
    assert coterie("certs", "check", house).code == 0


def test_a_request_for_another_name_is_not_signed(authority, tmp_path):
    coterie("certs", "request", "lender", "--out", tmp_path)
    done = coterie("certs", "sign", "bank", tmp_path / "lender.csr", "--dir", authority)
    assert (done.code, done.error) == (
        11,
        f"{tmp_path / 'lender.csr'}: the request is for 'lender', not for 'bank'",
    )
    assert not (authority / "bank").exists()


def test_names_that_a_request_asks_for_besides_are_not_given(authority, tmp_path):
    from cryptography.hazmat.primitives.asymmetric import ec

    asked = request_of("bank", ec.generate_private_key(ec.SECP256R1()), "bank", "lender")
    (tmp_path / "bank.csr").write_bytes(asked.public_bytes(Encoding.PEM))
    assert coterie("certs", "sign", "bank", tmp_path / "bank.csr", "--dir", authority).code == 0
    made = x509.load_pem_x509_certificate((authority / "bank" / "bank.crt").read_bytes())
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["bank"]


def test_the_name_of_another_certificate_is_no_host(authority):
    coterie("certs", "issue", "lender", "--dir", authority)
    done = coterie("certs", "issue", "bank", "--dir", authority, "--host", "lender")
    assert (done.code, done.error) == (2, "--host: 'lender' is the name of another certificate")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no request", "not a request for a certificate in PEM form"),
        (None, "No such file or directory"),
        (
            request_of("bank", rsa.generate_private_key(65537, 2048)).public_bytes(Encoding.PEM),
            "the key must be of an elliptic curve of 256 bits or more",
        ),
    ],
)
def test_what_cannot_be_signed_is_told(authority, tmp_path, content, message):
    if content is not None:
        (tmp_path / "bank.csr").write_bytes(content)
    done = coterie("certs", "sign", "bank", tmp_path / "bank.csr", "--dir", authority)
    assert (done.code, done.error) == (11, f"{tmp_path / 'bank.csr'}: {message}")


def test_a_request_that_was_changed_on_the_way_is_not_signed(authority, tmp_path):
    coterie("certs", "request", "bank", "--out", tmp_path)
    path = tmp_path / "bank.csr"
    request = x509.load_pem_x509_csr(path.read_bytes())
    changed = bytearray(request.public_bytes(Encoding.DER))
    changed[-1] ^= 1  # of the number at the end of the signature: its value, never its form
    pem = x509.load_der_x509_csr(bytes(changed)).public_bytes(Encoding.PEM)
    path.write_bytes(pem)
    done = coterie("certs", "sign", "bank", path, "--dir", authority)
    assert (done.code, "not signed by its own key" in done.error) == (11, True)
