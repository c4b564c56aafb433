"""Removes this party's part of one kept model, if its operator says so.

The audit log says so first: a removal that cannot be noted is not done. Jobs that classify people by
the model are refused from then on; one that runs has its part already, and one that goes on after an
interruption ends with an error that names the model. The peers' parts are theirs to remove.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from coterie.base.errors import UsageError
from coterie.base.text import one_line
from coterie.party.books.models import ModelFolder
from coterie.party.books.state_folder import take
from coterie.party.config import PartyConfig
from coterie.party.steward.opened_audit import opened_audit


def remove_model(
    folder: ModelFolder, name: str, who: Mapping[str, str], note: Callable[..., None]
) -> dict[str, Any]:
    """Removes the model, which may be one that cannot be read; what was removed. `who` did it."""
    if name not in folder.names():
        raise UsageError(f"no model '{one_line(name)}' is kept here")
    note("model removed", model=name, **who)
    folder.remove(name)
    return {"removed": name}


def remove_model_unserved(config: PartyConfig, name: str, person: str) -> dict[str, Any]:
    """As `remove_model`, for a party whose server does not run."""
    if name not in ModelFolder(config.state).names():
        raise UsageError(f"no model '{one_line(name)}' is kept here")
    with take(config.state):
        audit = opened_audit(config)
        try:
            return remove_model(
                ModelFolder(config.state),
                name,
                {"person": one_line(person)},
                partial(audit.note, by=config.name),
            )
        finally:
            audit.close()
