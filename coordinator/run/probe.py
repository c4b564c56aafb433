"""Checks that a party can be reached and is who it should be: name, port, TLS, certificate.

gRPC reports all of these failures as "unavailable". The probe uses plain sockets, so that `coterie
run` and `coterie doctor` can say which of them it is. It sends nothing but a handshake.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from cryptography import x509

from coterie.base.addresses import relays_of, split_address
from coterie.base.checks import Check, failed, passed
from coterie.base.errors import CertificateError, CoterieError, ExpiredError, UnreachableError
from coterie.trust.certificates import expiry_check
from coterie.trust.identity import Identity
from coterie.trust.reach import reach

_EXPIRED, _NOT_YET, _OTHER_NAME = 10, 9, 62  # OpenSSL's verification codes
_CLASSES = {cls.exit_code: cls for cls in (UnreachableError, CertificateError, ExpiredError)}


def probe(name: str, address: str, identity: Identity, seconds: float) -> Iterator[Check]:
    """One check per stage, up to the first that fails."""
    gone = UnreachableError.exit_code
    if relays_of(address) or identity.proxy:
        yield from _probe_through(name, address, identity, seconds)
        return
    host, port = split_address(address)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        yield failed(name, "name", f"'{host}' does not resolve: {_reason(error)}", gone)
        return
    addresses = sorted({str(item[4][0]) for item in found})
    known = "an address" if addresses == [host] else ", ".join(addresses)
    yield passed(name, "name", f"{host} is {known}")
    try:
        connection = socket.create_connection((host, port), seconds)
    except TimeoutError:
        yield failed(name, "port", f"{address} does not answer within {seconds:g} s", gone)
        return
    except OSError as error:
        hint = ""
        if isinstance(error, ConnectionRefusedError):
            hint = "; does the party's server run there ('coterie party serve'), on this port?"
        yield failed(name, "port", f"{address}: {_reason(error).lower()}{hint}", gone)
        return
    with connection:
        yield passed(name, "port", f"{address} is open")
        yield from _handshake(name, address, identity, connection, seconds)


def _probe_through(name: str, address: str, identity: Identity, seconds: float) -> Iterator[Check]:
    """The same behind a proxy or a relay, which look for the address."""
    try:
        connection = reach(address, name, identity.traveller, seconds)
    except OSError as error:
        yield failed(name, "port", f"{address}: {_reason(error)}", UnreachableError.exit_code)
        return
    with connection:
        yield passed(name, "port", f"{address} passes connections on")
        yield from _handshake(name, address, identity, connection, seconds)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _handshake(
    name: str, address: str, identity: Identity, connection: socket.socket, seconds: float
) -> Iterator[Check]:
    wrong, gone = CertificateError.exit_code, UnreachableError.exit_code
    try:
        with _context(identity, verify=True).wrap_socket(
            connection, server_hostname=name
        ) as secured:
            shown = x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
            if shown.serial_number in identity.revoked:
                detail = (
                    f"{address} shows a certificate that {identity.files.revoked} lists as revoked"
                )
                yield failed(name, "tls", detail, wrong)
                return
            # In TLS 1.3 the server checks our certificate after our side of the handshake: a first
            # byte means that it was accepted.
            if not secured.recv(1):
                valid = x509.load_pem_x509_certificate(identity.certificate)
                detail = (
                    f"{address} closed the connection: it does not accept the certificate of "
                    f"'{identity.name}' (valid from {valid.not_valid_before_utc:%Y-%m-%d %H:%M} to "
                    f"{valid.not_valid_after_utc:%Y-%m-%d %H:%M} UTC); compare its clock with this "
                    "one, and its authority's certificate with yours"
                )
                yield failed(name, "tls", detail, gone)
                return
    except ssl.SSLCertVerificationError as error:
        yield _unverified(name, address, identity, error, seconds)
        return
    except TimeoutError:
        yield failed(name, "tls", f"{address} is open but says nothing for {seconds:g} s", gone)
        return
    except ssl.SSLError as error:
        yield _refused(name, address, identity, error)
        return
    except (OSError, ValueError) as error:
        # gRPC servers close the connection of a client whose certificate they do not accept.
        yield failed(
            name,
            "tls",
            f"{address} broke off the handshake ({_reason(error)}); "
            f"it may not accept the certificate of '{identity.name}'",
            wrong,
        )
        return
    yield passed(name, "tls", f"proves to be '{name}' and accepts '{identity.name}'")
    yield expiry_check(name, shown)


def _unverified(
    name: str,
    address: str,
    identity: Identity,
    error: ssl.SSLCertVerificationError,
    seconds: float,
) -> Check:
    shown = _shown_certificate(name, address, identity, seconds)
    if error.verify_code in (_EXPIRED, _NOT_YET):
        when = ""
        if shown is not None:
            when = f" (it is valid from {shown.not_valid_before_utc:%Y-%m-%d} "
            when += f"to {shown.not_valid_after_utc:%Y-%m-%d})"
        what = "has expired" if error.verify_code == _EXPIRED else "is not valid yet"
        detail = f"the certificate that {address} shows {what}{when}"
        return failed(name, "tls", detail, ExpiredError.exit_code)
    if error.verify_code == _OTHER_NAME:
        who = f" but of {shown.subject.rfc4514_string()}" if shown is not None else ""
        detail = f"{address} shows a certificate that is not of '{name}'{who}"
    else:
        detail = (
            f"{address} shows a certificate of another authority than {identity.files.authority} "
            f"({error.verify_message})"
        )
    return failed(name, "tls", detail, CertificateError.exit_code)


def _refused(name: str, address: str, identity: Identity, error: ssl.SSLError) -> Check:
    reason = (error.reason or str(error)).upper()
    if "EXPIRED" in reason:
        detail = f"{address} says that the certificate of '{identity.name}' has expired"
        return failed(name, "tls", detail, ExpiredError.exit_code)
    if "ALERT" in reason:
        said = reason.split("ALERT_")[-1].replace("_", " ").lower()
        detail = f"{address} does not accept the certificate of '{identity.name}' ({said})"
        return failed(name, "tls", detail, CertificateError.exit_code)
    detail = f"{address} does not speak TLS ({reason.replace('_', ' ').lower()})"
    return failed(name, "tls", detail, UnreachableError.exit_code)


def _shown_certificate(
    name: str, address: str, identity: Identity, seconds: float
) -> x509.Certificate | None:
    """The other end's certificate, unverified: only to report what is wrong with it."""
    try:
        with (
            reach(address, name, identity.traveller, seconds) as connection,
            _context(identity, verify=False).wrap_socket(connection) as secured,
        ):
            return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
    except (OSError, ValueError):
        return None


def _context(identity: Identity, verify: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])
    context.load_verify_locations(identity.files.authority)
    context.load_cert_chain(identity.files.certificate, identity.files.key)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def require(name: str, address: str, identity: Identity, seconds: float) -> None:
    """Raises the error that the first failed check means."""
    for check in probe(name, address, identity, seconds):
        if check.state == "failed":
            error = failure(check)
            raise type(error)(f"{error} ('coterie doctor' checks every party)")


def failure(check: Check) -> CoterieError:
    return _CLASSES.get(check.exit_code, UnreachableError)(f"{check.subject}: {check.detail}")
