"""A local certificate authority for mTLS between organisations in a pilot.

`init` makes the authority: DIR/ca.crt and DIR/ca.key. `issue` makes what one organisation is given:
the folder DIR/NAME with NAME.crt, NAME.key and a copy of ca.crt. A certificate carries the name as
common name and as DNS name, so that whoever connects can check the name whatever the address is.
In production an organisation makes its own key and has it signed (`trust.requests`), here or by
another authority; `check` reads those too. Every certificate that is made here is also kept in
DIR/issued, so that it can be revoked (`trust.revocation`).
"""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from coterie.base.checks import Check, failed, passed, validity
from coterie.base.errors import CertificateError, EnvironmentFaultError, ExpiredError, UsageError
from coterie.base.names import RULE, is_name

CA = "ca"
REVOKED = "ca.crl"  # the authority's list of certificates that no longer count
ISSUED = "issued"  # a copy of every certificate, in the authority's folder
_BACKDATED = timedelta(minutes=5)  # a peer's clock may be a little behind


@dataclass(frozen=True)
class Issued:
    """The files that `init` or `issue` made."""

    name: str
    certificate: Path
    key: Path
    expires: datetime


def create_authority(folder: Path, days: int) -> Issued:
    """Makes a new authority in a folder that has none."""
    certificate, key_path = folder / f"{CA}.crt", folder / f"{CA}.key"
    for path in (certificate, key_path):
        if path.exists():
            raise UsageError(f"{path}: an authority is here already; it is never overwritten")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Coterie local authority")])
    expires = _days_from_now(days)
    signed = (
        _builder(name, name, key.public_key(), expires)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    write_key(key_path, key)
    write_file(certificate, signed.public_bytes(Encoding.PEM), 0o644)
    return Issued(CA, certificate, key_path, expires)


def issue(
    folder: Path, name: str, hosts: Sequence[str], days: int, into: Path | None = None
) -> Issued:
    """Makes a key and a certificate for one organisation or coordinator.

    `folder` is the authority's; the files are put `into` another one, or into `folder`/`name`.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    signed = sign_key(folder, name, key.public_key(), hosts, days)
    target = into or folder / name
    write_key(target / f"{name}.key", key)
    return hand_over(folder, name, signed, target)


def earlier_hosts(folder: Path, name: str, force: bool) -> list[str]:
    """The hosts of the certificate in `folder`/`name` that is to be replaced; an error without `force`."""
    require_certificate_name(name)
    target = folder / name
    certificate, key = target / f"{name}.crt", target / f"{name}.key"
    there = next((path for path in (key, certificate) if path.exists()), None)
    if there is None:
        return []
    if not force:
        raise UsageError(
            f"{there}: is here already, and a server that uses it would be cut off; say --force to "
            "replace key and certificate (its host names are kept)"
        )
    if not certificate.exists():
        return []
    try:
        names = (
            load_certificate(certificate)
            .extensions.get_extension_for_class(x509.SubjectAlternativeName)
            .value
        )
    except x509.ExtensionNotFound:
        return []
    hosts = names.get_values_for_type(x509.DNSName)
    return [host for host in hosts if host != name] + [
        str(address) for address in names.get_values_for_type(x509.IPAddress)
    ]


def hand_over(folder: Path, name: str, signed: x509.Certificate, target: Path) -> Issued:
    """Writes the certificate, and the authority's certificate and revocation list, into `target`.

    Each file replaces an earlier one.
    """
    certificate, expires = target / f"{name}.crt", signed.not_valid_after_utc
    write_file(certificate, signed.public_bytes(Encoding.PEM), 0o644)
    for file in (f"{CA}.crt", REVOKED):
        if (folder / file).exists():
            write_file(target / file, (folder / file).read_bytes(), 0o644)
    return Issued(name, certificate, target / f"{name}.key", expires)


def require_certificate_name(name: str) -> None:
    if not is_name(name) or name == CA:
        raise UsageError(f"'{name}' is not a name for a certificate: {RULE}, and not '{CA}'")


def authority_of(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """The certificate and the key of the authority in a folder."""
    authority = load_certificate(folder / f"{CA}.crt")
    key = load_key(folder / f"{CA}.key")
    if not same_key(authority, key):
        raise CertificateError(f"{folder}: ca.key does not belong to ca.crt")
    return authority, key


def sign_key(
    folder: Path, name: str, key: ec.EllipticCurvePublicKey, hosts: Sequence[str], days: int
) -> x509.Certificate:
    """A certificate by which the authority in `folder` says that this key is of this name."""
    require_certificate_name(name)
    authority, authority_key = authority_of(folder)
    expires = _days_from_now(days)
    if expires > authority.not_valid_after_utc:
        left = (authority.not_valid_after_utc - datetime.now(UTC)).days
        raise UsageError(
            f"{folder / 'ca.crt'}: the authority has {left} days left, so it cannot vouch for "
            f"{days}; ask for fewer with --days or make a new authority"
        )
    for host in hosts:
        # Whoever connects to a party accepts every certificate with the party's name.
        if host != name and any((folder / ISSUED).glob(f"{host}-*.crt")):
            raise UsageError(f"--host: '{host}' is the name of another certificate")
    signed = (
        _builder(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]),
            authority.subject,
            key,
            expires,
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
            ),
            critical=False,
        )
        .add_extension(
            x509.SubjectAlternativeName([_host(host) for host in dict.fromkeys([name, *hosts])]),
            critical=False,
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(_ec(authority)), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )
    kept = folder / ISSUED / f"{name}-{signed.serial_number:x}.crt"
    write_file(kept, signed.public_bytes(Encoding.PEM), 0o644)
    return signed


def check_place(place: Path) -> Iterator[Check]:
    """Checks one certificate, or every certificate in a folder and the folders in it."""
    if place.is_file():
        yield from check_certificate(place)
        return
    if not place.is_dir():
        raise UsageError(f"{place}: no such file or folder")
    found = sorted([*place.glob("*.crt"), *place.glob("*/*.crt")])
    if not found:
        raise UsageError(f"{place}: no certificates (*.crt) here")
    for path in found:
        # Each organisation's folder has a copy of the authority's certificate; one check is enough.
        if path.stem == CA and path.parent != place:
            continue
        if path.parent.name == ISSUED:
            continue
        yield from check_certificate(path)


def check_certificate(path: Path) -> Iterator[Check]:
    """Checks a certificate's dates, key and signature, and the permissions of the key's file."""
    subject = str(path)
    wrong = CertificateError.exit_code
    certificate = load_certificate(path)
    yield expiry_check(subject, certificate)
    key_path = path.with_suffix(".key")
    if key_path.exists():
        try:
            matches = same_key(certificate, load_key(key_path))
        except CertificateError as error:
            yield failed(subject, "key", str(error), wrong)
        else:
            if matches:
                yield passed(subject, "key", f"{key_path.name} belongs to it")
            else:
                yield failed(subject, "key", f"{key_path.name} belongs to another one", wrong)
        yield _permissions_check(subject, key_path)
    elif path.stem != CA:  # nobody but the authority has the authority's key
        yield failed(subject, "key", f"{key_path} is missing", wrong)
    yield _chain_check(subject, path, certificate)
    listed = path.with_name(REVOKED)
    if listed.exists() and path.stem != CA:
        from coterie.trust.revocation import load_revoked  # that module imports this one

        if certificate.serial_number in load_revoked(listed, path.with_name(f"{CA}.crt")):
            yield failed(subject, "revoked", f"{listed.name} lists it", wrong)


def expiry_check(subject: str, certificate: x509.Certificate) -> Check:
    now = datetime.now(UTC)
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    expired = ExpiredError.exit_code
    if now > end:
        return failed(subject, "expiry", f"expired on {end:%Y-%m-%d}", expired)
    if now < start:
        return failed(subject, "expiry", f"is valid only from {start:%Y-%m-%d %H:%M} UTC", expired)
    return validity(subject, "expiry", end, now)


def _permissions_check(subject: str, key_path: Path) -> Check:
    mode = stat.S_IMODE(key_path.stat().st_mode)
    if mode & 0o077:
        return failed(
            subject,
            "permissions",
            f"others may read {key_path.name} (mode {mode:04o}); run: chmod 600 {key_path}",
            CertificateError.exit_code,
        )
    return passed(subject, "permissions", f"{key_path.name} is {mode:04o}")


def _chain_check(subject: str, path: Path, certificate: x509.Certificate) -> Check:
    wrong = CertificateError.exit_code
    authority_path = path.with_name(f"{CA}.crt")
    if not authority_path.exists():
        return failed(subject, "chain", f"{authority_path} is missing", wrong)
    authority = load_certificate(authority_path)
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return failed(subject, "chain", f"not signed by {authority_path}", wrong)
    own = "an authority" if path.stem == CA else f"signed by {authority_path.name}"
    return passed(subject, "chain", own)


def load_certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise CertificateError(f"{path}: not a certificate in PEM form") from None


def load_key(path: Path) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise CertificateError(f"{path}: not an unencrypted private key in PEM form") from None
    return key  # type: ignore[return-value]


def common_name(certificate: x509.Certificate, path: Path) -> str:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if len(names) != 1:
        raise CertificateError(f"{path}: the certificate names nobody (no common name)")
    return str(names[0].value)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, expires: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _BACKDATED)
        .not_valid_after(expires)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _days_from_now(days: int) -> datetime:
    return (datetime.now(UTC) + timedelta(days=days)).replace(microsecond=0)


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return x509.DNSName(host)
    except ValueError:
        raise UsageError(f"'{host}' is neither a host name nor an address") from None


def _ec(certificate: x509.Certificate) -> ec.EllipticCurvePublicKey:
    return certificate.public_key()  # type: ignore[return-value]


def same_key(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> bool:
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return certificate.public_key().public_bytes(*form) == key.public_key().public_bytes(*form)


def write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Writes the key into a file that only its owner can read."""
    write_file(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), 0o600)


def write_file(path: Path, data: bytes, mode: int) -> None:
    """Replaces the file as a whole; it never exists with wider permissions than `mode`."""
    made = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made.unlink(missing_ok=True)
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
        made.replace(path)
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
