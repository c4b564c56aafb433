"""Entries of a requirement that hold one by one, and nothing for all of their columns together.

`[{qid: [A]}, {qid: [B]}]` promises groups to those who know A, and to those who know B. A line of the
release has both, and may be unique. What that costs is counted here, and said in one place for the
verdict, the summaries, the pages and the warnings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coterie.anonymity.specialization.generalized import Requirement
from coterie.base.arrays import Ints
from coterie.base.text import first_names, numbered


def all_columns(requirements: Sequence[Requirement]) -> list[str]:
    """The columns of all entries, each once."""
    return list(dict.fromkeys(name for entry in requirements for name in entry.qid))


def apart(requirements: Sequence[Requirement]) -> bool:
    """Whether no entry has all columns of the others: together they may single people out."""
    every = set(all_columns(requirements))
    return bool(every) and all(set(entry.qid) != every for entry in requirements)


@dataclass(frozen=True)
class Together:
    """The groups that all columns of a requirement form in a release, which no entry bounds."""

    columns: tuple[str, ...]
    entries: int
    k: int  # the smallest group of any entry
    records: int
    smallest: int
    uniques: int

    @property
    def facts(self) -> dict[str, Any]:
        """What `coterie verify --json` says under `together`."""
        return {"columns": [*self.columns], "smallest": self.smallest, "uniques": self.uniques}

    @property
    def exposed(self) -> bool:
        """Whether a group is smaller than every entry promises for its own columns."""
        return self.smallest < max(self.k, 2)

    @property
    def sentence(self) -> str:
        """What the release does not promise, and what that costs; follows "Not promised:"."""
        found = (
            f"{self.uniques:,} of {numbered(self.records, 'record')} "
            f"{'is' if self.uniques == 1 else 'are'} unique in these columns"
        )
        if not self.uniques:
            least = numbered(self.smallest, "record")
            found = f"the smallest group has {least}, fewer than the k = {self.k} of every entry"
        return (
            f"protection from someone who knows all of {first_names(self.columns)} at once: {found}. "
            "One entry with all of these columns would promise it"
        )

    @property
    def clause(self) -> str:
        """What holds although no entry promises it."""
        least = numbered(self.smallest, "record")
        return f"all of these columns together, which no entry promises: every group has at least {least}"


def together_of(
    requirements: Sequence[Requirement], records: int, smallest: int, uniques: int
) -> Together | None:
    """What all columns tell together; None if an entry has all of them, or nothing was released."""
    if not records or not apart(requirements):
        return None
    least = min(entry.k if entry.k_map is None else entry.k_map for entry in requirements)
    columns = tuple(all_columns(requirements))
    return Together(columns, len(requirements), least, records, smallest, uniques)


def together_counted(requirements: Sequence[Requirement], sizes: Ints) -> Together | None:
    """What all columns tell together, from the sizes of the groups that they form."""
    records = int(sizes.sum())
    smallest = int(sizes.min()) if records else 0
    return together_of(requirements, records, smallest, int((sizes == 1).sum()))


def together_claimed(
    requirements: Sequence[Requirement], records: int, risk: Mapping[str, Any]
) -> Together | None:
    """What all columns tell together, from the entry `risk` of a result."""
    worst = float(risk["prosecutor"])
    return together_of(requirements, records, round(1 / worst) if worst else 0, risk["uniques"])


def together_warnings(requirements: Sequence[Requirement]) -> list[str]:
    """Warns of entries of which none has all columns, with the line to write instead."""
    if not apart(requirements):
        return []
    names = ", ".join(all_columns(requirements))
    least = min(entry.k for entry in requirements)
    return [
        f"requirement: none of the {len(requirements)} entries has all columns: each entry holds "
        "alone, and a record may be unique for someone who knows all columns at once. This one line "
        f"promises it: {{qid: [{names}], k: {least}}}"
    ]
