"""Parts of a model as parties would have kept them, made up."""

from __future__ import annotations

from typing import Any

from coterie.base.errors import DataError
from coterie.jobs.kinds.kept_models import KeptModel, OwnAttribute

# Each attribute with its holder, its values and its cuts.
Attributes = dict[str, tuple[str, list[str], list[float]]]


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


def part(
    kind: str,
    attributes: Attributes,
    party: str,
    name: str = "risk",
    classes: tuple[str, ...] = ("N", "Y"),
    missing: str = "error",
    run: str = "earlier",
) -> KeptModel:
    """One party's part of a model; values of a tree take the branches in reverse."""
    own = {}
    for at, (attribute, (holder, values, cuts)) in enumerate(attributes.items()):
        if holder != party:
            continue
        size = len(values)
        counts = tuple(
            tuple(1 + (5 * value + 7 * label + 3 * at) % 11 for label in range(len(classes)))
            for value in range(size)
        )
        own[attribute] = OwnAttribute(
            tuple(values), tuple(cuts), "number", missing,
            tuple(reversed(range(size))) if kind == "tree" else (),
            counts if kind == "bayesnet" else (),
        )  # fmt: skip
    return KeptModel(
        name=name,
        kind=kind,
        run=run,
        job="0" * 64,
        parties=tuple(dict.fromkeys(holder for holder, _, _ in attributes.values())),
        class_name="Class",
        classes=classes,
        attributes={n: (holder, len(values)) for n, (holder, values, _) in attributes.items()},
        tree=made_up_tree(attributes, len(classes)) if kind == "tree" else None,
        own=own,
        class_counts=tuple(40 + 20 * at for at in range(len(classes))) if kind != "tree" else (),
    )


class Parts:
    """What one party has kept."""

    def __init__(self, *models: KeptModel) -> None:
        self._models = {model.name: model for model in models}

    def find(self, name: str) -> KeptModel:
        if name not in self._models:
            raise DataError(f"no model '{name}' is kept here")
        return self._models[name]
