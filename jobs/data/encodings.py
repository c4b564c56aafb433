"""How the bytes of a CSV file are text: what its first bytes say, and a guess for an error's hint."""

from __future__ import annotations

import codecs
from pathlib import Path

UTF8 = "utf-8"
_READ = 1 << 20
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_OTHER_FILES = {
    b"PK\x03\x04": "a spreadsheet: name it .xlsx, or say data: {excel: FILE}",
    b"PAR1": "a Parquet file: name it .parquet, or say data: {parquet: FILE}",
    b"\x1f\x8b": "compressed: unpack it first",
}


def is_encoding(name: str) -> bool:
    """Whether a text can be written in an encoding of this name."""
    try:
        "a,b\n".encode(name)
    except (LookupError, UnicodeError):
        return False
    return True


def first_bytes(path: Path, many: int = 4) -> bytes:
    """The beginning of a file; nothing of a pipe, which gives its bytes once."""
    if not path.is_file():
        return b""
    with path.open("rb") as content:
        return content.read(many)


def encoding_of(path: Path) -> str:
    """UTF-16 where the file has its mark, or every second byte is zero as in ASCII; otherwise UTF-8."""
    start = first_bytes(path)
    if len(start) == 4 and all(start[::2]) and not any(start[1::2]):
        return "utf-16-le"
    return _MARKS.get(start[:2], UTF8)


def ends_open(path: Path) -> bool:
    """Whether the last line of a file has no line break, as where only a part of it was copied."""
    if not path.is_file() or not (size := path.stat().st_size):
        return False
    with path.open("rb") as content:
        content.seek(max(size - 2, 0))
        return not content.read().strip(b"\0").endswith((b"\n", b"\r"))


def other_kind(path: Path) -> str | None:
    """What a file is that is named like a CSV file and is another one."""
    start = first_bytes(path)
    return next((kind for mark, kind in _OTHER_FILES.items() if start.startswith(mark)), None)


def is_text_in(path: Path, encoding: str) -> bool:
    """Whether all bytes of a file are text in this encoding."""
    try:
        with path.open(encoding=encoding, newline="") as text:
            while text.read(_READ):
                pass
    except UnicodeError:
        return False
    return True


def guessed(path: Path) -> str:
    """The encoding that a file which is not UTF-8 probably has."""
    content = first_bytes(path, _READ)
    if content.count(0) * 4 > len(content):
        return "utf-16-le" if content[1::2].count(0) > content[::2].count(0) else "utf-16-be"
    high = [byte for byte in content if byte >= 0x80]
    # In the code pages of DOS the letters are where Windows has quotation marks and dashes.
    dos = sum(byte < 0xA0 for byte in high)
    return "cp850" if dos * 2 > len(high) else "cp1252"
