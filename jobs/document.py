"""YAML read so that every complaint names the file, the line and the key.

A `Node` is a value with its place. A `Section` is a mapping whose keys are taken one by one;
`Section.close` refuses the keys that nobody took. Job files and party files are both read so.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import yaml

from coterie.errors import UsageError

T = TypeVar("T")
_NAMES = {
    yaml.ScalarNode: "a single value",
    yaml.SequenceNode: "a list",
    yaml.MappingNode: "a mapping",
}


def read_document(text: str, file: str) -> Section:
    """The top-level mapping of a YAML document."""
    try:
        raw = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(f"{file}{line}: not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UsageError(f"{file}: not YAML: {' '.join(str(error).split())}") from None
    if raw is None:
        raise UsageError(f"{file}: the file is empty")
    return Node(file, "", raw).section()


@dataclass(frozen=True)
class Node:
    """One value of a document and where it stands."""

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
        """A non-empty string, as it is written: a column named `1` or `yes` is a name."""
        value = self._scalar("a text")
        if not value or self.raw.tag == "tag:yaml.org,2002:null":
            raise self.error("must not be empty")
        return value

    def integer(self, minimum: int | None = None, maximum: int | None = None) -> int:
        value = self._scalar("a whole number")
        if self.raw.tag != "tag:yaml.org,2002:int":
            raise self.error(f"must be a whole number, not '{value}'")
        number = int(yaml.safe_load(value))
        self._in_range(number, minimum, maximum)
        return number

    def number(self, minimum: float | None = None, maximum: float | None = None) -> float:
        value = self._scalar("a number")
        try:
            number = float(value)
        except ValueError:
            raise self.error(f"must be a number, not '{value}'") from None
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
        if self.raw.tag != "tag:yaml.org,2002:bool":
            raise self.error(f"must be true or false, not '{value}'")
        return bool(yaml.safe_load(value))

    def choice(self, *options: str) -> str:
        value = self.text()
        if value not in options:
            raise self.error(f"must be one of {', '.join(options)}, not '{value}'")
        return value

    def items(self) -> list[Node]:
        if not isinstance(self.raw, yaml.SequenceNode):
            raise self.error(f"must be a list, not {_NAMES[type(self.raw)]}")
        return [Node(self.file, f"{self.path}[{i}]", raw) for i, raw in enumerate(self.raw.value)]

    def texts(self) -> list[str]:
        """A list of texts, or a single one."""
        if isinstance(self.raw, yaml.ScalarNode):
            return [self.text()]
        return [item.text() for item in self.items()]

    def section(self) -> Section:
        if not isinstance(self.raw, yaml.MappingNode):
            raise self.error(f"must be a mapping, not {_NAMES[type(self.raw)]}")
        return Section(self)

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

    def close(self) -> None:
        """Refuses keys that were not asked for."""
        for key, node in self._key_nodes.items():
            if key not in self._known:
                close = difflib.get_close_matches(key, self._known, 1)
                hint = f"; did you mean '{close[0]}'?" if close else ""
                raise node.error(f"unknown key{hint}")
