"""Every step whose purpose is to hide something, removed: one mutant each, by what it belongs to.

The lists `weakened_…` have the same steps, weakened: short masks and keys, constant salts, pads used
twice, checks of half of the values. `HARMLESS` lists those that may be weaker, each with the reason.
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
    specialization,
    statistics,
    weakened_checks,
    weakened_keys,
    weakened_masks,
    weakened_orders,
    weakened_pads,
)
from tests.secrecy.mutants.form import Harmless, Mutant
from tests.secrecy.mutants.reasons import REASONS
from tests.secrecy.mutants.weakened_harmless import HARMLESS

__all__ = ["HARMLESS", "MUTANTS", "REASONS", "WEAKENED", "Harmless", "Mutant"]

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
    specialization,
    statistics,
)
_WEAKENED = (weakened_checks, weakened_keys, weakened_masks, weakened_orders, weakened_pads)
WEAKENED: list[Mutant] = [mutant for each in _WEAKENED for mutant in each.MUTANTS]
MUTANTS: list[Mutant] = [mutant for each in _LISTS for mutant in each.MUTANTS] + WEAKENED
