"""Removes what a party remembers of what jobs have told about its people, by its steward's word.

This is for a history that is damaged or lost and of which there is no backup: jobs about people end with
an error until it is restored or begun anew. The audit log says so first, and from then on expects
nothing of the history; what jobs tell afterwards is judged as if there had been none before. It cannot
be done while a server serves, since a job could be about to be judged.

The key stays: under another one, the party's commitments to unchanged data would be new ones, and its
partners would take the data for changed. Without the lists of people the key names nobody.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError
from coterie.base.text import one_line
from coterie.party.books.people import remove_lists, sound_key
from coterie.party.books.state_folder import take
from coterie.party.config import PartyConfig
from coterie.party.history.releases import COUNTS, FOLDER
from coterie.party.steward.opened_audit import opened_audit
from coterie.party.store.database import database


def forget_history(config: PartyConfig, person: str) -> dict[str, Any]:
    """Has the history of a party whose server does not run begin anew; what was removed."""
    folder = config.state / FOLDER
    with take(config.state):
        audit = opened_audit(config)
        try:
            audit.begin_history_anew(by=config.name, person=one_line(person))
            books = database(config.state)
            with books.changing() as change:
                change.replace("history", [])
                for name in COUNTS:
                    change.remove("notes", name)
            remove_lists(folder)
            books.purge()
            if folder.exists():
                _empty(folder)
        except OSError as error:
            raise EnvironmentFaultError(f"{error.filename or folder}: {error.strerror}") from None
        finally:
            audit.close()
    return {"forgotten": str(folder)}


def _empty(folder: Path) -> None:
    """Removes everything but the key, and the key, too, if it is damaged."""
    stays = sound_key(folder)
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path != stays:
            path.unlink()
    if stays is None:
        folder.rmdir()
