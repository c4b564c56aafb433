"""Every error a user can meet, each with the exit code its command ends with.

The message of an error is one line that says what is wrong, where, and what to do. An error that
is not one of these is a defect of Coterie and exits with `INTERNAL`. docs/exit-codes.md has a
paragraph for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Self

INTERNAL = 70
INTERRUPTED = 130
ROWS_SHOWN = 5
_PLACES = re.compile(r"(\{column\}|\{rows\}|\{value\})")  # the fields of an error's sentence


class CoterieError(Exception):
    """Base of all errors that are reported to a person as one line.

    `inside` continues the line for the log of the party that reports the error, and for nobody else.
    """

    exit_code = 1
    inside: str = ""


class UsageError(CoterieError):
    """A command line, a job file or a party file is wrong."""

    exit_code = 2


class DataError(CoterieError):
    """A table or a taxonomy cannot be used as it is.

    The fields say where and what: `file`; `column` (or several); `rows`, counted from 1, or pairs
    of a row and the earlier one that it repeats; `value`, the value found there; `what`, a sentence
    in which `{column}`, `{rows}` and `{value}` stand for them. Rows that `what` does not mention
    are named before it. `bare` is the sentence for readers who may see no rows, if their sentence
    must say less. The text of `what` itself must not contain rows or values.

    Whoever reports the error chooses by `message` what to show. Rows and values are for the data's
    holder alone (`str` shows everything): somebody who chooses ranges and taxonomies could
    otherwise read values from the rows that do not fit.
    """

    exit_code = 3
    of_columns: bool = False  # whether values of a party do not fit what a job says of them

    def __init__(
        self,
        what: str,
        *,
        file: str = "",
        column: str | Sequence[str] = (),
        rows: Sequence[int | tuple[int, int]] = (),
        value: object = None,
        bare: str = "",
    ) -> None:
        self.what = what
        self.file = file
        self.columns = (column,) if isinstance(column, str) else tuple(column)
        self.rows = tuple(rows)
        self.value = value
        self.bare = bare
        super().__init__(self.message(rows=True, value=True))

    def at(self, rows: Sequence[int | tuple[int, int]]) -> DataError:
        """The same error about other rows, as where the table is part of a larger one."""
        return DataError(
            self.what, file=self.file, column=self.columns, rows=rows, value=self.value,
            bare=self.bare,
        )  # fmt: skip

    def message(self, *, rows: bool, value: bool = False) -> str:
        """The message, with the rows and the value only if they are asked for."""
        sentence = self.what if rows or not self.bare else self.bare
        filled = "".join(self._part(part, rows, value) for part in _PLACES.split(sentence))
        place = f"{self.file}: " if self.file else ""
        if rows and self.rows and "{rows}" not in sentence:
            place += f"{self._listed()}: "
        return place + filled

    def _part(self, part: str, rows: bool, value: bool) -> str:
        if part == "{column}":
            names = ", ".join(f"'{name}'" for name in self.columns)
            return f"column{'s' if len(self.columns) > 1 else ''} {names}"
        if part == "{rows}":
            return self._listed() if rows else "identifiers are repeated"
        if part == "{value}":
            return f"'{self.value}'" if value else "…"
        return part

    def _listed(self) -> str:
        shown = [
            str(row) if isinstance(row, int) else f"{row[0]} repeats {row[1]}"
            for row in self.rows[:ROWS_SHOWN]
        ]
        more = len(self.rows) - ROWS_SHOWN
        several = len(self.rows) > 1 and isinstance(self.rows[0], int)
        return f"row{'s' if several else ''} {', '.join(shown)}" + (
            f" and {more} more" if more > 0 else ""
        )


class RefusedError(CoterieError):
    """A party's policy refuses the job; names the party and the rule."""

    exit_code = 4


class UnreachableError(CoterieError):
    """A party cannot be reached or does not prove who it is, before the job has started."""

    exit_code = 5


class CertificateError(UnreachableError):
    """A certificate is not the expected one: another name, another authority or another key."""

    exit_code = 11


class ExpiredError(CertificateError):
    """A certificate is past its date, or not valid yet."""

    exit_code = 12


class PeerError(CoterieError):
    """Something that a named peer did, or failed to do, ended the job at a named step."""

    said_by: str = ""  # the party that reported the error, if this party has not seen it itself
    for_good: bool = False  # the job has ended at the peer, which will not go on with it
    refused: bool = False  # the peer took part, and then refused to release

    def __init__(self, peer: str, step: str, reason: str) -> None:
        super().__init__(f"{peer}: {reason} (step '{step}')" if step else f"{peer}: {reason}")
        self.peer = peer
        self.step = step
        self.reason = reason

    def placed(self, step: str, reason: str | None = None) -> Self:
        """The same error at a step, with another reason if one is given."""
        error = type(self)(self.peer, step, self.reason if reason is None else reason)
        error.said_by, error.inside = self.said_by, self.inside
        error.for_good, error.refused = self.for_good, self.refused
        return error


class PeerLostError(PeerError):
    """A peer died, was cut off, stopped, or did not answer within the deadline."""

    exit_code = 6


class PeerRevokedError(PeerError):
    """A peer shows a certificate that was revoked. The job ends for good: its key may be in other hands."""

    exit_code = CertificateError.exit_code

    def __init__(self, peer: str, step: str, reason: str = "") -> None:
        again = "its certificate was revoked; with a new one, propose the job again"
        super().__init__(peer, step, reason or again)

    @classmethod
    def told(cls, me: str, step: str, peer: str) -> Self:
        """The error of a party that is told by a peer that its own certificate was revoked."""
        error = cls(me, step, f"{cls(me, step).reason}, says {peer}")
        error.said_by = peer
        return error


class PeerFaultError(PeerError):
    """A peer sent something that an honest peer never sends."""

    exit_code = 7


class VerificationError(CoterieError):
    """A release does not hold what it promises."""

    exit_code = 8


class EnvironmentFaultError(CoterieError):
    """This machine cannot do what is asked: a port in use, a read-only folder, a full disk."""

    exit_code = 9


class CancelledError(CoterieError):
    """The job was cancelled by its coordinator or by a party's operator."""

    exit_code = 10
