"""`coterie.attack(release, known)`: whom a frame of known people finds in a release."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError
from coterie.jobs.data.release_file import coded_columns
from coterie.jobs.data.text_form import as_text
from coterie.onetable.attack.attack import attack as attack_folder
from coterie.onetable.attack.attack import found_in, lines, meaning_of, read_source
from coterie.onetable.interface.frames import FrameSource, Release, names_in


class Attack(dict[str, Any]):
    """What `coterie attack --json` prints. Text and notebooks show what the command prints."""

    def __str__(self) -> str:
        return "\n".join(lines(self))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def attack(release: Any, known: Any, columns: str | Sequence[str] = ()) -> Attack:
    """Links a release with a table of known people, by the columns that both have or by `columns`.

    `release` is what `coterie.anonymise` or `coterie.simulate` returned, or the folder of a result;
    `known` is a frame or the name of a file.
    """
    people, columns = FrameSource.of("known", known), names_in(columns)
    if not isinstance(release, (Release, str, os.PathLike)):
        raise UsageError(
            f"the release is of type {type(release).__name__}; give what coterie.anonymise or "
            "coterie.simulate returned, or the folder of a result, and then the known people"
        )
    if not isinstance(release, Release):
        return Attack(attack_folder(Path(release), people, columns))
    table = coded_columns(as_text(release.table, "release"))
    meaning = meaning_of(release.attributes, release.requirements)
    names = ("release", str(people))
    return Attack(found_in(table, read_source(people), names, meaning, columns))
