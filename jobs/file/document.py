"""Reads YAML so that every error names the file, the line and the key.

A `Node` is a value with its place. A `Section` is a mapping whose keys are read one by one;
`Section.close` refuses keys that were not read. Job files and party files are read in this way.

Only plain YAML is read. Anchors, aliases, merge keys and tags are refused, so that a person who
reviews a job sees every value where it is used. Numbers are decimal, Booleans are `true` or
`false`; YAML's other spellings (`0x10`, `1:30`, `yes`) are refused. Size and depth are limited
before anything is built, since a party reads job files of strangers.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml

from coterie.base.errors import UsageError
from coterie.jobs.file.plain_yaml import MERGE, NULL, PlainYamlError, compose

T = TypeVar("T")
_MISSPELT = 0.8  # how similar a key must be to a missing one
_NAMES = {
    yaml.ScalarNode: "a single value",
    yaml.SequenceNode: "a list",
    yaml.MappingNode: "a mapping",
}
LARGEST = 200_000  # characters of a document
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


def read_text(path: Path) -> str:
    """The text of a file that a person wrote; an unreadable one is a `UsageError`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def read_document(text: str, file: str) -> Section:
    """The top-level mapping of a YAML document."""
    if len(text) > LARGEST:
        raise UsageError(f"{file}: longer than {LARGEST:,} characters")
    try:
        raw = compose(text)
    except PlainYamlError as error:
        raise UsageError(f"{file}:{error.line}: {error}") from None
    if raw is None:
        raise UsageError(f"{file}: the file is empty")
    return Node(file, "", raw).section()


@dataclass(frozen=True)
class Node:
    """One value of a document and its place."""

    file: str
    path: str
    raw: yaml.Node

    @property
    def line(self) -> int:
        return int(self.raw.start_mark.line) + 1

    def error(self, message: str) -> UsageError:
        where = f"{self.path}: " if self.path else ""
        return UsageError(f"{self.file}:{self.line}: {where}{message}")

    def _scalar(self, what: str) -> str:
        if not isinstance(self.raw, yaml.ScalarNode):
            raise self.error(f"must be {what}, not {_NAMES[type(self.raw)]}")
        return str(self.raw.value)

    def text(self) -> str:
        """A non-empty string as it is written: `1` and `yes` can be names of columns."""
        value = self._scalar("a text")
        if not value or self.raw.tag == NULL:
            raise self.error("must not be empty")
        return value

    def integer(self, minimum: int | None = None, maximum: int | None = None) -> int:
        value = self._scalar("a whole number")
        if not self._is_bare or not _INTEGER.fullmatch(value) or len(value) > 19:
            raise self.error(f"must be a whole number, not {self._as_written}")
        number = int(value)
        self._in_range(number, minimum, maximum)
        return number

    def number(self, minimum: float | None = None, maximum: float | None = None) -> float:
        value = self._scalar("a number")
        if not self._is_bare or not _NUMBER.fullmatch(value):
            raise self.error(f"must be a number, not {self._as_written}")
        number = float(value)
        if not math.isfinite(number):
            raise self.error(f"must be finite, not '{value}'")
        self._in_range(number, minimum, maximum)
        return number

    def _in_range(self, number: float, minimum: float | None, maximum: float | None) -> None:
        if minimum is not None and number < minimum:
            raise self.error(f"must be at least {minimum}, not {number}")
        if maximum is not None and number > maximum:
            raise self.error(f"must be at most {maximum}, not {number}")

    def boolean(self) -> bool:
        value = self._scalar("true or false")
        if not self._is_bare or value not in ("true", "false"):
            raise self.error(f"must be true or false, not {self._as_written}")
        return value == "true"

    @property
    def _is_bare(self) -> bool:
        """Whether the value is written without quotation marks."""
        return isinstance(self.raw, yaml.ScalarNode) and self.raw.style is None

    @property
    def _as_written(self) -> str:
        value = str(self.raw.value)
        short = value if len(value) <= 40 else value[:37] + "..."
        return f"'{short}'" if self._is_bare else f"the text '{short}' in quotation marks"

    def choice(self, *options: str) -> str:
        value = self.text()
        if not options:
            raise self.error(f"must not be here, since there is nothing to choose '{value}' from")
        if value not in options:
            wanted = f"one of {', '.join(options)}" if len(options) > 1 else f"'{options[0]}'"
            close = difflib.get_close_matches(value, options, 1, _MISSPELT)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise self.error(f"must be {wanted}, not '{value}'{hint}")
        return value

    def items(self, most: int | None = None) -> list[Node]:
        if not isinstance(self.raw, yaml.SequenceNode):
            raise self.error(f"must be a list, not {_NAMES[type(self.raw)]}")
        if most is not None and len(self.raw.value) > most:
            raise self.error(f"must have at most {most} entries, not {len(self.raw.value)}")
        return [Node(self.file, f"{self.path}[{i}]", raw) for i, raw in enumerate(self.raw.value)]

    def texts(self) -> list[str]:
        """A list of texts; a single text counts as a list of one."""
        if isinstance(self.raw, yaml.ScalarNode):
            return [self.text()]
        return [item.text() for item in self.items()]

    def section(self) -> Section:
        if not isinstance(self.raw, yaml.MappingNode):
            raise self.error(f"must be a mapping, not {_NAMES[type(self.raw)]}")
        return Section(self)

    def written(self) -> str:
        """The value as a text that is equal for equal values, however they are laid out."""
        if self.is_list:
            return f"[{', '.join(item.written() for item in self.items())}]"
        if self.is_mapping:
            entries = sorted((key, node.written()) for key, node in self.section().entries())
            return f"{{{', '.join(f'{key!r}: {value}' for key, value in entries)}}}"
        return repr(self.raw.value)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.raw, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self.raw, yaml.SequenceNode)


