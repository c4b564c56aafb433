"""A party's part of a model that a job left for later jobs: `keep: NAME`, then `model: NAME`.

A part is one JSON file. What all parties know of the model stands under `shared`, in the same words at
every party, so that they can compare a digest of it before they use the model together. What only
this party knows stands under `own`: which branch of a tree each of its values takes, or how many
records of each class had each of its values. Of a net with other families than a naive one, `tables`
has the counts of families that lie wholly at this party, and `shares`, at the two servers, random
shares of the probabilities of the others. The numbers of other parties are in no file of this party.

A server has the parts in its state folder, a simulation in `parties/NAME` of the result folder of the
job that kept the model.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
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
ANYWHERE = ""  # in place of an attribute's holder: each cell lies at any one party


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
class KeptNet:
    """What the class's probability needs of a net, at one party.

    `parents` has each node whose family has the class in it, unless that is the class alone. A table
    is flat in the order of the family's attributes (parents, and then the node) with the class last.
    `tables` are the counts of families that lie wholly at this party. `shares` are a server's, of the
    costs of families that lie across parties (`protocols.statistics.family_costs`).
    """

    servers: tuple[str, str]
    parents: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    shares: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def shared(self) -> dict[str, Any]:
        """What all parties know."""
        parents = {node: list(names) for node, names in self.parents.items()}
        return {"servers": list(self.servers), "parents": parents}

    @property
    def own(self) -> dict[str, Any]:
        """What this party alone knows."""
        return {
            "tables": {node: list(numbers) for node, numbers in self.tables.items()},
            "shares": {node: list(numbers) for node, numbers in self.shares.items()},
        }


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
    net: KeptNet | None = None  # of one whose families are not those of a naive net

    @property
    def shared(self) -> dict[str, Any]:
        """What all parties know."""
        found = {} if self.net is None else self.net.shared
        return found | {
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
        """The attributes that a prediction looks at.

        Of a tree those that it tests, of a net those whose probability depends on the class or on
        which that of the class depends.
        """
        if self.tree is not None:
            looked_at = _tested(self.tree)
        elif self.net is not None:
            looked_at = {name for node in self.families for name in self.members(node)}
        else:
            return tuple(self.attributes)
        return tuple(name for name in self.attributes if name in looked_at)

    @property
    def families(self) -> tuple[str, ...]:
        """The nodes of a net whose families have tables."""
        return () if self.net is None else tuple(self.net.parents)

    def members(self, node: str) -> tuple[str, ...]:
        """The attributes of a family of the net, the class aside: parents, and then the node."""
        if self.net is None:
            raise ValueError("a model without families")
        names = (*self.net.parents[node], node)
        return tuple(name for name in names if name != self.class_name)

    def across(self, node: str) -> bool:
        """Whether a family lies across parties, so that none of them knows its counts."""
        holders = {self.attributes[name][0] for name in self.members(node)}
        return len(holders) > 1 or ANYWHERE in holders

    def cells(self, node: str) -> int:
        """The number of cells of a family's table, with the class."""
        sizes = [self.attributes[name][1] for name in self.members(node)]
        return math.prod(sizes) * len(self.classes)

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
        if self.net is not None:
            content |= self.net.own
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
            net=_read_net(content) if "parents" in shared else None,
        )
        sound = _sound(model)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise DataError(f"{place}: is not a readable part of a model")
    return model


def _read_net(content: Mapping[str, Any]) -> KeptNet:
    first, second = content["shared"]["servers"]
    return KeptNet(
        (first, second),
        {node: tuple(names) for node, names in content["shared"]["parents"].items()},
        *(
            {node: tuple(map(int, numbers)) for node, numbers in content[key].items()}
            for key in ("tables", "shares")
        ),
    )


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
        if model.tree is None and [len(row) for row in item.counts] != _rows_due(model, size):
            return False
    if model.kind == "tree":
        return model.tree is not None and _sound_node(model.tree, model, classes)
    if model.net is not None and not _sound_net(model, model.net):
        return False
    counted = [count for item in model.own.values() for row in item.counts for count in row]
    return (
        model.tree is None
        and len(model.class_counts) == classes
        and min(model.class_counts) > 0
        and min(counted, default=0) >= 0
    )


def _rows_due(model: KeptModel, size: int) -> list[int]:
    """How many counts each value of an attribute has beside it: none where families have tables."""
    return [] if model.net is not None else [len(model.classes)] * size


def _sound_net(model: KeptModel, net: KeptNet) -> bool:
    """Whether the families of a net have the class in them, and as many numbers as due."""
    from coterie.protocols.statistics.family_costs import COST_BITS  # with all its protocols

    due: dict[str, dict[str, int]] = {"tables": {}, "shares": {}}
    for node, parents in net.parents.items():
        family = (*parents, node)
        if model.class_name not in family or len(set(family)) != len(family) or len(family) < 2:
            return False
        across = model.across(node)
        if across or set(model.members(node)) <= set(model.own):
            due["shares" if across else "tables"][node] = model.cells(node)
    found = {key: {n: len(t) for n, t in getattr(net, key).items()} for key in due}
    numbers = [count for table in (*net.tables.values(), *net.shares.values()) for count in table]
    return (
        set(net.servers) <= set(model.parties)
        and net.servers[0] != net.servers[1]
        and found["tables"] == due["tables"]
        and found["shares"] in (due["shares"], {})
        and min(numbers, default=0) >= 0
        and max(numbers, default=0) < 1 << COST_BITS
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
            "with 'partition: horizontal' every party has all columns of its people: it predicts alone, "
            "by the tree or by the counts of 'parameters: true' in the result"
        )
    return read_name(node)
