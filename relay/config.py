"""The relay file: who may be reached, who may only call, and limits. docs/relay.md has every key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from coterie.base.addresses import port_of
from coterie.jobs.file.document import Node, Section, read_document, read_text
from coterie.jobs.file.job import read_name
from coterie.trust.identity import Identity, load_identity


@dataclass(frozen=True)
class Limits:
    """Bounds, so that nobody shuts the others out."""

    connections: int = 500  # connections that are carried, all in all
    each: int = 100  # of these, connections that one certificate asked for
    strangers: int = 256  # connections that have not shown a certificate yet
    strangers_each: int = 16  # of these, from one address
    handshake: int = 10  # seconds for showing a certificate and saying what is wanted


@dataclass(frozen=True)
class RelayConfig:
    file: Path
    name: str
    listen: str
    identity: Identity
    parties: frozenset[str]  # may be reached, and may call
    callers: frozenset[str]  # may call
    limits: Limits = field(default_factory=Limits)


def load_relay(path: Path) -> RelayConfig:
    """Reads a relay file and the certificates it names."""
    section = read_document(read_text(path), str(path))
    folder = path.absolute().parent
    name = read_name(section.required("name"))
    listen = section.required("listen")
    if port_of(listen.text()) is None:
        raise listen.error(f"must be HOST:PORT with a port from 0 to 65535, not '{listen.text()}'")
    tls = section.required("tls").section()
    certificate, key, authority = (
        folder / tls.required(part).text() for part in ("certificate", "key", "authority")
    )
    revoked = tls.read("revoked", lambda node: folder / node.text(), None)
    tls.close()
    identity = load_identity(name, certificate, key, authority, revoked_path=revoked)
    parties = frozenset(section.required("parties").texts())
    nobody: list[str] = []
    callers = frozenset(section.read("callers", Node.texts, nobody))
    limits = section.read("limits", lambda node: _limits(node.section()), Limits())
    section.close()
    return RelayConfig(path, name, listen.text(), identity, parties, callers, limits)


def _limits(section: Section) -> Limits:
    usual = Limits()
    keys = ("connections", "each", "strangers", "strangers_each", "handshake")
    found = [
        section.read(key, lambda n: n.integer(1, 100_000), getattr(usual, key)) for key in keys
    ]
    section.close()
    return Limits(*found)
