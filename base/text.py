"""Makes text from other parties safe to show on a terminal, in a log and in a report.

Text from a party, a peer or a file may contain control characters, which steer a terminal, line
breaks, which forge lines of a list, and marks of writing direction, which reorder what a person
reads.
"""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 500


def one_line(text: str, longest: int | None = LONGEST) -> str:
    """The text on one line: white space becomes one space, other unprintable characters "?".

    A text longer than `longest` is cut and ends in an ellipsis; None never cuts.
    """
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(c if c.isprintable() else "?" for c in line)
    return line if longest is None or len(line) <= longest else line[:longest] + "…"


def printable(text: str) -> str:
    """The text with all its spaces, for columns that are aligned by spaces."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)


def quoted_list(names: Sequence[str]) -> str:
    """Names in a sentence: 'Sex', 'Job' and 'Salary'."""
    *first, last = [f"'{name}'" for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def numbered(number: int, noun: str) -> str:
    """A number with its noun: "1 requirement", "2 requirements"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 22nd."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def first_names(names: Sequence[str], most: int = 20) -> str:
    """Names with commas between them: the first `most`, then the number of the others."""
    left = len(names) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {left:,} more" if left > 0 else shown


def byte_count(count: int) -> str:
    """A number of bytes for a person."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """A time for a person."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"
