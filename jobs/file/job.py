"""The job file: the keys that all kinds of job have in common.

A job has the same bytes at the coordinator and at every party: the file's text and the files that
it refers to (taxonomies), by the paths that it uses. Parties compare `Job.digest` before they
begin.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from coterie.base.addresses import is_address
from coterie.base.names import RULE, is_name
from coterie.jobs.file.document import Node, Section

_LONGEST_PURPOSE = 200
_PASSWORD_PLACES = {
    "postgresql": "PGPASSWORD or ~/.pgpass",
    "odbc": "a DSN in /etc/odbc.ini and name that: odbc: DSN=NAME",
}
_PASSWORD = re.compile(r"\b(password|passwd|pwd)\s*=", re.IGNORECASE)  # the key of an address


@dataclass(frozen=True)
class PartyEntry:
    """A party as the job file names it."""

    name: str
    address: str | None
    data: Node | None  # what a simulation reads: whatever a party file may name as `data`
    table: str | None = None  # the name of one of the party's tables
    where: Node | None = None  # for a simulation, as in a party file; so are the next two
    exclude: Node | None = None
    tables: Node | None = None


@dataclass(frozen=True)
class Job:
    """The fields of all kinds of job. A kind's own fields are in its subclass."""

    kind: str
    name: str
    parties: tuple[PartyEntry, ...]
    text: str = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    purpose: str = field(default="", kw_only=True)  # what the job is for, in the analyst's words

    @functools.cached_property
    def party_names(self) -> tuple[str, ...]:
        return tuple(party.name for party in self.parties)

    def table_of(self, party: str) -> str | None:
        """The table of this party that the job names; None: the one without a name."""
        return next((entry.table for entry in self.parties if entry.name == party), None)

    @property
    def warnings(self) -> list[str]:
        """What an analyst should know about this job before it runs, one line each."""
        return []

    @functools.cached_property
    def digest(self) -> str:
        """A digest of the text and every file of the job, which may be long."""
        return digest_of_file(self.text, self.files)


@dataclass(frozen=True)
class Common:
    """The keys of all kinds, after parsing; a kind reads the rest of the section."""

    kind: str
    name: str
    parties: tuple[PartyEntry, ...]
    text: str
    files: Mapping[str, bytes]
    purpose: str = ""

    @property
    def party_names(self) -> tuple[str, ...]:
        return tuple(party.name for party in self.parties)


def read_name(node: Node) -> str:
    """The name of a party, a job, a table or a model."""
    name = node.text()
    if not is_name(name):
        raise node.error(f"'{name}' is not a name: {RULE}, beginning with a letter or digit")
    return name


def read_common(
    section: Section, text: str, files: Mapping[str, bytes], kinds: list[str]
) -> Common:
    kind = section.required("kind").choice(*kinds)
    name_node = section.required("name")
    name = read_name(name_node)
    parties_node = section.required("parties")
    parties = []
    for party, node in parties_node.section().entries():
        if not is_name(party):
            raise node.error(f"'{party}' is not a name for a party")
        entry = node.section()
        parties.append(
            PartyEntry(
                party,
                entry.read("address", _address, None),
                entry.read("data", _data, None),
                entry.read("table", read_name, None),
                entry.read("where", _without_password, None),
                entry.read("exclude", _without_password, None),
                entry.read("tables", _without_password, None),
            )
        )
        entry.close()
        # Parties prove their names by TLS, which does not distinguish capital and small letters.
        if party.lower() in (other.name.lower() for other in parties[:-1]):
            raise node.error("the name differs from another party's in capital letters only")
    if len(parties) < 2:
        raise parties_node.error("a job needs at least two parties")
    purpose = section.read("purpose", _purpose, "")
    return Common(kind, name, tuple(parties), text, files, purpose)


def _purpose(node: Node) -> str:
    text = node.text()
    if not text.strip() or len(text) > _LONGEST_PURPOSE or not text.isprintable():
        raise node.error(f"must be one line of at most {_LONGEST_PURPOSE} characters")
    return text


def _address(node: Node) -> str | None:
    value = node.text()
    if not is_address(value):
        raise node.error(f"must be HOST:PORT, or relay://HOST:PORT, not '{value}'")
    return value


def _data(node: Node) -> Node:
    """The key `data`, which a simulation parses; here it must only be fit to be sent to parties."""
    if not node.is_mapping:
        node.text()
    return _without_password(node)


def _without_password(node: Node) -> Node:
    for key, place in node.section().entries() if node.is_mapping else ():
        if place.is_mapping:
            _without_password(place)
        elif key in _PASSWORD_PLACES and _has_password(place):
            raise place.error(
                "has a password, and a job file is sent to every party; put it into "
                + _PASSWORD_PLACES[key]
            )
    return node


def _has_password(node: Node) -> bool:
    try:
        return any(urlsplit(text).password or _PASSWORD.search(text) for text in node.texts())
    except ValueError:
        raise node.error("is not an address of a database") from None


def read_recipients(node: Node, parties: Sequence[str]) -> tuple[str, ...]:
    """`all`, or a list of parties; in the order of the parties."""
    if not node.is_list:
        node.choice("all")
        return tuple(parties)
    named = node.texts()
    for name in named:
        if name not in parties:
            raise node.error(f"'{name}' is not among the parties")
    if not named or len(set(named)) < len(named):
        raise node.error("must be 'all', or name parties once each")
    return tuple(name for name in parties if name in named)


def referred_file(node: Node, files: Mapping[str, bytes]) -> str:
    """A path that the job file uses, which must be among the files that came with it."""
    path = node.text()
    if path not in files:
        raise node.error(f"the file '{path}' did not come with the job")
    return path


def digest_of_file(text: str, files: Mapping[str, bytes]) -> str:
    """A digest of a text and of every file that it names, each preceded by its length."""
    total = hashlib.sha256()
    for part in [text.encode()] + [
        piece for path in sorted(files) for piece in (path.encode(), files[path])
    ]:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()
