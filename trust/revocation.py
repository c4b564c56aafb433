"""Certificates that no longer count: the authority's revocation list, `ca.crl`.

`revoke` adds certificates to the list in the authority's folder and signs it. The list is a
standard one (X.509 CRL in PEM form), so that the list of another authority can be used as well. All
parties get it as a file beside `ca.crt`; it has serial numbers and dates only. A connection with a
listed certificate is refused, whatever date the certificate has.

gRPC shows a server its caller's certificate, so that every call is checked, but it does not show a
client the server's certificate. So a client first makes a TLS handshake of its own and checks the
certificate (`shows_revoked`). An attacker who forwards that handshake to the true server and
answers the next connection itself still gets nothing: a party sends its messages only to its
callers, and every call is checked.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from coterie.base.errors import CertificateError, ExpiredError, UsageError
from coterie.trust.certificates import (
    CA,
    ISSUED,
    REVOKED,
    authority_of,
    common_name,
    load_certificate,
    write_file,
)
from coterie.trust.reach import Traveller, reach

_SECONDS = 3.0  # for a handshake


@dataclass(frozen=True)
class Revoked:
    """The certificates that `revoke` has added."""

    file: Path
    names: Sequence[str]
    serials: Sequence[int]
    listed: int  # the length of the whole list


def load_revoked(path: Path, authority_path: Path, now: datetime | None = None) -> frozenset[int]:
    """The serial numbers of a list that the authority has signed."""
    authority = load_certificate(authority_path)
    found = _read(path)
    if found.issuer != authority.subject or not found.is_signature_valid(
        authority.public_key()  # type: ignore[arg-type]
    ):
        raise CertificateError(f"{path}: is not signed by {authority_path}")
    due = found.next_update_utc
    if due is not None and due < (now or datetime.now(UTC)):
        raise ExpiredError(
            f"{path}: a newer list was due on {due:%Y-%m-%d}; get it from the authority"
        )
    return frozenset(entry.serial_number for entry in found)


def _read(path: Path) -> x509.CertificateRevocationList:
    try:
        return x509.load_pem_x509_crl(path.read_bytes())
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise CertificateError(f"{path}: not a revocation list in PEM form") from None


def shows_revoked(address: str, name: str, who: Traveller) -> bool:
    """Whether the server at this address shows a certificate of this name that is revoked.

    False for a server that does not answer or shows another certificate; other checks report these.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(who.files.authority)
        context.load_cert_chain(who.files.certificate, who.files.key)
        context.set_alpn_protocols(["h2"])
        with (
            reach(address, name, who, _SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=name) as secured,
        ):
            shown = x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
    except (OSError, ValueError):
        return False
    return shown.serial_number in who.revoked


def revoke(folder: Path, what: str) -> Revoked:
    """Adds a certificate, given as a file, or all that were issued for a name, to the list."""
    authority, key = authority_of(folder)
    certificates = _meant(folder, what)
    for path, certificate in certificates.items():
        if certificate.issuer != authority.subject:
            raise CertificateError(f"{path}: is not issued by {folder / f'{CA}.crt'}")
    path = folder / REVOKED
    listed = {}
    if path.exists():
        load_revoked(path, folder / f"{CA}.crt")
        listed = {entry.serial_number: entry.revocation_date_utc for entry in _read(path)}
    now = datetime.now(UTC).replace(microsecond=0)
    if now > authority.not_valid_after_utc:
        raise ExpiredError(f"{folder / f'{CA}.crt'}: the authority itself has expired")
    serials = list(dict.fromkeys(one.serial_number for one in certificates.values()))
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.subject)
        .last_update(now)
        .next_update(authority.not_valid_after_utc)
    )
    for serial, date in {**dict.fromkeys(serials, now), **listed}.items():
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(date)
        builder = builder.add_revoked_certificate(entry.build())
    signed = builder.sign(key, hashes.SHA256())
    write_file(path, signed.public_bytes(Encoding.PEM), 0o644)
    names = sorted({common_name(one, file) for file, one in certificates.items()})
    return Revoked(path, names, serials, len(signed))


def _meant(folder: Path, what: str) -> dict[Path, x509.Certificate]:
    if Path(what).is_file():
        return {Path(what): load_certificate(Path(what))}
    paths = [*(folder / ISSUED).glob("*.crt"), folder / what / f"{what}.crt"]
    read = {path: load_certificate(path) for path in paths if path.is_file()}
    found = {path: one for path, one in read.items() if common_name(one, path) == what}
    if not found:
        raise UsageError(f"'{what}': neither a certificate's file nor a name that {folder} issued")
    return found
