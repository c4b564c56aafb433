"""The party file: this party's identity, its peers, its data and its policy.

docs/party.md describes every key. Paths are relative to the file. Errors name the key and the line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import grpc
import pyarrow as pa

from coterie.base.addresses import from_this_machine, is_address, port_of
from coterie.base.errors import DataError, RefusedError
from coterie.base.names import is_name
from coterie.base.sizes import half_of_the_memory
from coterie.jobs.data.filtered import filtered
from coterie.jobs.data.sources import Source, parse_source
from coterie.jobs.file.document import Node, Section, read_document, read_text
from coterie.jobs.file.job import Job, read_name
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.matching.identifiers import read_compute
from coterie.party.limits import Limits, read_limits, read_size
from coterie.party.policy import Budget, Policy
from coterie.party.settings import (
    Notify,
    Retention,
    duration,
    read_books_key,
    read_notify,
    read_repeat,
    read_retention,
)
from coterie.transport.error_messages import EXPLAINED
from coterie.transport.session import Heartbeat
from coterie.trust.identity import Caller, Identity, Pin, load_identity, load_pin
from coterie.trust.reach import Proxy

NO_OPERATORS = (
    "anybody with the server's key may approve jobs, under any name; list people's certificates under "
    "'operators: {NAME: {certificate: NAME.crt}}'"
)


@dataclass(frozen=True)
class Peer:
    """A party of the roster: its address, and the only certificates it may show, if pinned."""

    name: str
    address: str
    pin: Pin | None


@dataclass(frozen=True, kw_only=True)
class PartyConfig:
    file: Path
    name: str
    listen: str
    identity: Identity
    peers: dict[str, Peer]
    source: Source
    state: Path
    memory: int
    heartbeat: Heartbeat
    policy: Policy
    compute: str = "local"
    audit_head: Path | None = None
    books_key: bytes = field(default=b"", repr=False)  # under which the books are sealed
    limits: Limits = field(default_factory=Limits)
    reflection: bool = False
    pins: Mapping[str, Pin] = field(default_factory=dict)  # coordinators' certificates
    files: tuple[Path, ...] = ()  # the party file and the certificate files that it names
    retention: Retention = field(default_factory=Retention)
    notify: Notify | None = None
    digest: str = ""  # of the contents of `files`, but not of the private key
    tables: Mapping[str, tuple[Source, Policy]] = field(default_factory=dict)  # the named tables
    operators: Mapping[str, Pin] = field(default_factory=dict)  # who may decide, by certificate
    relays: tuple[str, ...] = ()  # where this server waits for calls

    def for_job(self, job: Job) -> PartyConfig:
        """This file as it is for one job: with the table that the job names, and its policy."""
        wanted = job.table_of(self.name)
        if wanted is None:
            if self.tables and isinstance(self.source, _NoTable):
                raise RefusedError(
                    f"{self.name} has named tables only: 'parties.{self.name}.table'"
                )
            return self
        if wanted not in self.tables:
            raise RefusedError(f"{self.name} has no table '{wanted}'")
        source, policy = self.tables[wanted]
        return replace(self, source=source, policy=policy)

    @property
    def any_policy(self) -> Policy:
        """The policy before it is known which table a job is about: the strictest of all tables.

        Only the coordinators are those of all tables: whoever may propose a job about one table may
        call, and the table's own policy judges the job.
        """
        if not self.tables:
            return self.policy
        policies = [self.policy, *(policy for _, policy in self.tables.values())]
        return replace(
            self.policy,
            coordinators=frozenset().union(*(policy.coordinators for policy in policies)),
            analysts=tuple(group for policy in policies for group in policy.analysts),
            explain=min((policy.explain for policy in policies), key=EXPLAINED.index),
            examinations=min(policy.examinations for policy in policies),
        )

    def decides(self, caller: Caller) -> bool:
        """Whether the caller is one of the listed operators, by its certificate."""
        pin = self.operators.get(caller.name)
        return pin is not None and caller.fingerprint in pin.fingerprints

    def is_operator(self, caller: Caller) -> bool:
        """Whether the caller may look at everything: a listed operator, or the party's own key."""
        own = caller.name == self.name and caller.fingerprint == self.identity.fingerprint
        return own or self.decides(caller)

    def connect(self, peer: str) -> grpc.Channel:
        """A gRPC channel to a peer of the roster, which must show the pinned certificate."""
        known = self.peers[peer]
        return self.identity.connect(peer, known.address, known.pin)

    @property
    def own_address(self) -> str:
        """The address at which this party's operator, on the same machine, reaches the server."""
        return from_this_machine(self.listen)


