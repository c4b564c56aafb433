"""A certificate authority for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from coterie.trust.identity import Identity, load_identity


class Authority:
    """A certificate authority that also issues wrong certificates on request."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        self.path = folder / f"{name}.crt"
        certificate = self._sign(self._name, self._key.public_key(), None, 90, ca=True)
        self.path.write_bytes(certificate.public_bytes(Encoding.PEM))

    def _sign(
        self, subject: Any, key: Any, dns: str | None, days: float, ca: bool, start: float = -60
    ) -> Any:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=start))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if dns:
            names = x509.SubjectAlternativeName([x509.DNSName(dns)])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def issue(
        self,
        name: str,
        *,
        file: str | None = None,
        days: float = 60,
        dns: str | None = None,
        start: float = -60,
    ) -> Path:
        """Writes FILE.crt and FILE.key and returns the certificate's path."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._sign(
            subject, key.public_key(), dns or name, days, ca=False, start=start
        )
        path = self.folder / f"{file or name}.crt"
        path.write_bytes(certificate.public_bytes(Encoding.PEM))
        key_path = path.with_suffix(".key")
        key_path.touch(0o600)
        key_path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return path

    def revoke(self, *files: str) -> Path:
        """Writes the revocation list, ca.crl, of the certificates in FILE.crt."""
        now = datetime.now(UTC)
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self._name)
            .last_update(now)
            .next_update(now + timedelta(days=30))
        )
        for file in files:
            serial = x509.load_pem_x509_certificate(
                (self.folder / f"{file}.crt").read_bytes()
            ).serial_number
            entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now)
            builder = builder.add_revoked_certificate(entry.build())
        path = self.folder / "ca.crl"
        path.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))
        return path

    def identity(self, name: str, file: str | None = None) -> Identity:
        path = self.folder / f"{file or name}.crt"
        if not path.exists():
            self.issue(name, file=file)
        return load_identity(name, path, path.with_suffix(".key"), self.path)
