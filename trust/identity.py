"""Identities proven by certificates: this party's own, and those of its peers and callers.

A certificate proves the name in it: the common name, which is also a DNS name of the certificate.
Both ends of a connection show one, issued by the same authority, which may have revoked it since.
Where the party file pins certificates of a peer, these are the only trust anchors for connecting to
the peer, and the only ones it may show when it connects.
"""

from __future__ import annotations

import datetime
import functools
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import NameOID
from grpc.experimental import ChannelOptions

from coterie.base.checks import Check
from coterie.base.errors import CertificateError, ExpiredError, RefusedError, UsageError
from coterie.trust.certificates import (
    CA,
    REVOKED,
    check_certificate,
    common_name,
    load_certificate,
    load_key,
    same_key,
)
from coterie.trust.reach import Files, Proxy, Traveller, target_of
from coterie.trust.revocation import load_revoked, shows_revoked

PROXY = "COTERIE_PROXY"  # the environment variable for programs without a party file

# Paths through NAT and firewalls forget a connection on which nothing passes for some minutes. So
# whoever has a call open asks for a sign of life; servers permit it, and ask, too.
KEEPALIVE = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 60_000),
    ("grpc.http2.max_pings_without_data", 0),  # no limit
)
SERVER_KEEPALIVE = (
    *KEEPALIVE,
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)

# Each channel has a connection of its own, without a proxy, and tries again quickly when it is
# refused. A handshake has five seconds, which gRPC calls the smallest backoff: it takes a tenth of a
# second nearby, and a second and more between continents or with a busy server. The thread that waits
# for a peer's message reads the connection itself.
CHANNEL_OPTIONS = (
    (ChannelOptions.SingleThreadedUnaryStream, 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 1000),
    *KEEPALIVE,
)

# The bytes that a party hands to gRPC before it waits for the peer to receive them: the next frame
# is made while the last one is encrypted.
# A connection without a certificate is closed after ten seconds.
SERVER_OPTIONS = (
    ("grpc.http2.write_buffer_size", 2 << 20),
    ("grpc.server_handshake_timeout_ms", 10_000),
    *SERVER_KEEPALIVE,
)