class Section:
    """A mapping that is read key by key."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._nodes: dict[str, Node] = {}
        self._key_nodes: dict[str, Node] = {}
        self._known: list[str] = []
        for key_raw, value_raw in node.raw.value:
            if key_raw.tag == MERGE:
                raise Node(node.file, node.path, key_raw).error("merge keys (<<) are not used here")
            key = Node(node.file, node.path, key_raw).text()
            path = f"{node.path}.{key}" if node.path else key
            place = Node(node.file, path, key_raw)
            if key in self._nodes:
                raise place.error("the key stands here twice")
            self._key_nodes[key] = place
            self._nodes[key] = Node(node.file, path, value_raw)

    def keys(self) -> list[str]:
        return list(self._nodes)

    def optional(self, key: str) -> Node | None:
        self._known.append(key)
        return self._nodes.get(key)

    def required(self, key: str) -> Node:
        node = self.optional(key)
        if node is None:
            spare = [name for name in self._nodes if name not in self._known]
            close = difflib.get_close_matches(key, spare, 1, _MISSPELT)
            if close:  # the user can correct the misspelt key
                raise self._key_nodes[close[0]].error(f"unknown key; did you mean '{key}'?")
            raise self.node.error(f"the key '{key}' is missing")
        return node

    def read(self, key: str, reader: Callable[[Node], T], default: T) -> T:
        node = self.optional(key)
        return default if node is None else reader(node)

    def entries(self) -> list[tuple[str, Node]]:
        """All keys at once, for a mapping whose keys are names."""
        self._known.extend(self._nodes)
        return list(self._nodes.items())

    def error(self, message: str) -> UsageError:
        return self.node.error(message)

    def unread(self) -> list[tuple[str, Node]]:
        """The keys that were not read, with their values."""
        return [(key, node) for key, node in self._nodes.items() if key not in self._known]

    def close(self) -> None:
        """Refuses keys that were not read."""
        for key, node in self._key_nodes.items():
            if key not in self._known:
                close = difflib.get_close_matches(key, self._known, 1)
                hint = f"; did you mean '{close[0]}'?" if close else ""
                raise node.error(f"unknown key{hint}")
