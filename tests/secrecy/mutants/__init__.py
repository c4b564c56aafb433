"""Every step whose purpose is to hide something, removed or weakened: a mutant each, in the files here.

`REASONS` lists the uses of randomness that have no mutant, by file and function. Keep snippets
short; `python -m tests.secrecy.run NAME` tries one.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tests.secrecy.mutants.form import Mutant
from tests.secrecy.mutants.reasons import REASONS

__all__ = ["MUTANTS", "REASONS", "Mutant"]

_FILES = sorted(module.name for module in iter_modules(__path__))
MUTANTS: list[Mutant] = [
    mutant
    for name in _FILES
    for mutant in getattr(import_module(f"{__name__}.{name}"), "MUTANTS", [])
]
