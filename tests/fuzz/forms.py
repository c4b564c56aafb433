"""Changes that leave an input's form in order, so that it comes past the outermost check.

Most inputs whose bytes are changed anywhere are not JSON any more, or break a chain of digests, and
say nothing about what comes behind. Here a value of JSON becomes another value, a word of a text
another word, and what depends on it is made anew.
"""

import json
import random
import re
import sys
from collections.abc import Sequence
from typing import Any

from tests.fuzz.mutations import one_of

_DEEP = "#deep#"  # stands for lists in lists, which the encoder of JSON would not write
_QUOTED_DEEP = f'"{_DEEP}"'.encode()
_LONG = "#long#"  # stands for the longest number that Python reads, which it is slow to write
_QUOTED_LONG = f'"{_LONG}"'.encode()
_DIGITS = b"9" * sys.get_int_max_str_digits()
_DEPTHS = [2, 20, 90, 200, 330, 480]
_ODD: list[Any] = [
    None, True, False, 0, 1, -1, 7, 1.5, -0.0, 1e308, float("inf"), float("nan"), 2**31, 2**63 - 1, 2**63, 2**64, 2**200,
    _LONG, "", "a", "0", "..", "a/b", "\0", "\ud800", "\u202e", "x" * 2000, "2026-01-02T03:04:05+00:00", "1/3", "ab" * 16,
    "0" * 64, [], {}, [[]], [{}], {"": None}, {"a": {"b": 1}}, [1, "a"], ["a", "a"], _DEEP,
]  # fmt: skip
_MOST = 40  # places of a value that are looked at, and those of the dictionary or list that the last is in


def odd_value(chance: random.Random) -> Any:
    """A value that few expect."""
    return one_of(_ODD, chance)


_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|\[\]|\{\}')
_COMMA = re.compile(rb", ?")


