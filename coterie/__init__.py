"""Coterie: organisations compute on a joined table that none of them ever sees."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; at run time see `__getattr__`
    from coterie.base.errors import CoterieError
    from coterie.coordinator.interface.calls import run, simulate, verify
    from coterie.coordinator.interface.jobs import Job
    from coterie.onetable.advice.frames import advise
    from coterie.onetable.attack.frames import attack
    from coterie.onetable.inspection.frames import inspect
    from coterie.onetable.interface.frames import anonymise
    from coterie.onetable.interface.transformer import Generalizer

__version__ = "0.1.0"

# The Python interface: the module of each function. A module is imported when its function is first
# used, so that `import coterie` is quick.
_CALLS = "coterie.coordinator.interface.calls"
_INTERFACE = {
    "CoterieError": "coterie.base.errors",
    "Generalizer": "coterie.onetable.interface.transformer",
    "Job": "coterie.coordinator.interface.jobs",
    "advise": "coterie.onetable.advice.frames",
    "anonymise": "coterie.onetable.interface.frames",
    "attack": "coterie.onetable.attack.frames",
    "inspect": "coterie.onetable.inspection.frames",
    "run": _CALLS,
    "simulate": _CALLS,
    "verify": _CALLS,
}
__all__ = [
    "CoterieError",
    "Generalizer",
    "Job",
    "advise",
    "anonymise",
    "attack",
    "inspect",
    "run",
    "simulate",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _INTERFACE:
        return getattr(importlib.import_module(_INTERFACE[name]), name)
    raise AttributeError(f"module 'coterie' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
