"""Checks of a tree or a net for `coterie verify`: its form, and what the job promises.

The checks share no code with the protocols that grow trees or search nets. The records stay with
the parties, so that nobody can check here whether another split or edge would have been better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import Claim, read_rows


@dataclass
class TreePromise:
    """What a job says about its tree. `attributes` has the values of each, None if left open."""

    attributes: Mapping[str, Sequence[str] | None]
    owners: Mapping[str, str | None]
    max_depth: int
    numbered: bool
    pruned: bool
    branches: dict[str, list[str]] = field(default_factory=dict)  # by attribute


@dataclass(frozen=True)
class TreeForm:
    """The shape of a tree."""

    depth: int
    leaves: int
    splits: tuple[str, ...]
    classes: frozenset[str]


def verify_tree(claim: Claim, promise: TreePromise, path: tuple[str, ...] = ()) -> TreeForm:
    """The shape of a tree; raises if the job does not allow it."""
    if set(claim.entries()) == {"class"}:
        return TreeForm(0, 1, (), frozenset({claim.entry("class").text()}))
    if set(claim.entries()) != {"attribute", "party", "branches"}:
        raise claim.error("must be a leaf with a class, or a split with attribute, party, branches")
    if len(path) == promise.max_depth:
        raise claim.error(f"is deeper than the job's max_depth of {promise.max_depth}")
    name = claim.entry("attribute").text()
    if name not in promise.attributes:
        raise claim.error(f"splits by '{name}', which is not an attribute of the job")
    if name in path:
        raise claim.error(f"splits by '{name}' again")
    if claim.entry("party").value != promise.owners[name]:
        raise claim.error(f"'{name}' is not an attribute of {claim.entry('party').value}")
    branches = claim.entry("branches").entries()
    _check_branches(claim, name, list(branches), promise)
    below = [verify_tree(branch, promise, (*path, name)) for branch in branches.values()]
    classes = frozenset().union(*(form.classes for form in below))
    if promise.pruned and len(classes) == 1:
        raise claim.error("has one class only, and the job asks for a pruned tree")
    splits = dict.fromkeys([name, *(split for form in below for split in form.splits)])
    return TreeForm(
        1 + max(form.depth for form in below),
        sum(form.leaves for form in below),
        tuple(splits),
        classes,
    )


def _check_branches(claim: Claim, name: str, found: list[str], promise: TreePromise) -> None:
    declared = promise.attributes[name]
    if promise.numbered:
        count = len(found) if declared is None else len(declared)
        wanted = [str(number + 1) for number in range(count)]
    else:
        wanted = found if declared is None else list(declared)
    wanted = promise.branches.setdefault(name, wanted)
    if found != wanted or not found:
        raise claim.error(f"the branches of '{name}' are not one for each of its values")


def verify_meanings(path: Path, promise: TreePromise, party: str) -> None:
    """Checks that an owner's `branches.csv` has exactly one value for each number."""
    rows = _read_csv(path, ["attribute", "branch", "value"])
    for name, owner in promise.owners.items():
        if owner != party:
            continue
        own = [row for row in rows if row[0] == name]
        values = [value for _, _, value in own]
        declared = promise.attributes[name]
        numbers = [number for _, number, _ in own]
        expected = promise.branches.get(name, [str(at + 1) for at in range(len(own))])
        if numbers != expected or len(set(values)) < len(values):
            raise VerificationError(f"{path}: does not give each branch of '{name}' one value")
        if declared is not None and sorted(values) != sorted(declared):
            raise VerificationError(f"{path}: '{name}' has other values than the job says")


def verify_predictions(path: Path, ids: Sequence[str], records: int, form: TreeForm) -> None:
    """Checks that the receiver's list has one class of the tree for each record."""
    rows = _read_csv(path, [*ids, "predicted"])
    if len(rows) != records:
        raise VerificationError(f"{path}: has {len(rows)} rows for {records} records")
    strange = {row[-1] for row in rows} - form.classes
    if strange:
        raise VerificationError(f"{path}: predicts '{min(strange)}', which no leaf says")


def _read_csv(path: Path, header: Sequence[str]) -> list[list[str]]:
    rows = read_rows(path)
    if rows[:1] != [list(header)] or any(len(row) != len(header) for row in rows):
        raise VerificationError(f"{path}: must have the columns {', '.join(header)}")
    return rows[1:]


def verify_net(result: Claim, order: Sequence[str], max_parents: int) -> dict[str, list[str]]:
    """The parents of each node, in their order; raises if the job does not allow them."""
    if result.entry("nodes").texts() != list(order):
        raise result.entry("nodes").error(f"must be the job's order, {', '.join(order)}")
    parents: dict[str, list[str]] = {name: [] for name in order}
    for edge in result.entry("edges").items():
        names = edge.texts()
        if len(names) != 2 or not set(names) <= set(order):
            raise edge.error("must be two nodes, a parent and its child")
        parent, child = names
        if order.index(parent) >= order.index(child):
            raise edge.error(f"'{parent}' does not stand before '{child}' in the order")
        if parent in parents[child]:
            raise edge.error("stands here twice")
        parents[child].append(parent)
        if len(parents[child]) > max_parents:
            raise edge.error(f"'{child}' has more than {max_parents} parents")
    return parents


def verify_precision(result: Claim) -> None:
    """Checks the form of what the result says about the precision of its scores."""
    precision = result.entry("precision")
    precision.entry("bits").integer(minimum=1)
    precision.entry("terms").integer(minimum=0)
    if precision.entry("logarithm_error").number() < 0:
        raise precision.entry("logarithm_error").error("must not be negative")


def verify_leaf_counts(result: Claim, records: int, minimum: int, leaves: int) -> None:
    """Checks what `show` told: every leaf has `minimum` records, and all together have all."""
    shown = result.optional("shown")
    if shown is None:
        return
    if minimum == 1:  # no count is small then, and a leaf may have no record
        minimum = 0
    counts = shown.optional("records")
    if counts is not None and counts.value is not None:
        sizes = [item.integer(minimum=minimum) for item in counts.items()]
        if len(sizes) != leaves or sum(sizes) != records:
            raise counts.error(f"is not a number for each of {leaves} leaves, {records} together")
    accuracy = shown.optional("accuracy")
    if accuracy is not None and accuracy.value is not None:
        for entry in accuracy.entries().values():
            least = minimum / records
            if not least <= entry.number() <= 1:
                raise entry.error(f"must be a share of the records from {least:.3g} to 1")


def leaf_lines(result: Claim, minimum: int) -> list[str]:
    """What `show` asked for, in words; also that it stays hidden."""
    shown = result.optional("shown")
    if shown is None:
        return []
    hidden = (
        f"stay hidden: from them somebody could compute a count below {minimum}; a larger tree has "
        "smaller parts, 'max_depth' and 'prune' make it smaller"
    )
    lines = []
    if (counts := shown.optional("records")) is not None:
        sizes = [] if counts.value is None else [item.integer() for item in counts.items()]
        listed = ", ".join(f"{size:,}" for size in sizes)
        lines.append(
            f"records of the leaves, from the first branch to the last: {listed}"
            if sizes
            else f"records of the leaves {hidden}"
        )
    if (accuracy := shown.optional("accuracy")) is not None:
        if accuracy.value is None:
            lines.append(f"right predictions {hidden}")
        else:
            own, plain = (accuracy.entry(key).number() for key in ("tree", "most_frequent_class"))
            lines.append(
                f"the tree is right for {own:.1%} of these records; whoever always answers the most "
                f"frequent class is right for {plain:.1%}"
            )
    return lines