def load_party(path: Path) -> PartyConfig:
    """Reads a party file and the certificates it names."""
    text, folder = read_text(path), path.absolute().parent
    section = read_document(text, str(path))
    name = read_name(section.required("name"))
    listen = _address(section.required("listen"))
    identity = _identity(section.required("tls"), folder, name)
    identity = replace(identity, proxy=section.read("proxy", _proxy, None))
    no_peers: dict[str, Peer] = {}
    pins = _Pins(folder, identity)
    peers = section.read("peers", lambda node: _peers(node, pins, name), no_peers)
    no_tables: dict[str, tuple[Source, Policy, dict[str, Pin]]] = {}
    tables = section.read("tables", lambda node: _tables(node, folder, pins), no_tables)
    source = _source(section, folder, bool(tables))
    no_pins: dict[str, Pin] = {}
    policy, pinned = section.read("policy", lambda node: _policy(node, pins), (Policy(), no_pins))
    for _, _, more in tables.values():
        pinned = {**more, **pinned}
    proposers = policy.coordinators.union(*(one.coordinators for _, one, _ in tables.values()))
    taken = {name, *peers, *proposers}
    operators = section.read("operators", lambda node: _operators(node, pins, taken), no_pins)
    state = folder / section.required("state").text()
    own = identity.files
    listed = (own.revoked,) if own.revoked else ()
    named = (own.certificate, own.authority, *listed, *pins.files)
    config = PartyConfig(
        file=path,
        name=name,
        listen=listen,
        identity=identity,
        peers=peers,
        source=source,
        state=state,
        memory=section.read("memory", read_size, half_of_the_memory()),
        heartbeat=section.read("heartbeat", _heartbeat, Heartbeat()),
        policy=policy,
        compute=section.read("compute", read_compute, "local"),
        audit_head=section.read("audit_head", lambda node: folder / node.text(), None),
        books_key=section.read("books_key", lambda node: read_books_key(node, folder, state), b""),
        limits=section.read("limits", read_limits, Limits()),
        reflection=section.read("reflection", Node.boolean, False),
        pins=pinned,
        files=(path, own.key, *named),
        retention=section.read("retention", read_retention, Retention()),
        notify=section.read("notify", read_notify, None),
        digest=_digest(text, named),
        tables={name: (source, policy) for name, (source, policy, _) in tables.items()},
        operators=operators,
        relays=section.read("relays", _relays, ()),
    )
    section.close()
    return config


@dataclass(frozen=True)
class _NoTable:
    """Stands for `data` in a party file all of whose tables have names: it has no column."""

    def __str__(self) -> str:
        return "no table without a name"

    def names(self) -> list[str]:
        return []

    def read(self, columns: Sequence[str]) -> pa.Table:
        if not columns:
            return pa.table({})
        raise DataError("this party has named tables only")


def _source(section: Section, folder: Path, named: bool) -> Source:
    """The table of `data`, behind `where` and `exclude`."""
    data = section.optional("data") if named else section.required("data")
    where, exclude = section.optional("where"), section.optional("exclude")
    if data is None:
        stray = where or exclude
        if stray is not None:
            raise stray.error("has no meaning without 'data'; each of 'tables' has its own")
        return _NoTable()
    return filtered(parse_source(data, folder), where, exclude, folder)


def _tables(
    node: Node, folder: Path, pins: _Pins
) -> dict[str, tuple[Source, Policy, dict[str, Pin]]]:
    """Named tables, each with its own filter and its own policy."""
    found: dict[str, tuple[Source, Policy, dict[str, Pin]]] = {}
    for name, entry in node.section().entries():
        if not is_name(name):
            raise entry.error(f"'{name}' is not a name for a table")
        section = entry.section()
        source = _source(section, folder, False)
        policy, pinned = _policy(section.required("policy"), pins)
        section.close()
        found[name] = (source, policy, pinned)
    return found


def _digest(text: str, named: Sequence[Path]) -> str:
    """A digest that is equal for equal files."""
    total = hashlib.sha256(hashlib.sha256(text.encode()).digest())
    for path in named:
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _identity(node: Node, folder: Path, name: str) -> Identity:
    section = node.section()
    nodes = {key: section.required(key) for key in ("certificate", "key", "authority")}
    if (listed := section.optional("revoked")) is not None:
        nodes["revoked"] = listed
    section.close()
    paths = {key: folder / item.text() for key, item in nodes.items()}
    for key, path in paths.items():
        _check_readable(nodes[key], path)
    return load_identity(
        name,
        paths["certificate"],
        paths["key"],
        paths["authority"],
        revoked_path=paths.get("revoked"),
    )


