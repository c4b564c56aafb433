"""`keep: NAME`: each party's part of a tree or a net, left for later jobs of `kind: predict`.

Of a tree all parties know the tests and the classes of the leaves; which of its values takes which
branch only an owner knows, unless the job says `open: true`. Of a naive net an owner knows how often
its values occur by class, exactly, because all parties know the class of every common record; nobody
tells these numbers for the model, so that they need no `minimum`.

Of a net that was searched for, the class's probability depends on the class's family and on those of
its children. A family whose attributes lie at one party is known to that party, as in a naive net. Of
one that lies across parties nobody knows the counts: the two servers keep random shares of its
probabilities (`protocols.statistics.family_costs`), of which `minimum` has no say, either. With mixed
partition all families lie across parties, also those of a naive net.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.errors import DataError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.kept_models import ANYWHERE, KeptModel, KeptNet, OwnAttribute
from coterie.jobs.kinds.statistics.common import StatisticsJob
from coterie.jobs.kinds.statistics.joining import Joined, count_shares
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.family_costs import CountedFamily, family_costs
from coterie.protocols.statistics.hidden_scores import HiddenScores
from coterie.protocols.statistics.shared_counts import Transfers, kept_share
from coterie.protocols.statistics.shared_tables import joint_codes
from coterie.protocols.statistics.tree import Node

MOST_CELLS = 1 << 14  # of the table of a kept family: each costs some bytes for each new person


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


def keep_naive_net(
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


def check_kept_cells(sizes: Sequence[int], classes: int, parents: int) -> int:
    """The cells of the largest family with the class in it; a DataError if there are too many.

    `sizes` are those of the attributes. A family with so many parents has as many attributes beside
    the class, which is a parent or the node itself.
    """
    cells = math.prod(sorted(sizes)[-parents:] if parents else []) * classes
    if cells > MOST_CELLS:
        raise DataError(
            f"a table of the net may have {cells:,} cells, and a kept one has at most "
            f"{MOST_CELLS:,}: ask for fewer 'max_parents', or for fewer values"
        )
    return cells


def keep_families(
    job: StatisticsJob,
    name: str,
    order: Sequence[str],
    edges: Sequence[tuple[str, str]],
    joined: Joined,
    records: int,
    scores: HiddenScores,
    rng: Random,
    workspace: Workspace,
) -> None:
    """Leaves this party's part of a net: counts that it knows, and if it is a server shares of others."""
    labels = check_classes(job, joined)
    parents = {node: tuple(n for n in order if (n, node) in set(edges)) for node in order}
    families = {
        node: names
        for node, names in parents.items()
        if names and job.class_name in (*names, node)
    }  # fmt: skip
    totals = tuple(np.bincount(labels.codes, minlength=len(labels.values)).tolist())
    net = KeptNet(job.servers, families)
    model = _part(job, name, joined, scores.channel, class_counts=totals, net=net)
    own = set(_own(job, scores.channel.me))
    tables = {}
    for node in families:
        if set(model.members(node)) <= own and not model.across(node):
            axes = [joined.axes[member] for member in (*model.members(node), model.class_name)]
            cells = joint_codes(axes, joined.codes, joined.records)
            tables[node] = tuple(np.bincount(cells, minlength=model.cells(node)).tolist())
    shares = _shares_across(job, model, joined, records, scores, rng)
    whole = replace(net, tables=tables, shares=shares)
    replace(model, net=whole).write(workspace.kept)


def _shares_across(
    job: StatisticsJob,
    model: KeptModel,
    joined: Joined,
    records: int,
    scores: HiddenScores,
    rng: Random,
) -> dict[str, tuple[int, ...]]:
    """A server's shares of the costs of families that lie across parties; nothing at the others."""
    across = [node for node in model.families if model.across(node)]
    if not across:
        return {}
    channel = scores.channel
    transfers = Transfers(channel, rng.fork("transfers"))

    def compute() -> Any:
        counted = []
        for at, node in enumerate(across):
            axes = [joined.axes[member] for member in (*model.members(node), model.class_name)]
            share = count_shares(job, joined, transfers, axes, rng.fork(f"family {at}"))
            size, classes = joined.axes[node].size, len(model.classes)
            after = 1 if node == model.class_name else classes
            before = model.cells(node) // (size * after)
            counted.append(CountedFamily(share, before, size, after))
        costs = family_costs(scores, counted, records, rng.fork("costs"))
        known = [cost for cost in costs if cost is not None]
        return np.concatenate(known) if known else None

    with channel.step("keep"):
        found = kept_share(channel, "costs of a net", compute)
    if found is None:
        return {}
    parts = np.split(found, np.cumsum([model.cells(node) for node in across])[:-1])
    return {node: tuple(part.tolist()) for node, part in zip(across, parts, strict=True)}


def partition_of(fields: Mapping[str, Any]) -> str:
    """How the cells are divided, from the fields of `read_statistics`."""
    if fields["matching"] is None:
        return "horizontal"
    return "mixed" if fields["mixed"] else "vertical"


def kept_words(name: str, what: str, sharers: Sequence[str] = ()) -> str:
    """A sentence for a party's steward about the part of a model that it keeps.

    `what` is what it alone knows of the model; empty if that is nothing. `sharers` are those who keep
    random shares of what nobody knows.
    """
    own = f"nobody: {what}. It stays with you as your" if what else "nobody: more. All keep a"
    rest = ""
    if sharers:
        rest = (
            f". Of what several parties' columns say together, {' and '.join(sharers)} keep random "
            "shares, which say nothing unless they put them together"
        )
    return (
        f"{own} part of the model '{name}', by which later jobs of the same coordinator (of any that "
        f"you permit, with 'models: shared') may classify people{rest}"
    )


def check_classes(job: StatisticsJob, joined: Joined) -> Labels:
    """The class of every record; a classifier needs two classes."""
    if joined.labels is None or len(joined.labels.values) < 2:
        raise DataError(f"the class '{job.class_name}' has one value only among these records")
    return joined.labels


def _own(job: StatisticsJob, me: str) -> list[str]:
    return [name for name in job.attributes if job.mixed or job.owner(name) == me]


def _part(
    job: StatisticsJob,
    name: str,
    joined: Joined,
    channel: Channel,
    tree: dict[str, Any] | None = None,
    numbers: Mapping[str, tuple[int, ...]] | None = None,
    counts: Mapping[str, tuple[tuple[int, ...], ...]] | None = None,
    class_counts: tuple[int, ...] = (),
    net: KeptNet | None = None,
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
            attribute: (job.owner(attribute) or ANYWHERE, joined.axes[attribute].size)
            for attribute in job.attributes
        },
        tree=tree,
        own=own,
        class_counts=class_counts,
        net=net,
    )


def _as_kept(node: Node, names: list[str]) -> dict[str, Any]:
    if node.attribute is None:
        return {"label": int(node.label)}
    return {
        "attribute": names[node.attribute],
        "branches": [_as_kept(branch, names) for branch in node.branches],
    }
