"""A party's part of a model that a job left for later jobs: `keep: NAME`, then `model: NAME`.

A part is one JSON file. What all parties know of the model stands under `shared`, in the same words at
every party, so that they can compare a digest of it before they use the model together. What only
this party knows stands under `own`: which branch of a tree each of its values takes, or how many
records of each class had each of its values. The numbers of other parties are in no file of this
party.

A server has the parts in its state folder, a simulation in `parties/NAME` of the result folder of the
job that kept the model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from coterie.anonymity.table.scales import SCALES
from coterie.base.errors import DataError, UsageError
from coterie.base.names import is_name
from coterie.jobs.data.domains import CodedAttribute
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import read_name

FILE = "model.json"  # among what a party keeps of the job that made the model
VERSION = 1
LARGEST = 8 << 20  # bytes of a part
KINDS_KEPT = ("tree", "bayesnet")


@dataclass(frozen=True)
class OwnAttribute:
    """What a party knows of one of its own attributes of a model.

    `numbers` has the branch of each value in a tree; `counts` for each value how many records of each
    class had it, in a net.
    """

    values: tuple[str, ...]
    cuts: tuple[float, ...]
    scale: str
    missing: str
    numbers: tuple[int, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()

    def coded(self, name: str, party: str) -> CodedAttribute:
        """The attribute with the domain that the model knows."""
        return CodedAttribute(
            name, party, self.values, self.cuts, SCALES[self.scale], self.missing
        )  # fmt: skip


@dataclass(frozen=True)
class KeptModel:
    """One party's part of a model. `attributes` has each attribute's holder and number of values."""

    name: str
    kind: str
    run: str  # the job that made the model, by the number that all its parties know
    job: str  # the digest of its job file
    parties: tuple[str, ...]
    class_name: str
    classes: tuple[str, ...]
    attributes: Mapping[str, tuple[str, int]]
    tree: Mapping[str, Any] | None  # nodes with attribute and branches, and leaves with a label
    own: Mapping[str, OwnAttribute]
    class_counts: tuple[int, ...] = ()  # of a net: how many records each class had

    @property
    def shared(self) -> dict[str, Any]:
        """What all parties know."""
        return {
            "version": VERSION,
            "name": self.name,
            "kind": self.kind,
            "run": self.run,
            "job": self.job,
            "parties": list(self.parties),
            "class": self.class_name,
            "classes": list(self.classes),
            "attributes": {
                name: {"party": party, "values": size}
                for name, (party, size) in self.attributes.items()
            },
            "tree": self.tree,
        }

    @property
    def digest(self) -> str:
        """The digest of what all parties know."""
        return hashlib.sha256(json.dumps(self.shared, sort_keys=True).encode()).hexdigest()

    @property
    def used(self) -> tuple[str, ...]:
        """The attributes that a prediction looks at: of a tree, those that it tests."""
        if self.tree is None:
            return tuple(self.attributes)
        tested = _tested(self.tree)
        return tuple(name for name in self.attributes if name in tested)

    def write(self, folder: Path) -> None:
        """Leaves the part in a folder; one that is too large is refused."""
        own = {
            name: {
                "values": list(item.values),
                "cuts": list(item.cuts),
                "scale": item.scale,
                "missing": item.missing,
                "numbers": list(item.numbers),
                "counts": [list(row) for row in item.counts],
            }
            for name, item in self.own.items()
        }
        content = {"shared": self.shared, "own": own, "class_counts": list(self.class_counts)}
        data = json.dumps(content).encode()
        if len(data) > LARGEST:
            raise DataError(
                f"the model '{self.name}' takes {len(data):,} bytes, and a kept one has at most "
                f"{LARGEST:,}: ask for a smaller one"
            )
        path = folder / FILE
        path.touch(mode=0o600)
        path.write_bytes(data)


class Models(Protocol):
    """Where one party finds the models that it has kept."""

    def find(self, name: str) -> KeptModel:
        """The party's part of this model; a `DataError` if it has none."""
        ...


