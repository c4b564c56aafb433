"""The joint classification of common people by a kept tree or a kept net.

The predicted class of a net is that of greatest probability, by the counts of the records that the net
was made of: P(class) = n(class) / n, and P(value | parents) = (n(value, parents) + 1) / (n(parents) +
v) for an attribute of v values under its parents, or for a class that has parents. Only the class's
own family and those of its children matter. The logarithms are rounded to multiples of 2^-20, and equal
sums go to the first class. So the class is the one that the plain computation gives wherever the best
two differ by more than (f + 1) / 2^20 nats, for f families, and 0.00015 for each family that lies
across parties, whose logarithms are computed on shares (`protocols.statistics.family_costs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from coterie.base.arrays import Codes, Ints
from coterie.base.errors import DataError
from coterie.jobs.kinds.kept_models import KeptModel, KeptNet
from coterie.jobs.kinds.predict.people import PredictJob
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.predictions import cost_bits, costs_of, predict_by_costs
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_lookup import looked_up, looked_up_anywhere
from coterie.protocols.statistics.shared_tables import Axis, joint_codes
from coterie.protocols.statistics.tree import Node, TreePlan
from coterie.protocols.statistics.tree_predictions import predict

SMOOTHING = 1  # records that are added to each value of each class

MODEL_DIGEST = declare(
    "predict: digest of the model",
    what="A digest of what all parties know of the kept model: its attributes, its classes, and the tree, or which attributes of a net depend on which.",
    to="every party",
    why="Parts of different models would give wrong classes.",
)


def compare_models(job: PredictJob, model: KeptModel, channel: Channel) -> None:
    """Checks that all parties have kept the same model; the error names one that has not."""
    with channel.step("model"):
        channel.broadcast(channel.open(MODEL_DIGEST, bytes.fromhex(model.digest)))
        for peer in channel.peers:
            told = channel.recv_bytes(peer, len(model.digest) // 2, "digest of the model")
            if told.hex() != model.digest:
                raise DataError(
                    f"{channel.me} and {peer} have kept different models under the name "
                    f"'{job.model}': keep the model again, under a new name"
                )


def by_tree(
    job: PredictJob,
    model: KeptModel,
    codes: Mapping[str, Codes],
    records: int,
    channel: Channel,
    rng: Random,
) -> Codes | None:
    """The classes by the kept tree, at the recipients."""
    names = list(model.attributes)
    axes = tuple(Axis(name, party, size) for name, (party, size) in model.attributes.items())
    plan = TreePlan(
        job.party_names, job.servers, axes, len(model.classes), records, len(axes), 1,
        mixed=job.mixed,
    )  # fmt: skip
    branches = {
        # Of a cell that lies at another party the branch is not known.
        name: np.array([*model.own[name].numbers, -1], np.int32)[column]
        for name, column in codes.items()
    }  # fmt: skip
    transfers = Transfers(channel, rng.fork("transfers"))
    tree = _as_node(model.tree or {}, names)
    return predict(transfers, plan, tree, branches, records, job.recipients, rng.fork("predict"))


def _as_node(kept: Mapping[str, Any], names: list[str]) -> Node:
    if "attribute" not in kept:
        return Node(int(kept["label"]))
    branches = [_as_node(branch, names) for branch in kept["branches"]]
    return Node(0, names.index(kept["attribute"]), branches)


def by_net(
    job: PredictJob,
    model: KeptModel,
    codes: Mapping[str, Codes],
    records: int,
    channel: Channel,
    rng: Random,
) -> Codes | None:
    """The classes by the kept net, at the recipients."""
    costs = (
        _naive_costs(model, codes, records)
        if model.net is None
        else _own_costs(model, codes, records)
    )
    totals = np.array(model.class_counts, np.float64)
    if channel.me == job.party_names[0] and model.class_name not in model.families:
        costs += costs_of(totals / totals.sum())
    hidden = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
    bits = cost_bits(len(model.attributes if model.net is None else model.families))
    if model.net is not None:
        transfers = Transfers(channel, rng.fork("transfers"))
        costs += _costs_across(job, model, model.net, codes, records, transfers, bits)
    return predict_by_costs(hidden, costs, bits, job.recipients, rng.fork("predict"))


def _naive_costs(model: KeptModel, codes: Mapping[str, Codes], records: int) -> Ints:
    """The costs of this party's own attributes, each of which has the class as only parent."""
    totals = np.array(model.class_counts, np.float64)
    costs: Ints = np.zeros((records, len(totals)), np.int64)
    for name, column in codes.items():
        counts = np.array(model.own[name].counts, np.float64)
        shares = (counts + SMOOTHING) / (totals + SMOOTHING * len(counts))
        costs += costs_of(shares)[column]
    return costs


def _own_costs(model: KeptModel, codes: Mapping[str, Codes], records: int) -> Ints:
    """The costs of the families that lie wholly at this party."""
    tables = {} if model.net is None else model.net.tables
    costs: Ints = np.zeros((records, len(model.classes)), np.int64)
    for node, table in tables.items():
        axes = axes_of(model, node)
        counts = np.array(table, np.float64).reshape(-1, axes[-1].size, len(model.classes))
        of_node = 2 if node == model.class_name else 1
        sums = counts.sum(axis=of_node, keepdims=True) + SMOOTHING * counts.shape[of_node]
        found = costs_of((counts + SMOOTHING) / sums).reshape(-1, len(model.classes))
        costs += found[joint_codes(axes, codes, records)]
    return costs


def _costs_across(
    job: PredictJob,
    model: KeptModel,
    net: KeptNet,
    codes: Mapping[str, Codes],
    records: int,
    transfers: Transfers,
    bits: int,
) -> Ints:
    """This party's shares of the costs of the families that lie across parties."""
    dtype = np.uint32 if bits <= 32 else np.uint64
    costs: Ints = np.zeros((records, len(model.classes)), np.int64)
    for node in filter(model.across, model.families):
        kept = net.shares.get(node)
        share = None if kept is None else np.array(kept, np.uint64)
        look_up = partial(looked_up_anywhere, names=job.party_names) if job.mixed else looked_up
        found = look_up(
            transfers,
            servers=job.servers,
            axes=axes_of(model, node),
            width=len(model.classes),
            share=share,
            codes=codes,
            records=records,
            dtype=dtype,
        )
        if found is not None:
            costs += found.astype(np.int64)
    return costs


def axes_of(model: KeptModel, node: str) -> list[Axis]:
    """The attributes of a family, with their holders and numbers of values."""
    return [Axis(name, *model.attributes[name]) for name in model.members(node)]
