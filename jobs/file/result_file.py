"""Reads `result.json` so that every error names the place.

A result that is verified or shown comes from somebody else: a `Claim` is a value of the result with
its place. A value that does not have the expected form is a `VerificationError`.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError, VerificationError

RESULT = "result.json"
LARGEST = 2**62  # of a count: so that it, and the sum of two, are numbers of an array
HUGE = 10**300  # of a product or a sum: so that it is near to a number with a point


@dataclass(frozen=True)
class Claim:
    """One value of a result and its place, such as `result.json: tables[0].cells`."""

    value: object
    file: str = RESULT
    path: str = ""

    def error(self, message: str) -> VerificationError:
        where = f"{self.file}: {self.path}" if self.path else self.file
        return VerificationError(f"{where}: {message}")

    def entry(self, key: str) -> Claim:
        """The value of a required key."""
        found = self.optional(key)
        if found is None:
            raise self.error(f"the key '{key}' is missing")
        return found

    def optional(self, key: str) -> Claim | None:
        entries = self.entries()
        return entries.get(key)

    def entries(self) -> dict[str, Claim]:
        if not isinstance(self.value, dict):
            raise self.error("must be a mapping")
        inside = f"{self.path}." if self.path else ""
        return {key: Claim(value, self.file, f"{inside}{key}") for key, value in self.value.items()}

    def items(self) -> list[Claim]:
        if not isinstance(self.value, list):
            raise self.error("must be a list")
        return [Claim(v, self.file, f"{self.path}[{at}]") for at, v in enumerate(self.value)]

    def integer(self, minimum: int | None = None, largest: int = LARGEST) -> int:
        """A whole number, whose amount is not more than `largest`, so that everybody can reckon with it."""
        if type(self.value) is not int:
            raise self.error("must be a whole number")
        if abs(self.value) > largest:
            raise self.error(
                f"is a number of {len(str(abs(self.value)))} digits, which is too large"
            )
        if minimum is not None and self.value < minimum:
            raise self.error(f"must be at least {minimum}, not {self.value}")
        return self.value

    def number(self) -> float:
        if type(self.value) is int:
            return float(self.integer(largest=HUGE))
        if type(self.value) is not float or not math.isfinite(self.value):
            raise self.error("must be a number")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.error("must be a text")
        return self.value

    def texts(self) -> list[str]:
        return [item.text() for item in self.items()]


def read_claims(folder: Path) -> Claim:
    """The result of a result folder."""
    return Claim(read_json(folder / RESULT))


def read_json(path: Path) -> Any:
    """The content of a JSON file that a result must have."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise VerificationError(f"{path}: not JSON") from None


def read_rows(path: Path) -> list[list[str]]:
    """The lines of a CSV file that a result must have; the first is the heading."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise VerificationError(f"{path}: {error.strerror}") from None
    except (ValueError, csv.Error):
        rows = []
    if not rows:
        raise VerificationError(f"{path}: not a CSV file with a heading")
    return rows
