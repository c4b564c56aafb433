"""Parts of a model as parties would have kept them, made up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from coterie.base.errors import DataError
from coterie.jobs.kinds.kept_models import ANYWHERE, KeptModel, KeptNet, OwnAttribute
from coterie.protocols.statistics.family_costs import HEADROOM

# Each attribute with its holder (`ANYWHERE`: each cell at any party), its values and its cuts.
Attributes = dict[str, tuple[str, list[str], list[float]]]
Families = Mapping[str, tuple[str, ...]]
CLASS = "Class"


def made_up_tree(attributes: Attributes, classes: int) -> dict[str, Any]:
    """The first attribute above, the second below its first branch, the others below the others."""
    first, *rest = attributes

    def below(at: int) -> dict[str, Any]:
        if not rest:
            return {"label": at % classes}
        name = rest[min(at, len(rest) - 1)]
        size = len(attributes[name][1])
        return {
            "attribute": name,
            "branches": [{"label": (at + value) % classes} for value in range(size)],
        }

    return {
        "attribute": first,
        "branches": [below(at) for at in range(len(attributes[first][1]))],
    }


def made_up_families(attributes: Attributes) -> dict[str, tuple[str, ...]]:
    """The class under the first two attributes; the third under it and the first, others under it."""
    first, second, third, *others = attributes
    alone: Families = dict.fromkeys(others, (CLASS,))
    return {CLASS: (first, second), third: (first, CLASS), **alone}


def made_up_counts(
    attributes: Attributes, node: str, parents: tuple[str, ...], classes: int
) -> Any:
    """How many records a family has by its attributes, the node last of them, and then by class."""
    names = [name for name in (*parents, node) if name != CLASS]
    sizes = [len(attributes[name][1]) for name in names]
    draw = np.random.default_rng([*map(ord, node), *sizes])
    return draw.integers(0, 30, (*sizes, classes)) * draw.integers(0, 2, (*sizes, classes))


def part(
    kind: str,
    attributes: Attributes,
    party: str,
    name: str = "risk",
    classes: tuple[str, ...] = ("N", "Y"),
    missing: str = "error",
    run: str = "earlier",
    parties: tuple[str, ...] = (),
    families: Families | None = None,
    servers: tuple[str, str] | None = None,
) -> KeptModel:
    """One party's part of a tree, of a naive net (`bayesnet`), or of a net with `families` (`net`).

    Cells lie anywhere in a `mixed-tree` and a `mixed-net`. Values of a tree take the branches in
    reverse, unless they do. The first two parties have the shares of a net, unless `servers` says
    otherwise.
    """
    held_by = tuple(dict.fromkeys(holder for holder, _, _ in attributes.values()))
    if kind.startswith("mixed-"):
        kind = kind.removeprefix("mixed-")
        attributes = {n: (ANYWHERE, values, cuts) for n, (_, values, cuts) in attributes.items()}
    own = {}
    for at, (attribute, (holder, values, cuts)) in enumerate(attributes.items()):
        if holder not in (party, ANYWHERE):
            continue
        size = len(values)
        counts = tuple(
            tuple(1 + (5 * value + 7 * label + 3 * at) % 11 for label in range(len(classes)))
            for value in range(size)
        )
        numbers = range(size) if holder == ANYWHERE else reversed(range(size))
        own[attribute] = OwnAttribute(
            tuple(values), tuple(cuts), "number", "elsewhere" if holder == ANYWHERE else missing,
            tuple(numbers) if kind == "tree" else (),
            counts if kind == "bayesnet" else (),
        )  # fmt: skip
    model = KeptModel(
        name=name,
        kind="tree" if kind == "tree" else "bayesnet",
        run=run,
        job="0" * 64,
        parties=parties or held_by,
        class_name=CLASS,
        classes=classes,
        attributes={n: (holder, len(values)) for n, (holder, values, _) in attributes.items()},
        tree=made_up_tree(attributes, len(classes)) if kind == "tree" else None,
        own=own,
        class_counts=tuple(40 + 20 * at for at in range(len(classes))) if kind != "tree" else (),
    )
    if kind != "net":
        return model
    found = made_up_families(attributes) if families is None else families
    first, second, *_ = model.parties
    model = replace(model, net=KeptNet(servers or (first, second), dict(found)))
    return replace(model, net=_with_numbers(model, attributes, party))


def _with_numbers(model: KeptModel, attributes: Attributes, party: str) -> KeptNet:
    net = model.net
    assert net is not None
    tables: dict[str, tuple[int, ...]] = {}
    shares: dict[str, tuple[int, ...]] = {}
    for node, parents in net.parents.items():
        counts = made_up_counts(attributes, node, parents, len(model.classes))
        if not model.across(node):
            if set(model.members(node)) <= set(model.own):
                tables[node] = tuple(counts.reshape(-1).tolist())
            continue
        of_node = counts.ndim - (1 if node == CLASS else 2)
        sums = counts.sum(axis=of_node, keepdims=True) + counts.shape[of_node]
        costs = [
            round(math.log(total / (count + 1)) * 2**20) + HEADROOM
            for count, total in zip(
                counts.reshape(-1), np.broadcast_to(sums, counts.shape).reshape(-1), strict=True
            )
        ]
        mask = np.random.default_rng(len(costs)).integers(0, 1 << 40, len(costs)).tolist()
        if party == net.servers[0]:
            shares[node] = tuple(mask)
        elif party == net.servers[1]:
            shares[node] = tuple((c - m) % (1 << 40) for c, m in zip(costs, mask, strict=True))
    return replace(net, tables=tables, shares=shares)


class Parts:
    """What one party has kept."""

    def __init__(self, *models: KeptModel) -> None:
        self._models = {model.name: model for model in models}

    def find(self, name: str) -> KeptModel:
        if name not in self._models:
            raise DataError(f"no model '{name}' is kept here")
        return self._models[name]
