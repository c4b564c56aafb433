"""Text of others, made fit for a terminal, a log and a report.

What a party, a peer or a file says may hold control characters, which steer a terminal, line breaks,
which forge lines of a list, and marks of writing direction, which reorder what a person reads.
"""

from __future__ import annotations

LONGEST = 500


def one_line(text: str, longest: int | None = LONGEST) -> str:
    """The text on one line: white space becomes one blank, what cannot be printed a question mark.

    A longer text than `longest` is cut, which an ellipsis shows; None never cuts.
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return line if longest is None or len(line) <= longest else line[:longest] + "…"


def printable(text: str) -> str:
    """The text with its blanks as they are, for columns that are aligned by blanks."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
