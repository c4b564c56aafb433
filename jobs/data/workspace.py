"""The folders of one party's run of a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coterie.protocols.integration.contributions import RecordContribution, record_nothing


@dataclass(frozen=True)
class Workspace:
    """Where a party's run leaves files: `released` goes to the coordinator, `kept` stays.

    `memory` is the party's budget in bytes, None without one. `compute` is where the party lets bulk
    operations run besides itself: an address, "any", or "local" for nowhere. `resume` outlives the run.
    `book` writes down what the party gives to others and receives from them.
    """

    folder: Path
    memory: int | None = None
    compute: str = "local"
    book: RecordContribution = record_nothing
    # Only in a simulation: what the party's run leaves for measures that need all tables.
    exhibits: dict[str, object] | None = None

    @property
    def released(self) -> Path:
        return self.folder / "released"

    @property
    def kept(self) -> Path:
        return self.folder / "kept"

    @property
    def resume(self) -> Path:
        return self.folder.parent / "resume"

    def create(self) -> None:
        self.released.mkdir(parents=True, exist_ok=True)
        self.kept.mkdir(parents=True, exist_ok=True)
