"""Composes the nodes of a plain YAML document, each with its place.

Events come from libyaml, which is many times faster than the parser that PyYAML has in Python and that
is used where libyaml is missing. Nodes are composed here, because anchors, aliases, tags and depth are
refused at the first event that has them, before anything is built. The two parsers give the same nodes
for what both read; they differ in what they refuse (a tab behind a bare value, `{a:{}}`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

DEEPEST = 16
NULL = "tag:yaml.org,2002:null"
MERGE = "tag:yaml.org,2002:merge"
_TEXT = "tag:yaml.org,2002:str"
_LIST = "tag:yaml.org,2002:seq"
_MAPPING = "tag:yaml.org,2002:map"
_BARE = {"": NULL, "~": NULL, "null": NULL, "Null": NULL, "NULL": NULL, "<<": MERGE}
_UNREADABLE = re.compile(
    "[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_MARK = "\ufeff"  # some editors begin a file with it
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

PARSERS: list[Any] = [yaml.SafeLoader]
if yaml.__with_libyaml__:
    PARSERS.insert(0, yaml.CSafeLoader)

Next = Callable[[], Any]  # gives the next event, or raises yaml.MarkedYAMLError


class PlainYamlError(Exception):
    """A text is not YAML, or not plain; `line` is where."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def compose(text: str, parser: Any = PARSERS[0]) -> yaml.Node | None:
    """The root of the document; None if it is empty. Places do not count a mark of the byte order."""
    text = text.removeprefix(_MARK)
    # Found here, since the parsers tell places of characters in different units, and differ in what
    # they make of a mark of the byte order, which nobody sees, elsewhere.
    if found := _UNREADABLE.search(text):
        raise PlainYamlError(
            text.count("\n", 0, found.start()) + 1,
            f"not YAML: the character U+{ord(found.group()):04X}",
        )
    loader = parser(text)
    try:
        return _root(loader.get_event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # libyaml counts one line more at the end of a text whose last line is not ended.
        line = min(mark.line, len(_BREAK.findall(text))) + 1 if mark else 1
        if (tab := _indented_by_tab(text, line)) is not None:
            raise PlainYamlError(
                tab, "not YAML: the line begins with a tab; indent it with spaces"
            ) from None
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise PlainYamlError(line, f"not YAML: {said}") from None
    except (OverflowError, ValueError):  # of the parser in Python, which does not look at its size
        raise PlainYamlError(loader.line + 1, "not YAML: a number that is too large") from None
    finally:
        loader.dispose()


def _indented_by_tab(text: str, line: int) -> int | None:
    """The line at which the parser stopped, or the one before, if a tab indents it."""
    lines = _BREAK.split(text)
    found = (at for at in (line, line - 1) if 0 < at <= len(lines))
    return next((at for at in found if re.match(r" *\t", lines[at - 1])), None)


def _root(following: Next) -> yaml.Node | None:
    following()  # the beginning of the stream; next is that of a document, or the end
    if type(following()) is yaml.StreamEndEvent:
        return None
    root = _node(following(), following, 0)
    following()  # the end of the document
    after = following()
    if type(after) is not yaml.StreamEndEvent:
        message = "not YAML: expected a single document, but found another document"
        raise _problem(message, after)
    return root


def _node(event: Any, following: Next, depth: int) -> yaml.Node:
    """The node that begins with the event."""
    kind = type(event)
    if kind is yaml.AliasEvent or event.anchor is not None:
        raise _problem("anchors and aliases (&, *) are not used here; write the value out", event)
    if event.tag is not None:
        raise _problem(f"tags ({event.tag[:40]}) are not used here", event)
    if depth >= DEEPEST:
        raise _problem(f"nested deeper than {DEEPEST} levels", event)
    begin = event.start_mark
    if kind is yaml.ScalarEvent:
        value = event.value
        style = event.style or None  # of a bare value, libyaml says ""
        if style == '"' and (found := _NO_TEXT.search(value)):  # by an escape sequence
            raise _problem(f"the character U+{ord(found.group()):04X} is not used here", event)
        tag = _TEXT if style else bare_tag(value)
        return yaml.ScalarNode(tag, value, begin, event.end_mark, style)
    is_list = kind is yaml.SequenceStartEvent
    last: Any = yaml.SequenceEndEvent if is_list else yaml.MappingEndEvent
    held: list[Any] = []
    while type(event := following()) is not last:
        child = _node(event, following, depth + 1)
        held.append(child if is_list else (child, _node(following(), following, depth + 1)))
    if is_list:
        return yaml.SequenceNode(_LIST, held, begin, event.end_mark)
    return yaml.MappingNode(_MAPPING, held, begin, event.end_mark)


def bare_tag(value: str) -> str:
    """The tag of a value without quotation marks: only nothing and merge keys are told apart."""
    return _BARE.get(value, _TEXT)


def _problem(message: str, event: Any) -> PlainYamlError:
    return PlainYamlError(event.start_mark.line + 1, message)
