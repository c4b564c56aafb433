"""The part of `coterie bench questions` with a witness: groups counted in a population (k-map).

Processes of this machine specialize a table jointly, over mTLS, with the intersection, from columns of
text on: once with groups of so many people in the population of a third party, and once, without that
party, with groups of as many records. No peer does this with tables of several parties: the groups are
counted plainly in the population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Codes
from coterie.bench import _sessions
from coterie.bench._spent import found_of, totals
from coterie.bench.peers import question_jobs

LEAST = 50
BRANCHES = {"Job": (5, 5), "Region": (8, 8), "Sex": (2, 1)}  # groups, and values of each
OWNERS = {"Job": "p0", "Region": "p1", "Sex": "p1"}


def witness(quick: bool) -> dict[str, Any]:
    """A study of a few thousand people, hidden in a population and among themselves."""
    people = _people(20_000 if quick else 1_000_000)
    records = 2_000 if quick else 10_000
    found: dict[str, Any] = {
        "records": records, "population": len(people["Sex"]), "people_of_a_group": LEAST,
    }  # fmt: skip
    for name, key in (("population", "k_map"), ("table", "k")):
        runs = _runs(people, records, key)
        cut = found_of(runs)["cut"]
        counts = group_sizes(people if key == "k_map" else _first(people, records), cut)
        there = group_sizes(_first(people, records), cut)
        if min(counts[group] for group in there) < LEAST:
            raise SystemExit(f"a group has fewer than {LEAST} people in the {name}")
        found[f"in the {name}"] = {**totals(runs), "groups": len(there)}
    return found


def group_sizes(people: Mapping[str, Array], cut: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many people have each combination of the values of a cut, counted value by value."""
    rows: Codes = np.zeros(len(people["Sex"]), np.int64)
    for name in BRANCHES:
        shown = np.array([_ancestor(name, value, cut[name]) for value in values_of(name)])
        place = {value: at for at, value in enumerate(values_of(name))}
        codes = np.array([place[value] for value in people[name]])
        rows = rows * len(values_of(name)) + shown[codes]
    groups, sizes = np.unique(rows, return_counts=True)
    return dict(zip(map(str, groups), map(int, sizes), strict=True))


def values_of(name: str) -> list[str]:
    several, each = BRANCHES[name]
    return [f"{name}{at}.{below}" for at in range(several) for below in range(each)]


def _ancestor(name: str, value: str, cut: Sequence[str]) -> int:
    """The place in the cut of the value that stands for this one."""
    above = (value, value.split(".")[0], f"Any {name}")
    return next(at for at, shown in enumerate(cut) if shown in above)


def _first(people: Mapping[str, Array], records: int) -> dict[str, Array]:
    return {name: column[:records] for name, column in people.items()}


def _people(number: int) -> dict[str, Array]:
    draw = np.random.default_rng(1)
    found: dict[str, Array] = {}
    for name in BRANCHES:
        values = np.array(values_of(name))
        common = 1 / np.arange(1, len(values) + 1)  # some values are rare
        found[name] = draw.choice(values, number, p=common / common.sum())
    likely = (found["Job"] < "Job2") == (found["Region"] < "Region4")
    found["Class"] = np.where(likely ^ (draw.random(number) < 0.2), "Y", "N")
    return found


def _runs(people: Mapping[str, Array], records: int, key: str) -> list[Any]:
    parties = ("p0", "p1", "p2") if key == "k_map" else ("p0", "p1")
    places = ", ".join(f"{n}: {{party: {o}, taxonomy: {n}.csv}}" for n, o in OWNERS.items())
    keys = (
        f"id: ID\nclass: Class\nhide_scores: false\nattributes: {{{places}}}\n"
        f"requirement: [{{qid: [{', '.join(OWNERS)}], {key}: {LEAST}}}]\n"
        + ("universe: p2\n" if key == "k_map" else "")
    )
    text = question_jobs.job_text("integrate", parties, keys)
    files = {f"{name}.csv": _taxonomy(name) for name in OWNERS}
    study, ids = _first(people, records), np.arange(records)
    arguments = []
    for party in parties:
        own = {name: study[name] for name, owner in OWNERS.items() if owner == party}
        table: dict[str, Array] = {"ID": ids, **own}
        if party == "p0":
            table["Class"] = study["Class"]
        if party == "p2":
            table = {name: people[name] for name in OWNERS}
        whole = question_jobs.as_text(table)
        arguments.append(
            {"job": text, "files": files, "table": whole, "small": whole.slice(0, 1000)}
        )
    return _sessions.run("coterie.bench.peers.question_jobs:job_party", arguments)


def _taxonomy(name: str) -> bytes:
    lines = [f"{value};{value.split('.')[0]};Any {name}\n" for value in values_of(name)]
    return "".join(lines).encode()