def json_token(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Puts another key or value in the place of one, or removes it, without reading all of the JSON.

    This takes a fifth of the time of `json_lines`, which also changes what holds others.
    """
    tokens = _tokens(data, chance)
    if not tokens:
        return
    at = int(chance.random() * len(tokens))
    start, end = tokens[at].span()
    is_key = data[end : end + 1] == b":"
    if (
        is_key and at + 1 < len(tokens) and chance.random() < 0.8
    ):  # the names of keys are soon known
        start, end = tokens[at + 1].span()
        is_key = data[end : end + 1] == b":"
    which = chance.random()
    if which < 0.05 and (comma := _COMMA.search(data, start)):
        del data[start : comma.end()]
    elif is_key or which < 0.4:
        found = _tokens(data if chance.random() < 0.5 else one_of(others, chance), chance)
        other = one_of(found, chance).group() if found else b'""'
        data[start:end] = b'""' if is_key and other[:1] != b'"' else other
    else:
        data[start:end] = one_of(_ODD_TOKENS, chance)


def _tokens(text: bytes | bytearray, chance: random.Random) -> list[re.Match[bytes]]:
    """The keys and plain values of one line."""
    at = int(chance.random() * len(text))
    start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
    return list(_TOKEN.finditer(text, start, len(text) if end < 0 else end))


def json_lines(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Changes the value of one line, which stays JSON; a line that is none gives way to another one."""
    lines = data.split(b"\n")
    at = int(chance.random() * max(1, len(lines) - 1))  # what is behind the last end is no line
    found = parsed(lines[at])
    if not isinstance(found, dict | list):
        found = parsed(one_of(one_of(others, chance).split(b"\n"), chance))
    if isinstance(found, dict | list) and (line := written(changed(found, chance), chance)):
        lines[at] = bytearray(line)
        data[:] = b"\n".join(lines)


def json_document(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Changes a value of a document that stays JSON."""
    found = parsed(data)
    if not isinstance(found, dict | list):
        found = parsed(one_of(others, chance))
    if isinstance(found, dict | list) and (text := written(changed(found, chance), chance)):
        data[:] = text


def parsed(text: bytes | bytearray) -> Any:
    """The value of JSON; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def written(value: Any, chance: random.Random) -> bytes | None:
    """The value as JSON; None if it is too deep for the encoder."""
    try:
        text = json.dumps(value).encode()
    except (ValueError, RecursionError):
        return None
    if _QUOTED_DEEP in text:
        # The decoder goes down to about a thousand; below that lies what some of its callers do.
        depth = (
            one_of(_DEPTHS, chance) if chance.random() < 0.5 else 880 + int(chance.random() * 120)
        )
        text = text.replace(_QUOTED_DEEP, b"[" * depth + b"]" * depth)
    return text.replace(_QUOTED_LONG, _DIGITS)


_ODD_TOKENS = [
    *(json.dumps(value).encode() for value in _ODD if value not in (_DEEP, _LONG)),
    _DIGITS,
    *(b"[" * depth + b"]" * depth for depth in (90, 480, 930, 985)),
]


def changed(value: Any, chance: random.Random) -> Any:
    """The value after one change at one of its places; it is changed where it lies."""
    places = _places(value)
    if not places:
        return odd_value(chance)
    holder, key = one_of(places, chance)
    which = chance.random()
    if which < 0.5:
        holder[key] = odd_value(chance)
    elif which < 0.6:
        del holder[key]
    elif which < 0.75:
        other, name = one_of(places, chance)
        if not isinstance(holder[key], dict | list):  # nothing may come to hold itself
            other[name], holder[key] = holder[key], other[name]
    elif which < 0.85 and isinstance(holder, dict):
        holder[str(one_of(places, chance)[1])] = holder.pop(key)
    elif isinstance(holder, list):
        holder.insert(key, odd_value(chance))
    else:
        holder[str(odd_value(chance))[:50]] = odd_value(chance)
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Where values lie in a value: the dictionary or list, and the key."""
    found: list[tuple[Any, Any]] = []
    holders = [value]
    for holder in holders:
        for key, held in holder.items() if isinstance(holder, dict) else enumerate(holder):
            found.append((holder, key))
            if isinstance(held, dict | list):
                holders.append(held)
        if len(found) > _MOST:
            break
    return found


_WORD = re.compile(rb"(?<![\w.])[\w.]+")
_ODD_WORDS = [
    b"-1", b"0", b"1", b"2", b"1.5", b"1e400", b"1e-400", b"nan", b".inf", b"null", b"~", b"true", b"false", b"''", b"[]",
    b"{}", b"[a, b]", b"{a: b}", b"[[a]]", b"99999999999999999999", b"'1'", b"*a", b"&a", b"!!int", b"<<", b"a b", b"..", b"|",
    b"'\xe2\x80\xae'", b'"\\0"', b"127.0.0.1:0", b"1d", b"0d", b"5GB", b"all", b"none", b"x" * 300, b"\xc3\xa4",
]  # fmt: skip


def word(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Puts another word in the place of a word: of this text, of another one, or an odd one."""
    found = _word_of(data, chance)
    if found is None:
        return
    which = chance.random()
    source = data if which < 0.3 else one_of(others, chance) if which < 0.6 else None
    other = None if source is None else _word_of(source, chance)
    data[found.start() : found.end()] = other.group() if other else one_of(_ODD_WORDS, chance)


def _word_of(text: bytes | bytearray, chance: random.Random) -> re.Match[bytes] | None:
    return _WORD.search(text, int(chance.random() * len(text)))


def block(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Puts some lines of this text or another one before a line, replaces some, or moves their indent."""
    lines = bytes(data).split(b"\n")
    source = lines if chance.random() < 0.5 else one_of(others, chance).split(b"\n")
    start = int(chance.random() * len(source))
    taken = source[start : start + 1 + int(chance.random() * 3)]
    which = chance.random()
    if which < 0.2:
        taken = [b"  " + line for line in taken]
    elif which < 0.4:
        taken = [line.removeprefix(b"  ") for line in taken]
    at = int(chance.random() * (len(lines) + 1))
    lines[at : at + int(chance.random() * 3)] = taken
    data[:] = b"\n".join(lines)