class NoModels:
    """A party that has kept nothing."""

    def find(self, name: str) -> KeptModel:
        raise DataError(f"no model '{name}' is kept here")


@dataclass(frozen=True)
class ResultModels:
    """The part that a simulated party left in the result folder of an earlier simulation."""

    folder: Path
    party: str

    def find(self, name: str) -> KeptModel:
        path = self.folder / "parties" / self.party / FILE
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"{path}: {error.strerror}; name the result folder of a simulated job with "
                f"'keep: {name}'"
            ) from None
        model = read_model(data, str(path))
        if model.name != name:
            raise UsageError(f"{path}: the model there is '{model.name}', not '{name}'")
        return model


def read_model(data: bytes, place: str) -> KeptModel:
    """A party's part of a model, checked, because a file may be damaged."""
    try:
        content = json.loads(data)
        shared = content["shared"]
        if shared["version"] != VERSION:
            raise DataError(f"{place}: a model of version {shared['version']}, not {VERSION}")
        model = KeptModel(
            name=shared["name"],
            kind=shared["kind"],
            run=shared["run"],
            job=shared["job"],
            parties=tuple(shared["parties"]),
            class_name=shared["class"],
            classes=tuple(shared["classes"]),
            attributes={
                name: (entry["party"], int(entry["values"]))
                for name, entry in shared["attributes"].items()
            },
            tree=shared["tree"],
            own={
                name: OwnAttribute(
                    tuple(entry["values"]),
                    tuple(map(float, entry["cuts"])),
                    entry["scale"],
                    entry["missing"],
                    tuple(map(int, entry["numbers"])),
                    tuple(tuple(map(int, row)) for row in entry["counts"]),
                )
                for name, entry in content["own"].items()
            },
            class_counts=tuple(map(int, content["class_counts"])),
        )
        sound = _sound(model)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise DataError(f"{place}: is no part of a model that can be read")
    return model


def _sound(model: KeptModel) -> bool:
    """Whether the parts of a model fit together."""
    classes = len(model.classes)
    if model.kind not in KINDS_KEPT or not is_name(model.name) or classes < 2:
        return False
    for name, item in model.own.items():
        size = model.attributes[name][1]
        if len(item.values) != size or item.scale not in SCALES:
            return False
        if model.tree is not None and sorted(item.numbers) != list(range(size)):
            return False
        if model.tree is None and [len(row) for row in item.counts] != [classes] * size:
            return False
    if model.kind == "tree":
        return model.tree is not None and _sound_node(model.tree, model, classes)
    counted = [count for item in model.own.values() for row in item.counts for count in row]
    return (
        model.tree is None
        and len(model.class_counts) == classes
        and min(model.class_counts) > 0
        and min(counted, default=0) >= 0
    )


def _sound_node(node: Mapping[str, Any], model: KeptModel, classes: int) -> bool:
    if set(node) == {"label"}:
        return type(node["label"]) is int and 0 <= node["label"] < classes
    branches = node["branches"]
    size = model.attributes[node["attribute"]][1]
    return len(branches) == size and all(_sound_node(item, model, classes) for item in branches)


def _tested(node: Mapping[str, Any]) -> set[str]:
    """The attributes that a tree tests."""
    if "attribute" not in node:
        return set()
    below = [name for branch in node["branches"] for name in _tested(branch)]
    return {node["attribute"], *below}


def read_keep(section: Section, partition: str) -> str | None:
    """The key `keep`: the name under which each party keeps its part of the model."""
    node = section.optional("keep")
    if node is None:
        return None
    if partition == "horizontal":
        raise node.error(
            "with 'partition: horizontal' no party has a part of its own: each has the result and "
            "all columns of its people, and predicts alone"
        )
    if partition == "mixed":
        raise node.error(
            "with 'partition: mixed' no party has a part of its own: a model is kept with "
            "'partition: vertical'"
        )
    return read_name(node)
