"""Coterie: organisations compute on a joined table that none of them ever sees."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# The Python interface: the module of each function. A module is imported when its function is first
# used, so that `import coterie` is quick.
_CALLS = "coterie.coordinator.interface.calls"
_INTERFACE = {
    "CoterieError": "coterie.base.errors",
    "Job": "coterie.coordinator.interface.jobs",
    "anonymise": "coterie.onetable.interface.frames",
    "inspect": "coterie.onetable.inspection.frames",
    "run": _CALLS,
    "simulate": _CALLS,
    "verify": _CALLS,
}
__all__ = ["CoterieError", "Job", "anonymise", "inspect", "run", "simulate", "verify"]


def __getattr__(name: str) -> Any:
    if name in _INTERFACE:
        return getattr(importlib.import_module(_INTERFACE[name]), name)
    raise AttributeError(f"module 'coterie' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
