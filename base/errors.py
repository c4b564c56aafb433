"""Every error a user can meet, each with the exit code its command ends with.

The message of an error is one line that says what is wrong, where, and what to do. An error that
is not one of these is a defect of Coterie and exits with `INTERNAL`. docs/exit-codes.md has a
paragraph for each.
"""

from __future__ import annotations

import re
from typing import Self

INTERNAL = 70
INTERRUPTED = 130


class CoterieError(Exception):
    """Base of all errors that are reported to a person as one line."""

    exit_code = 1


class UsageError(CoterieError):
    """A command, a job file or a party file says something that cannot be meant."""

    exit_code = 2


class DataError(CoterieError):
    """A table or a taxonomy cannot be used as it is; names file, row and column.

    `private` is the value in the message, if there is one. Only the holder of the data sees it:
    `public` is the message for logs, with the value left out. `outline` leaves out the rows, too:
    whoever chooses ranges and taxonomies could read values from the rows that do not fit.
    """

    exit_code = 3

    def __init__(self, message: str, private: object = None, outline: str | None = None) -> None:
        super().__init__(message)
        self.public = message
        if private is not None:
            quoted = f"'{private}'"
            self.public = message.replace(quoted if quoted in message else str(private), "…")
        self.outline = _without_rows(self.public) if outline is None else outline


def _without_rows(text: str) -> str:
    more = "(?: and [0-9]+ more)?"
    repeats = "[0-9]+ repeats [0-9]+"
    text = re.sub(rf"\brow {repeats}(?:, {repeats})*{more}", "identifiers are repeated", text)
    text = re.sub(rf"\brows? [0-9]+(?:, [0-9]+)*{more}: ", "", text)
    return re.sub(r"\brow #?[0-9]+", "a row", text, flags=re.IGNORECASE)


class RefusedError(CoterieError):
    """A party's policy refuses the job; names the party and the rule."""

    exit_code = 4


class UnreachableError(CoterieError):
    """A party cannot be reached or does not prove who it is, before the job has started."""

    exit_code = 5


class CertificateError(UnreachableError):
    """A certificate is not the right one: another name, another authority, another key."""

    exit_code = 11


class ExpiredError(CertificateError):
    """A certificate is past its date, or not valid yet."""

    exit_code = 12


class PeerError(CoterieError):
    """Something that a named peer did, or failed to do, ended the job at a named step."""

    said_by: str = ""  # the party that says so, where this one has not seen it itself

    def __init__(self, peer: str, step: str, reason: str) -> None:
        super().__init__(f"{peer}: {reason} (step '{step}')" if step else f"{peer}: {reason}")
        self.peer = peer
        self.step = step
        self.reason = reason

    def placed(self, step: str, reason: str | None = None) -> Self:
        """The same error at a step, with another reason if one is given."""
        error = type(self)(self.peer, step, self.reason if reason is None else reason)
        error.said_by = self.said_by
        return error


class PeerLostError(PeerError):
    """A peer died, was cut off, stopped, or did not answer within the deadline."""

    exit_code = 6


class PeerFaultError(PeerError):
    """A peer sent what an honest one never sends."""

    exit_code = 7


class VerificationError(CoterieError):
    """A release does not hold what it promises."""

    exit_code = 8


class EnvironmentFaultError(CoterieError):
    """This machine cannot do it: a port in use, a read-only folder, a full disk."""

    exit_code = 9


class CancelledError(CoterieError):
    """The job was cancelled by its coordinator or by a party's operator."""

    exit_code = 10