class _Pins:
    """Reads pinned certificates, and remembers their files."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        self._folder = folder
        self._revoked = identity.revoked
        self.files: list[Path] = []

    def read(self, node: Node | None, name: str) -> Pin | None:
        """The certificates that a node names, one or several."""
        return None if node is None else self.load(node, name)

    def load(self, node: Node, name: str) -> Pin:
        paths = [self._folder / text for text in node.texts()]
        if not paths:
            raise node.error("must name a certificate")
        for path in paths:
            _check_readable(node, path)
        self.files += paths
        return load_pin(name, paths, self._revoked)


def _check_readable(node: Node, path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise node.error(f"{path}: {error.strerror}") from None


def _peers(node: Node, pins: _Pins, me: str) -> dict[str, Peer]:
    peers: dict[str, Peer] = {}
    seen = {me.lower()}
    for name, entry_node in node.section().entries():
        entry = entry_node.section()
        if not is_name(name):
            raise entry_node.error(f"'{name}' is not a name for a party")
        if name.lower() in seen:  # TLS compares names without regard to case
            raise entry_node.error(f"'{name}' is taken (capital letters make no difference)")
        seen.add(name.lower())
        address = _peer_address(entry.required("address"))
        pin = pins.read(entry.optional("certificate"), name)
        entry.close()
        peers[name] = Peer(name, address, pin)
    return peers


def _operators(node: Node, pins: _Pins, taken: set[str]) -> dict[str, Pin]:
    """The people who may decide for this party, each with the certificates that prove who it is.

    `taken` are the names of the party, its peers and coordinators: a person who approves jobs has a
    name that stands for nothing else.
    """
    found: dict[str, Pin] = {}
    for name, entry_node in node.section().entries():
        if name in taken:
            raise entry_node.error(
                f"'{name}' is the party, one of its peers or a coordinator; a person who approves jobs "
                "needs a certificate with a name of its own"
            )
        entry = entry_node.section()
        found[name] = pins.load(entry.required("certificate"), name)
        entry.close()
    if not found:
        raise node.error("names nobody who may decide; leave the key out instead")
    return found


def _address(node: Node) -> str:
    value = node.text()
    if port_of(value) is None:
        raise node.error(f"must be HOST:PORT with a port from 0 to 65535, not '{value}'")
    return value


def _peer_address(node: Node) -> str:
    value = node.text()
    if not is_address(value):
        raise node.error(
            f"must be HOST:PORT with a port from 1 to 65535, or relay://HOST:PORT, not '{value}'"
        )
    return value


def _relays(node: Node) -> tuple[str, ...]:
    """Where this server waits for calls, if it opens no port that others reach."""
    found = node.texts()
    for value in found:
        if not port_of(value):
            raise node.error(f"must be HOST:PORT of a relay, not '{value}'")
    return tuple(found)


def _proxy(node: Node) -> Proxy:
    try:
        return Proxy.read(node.text())
    except ValueError:
        raise node.error("must be http://HOST:PORT, or http://USER:PASSWORD@HOST:PORT") from None


def _heartbeat(node: Node) -> Heartbeat:
    section = node.section()
    interval = section.read("interval", lambda n: n.number(minimum=0.05), Heartbeat.interval)
    deadline_node = section.optional("deadline")
    deadline = deadline_node.number() if deadline_node else max(Heartbeat.deadline, 3 * interval)
    if deadline < 2 * interval:
        raise (deadline_node or node).error("the deadline must be at least two intervals")
    section.close()
    return Heartbeat(interval, deadline)


def _names(section: Section, key: str) -> frozenset[str]:
    nobody: list[str] = []
    return frozenset(section.read(key, Node.texts, nobody))


def _coordinators(section: Section, pins: _Pins) -> tuple[frozenset[str], dict[str, Pin]]:
    """A list of names; or by name which certificates each may show."""
    node = section.optional("coordinators")
    if node is None or not node.is_mapping:
        return _names(section, "coordinators"), {}
    found = {}
    for name, entry_node in node.section().entries():
        entry = entry_node.section()
        found[name] = pins.read(entry.optional("certificate"), name)
        entry.close()
    return frozenset(found), {name: pin for name, pin in found.items() if pin is not None}


def _analysts(node: Node, coordinators: frozenset[str]) -> tuple[frozenset[str], ...]:
    """`{research: [analyst, analyst2]}`: coordinators that are one analyst, by a name for people."""
    groups: list[frozenset[str]] = []
    for _, entry in node.section().entries():
        for name in entry.texts():
            if name not in coordinators:
                raise entry.error(f"'{name}' is not among the coordinators")
            if any(name in group for group in groups):
                raise entry.error(f"'{name}' belongs to another analyst already")
        groups.append(frozenset(entry.texts()))
    return tuple(groups)


def _identifiers(node: Node) -> frozenset[frozenset[str]]:
    """`[ID, [First, Birth]]`: each entry is one identifier, a list inside is one of several columns."""
    found = set()
    for item in node.items() if node.is_list else [node]:
        columns = item.texts()
        if not columns or len(set(columns)) != len(columns):
            raise item.error("must name one column, or several different ones as a list")
        found.add(frozenset(columns))
    return frozenset(found)


def _budget(node: Node) -> Budget:
    section = node.section()
    epsilon = section.required("epsilon").number(minimum=0.001, maximum=1000)
    delta = section.read("delta", lambda n: n.number(minimum=0, maximum=0.01), 0.0)
    days = section.read("days", lambda n: n.integer(1, 36_500), 365)
    section.close()
    return Budget(Fraction(str(epsilon)), Fraction(str(delta)), days)


def _policy(node: Node, pins: _Pins) -> tuple[Policy, dict[str, Pin]]:
    section = node.section()
    coordinators, pinned = _coordinators(section, pins)
    kinds = section.optional("kinds")
    if kinds is not None and kinds.is_list:
        for item in kinds.items():
            item.choice(*KINDS)
    columns = section.optional("columns")
    listed: dict[str, frozenset[str]] = {}
    ids: frozenset[frozenset[str]] = frozenset()
    if columns is not None:
        inner = columns.section()
        ids = inner.read("id", _identifiers, ids)
        keys = {
            "use": "use",
            "release": "release",
            "raw": "raw",
            "classes": "class",
            "drop": "drop",
        }
        listed = {field: _names(inner, key) for field, key in keys.items()}
        inner.close()
    policy = Policy(
        coordinators=coordinators,
        analysts=section.read("analysts", lambda n: _analysts(n, coordinators), Policy.analysts),
        kinds=_names(section, "kinds"),
        peers=_names(section, "peers"),
        **listed,
        ids=ids,
        exact=_names(section, "exact"),
        together=section.read(
            "together", lambda n: n.choice("ask", "refuse", "allow"), Policy.together
        ),
        largest_peer_set=section.read(
            "largest_peer_set", lambda n: n.integer(minimum=1), Policy.largest_peer_set
        ),
        smallest_k=section.read("smallest_k", lambda n: n.integer(minimum=1), None),
        smallest_k_map=section.read("smallest_k_map", lambda n: n.integer(minimum=2), None),
        most_owed=section.read("most_owed", lambda n: n.number(minimum=0), None),
        consent=section.read("consent", lambda n: n.choice("auto", "manual"), "manual"),
        explain=section.read("explain", lambda n: n.choice(*EXPLAINED), Policy.explain),
        examinations=section.read(
            "examinations", lambda n: n.integer(minimum=1), Policy.examinations
        ),
        descriptions=section.read(
            "descriptions", lambda n: n.integer(minimum=1), Policy.descriptions
        ),
        reveal=section.read(
            "reveal", lambda n: n.choice("intersection", "pairwise"), Policy.reveal
        ),
        servers=section.read("servers", lambda n: frozenset(n.texts()), None),
        conditions=section.read(
            "conditions", lambda n: n.choice("shares", "holder"), Policy.conditions
        ),
        recipients=_names(section, "recipients"),
        purposes=section.read("purposes", lambda n: frozenset(n.texts()), None),
        zeros=section.read("zeros", lambda n: n.boolean(), Policy.zeros),
        scores=section.read("scores", lambda n: n.choice("hidden", "shown"), Policy.scores),
        silent=section.read("silent", lambda n: n.boolean(), Policy.silent),
        slack=section.read("slack", lambda n: n.boolean(), Policy.slack),
        boxes=section.read("boxes", lambda n: n.choice("regions", "tight"), Policy.boxes),
        budget=section.read("budget", _budget, None),
        repeat=section.read("repeat", read_repeat, None),
        models=section.read("models", lambda n: n.choice("none", "keep", "shared"), Policy.models),
        predictions=section.read("predictions", lambda n: n.integer(minimum=1), Policy.predictions),
        output=section.read("output", lambda n: n.choice("auto", "ask"), Policy.output),
        answer_within=section.read("answer_within", duration, Policy.answer_within),
    )
    section.close()
    return policy, pinned
