"""The folders of one party's run of a job."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from coterie.protocols.integration.contributions import RecordContribution, record_nothing
from coterie.protocols.messaging.release_gate import Gate


@dataclass(frozen=True)
class Workspace:
    """The places of a party's run: files in `released` go to the coordinator, those in `kept` stay.

    `memory` is the party's budget in bytes, None without one. `compute` is where the party permits
    bulk operations outside its own process: an address, "any", or "local" for nowhere.
    `largest_peer_set` is the number of identifiers that each peer may bring, None if any. `silent` permits
    silent transfers (`protocols.transfer.silent`), which are used if every party permits them. The
    folder `resume` outlives the run. `book` records contributions in the party's ledger. `gate`
    compares what is about to be released with earlier jobs.
    """

    folder: Path
    memory: int | None = None
    compute: str = "local"
    largest_peer_set: int | None = None
    silent: bool = True
    book: RecordContribution = record_nothing
    gate: Gate | None = None
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

    def sync(self) -> None:
        """Writes the run's files through to the disk: a finished job survives a power cut."""
        for folder in (self.released, self.kept):
            sync_tree(folder)


def sync_tree(folder: Path) -> None:
    """Writes a folder and everything below it through to the disk."""
    for path in (*folder.rglob("*"), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
