"""Markup as values: elements hold elements and text, and every text is escaped where it is written.

Nothing here takes ready-made markup, so that a name, a value or an error of somebody else can never
become part of a page's structure. Such text is shown by `foreign`: on one line, cut to a length that a
page can bear, without marks of writing direction, and apart from the text around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from coterie.base.text import one_line

Content: TypeAlias = "Element | str | Iterable[Content]"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*\Z")
_VOID = frozenset({"meta", "br", "col", "hr", "img", "input"})
LONGEST = 120  # characters of a foreign text; the whole of it is in the result's own files
NAMES = 100  # names of a list


@dataclass(frozen=True)
class Element:
    tag: str
    attributes: tuple[tuple[str, str], ...]
    content: tuple[Content, ...]

    def __str__(self) -> str:
        return "".join(_written(self))


def element(tag: str, *content: Content, **attributes: str | float | None) -> Element:
    """An element; `class_`, `for_` stand for reserved words, other underscores for hyphens.

    An attribute that is None is left out. A number is written with at most one decimal.
    """
    named = []
    for key, value in attributes.items():
        if value is not None:
            name = key.rstrip("_").replace("_", "-")
            named.append(
                (name, value if isinstance(value, str) else f"{value:.1f}".rstrip("0").rstrip("."))
            )
    for name in (tag, *(name for name, _ in named)):
        if not _NAME.match(name):
            raise ValueError(f"'{name}' is not a name of an element or an attribute")
    return Element(tag, tuple(named), content)


def foreign(text: str, longest: int = LONGEST) -> Element:
    """Text that somebody else wrote, such as the name of a column or a value of it."""
    return element("bdi", one_line(text, longest))


def listed(names: Iterable[str], most: int = NAMES) -> list[Content]:
    """Foreign names with commas between them; of more than `most` the first, and how many are left."""
    whole = list(names)
    found: list[Content] = []
    for name in whole[:most]:
        found += [", ", foreign(name)] if found else [foreign(name)]
    return [*found, f" and {len(whole) - most:,} more"] if len(whole) > most else found


def explained(text: str, longest: int = LONGEST) -> list[Content]:
    """A foreign sentence in which keys and names of files stand between backquotes."""
    pieces = one_line(text, longest).split("`")
    if len(pieces) % 2 == 0:  # a backquote without its partner is a character
        return [foreign(text, longest)]
    return [
        element("code", element("bdi", piece)) if at % 2 else element("bdi", piece)
        for at, piece in enumerate(pieces)
        if piece
    ]


def _written(content: Content) -> Iterator[str]:
    if isinstance(content, str):
        yield escape(content)
    elif isinstance(content, Element):
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in content.attributes)
        yield f"<{content.tag}{attributes}>"
        if content.tag == "style":  # its content is ours and is not escaped by the standard
            yield "".join(part for part in content.content if isinstance(part, str))
        else:
            for part in content.content:
                yield from _written(part)
        if content.tag not in _VOID:
            yield f"</{content.tag}>"
    else:
        for part in content:
            yield from _written(part)
