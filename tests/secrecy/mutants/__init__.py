"""Every step whose purpose is to hide something, removed or weakened: a mutant each, in the files here.

The files `weakened_…` have the same steps, weakened: short masks and keys, constant salts, pads used
twice, checks of half of the values. `HARMLESS` lists those that may be weaker, each with the reason.
`REASONS` lists the uses of randomness that have no mutant, by file and function. Keep snippets
short; `python -m tests.secrecy.run NAME` tries one.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tests.secrecy.mutants.form import Harmless, Mutant
from tests.secrecy.mutants.reasons import REASONS
from tests.secrecy.mutants.weakened_harmless import HARMLESS

__all__ = ["HARMLESS", "MUTANTS", "REASONS", "WEAKENED", "Harmless", "Mutant"]

_BY_FILE: dict[str, list[Mutant]] = {
    name: getattr(import_module(f"{__name__}.{name}"), "MUTANTS", [])
    for name in sorted(module.name for module in iter_modules(__path__))
}
MUTANTS: list[Mutant] = [mutant for listed in _BY_FILE.values() for mutant in listed]
WEAKENED: list[Mutant] = [
    mutant for name, listed in _BY_FILE.items() if name.startswith("weakened_") for mutant in listed
]
