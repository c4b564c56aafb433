"""The rules of `normalise`: what is done to identifiers before they are compared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One step of normalisation; `formats` belongs to `date`."""

    name: str
    formats: tuple[str, ...] = ()
