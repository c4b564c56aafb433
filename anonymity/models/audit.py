"""Checks a released table against a requirement, on the table alone.

The audit shares no code with the specialization: groups are formed anew from the released values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.models.distances.audit import distances_again
from coterie.anonymity.models.joint_audit import resists_deletions, shows_beside_others
from coterie.anonymity.models.privacy import (
    ExponentialDiversity,
    JointDiversity,
    Model,
    Together,
    TupleModel,
)
from coterie.base.arrays import Ints
from coterie.base.distinct import ranks
from coterie.base.errors import VerificationError
from coterie.base.text import numbered


@dataclass(frozen=True)
class Released:
    """A released column: a code per record, and the text of each code."""

    codes: Ints
    values: tuple[str, ...]


def group_numbers(columns: Sequence[Released]) -> Ints:
    """For each record the number of its group; records of a group are equal in all columns."""
    key: Ints = np.zeros(len(columns[0].codes), np.int64)
    room = 1
    for column in columns:
        size = max(len(column.values), 1)
        if room * size >= 2**62:
            key = ranks(key)
            room = int(key.max(initial=0)) + 1
        key = key * size + column.codes
        room *= size
    return ranks(key)


def check_risk(
    table: Mapping[str, Released], result: Any, names: Sequence[str], qids: Sequence[Sequence[str]]
) -> None:
    """Checks that the chances to find a person are as a result claims; a recipient's claims none."""

    def sizes_of(qid: Sequence[str]) -> Ints:
        return np.bincount(group_numbers([table[name] for name in qid]))

    check_counted_risk(sizes_of, result, names, qids)


def check_counted_risk(
    sizes_of: Callable[[Sequence[str]], Ints],
    result: Any,
    names: Sequence[str],
    qids: Sequence[Sequence[str]],
) -> None:
    """The check of `check_risk`, from the sizes of the groups that columns form."""
    claimed = result.get("risk")
    if claimed is None:
        return
    entries = [(list(names), claimed), *((entry["qid"], entry) for entry in claimed["by_qid"])]
    if [entry["qid"] for entry in claimed["by_qid"]] != [
        list(qid) for qid in dict.fromkeys(map(tuple, qids))
    ]:
        raise VerificationError("the risk is claimed for other qids than those required")
    for qid, entry in entries:
        sizes = sizes_of(qid).tolist()
        own = {
            "prosecutor": 1 / min(sizes) if sizes else 0.0,
            "marketer": len(sizes) / sum(sizes) if sizes else 0.0,
            "uniques": sizes.count(1),
        }
        for key, value in own.items():
            if entry[key] != value:
                raise VerificationError(
                    f"the {key} risk by {', '.join(qid)} is {value}, not {entry[key]}"
                )


def audit(
    table: Mapping[str, Released],
    qid: Sequence[str],
    k: int,
    sensitive: str | tuple[str, ...] | None = None,
    model: Model | None = None,
) -> dict[str, Any]:
    """The number of groups, the size of the smallest, and the worst measure of each model.

    Raises `VerificationError` with the first group that violates the requirement.
    """
    columns = [table[name] for name in qid]
    group = group_numbers(columns)
    sizes = np.bincount(group)

    def describe(at: int) -> str:
        row = int(np.argmax(group == at))
        return ", ".join(
            f"{name}={column.values[column.codes[row]]}"
            for name, column in zip(qid, columns, strict=True)
        )

    if not isinstance(model, TupleModel):
        if model is None or sensitive is None or not isinstance(sensitive, str):
            return audit_counted(qid, k, sizes, describe, sensitive, model)
        column = table[sensitive]
        values = len(column.values)
        key = group * values + column.codes
        counts = np.bincount(key, minlength=len(sizes) * values).reshape(-1, values)
        return audit_counted(
            qid, k, sizes, describe, sensitive, model, column.values, counts.sum(axis=0),
            lambda: iter([(0, counts)]),
        )  # fmt: skip
    found = audit_counted(qid, k, sizes, describe)
    if sensitive is None:
        return found
    found["sensitive"] = sensitive if isinstance(sensitive, str) else list(sensitive)
    rows = np.stack([table[name].codes for name in model.columns], axis=1)
    by_group = np.argsort(group, kind="stable")
    for at, records in enumerate(np.split(by_group, np.cumsum(sizes)[:-1])):
        enough = _enough(model, rows[records])
        if enough is None:
            raise VerificationError(
                f"the group {describe(at)}: whether {model.name} holds takes too long to tell"
            )
        if not enough:
            raise VerificationError(f"the group {describe(at)} violates {model.name}")
    found["models"] = {model.name: float(model.l)}
    return found


def _enough(model: TupleModel, rows: Ints) -> bool | None:
    """Whether the rows of one group satisfy a model of several columns; None if nobody can tell."""
    if isinstance(model, JointDiversity):
        most = [model.most.get(name, model.l) for name in model.columns]
        return resists_deletions(rows, model.l, most)
    if isinstance(model, ExponentialDiversity):
        return shows_beside_others(rows, model.l)
    return None


def audit_counted(
    qid: Sequence[str],
    k: int,
    sizes: Ints,
    describe: Callable[[int], str],
    sensitive: str | tuple[str, ...] | None = None,
    model: Model | None = None,
    values: tuple[str, ...] = (),
    overall: Ints | None = None,
    counts: Callable[[], Iterator[tuple[int, Ints]]] = lambda: iter(()),
) -> dict[str, Any]:
    """What `audit` returns, from the sizes of all groups and the counts of sensitive values.

    `overall` counts the values in the release; `counts` gives the counts of some groups at a time,
    with the number of the first of them. `describe` names a group.
    """
    if len(sizes) and sizes.min() < k:
        worst = int(sizes.argmin())
        raise VerificationError(
            f"the group {describe(worst)} has {numbered(int(sizes[worst]), 'record')}, fewer than k = {k}"
        )
    found: dict[str, Any] = {
        "qid": list(qid),
        "k": k,
        "smallest": int(sizes.min()) if len(sizes) else 0,
        "groups": len(sizes),
    }
    if model is None or sensitive is None:
        return found
    if not isinstance(sensitive, str) or overall is None:
        raise VerificationError(f"{model.name} bounds one sensitive column, not several")
    found["sensitive"] = sensitive
    found["models"] = {}
    for part in model.models if isinstance(model, Together) else (model,):
        try:
            bound = part.for_values(values)
        except ValueError as error:
            raise VerificationError(f"{sensitive}: {error}") from None
        worst_of = np.nanmax if part.bound_from_above else np.nanmin
        worsts = []
        for start, some in counts():
            again = distances_again(part, values, some, overall)
            measure = bound.measure(some, overall) if again is None else again[0]
            good = bound.holds(some, overall) if again is None else np.array(again[1], bool)
            if not good.all():
                bad = int(np.argmin(good))
                raise VerificationError(
                    f"the group {describe(start + bad)} violates {part.name} of {sensitive}: "
                    f"{measure[bad]:.4g}"
                )
            if len(measure):
                worsts.append(float(worst_of(measure)))
        found["models"][part.name] = float(worst_of(worsts)) if worsts else None
    return found