@dataclass(frozen=True)
class Pin:
    """The certificates that a peer may show: one, or an old and a new one while it is renewed."""

    pem: bytes
    fingerprints: frozenset[str]
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Identity:
    """Who this program is: its certificate, its key and the authority everyone trusts, as PEM."""

    name: str
    certificate: bytes
    key: bytes = field(repr=False)
    authority: bytes
    fingerprint: str
    expires: datetime.datetime
    files: Files
    revoked: frozenset[int] = frozenset()  # serial numbers of certificates that do not count
    proxy: Proxy | None = None  # on the way to every server

    @property
    def traveller(self) -> Traveller:
        """What proxies and relays on the way are told and shown."""
        return Traveller(self.files, self.proxy, self.revoked)

    def _served(self) -> grpc.ServerCertificateConfiguration:
        return grpc.ssl_server_certificate_configuration(
            [(self.key, self.certificate)], self.authority
        )

    def server_credentials(self) -> grpc.ServerCredentials:
        return grpc.ssl_server_credentials(
            [(self.key, self.certificate)], self.authority, require_client_auth=True
        )

    def connect(self, name: str, address: str, pin: Pin | None = None) -> grpc.Channel:
        """A channel to whoever proves to be `name` at this address."""
        root = pin.pem if pin else self.authority
        credentials = grpc.ssl_channel_credentials(root, self.key, self.certificate)
        options = (*CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", name))
        target = target_of(address, name, self.traveller)
        return grpc.secure_channel(target, credentials, options=options)

    def finds_revoked(self, name: str, address: str) -> bool:
        """Whether whoever answers there shows a revoked certificate of this name."""
        if not self.revoked:
            return False
        return shows_revoked(address, name, self.traveller)


def renewed_credentials(current: Callable[[], Identity]) -> grpc.ServerCredentials:
    """Credentials of a server whose identity may be renewed: a handshake uses the current one."""
    shown = [current()]

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        now = current()
        if now is shown[0]:
            return None  # gRPC goes on with the last one
        shown[0] = now
        return now._served()

    return grpc.dynamic_ssl_server_credentials(shown[0]._served(), fetch, True)


@dataclass(frozen=True)
class Caller:
    """Who called, as its certificate proves."""

    name: str
    fingerprint: str
    serial: int = 0


def fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex()


def proven_name(certificate: x509.Certificate) -> str:
    """The common name, if it is also a DNS name of the certificate."""
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if len(names) != 1:
        raise ValueError("has no single common name")
    name = str(names[0].value)
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        alternatives = extension.value.get_values_for_type(x509.DNSName)
    except x509.ExtensionNotFound:
        alternatives = []
    if name not in alternatives:
        raise ValueError(f"names '{name}', but not as a DNS name")
    return name


def caller_of(context: grpc.ServicerContext) -> Caller:
    """The caller of an RPC. TLS has already checked its certificate against the authority."""
    pems = context.auth_context().get("x509_pem_cert", [])
    if not pems:
        raise RefusedError("the caller shows no certificate")
    return _caller_with(pems[0])


@functools.lru_cache(maxsize=256)  # a caller shows the same certificate again at every call
def _caller_with(pem: bytes) -> Caller:
    certificate = x509.load_pem_x509_certificate(pem)
    try:
        return Caller(proven_name(certificate), fingerprint(certificate), certificate.serial_number)
    except ValueError as error:
        raise RefusedError(f"the caller's certificate {error}") from None


def load_identity(
    name: str,
    certificate_path: Path,
    key_path: Path,
    authority_path: Path,
    now: datetime.datetime | None = None,
    revoked_path: Path | None = None,
) -> Identity:
    """Reads and checks the files. Whoever can read the key can act as this party."""
    now = now or datetime.datetime.now(datetime.UTC)
    certificate = load_certificate(certificate_path)
    _check_name_and_dates(certificate, certificate_path, name, now)
    authority = load_certificate(authority_path)
    try:
        certificate.verify_directly_issued_by(authority)
    except Exception:
        raise CertificateError(f"{certificate_path}: is not issued by {authority_path}") from None
    if now > authority.not_valid_after_utc:
        raise ExpiredError(
            f"{authority_path}: the authority expired on {authority.not_valid_after_utc:%Y-%m-%d}"
        )
    mode = key_path.stat().st_mode & 0o777
    if mode & 0o077:
        raise CertificateError(
            f"{key_path}: the key is readable by others (mode {mode:04o}); run chmod 600 on it"
        )
    if not same_key(certificate, load_key(key_path)):
        raise CertificateError(f"{key_path}: is not the key of {certificate_path}")
    return _read(name, Files(certificate_path, key_path, authority_path, revoked_path))


def find_identity(place: Path) -> Identity:
    """The identity in a folder (NAME.crt, NAME.key, ca.crt) or beside a certificate file."""
    if place.is_file():
        certificate = place
    else:
        if not place.is_dir():
            raise UsageError(
                f"{place}: no such identity folder; it must hold NAME.crt, NAME.key and ca.crt"
            )
        found = sorted(path for path in place.glob("*.crt") if path.stem != CA)
        if len(found) != 1:
            what = f"{len(found)} certificates" if found else "no certificate"
            raise UsageError(
                f"{place}: {what} here; an identity folder holds NAME.crt, NAME.key and ca.crt "
                "(or give the path of one .crt file)"
            )
        [certificate] = found
    name = common_name(load_certificate(certificate), certificate)
    for check in check_certificate(certificate):
        if check.state == "failed":
            raise _error_of(check)
    key, authority = certificate.with_suffix(".key"), certificate.with_name(f"{CA}.crt")
    listed = certificate.with_name(REVOKED)
    files = Files(certificate, key, authority, listed if listed.exists() else None)
    return replace(_read(name, files), proxy=_proxy_of_the_environment())


def _proxy_of_the_environment() -> Proxy | None:
    text = os.environ.get(PROXY, "")
    try:
        return Proxy.read(text) if text else None
    except ValueError as error:
        raise UsageError(f"{PROXY}: {error}") from None


def _error_of(check: Check) -> CertificateError:
    kind = ExpiredError if check.exit_code == ExpiredError.exit_code else CertificateError
    return kind(f"{check.subject}: {check.detail}")


def _read(name: str, files: Files) -> Identity:
    certificate = load_certificate(files.certificate)
    authority = load_certificate(files.authority)
    revoked = load_revoked(files.revoked, files.authority) if files.revoked else frozenset()
    if certificate.serial_number in revoked:
        raise CertificateError(
            f"{files.certificate}: the authority has revoked this certificate ({files.revoked})"
        )
    return Identity(
        name,
        files.certificate.read_bytes(),
        files.key.read_bytes(),
        files.authority.read_bytes(),
        fingerprint(certificate),
        min(certificate.not_valid_after_utc, authority.not_valid_after_utc),
        files,
        revoked,
    )


def load_pin(name: str, paths: Sequence[Path], revoked: Collection[int] = ()) -> Pin:
    """The certificates in these files, all of this name; at least one must be valid now."""
    now = datetime.datetime.now(datetime.UTC)
    problem: CertificateError | None = None
    usable = []
    for path in paths:
        certificate = load_certificate(path)
        try:
            _check_name_and_dates(certificate, path, name, now)
            if certificate.serial_number in revoked:
                raise CertificateError(f"{path}: the authority has revoked this certificate")
            usable.append((path, certificate))
        except CertificateError as error:
            problem = problem or error
    if problem is not None and not usable:
        raise problem
    return Pin(
        b"".join(path.read_bytes().rstrip() + b"\n" for path, _ in usable),
        frozenset(fingerprint(certificate) for _, certificate in usable),
        tuple(paths),
    )


def _check_name_and_dates(
    certificate: x509.Certificate, path: Path, name: str, now: datetime.datetime
) -> None:
    try:
        proven = proven_name(certificate)
    except ValueError as error:
        raise CertificateError(f"{path}: the certificate {error}") from None
    if proven != name:
        raise CertificateError(f"{path}: the certificate is of '{proven}', not of '{name}'")
    if now > certificate.not_valid_after_utc:
        raise ExpiredError(
            f"{path}: the certificate expired on {certificate.not_valid_after_utc:%Y-%m-%d}"
        )
    if now < certificate.not_valid_before_utc:
        raise ExpiredError(
            f"{path}: the certificate is valid only from {certificate.not_valid_before_utc:%Y-%m-%d}"
        )
