"""Every step whose purpose is to hide something, removed: one mutant each, by what it belongs to.

`REASONS` lists the uses of randomness that have no mutant, by file and function. Keep snippets
short; `python -m tests.secrecy.run NAME` tries one.
"""

from __future__ import annotations

from tests.secrecy.mutants import (
    aggregates,
    circuits,
    history,
    integration,
    intersection,
    jobs,
    models,
    multiparty,
    numbers,
    patterns,
    people,
    specialization,
    statistics,
)
from tests.secrecy.mutants.form import Mutant
from tests.secrecy.mutants.reasons import REASONS

__all__ = ["MUTANTS", "REASONS", "Mutant"]

_LISTS = (
    aggregates,
    circuits,
    history,
    integration,
    intersection,
    jobs,
    models,
    multiparty,
    numbers,
    patterns,
    people,
    specialization,
    statistics,
)
MUTANTS: list[Mutant] = [mutant for each in _LISTS for mutant in each.MUTANTS]
