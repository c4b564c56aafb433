"""`coterie attack DIR --known people.csv`: what an outsider with a table of people finds in a release.

The release may be of one table or of a joint job. Which values a released value covers is read from
the table file or the job that is kept beside the release. `anonymity.risk.linkage` has the attack,
and what the attack does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coterie.anonymity.models.audit import Released
from coterie.anonymity.risk.linkage import UNKNOWN, Linked, link
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.intervals import read_interval
from coterie.anonymity.table.taxonomy import TOP, Taxonomy
from coterie.base.errors import DataError, UsageError
from coterie.base.text import first_names, numbered
from coterie.jobs.data.attributes import Attribute
from coterie.jobs.data.batches import column_names
from coterie.jobs.data.release_file import coded_columns
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.sources import Source, file_source
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.run.archive import saved_job, saved_path
from coterie.onetable.methods.reading import load_table_file
from coterie.onetable.methods.registry import method_of_result
from coterie.onetable.methods.results import is_table_result
from coterie.onetable.released import RELEASE

_SHOWN = 10


People = Mapping[str, Released]  # a table with its columns as codes and texts


def attack(folder: Path, known: Source, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Links the release in a result folder with a table of people, on the columns that both have."""
    meaning = _meaning(folder)
    release = read_source(file_source(folder / RELEASE))
    method = method_of_result(folder) if is_table_result(folder) else None
    own = (
        method.numbers if method is not None else ()
    )  # nobody knows the number of a person's group
    people = {name: column for name, column in read_source(known).items() if name not in own}
    infer = None if method is None else partial(method.inferred, folder)
    names = str(folder / RELEASE), str(known)
    return found_in(release, people, names, meaning, columns, infer)


def found_in(
    release: People,
    people: People,
    names: tuple[str, str],
    meaning: Meaning,
    columns: Sequence[str] = (),
    infer: Callable[[list[str], Linked], tuple[list[str], Linked]] | None = None,
) -> dict[str, Any]:
    """What people are found in a release; `names` are those of the two in errors."""
    taxonomies, sensitive = meaning.taxonomies, meaning.sensitive
    shared = [name for name in people if name in release]
    if columns:
        require_columns(columns, list(people), names[1])
        require_columns(columns, list(release), names[0])
        shared = list(columns)
    if not shared:
        raise UsageError(
            f"{names[1]}: none of its columns is in the release, which has "
            f"{first_names(list(release))}; columns are matched by their names"
        )
    targets = [name for name in release if name not in shared]
    outside = [name for name in shared if name not in meaning.guarded]
    covered = {name: people[name] for name in shared if name in meaning.guarded}
    by_qids = link(release, covered, taxonomies, []) if outside and covered else None
    found = link(release, {name: people[name] for name in shared}, taxonomies, targets)
    if infer is not None:
        targets, found = infer(targets, found)
    return {
        "records": len(next(iter(release.values())).codes),
        "linked_on": shared,
        "outside_qids": outside,
        "found_by_qids": None if by_qids is None else _found(by_qids),
        **_summary(found, targets, sensitive, _roots(release, taxonomies)),
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


@dataclass(frozen=True)
class Meaning:
    """The taxonomies of a release, its sensitive columns, and the columns of its qids."""

    taxonomies: Mapping[str, Taxonomy]
    sensitive: list[str]
    guarded: set[str]


def _meaning(folder: Path) -> Meaning:
    if is_table_result(folder):
        file = load_table_file(saved_path(folder))
        attributes: Sequence[Attribute] = file.attributes
        requirements: Sequence[Requirement] = file.requirements
    else:
        job = saved_job(folder)
        if not isinstance(job, IntegrateJob):
            raise UsageError(f"{folder}: a job of kind '{job.kind}' releases no records to attack")
        attributes, requirements = job.attributes, job.requirements
    return meaning_of(attributes, requirements)


def meaning_of(attributes: Sequence[Attribute], requirements: Sequence[Requirement]) -> Meaning:
    """What a table file or a job says about a release."""
    taxonomies = {a.name: a.taxonomy for a in attributes if a.taxonomy is not None}
    return Meaning(
        taxonomies,
        sorted({name for r in requirements for name in r.sensitive_columns}),
        {name for r in requirements for name in r.qid},
    )


def _roots(release: Mapping[str, Released], taxonomies: Mapping[str, Taxonomy]) -> dict[str, str]:
    """Of each column the value that covers all others: a root, or the only interval that is shown."""
    roots = {
        name: column.values[0]
        for name, column in release.items()
        if len(column.values) == 1 and read_interval(column.values[0])
    }
    return roots | {name: taxonomy.root for name, taxonomy in taxonomies.items()}


def read_source(source: Source) -> dict[str, Released]:
    """All columns of a table as codes and texts."""
    table = source.read(column_names(source))
    if not table.num_rows:
        raise DataError(f"{source}: the table has no records")
    return coded_columns(table)


def _chance(found: Linked, row: int) -> float:
    """The largest probability that a candidate is the person, by all candidates and all rivals."""
    most = max(int(found.candidates[row]), int(found.rivals[row]))
    return 1 / most if found.candidates[row] else 0.0


def _found(found: Linked) -> int:
    """The people who match one record alone that nobody else matches."""
    return sum(_chance(found, row) == 1 for row in range(len(found.candidates)))


def _is_certain(shares: Mapping[str, float], root: str | None) -> bool:
    """Whether all candidates share a value that says something: `*`, `?` and a root do not."""
    return len(shares) == 1 and next(iter(shares)) not in (TOP, *UNKNOWN, root)


def _summary(
    found: Linked, targets: Sequence[str], sensitive: Sequence[str], roots: Mapping[str, str]
) -> dict[str, Any]:
    certain = {
        name: sum(
            _is_certain(inferred.get(name, {}), roots.get(name)) for inferred in found.inferred
        )
        for name in targets
    }
    return {
        "matched": int((found.candidates > 0).sum()),
        "found": _found(found),
        "certain": certain,
        "sensitive": [name for name in targets if name in sensitive] or list(targets),
    }


def by_chance(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The people who match something, those who are found most surely first."""
    matching = (person for person in result["people"] if person["candidates"])
    return sorted(matching, key=lambda person: (-person["chance"], person["row"]))


def outside_lines(result: dict[str, Any]) -> list[str]:
    """What the columns that no qid covers have to do with it."""
    if not result["outside_qids"]:
        return []
    names, by_qids = ", ".join(result["outside_qids"]), result["found_by_qids"]
    rest = "" if by_qids is None else f"; by the columns of the qids alone {by_qids:,} are found"
    return [f"no qid covers {names}, so that no k protects against who knows it{rest}"]


def lines(result: dict[str, Any]) -> list[str]:
    """A few lines for a person; the people who are found most surely first."""
    people = result["people"]
    found = [
        f"{len(people):,} {'person' if len(people) == 1 else 'people'}, {numbered(result['records'], 'released record')}, linked on "
        f"{', '.join(result['linked_on'])}",
        f"{result['matched']:,} match a record, {result['found']:,} match one record alone "
        "and nobody else does",
    ]
    found += outside_lines(result)
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
