"""`kind: tree`: a decision tree (ID3) over attributes of several parties.

    class: Class
    max_depth: 4
    minimum: 20           a node with fewer records of other classes than the most frequent one is a
                          leaf; with fewer in all it has the class of the node above it
    minimum_gain: 0.01    optional: a split must lower the entropy by so much a record (nats)
    prune: false          true: splits whose leaves all have one class are taken back
    precision: standard   or high: scores to six digits, by Paillier, more slowly
    open: false           true: branches carry values; otherwise numbers that only the owner can read
    predict: lender       optional: this party gets the predicted class of every common record
    keep: risk            optional: each party keeps its part of the tree, for `kind: predict`
    show: [records, accuracy]   optional: the records of leaves, and how often the tree is right, if
                                no small count can be computed from them (`leaf_counts`)

All parties learn the tree. An owner of splits keeps `branches.csv`, which says what its branch
numbers mean.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from coterie.base.arrays import Array
from coterie.base.errors import DataError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Node as YamlNode
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kept_models import read_keep
from coterie.jobs.kinds.kind import Json, Verdict
from coterie.jobs.kinds.needs import Needs, thresholds_of
from coterie.jobs.kinds.statistics.common import (
    PreparedColumns,
    StatisticsJob,
    StatisticsKind,
    read_precision,
    read_statistics,
    reported,
    statistics_needs,
    told_of_columns,
)
from coterie.jobs.kinds.statistics.count import total_records
from coterie.jobs.kinds.statistics.drawing import draw_tree
from coterie.jobs.kinds.statistics.joining import Joined, begin, count_shares
from coterie.jobs.kinds.statistics.keeping import check_classes, keep_tree, kept_words, partition_of
from coterie.jobs.kinds.statistics.report import DRAWN_LEAVES, report_drawing
from coterie.jobs.kinds.statistics.verify_models import (
    TreePromise,
    leaf_lines,
    verify_leaf_counts,
    verify_meanings,
    verify_precision,
    verify_predictions,
    verify_tree,
)
from coterie.jobs.pages.page import Part, note
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_scores import HiddenScores
from coterie.protocols.statistics.leaf_counts import MOST_CELLS, Leaf, leaf_counts
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.tree import Node, TreePlan, grow, leaves_of, pruned
from coterie.protocols.statistics.tree_predictions import predict

BRANCHES = "branches.csv"  # kept by an owner: the values of its branch numbers
PREDICTIONS = "predictions.csv"  # kept by the party that `predict` names


@dataclass(frozen=True)
class TreeJob(StatisticsJob):
    max_depth: int
    minimum: int
    precise: bool
    minimum_gain: float | None
    prune: bool
    open: bool
    predict: str | None
    show: tuple[str, ...]
    keep: str | None


class Tree(StatisticsKind[TreeJob]):
    about = "A decision tree over attributes of several parties."
    leaves = ("tree.svg",)
    opens = ("statistics", "logarithm", "prediction")
    job_type = TreeJob

    def parse(self, section: Section, common: Common) -> TreeJob:
        fields = read_statistics(section, common, needs_class=True, mixed=True)
        receiver = section.optional("predict")
        if receiver and fields["matching"] is None:
            raise receiver.error("with 'partition: horizontal' each party predicts alone")
        return TreeJob(
            **fields,
            max_depth=section.read("max_depth", lambda n: n.integer(0, 64), 4),
            precise=read_precision(section),
            minimum=section.read("minimum", lambda n: n.integer(1, 2**31), 20),
            minimum_gain=section.read("minimum_gain", lambda n: n.number(0.0, 100.0), None),
            prune=section.read("prune", YamlNode.boolean, False),
            open=section.read("open", YamlNode.boolean, False),
            predict=receiver.choice(*common.party_names) if receiver else None,
            show=_read_show(section, fields["matching"] is None, fields["mixed"]),
            keep=read_keep(section, partition_of(fields)),
        )

    def needs(self, job: TreeJob, party: str) -> Needs:
        receivers = () if job.predict is None else (job.predict,)
        return statistics_needs(
            job,
            party,
            job.minimum,
            keeps=job.keep,
            predicted_for=receivers,
            thresholds=thresholds_of(job, "minimum", "minimum_gain", "max_depth"),
        )

    def told_of(self, job: TreeJob, party: str) -> Sequence[str]:
        told = told_of_columns(job, party)
        names = "with their values" if job.open or job.everywhere else "branches as numbers"
        told.append(
            f"every party and the coordinator: the tree, {names}: which attribute divides where, and "
            f"the class of each leaf (that of the node above where it has fewer than {job.minimum} "
            f"people); of a leaf that could have been divided, that fewer than {job.minimum} of its "
            "people have another class"
        )
        if job.show:
            told.append(
                f"every party and the coordinator: {' and '.join(job.show)} of the tree, where no "
                f"count below {job.minimum} follows from it"
            )
        if job.predict is not None:
            told.append(f"{job.predict}: which class the tree predicts for each common person")
        if job.keep is not None:
            own = (
                ""
                if job.open or job.everywhere
                else "which branch of the tree each of your values takes"
            )
            told.append(kept_words(job.keep, own))
        return told

    def prepare(self, job: TreeJob, party: str, table: pa.Table, source: str) -> PreparedColumns:
        prepared = super().prepare(job, party, table, source)
        if prepared.labels and len(prepared.labels.values) < 2 and not job.horizontal:
            raise DataError(f"{source}: the class '{job.class_name}' has one value only")
        return prepared

    def run(
        self,
        job: TreeJob,
        prepared: PreparedColumns,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        joined = begin(job, prepared, channel, rng, workspace)
        labels = check_classes(job, joined)
        hides = not job.open and not job.everywhere
        numbers: dict[str, tuple[int, ...]] = {}
        if hides:
            joined = _numbered(job, joined, channel, rng.fork("numbers"), workspace, numbers)
        records = total_records(job, joined, channel, rng)
        if records < job.minimum:
            raise DataError(f"{records} records are fewer than the minimum of {job.minimum}")
        plan = TreePlan(
            job.party_names,
            job.servers,
            tuple(joined.axes[name] for name in job.attributes),
            len(labels.values),
            joined.records,
            job.max_depth,
            job.minimum,
            job.horizontal,
            job.mixed,
        )
        scores = HiddenScores(
            channel,
            job.party_names,
            job.servers,
            records,
            rng.fork("scores"),
            job.minimum_gain,
            job.precise,
        )
        transfers = Transfers(channel, rng.fork("transfers"))
        tree = grow(transfers, plan, joined.codes, labels.codes, scores, rng.fork("tree"))
        if job.prune:
            tree = pruned(tree)
        if job.predict:
            found = predict(
                transfers, plan, tree, joined.codes, joined.records, [job.predict],
                rng.fork("predict"),
            )  # fmt: skip
            if found is not None:
                _write_predictions(prepared, joined, found, workspace)
        shown = _shown(job, tree, joined, hides, transfers, scores, rng.fork("show"))
        if job.keep is not None:
            keep_tree(job, job.keep, tree, numbers, joined, channel, workspace)
        return {
            "records": records,
            "tree": _as_result(job, tree, joined, hides),
            **shown,
            "precision": {
                "bits": scores.settings.bits,
                "terms": scores.settings.terms,
                "logarithm_error": scores.error,
            },
        }

    def assemble(self, job: TreeJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        drawing = draw_tree(reported(released)["tree"], job.party_names)
        (out / "tree.svg").write_text(f"{drawing}\n", encoding="utf-8")
        return ["tree.svg"]

    def summary(self, job: TreeJob, result: Claim) -> Sequence[str]:
        form = verify_tree(result.entry("tree"), _promise(job))
        by = f", by {', '.join(form.splits)}" if form.splits else ""
        lines = [f"a tree of depth {form.depth} with {form.leaves} leaves{by}"]
        return lines + leaf_lines(result, job.minimum)

    def report(self, job: TreeJob, result: Claim, folder: Path) -> Sequence[Part]:
        tree = result.entry("tree")
        form = verify_tree(tree, _promise(job))
        about = f"A tree of depth {form.depth} with {form.leaves} {'leaf' if form.leaves == 1 else 'leaves'}. A box asks for a column"
        more = "; a leaf names the class."
        if not job.open and not job.everywhere:
            more += " Numbers on branches stand for values that only the box's party knows."
        if form.leaves > DRAWN_LEAVES:
            more += " Lower levels are left out here; tree.svg has the whole drawing."
        shown = shown_tree(tree)
        colours = "" if job.everywhere else " of the party whose colour it has"
        own = f"{about}{colours}{more}", draw_tree(shown, job.party_names, DRAWN_LEAVES)
        public = about + more, draw_tree(shown, (), DRAWN_LEAVES)
        told = [note(f"{line[0].upper()}{line[1:]}.") for line in leaf_lines(result, job.minimum)]
        return [report_drawing("The tree", own=own, public=public, below=told)]

    def check(self, job: TreeJob, result: Claim) -> None:
        records = result.entry("records").integer(minimum=job.minimum)
        form = verify_tree(result.entry("tree"), _promise(job))
        verify_leaf_counts(result, records, job.minimum, form.leaves)

    def verify(self, job: TreeJob, result: Claim, folder: Path) -> Verdict:
        records = result.entry("records").integer(minimum=job.minimum)
        promise = _promise(job)
        form = verify_tree(result.entry("tree"), promise)
        verify_precision(result)
        verify_leaf_counts(result, records, job.minimum, form.leaves)
        holds = [
            f"a tree of depth {form.depth} (at most {job.max_depth}) with {form.leaves} {'leaf' if form.leaves == 1 else 'leaves'}, "
            "by attributes of the job, each split by its owner and once on a path",
            f"grown from {records:,} records, of which the job asks for at least {job.minimum}",
        ]
        if (folder / "parties").is_dir():
            for party in job.party_names if promise.numbered else ():
                verify_meanings(folder / "parties" / party / BRANCHES, promise, party)
            if job.predict and job.matching:
                path = folder / "parties" / job.predict / PREDICTIONS
                verify_predictions(path, job.matching.columns, records, form)
                holds.append(f"{job.predict} has a class of the tree for each record")
        facts: dict[str, Json] = {"records": records, "depth": form.depth, "leaves": form.leaves}
        return Verdict(holds, ["whether the records would give this tree"], facts)


def shown_tree(claim: Claim) -> dict[str, Any]:
    """A tree of a result whose form has been checked, as plain values."""
    if (label := claim.optional("class")) is not None:
        return {"class": label.text()}
    branches = claim.entry("branches").entries()
    return {
        "attribute": claim.entry("attribute").text(),
        "party": claim.entry("party").value,
        "branches": {name: shown_tree(branch) for name, branch in branches.items()},
    }


def _read_show(section: Section, horizontal: bool, mixed: bool) -> tuple[str, ...]:
    node = section.optional("show")
    if node is None:
        return ()
    if horizontal or mixed:
        partition = "horizontal" if horizontal else "mixed"
        raise node.error(
            f"with 'partition: {partition}' a party could take off the records that it knows"
        )
    items = node.items() if node.is_list else [node]
    chosen = {item.choice("records", "accuracy") for item in items}
    return tuple(name for name in ("records", "accuracy") if name in chosen)


def _shown(
    job: TreeJob,
    tree: Node,
    joined: Joined,
    hides: bool,
    transfers: Transfers,
    scores: HiddenScores,
    rng: Random,
) -> dict[str, Any]:
    """What `show` asks for, as the result has it; hidden is null."""
    if not job.show or joined.labels is None or job.class_name is None:
        return {}
    names = list(job.attributes)
    leaves = leaves_of(tree, {})
    used = sorted({at for path, _ in leaves for at in path})
    axes = [joined.axes[names[at]] for at in used]
    classes = len(joined.labels.values)
    told: dict[str, Any] = dict.fromkeys(job.show)
    if np.prod([axis.size for axis in axes], dtype=np.float64) * classes > MOST_CELLS:
        return {"shown": told}
    table = [*axes, joined.axes[job.class_name]]
    share = count_shares(job, joined, transfers, table, rng)
    place = {at: number for number, at in enumerate(used)}
    found = leaf_counts(
        scores,
        axes,
        classes,
        [
            Leaf({place[at]: value for at, value in path.items()}, leaf.label)
            for path, leaf in leaves
        ],
        share,
        job.minimum,
        job.show,
    )
    if "records" in told and found.records is not None:
        told["records"] = found.records.tolist()
    if "accuracy" in told and found.correct is not None:
        most = int(np.bincount(joined.labels.codes).max())
        told["accuracy"] = {
            "tree": found.correct / joined.records,
            "most_frequent_class": most / joined.records,
        }
    return {"shown": told}


def _promise(job: TreeJob) -> TreePromise:
    owners = {name: job.owner(name) for name in job.attributes}
    numbered = not job.open and not job.everywhere
    return TreePromise(job.declared_values, owners, job.max_depth, numbered, job.prune)


def _numbered(
    job: TreeJob,
    joined: Joined,
    channel: Channel,
    rng: Random,
    workspace: Workspace,
    numbers: dict[str, tuple[int, ...]] | None = None,
) -> Joined:
    """The joined columns with this party's values renumbered in an order that only it knows.

    `numbers` gets the number of each value of this party's attributes.
    """
    codes = dict(joined.codes)
    rows: list[list[str | int]] = []
    for name in job.attributes:
        if job.owner(name) != channel.me:
            continue
        values = joined.domains[name]
        # Drawn once: kept splits have these numbers, and other ones would tell which are the same.
        draw = partial(rng.permutation, len(values))
        number = channel.drawn(f"numbers of {name}", draw, lasting=True)
        codes[name] = number[codes[name]].astype(np.int32)
        if numbers is not None:
            numbers[name] = tuple(number.tolist())
        order = np.argsort(number)
        rows += [[name, at + 1, values[code]] for at, code in enumerate(order)]
    with (workspace.kept / BRANCHES).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["attribute", "branch", "value"])
        writer.writerows(rows)
    return replace(joined, codes=codes)


def _write_predictions(
    prepared: PreparedColumns,
    joined: Joined,
    found: Array,
    workspace: Workspace,
) -> None:
    """The receiver's own identifiers, each with its predicted class."""
    if prepared.id_columns is None or joined.rows is None or joined.labels is None:
        raise AssertionError("predictions belong to matched records")
    table = prepared.id_columns.take(pa.array(joined.rows))
    labels = pa.array(np.array(joined.labels.values, object)[found], pa.string())
    table = table.append_column("predicted", labels)
    pacsv.write_csv(table, workspace.kept / PREDICTIONS)


def _as_result(job: TreeJob, node: Node, joined: Joined, hides: bool) -> dict[str, Any]:
    """The tree as `result.json` has it."""
    if joined.labels is None:
        raise AssertionError("a tree has a class")
    if node.attribute is None:
        return {"class": joined.labels.values[node.label]}
    name = list(job.attributes)[node.attribute]
    values = joined.domains[name]
    texts = [str(at + 1) for at in range(len(values))] if hides else list(values)
    return {
        "attribute": name,
        "party": job.owner(name),
        "branches": {
            text: _as_result(job, branch, joined, hides)
            for text, branch in zip(texts, node.branches, strict=True)
        },
    }


TREE = Tree()
