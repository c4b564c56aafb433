"""What a requirement does not do although its author may think so: a warning each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from coterie.anonymity.specialization.generalized import Requirement, covered


def lone_warnings(requirements: Sequence[Requirement]) -> list[str]:
    """Warns of entries that let a record be alone in its group."""
    return [
        f"requirement: entry {number + 1} ({', '.join(entry.qid)}) has 'k: 1', which protects "
        "nobody: every record may stand alone"
        for number, entry in enumerate(requirements)
        if entry.k == 1 and entry.k_map is None
    ]


def population_warnings(requirements: Sequence[Requirement], universe: str | None) -> list[str]:
    """Says whom entries do not protect that are counted in a population."""
    return [
        f"requirement: entry {number + 1} ({', '.join(entry.qid)}) has 'k_map': it hides people "
        f"among those of {universe}, and not from anybody who knows that they are in the table"
        for number, entry in enumerate(requirements)
        if entry.k_map is not None
    ]


def covered_warnings(requirements: Sequence[Requirement]) -> list[str]:
    """Names entries that another one implies; the search does not look at them."""
    return [
        f"requirement: entry {i + 1} ({', '.join(requirements[i].qid)}, k = {requirements[i].k}) is "
        f"covered by entry {j + 1} and asks for nothing more"
        for i, j in covered(requirements).items()
    ]


def apart_warnings(requirements: Sequence[Requirement]) -> list[str]:
    """Warns of entries on the same or nested QIDs that bound different sensitive columns.

    The rows of a release link these columns, so that somebody who rules out values of one column
    learns about the other. An entry with both columns, on the smaller QID or one that contains it,
    helps.
    """
    found = []
    numbered = [(j, r) for j, r in enumerate(requirements) if r.sensitive_columns]
    for (i, one), (j, other) in itertools.combinations(numbered, 2):
        smaller, larger = sorted((set(one.qid), set(other.qid)), key=len)
        columns = {*one.sensitive_columns, *other.sensitive_columns}
        if not smaller <= larger or columns in (
            set(one.sensitive_columns),
            set(other.sensitive_columns),
        ):
            continue
        if any(columns <= set(r.sensitive_columns) and smaller <= set(r.qid) for _, r in numbered):
            continue
        names = ", ".join(sorted(columns))
        found.append(
            f"requirement: entries {i + 1} and {j + 1} bound different sensitive columns of the "
            f"same groups: each is diverse alone, joined they may not be; 'sensitive: [{names}]' "
            "bounds them together"
        )
    return found
