"""The folders of one party's run of a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# In `kept`: what each party contributed, as whole numbers, where the kind counts contributions.
CONTRIBUTIONS = "contributions.json"


@dataclass(frozen=True)
class Workspace:
    """Where a party's run leaves files: `released` goes to the coordinator, `kept` stays.

    `memory` is the party's budget in bytes, None without one. `compute` is where the party lets bulk
    operations run besides itself: an address, "any", or "local" for nowhere. `resume` outlives the run.
    """

    folder: Path
    memory: int | None = None
    compute: str = "local"

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
