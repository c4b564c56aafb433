"""`coterie attack DIR --known people.csv`: what an outsider with a table of people finds in a release.

The release may be of one table or of a joint job. Which values a released value covers is read from
the table file or the job that is kept beside the release. `anonymity.risk.linkage` has the attack,
and what the attack does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coterie.anonymity.anatomy.anatomy import GROUP
from coterie.anonymity.models.audit import Released
from coterie.anonymity.risk.linkage import Linked, link
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import DataError, UsageError
from coterie.base.text import numbered
from coterie.jobs.data.batches import column_names
from coterie.jobs.data.release_file import coded_columns
from coterie.jobs.data.sources import file_source, require_columns
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.run.archive import saved_job, saved_path
from coterie.onetable.anatomy.attack import is_anatomised, with_sensitive
from coterie.onetable.table_file import load_table_file
from coterie.onetable.verify import is_table_result

RELEASE = "release.csv"
_SHOWN = 10


def attack(folder: Path, known: Path, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Links the release in a result folder with a table of people, on the columns that both have."""
    taxonomies, sensitive = _meaning(folder)
    release = _read(folder / RELEASE)
    people = _read(known)
    anatomised = is_anatomised(folder)
    if anatomised:
        people.pop(GROUP, None)  # nobody knows the random number of a person's group
    shared = [name for name in people if name in release]
    if columns:
        require_columns(columns, list(people), str(known))
        require_columns(columns, list(release), str(folder / RELEASE))
        shared = list(columns)
    if not shared:
        raise UsageError(
            f"{known}: none of its columns is in the release, which has {', '.join(release)}"
        )
    targets = [name for name in release if name not in shared]
    found = link(release, {name: people[name] for name in shared}, taxonomies, targets)
    if anatomised:
        targets, found = with_sensitive(folder, targets, found)
    return {
        "records": len(next(iter(release.values())).codes),
        "linked_on": shared,
        **_summary(found, targets, sensitive),
        "people": [
            {
                "row": row + 1,
                "candidates": int(found.candidates[row]),
                "rivals": int(found.rivals[row]),
                "chance": _chance(found, row),
                "inferred": found.inferred[row],
            }
            for row in range(len(found.candidates))
        ],
    }


def _meaning(folder: Path) -> tuple[Mapping[str, Taxonomy], list[str]]:
    """The taxonomies of a release, and its sensitive columns."""
    if is_table_result(folder):
        file = load_table_file(saved_path(folder))
        attributes: Sequence[Any] = file.attributes
        requirements = file.requirements
    else:
        job = saved_job(folder)
        if not isinstance(job, IntegrateJob):
            raise UsageError(f"{folder}: a job of kind '{job.kind}' releases no records to attack")
        attributes, requirements = job.attributes, job.requirements
    taxonomies = {a.name: a.taxonomy for a in attributes if a.taxonomy is not None}
    return taxonomies, sorted({name for r in requirements for name in r.sensitive_columns})


def _read(path: Path) -> dict[str, Released]:
    """All columns of a file as codes and texts."""
    source = file_source(path)
    table = source.read(column_names(source))
    if not table.num_rows:
        raise DataError(f"{path}: the table has no records")
    return coded_columns(table)


def _chance(found: Linked, row: int) -> float:
    """The largest probability that a candidate is the person, by all candidates and all rivals."""
    most = max(int(found.candidates[row]), int(found.rivals[row]))
    return 1 / most if found.candidates[row] else 0.0


def _summary(found: Linked, targets: Sequence[str], sensitive: Sequence[str]) -> dict[str, Any]:
    certain = {
        name: sum(len(inferred.get(name, ())) == 1 for inferred in found.inferred)
        for name in targets
    }
    return {
        "matched": int((found.candidates > 0).sum()),
        "found": sum(_chance(found, row) == 1 for row in range(len(found.candidates))),
        "certain": certain,
        "sensitive": [name for name in targets if name in sensitive] or list(targets),
    }


def by_chance(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The people who match something, those who are found most surely first."""
    matching = (person for person in result["people"] if person["candidates"])
    return sorted(matching, key=lambda person: (-person["chance"], person["row"]))


def lines(result: dict[str, Any]) -> list[str]:
    """A few lines for a person; the people who are found most surely first."""
    people = result["people"]
    found = [
        f"{len(people):,} {'person' if len(people) == 1 else 'people'}, {numbered(result['records'], 'released record')}, linked on "
        f"{', '.join(result['linked_on'])}",
        f"{result['matched']:,} match a record, {result['found']:,} match one record alone "
        "and nobody else does",
    ]
    found += [
        f"{name}: certain for {result['certain'][name]:,} people, if they are in the release"
        for name in result["sensitive"]
    ]
    order = by_chance(result)
    for person in order[:_SHOWN]:
        guesses = []
        for name in result["sensitive"]:
            value, share = next(iter(person["inferred"][name].items()))
            guesses.append(f"{name} {value} ({100 * share:.3g} %)")
        found.append(
            f"  row {person['row']:,}: {numbered(person['candidates'], 'record')}, chance "
            f"{person['chance']:.3g}" + (f"; {', '.join(guesses)}" if guesses else "")
        )
    if len(order) > _SHOWN:
        found.append(f"  and {len(order) - _SHOWN:,} more; --json has them all")
    return found
