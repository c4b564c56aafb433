"""Certificate requests, so that a key never leaves its organisation: the authority signs a request.

The organisation runs `request`, which makes NAME.key, which stays there, and NAME.csr, which goes
to the authority. The authority runs `sign` for the name from which it knows the request to come,
which makes the certificate. Only the key of the request is used; the authority decides names and
uses. An existing key is used again, so that a server's certificate is renewed by replacing its
file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from coterie.base.errors import CertificateError
from coterie.trust.certificates import (
    Issued,
    hand_over,
    load_key,
    require_certificate_name,
    sign_key,
    write_file,
    write_key,
)


@dataclass(frozen=True)
class Requested:
    """The files that `request` made."""

    name: str
    request: Path
    key: Path
    renewed: bool  # whether an existing key was used


def request(folder: Path, name: str) -> Requested:
    """Makes a key, unless there is one, and a certificate request for it."""
    require_certificate_name(name)
    key_path = folder / f"{name}.key"
    renewed = key_path.exists()
    key = load_key(key_path) if renewed else ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    if not renewed:
        write_key(key_path, key)
    path = folder / f"{name}.csr"
    write_file(path, made.public_bytes(Encoding.PEM), 0o644)
    return Requested(name, path, key_path, renewed)


def sign(folder: Path, name: str, path: Path, hosts: Sequence[str], days: int) -> Issued:
    """Signs a request of this name; leaves `folder`/NAME/NAME.crt beside ca.crt."""
    asked = _read(path)
    if not asked.is_signature_valid:
        raise CertificateError(f"{path}: the request is not signed by its own key")
    names = asked.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if [one.value for one in names] != [name]:
        who = f"'{names[0].value!s}'" if len(names) == 1 else "nobody in particular"
        raise CertificateError(f"{path}: the request is for {who}, not for '{name}'")
    key = asked.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.key_size < 256:
        raise CertificateError(f"{path}: the key must be of an elliptic curve of 256 bits or more")
    return hand_over(folder, name, sign_key(folder, name, key, hosts, days), folder / name)


def _read(path: Path) -> x509.CertificateSigningRequest:
    try:
        return x509.load_pem_x509_csr(path.read_bytes())
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise CertificateError(f"{path}: not a request for a certificate in PEM form") from None
