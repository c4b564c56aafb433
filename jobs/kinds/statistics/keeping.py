"""`keep: NAME`: each party's part of a tree or a naive net, left for later jobs of `kind: predict`.

Of a tree all parties know the tests and the classes of the leaves; which of its values takes which
branch only an owner knows, unless the job says `open: true`. Of a naive net an owner knows how often
its values occur by class, exactly, because all parties know the class of every common record; nobody
tells these numbers for the model, so that they need no `minimum`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.errors import DataError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.kept_models import KeptModel, OwnAttribute
from coterie.jobs.kinds.statistics.common import StatisticsJob
from coterie.jobs.kinds.statistics.joining import Joined
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.statistics.tree import Node


def keep_tree(
    job: StatisticsJob,
    name: str,
    tree: Node,
    numbers: Mapping[str, tuple[int, ...]],
    joined: Joined,
    channel: Channel,
    workspace: Workspace,
) -> None:
    """Leaves this party's part of a tree. `numbers` are the branches of own values, if drawn."""
    _part(
        job,
        name,
        joined,
        channel,
        tree=_as_kept(tree, list(job.attributes)),
        numbers={
            owned: numbers.get(owned, tuple(range(joined.axes[owned].size)))
            for owned in _own(job, channel.me)
        },
    ).write(workspace.kept)


def keep_net(
    job: StatisticsJob, name: str, joined: Joined, channel: Channel, workspace: Workspace
) -> None:
    """Leaves this party's part of a naive net: the counts of its own attributes by class."""
    if joined.labels is None:
        raise AssertionError("a naive net has a class")
    labels, classes = joined.labels.codes, len(joined.labels.values)
    counts = {}
    for owned in _own(job, channel.me):
        size = joined.axes[owned].size
        cells = joined.codes[owned].astype(np.int64) * classes + labels
        found = np.bincount(cells, minlength=size * classes).reshape(size, classes)
        counts[owned] = tuple(map(tuple, found.tolist()))
    totals = tuple(np.bincount(labels, minlength=classes).tolist())
    _part(job, name, joined, channel, counts=counts, class_counts=totals).write(workspace.kept)


def partition_of(fields: Mapping[str, Any]) -> str:
    """How the cells are divided, from the fields of `read_statistics`."""
    if fields["matching"] is None:
        return "horizontal"
    return "mixed" if fields["mixed"] else "vertical"


def kept_words(name: str, what: str) -> str:
    """A sentence for a party's steward about the part of a model that it keeps.

    `what` is what it alone knows of the model; empty if that is nothing.
    """
    own = f"nobody: {what}. It stays with you as your" if what else "nobody: more. All keep a"
    return (
        f"{own} part of the model '{name}', by which later jobs of the same coordinator (of any that "
        "you permit, with 'models: shared') may classify people"
    )


def check_classes(job: StatisticsJob, joined: Joined) -> Labels:
    """The class of every record; a classifier needs two classes."""
    if joined.labels is None or len(joined.labels.values) < 2:
        raise DataError(f"the class '{job.class_name}' has one value only among these records")
    return joined.labels


def _own(job: StatisticsJob, me: str) -> list[str]:
    return [name for name in job.attributes if job.owner(name) == me]


def _part(
    job: StatisticsJob,
    name: str,
    joined: Joined,
    channel: Channel,
    tree: dict[str, Any] | None = None,
    numbers: Mapping[str, tuple[int, ...]] | None = None,
    counts: Mapping[str, tuple[tuple[int, ...], ...]] | None = None,
    class_counts: tuple[int, ...] = (),
) -> KeptModel:
    if joined.labels is None or job.class_name is None:
        raise AssertionError("a model that predicts has a class")
    own = {
        owned: OwnAttribute(
            joined.domains[owned],
            job.attributes[owned].cuts,
            job.attributes[owned].scale.name,
            job.attributes[owned].missing,
            (numbers or {}).get(owned, ()),
            (counts or {}).get(owned, ()),
        )
        for owned in _own(job, channel.me)
    }
    return KeptModel(
        name=name,
        kind=job.kind,
        run=channel.session,
        job=job.digest,
        parties=job.party_names,
        class_name=job.class_name,
        classes=joined.labels.values,
        attributes={
            attribute: (job.owner(attribute) or "", joined.axes[attribute].size)
            for attribute in job.attributes
        },
        tree=tree,
        own=own,
        class_counts=class_counts,
    )


def _as_kept(node: Node, names: list[str]) -> dict[str, Any]:
    if node.attribute is None:
        return {"label": int(node.label)}
    return {
        "attribute": names[node.attribute],
        "branches": [_as_kept(branch, names) for branch in node.branches],
    }
