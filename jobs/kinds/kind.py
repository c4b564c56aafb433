"""What a kind of job is. `jobs.kinds.registry` lists them; one module each.

The same code runs at a party server and in `coterie simulate`:

    prepare   reads nothing but the party's own table; raises `DataError`; nothing has left yet
    run       the joint computation, through the channel
    assemble  at the coordinator, from what the parties released
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random


@dataclass(frozen=True)
class Columns:
    """What a job wants of one party's table, for the party's policy to judge.

    `optional` columns are used and released where the table has them and the policy permits both.
    `raw` are those of `released` that leave as they are, record by record, in no group of k.
    """

    used: tuple[str, ...]
    released: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()


class Kind(Protocol):
    """A kind of job, as a module-level object with these members."""

    def parse(self, section: Section, common: Common) -> Job:
        """Reads the kind's own keys; the caller refuses what is left."""
        ...

    def columns(self, job: Any, party: str) -> Columns: ...

    def smallest_k(self, job: Any) -> int | None:
        """The smallest group a release of this job may show, if it releases groups."""
        ...

    def prepare(self, job: Any, party: str, table: pa.Table, source: str) -> Any:
        """Checks and encodes this party's columns. `source` is how errors call the table."""
        ...

    def run(
        self, job: Any, prepared: Any, channel: Channel, rng: Random, workspace: Workspace
    ) -> dict[str, Any]:
        """Returns what goes into `result.json`, alike at every party."""
        ...

    def assemble(self, job: Any, released: Mapping[str, Path], out: Path) -> None:
        """Writes the result's files from each party's released folder."""
        ...
