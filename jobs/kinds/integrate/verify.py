"""`coterie verify` for an integrate job: does the release satisfy what the job promises?

Everything is computed again from `release.csv` and the job that is stored beside it (`job/`):

* the columns are the job's attributes, then the class, and nothing else; rows are in sorted order;
* a value of an attribute in a QID stands in the final cut; the cut is one of the taxonomy, every leaf
  under exactly one value, or intervals that follow each other over the whole range;
* no value lies above the bounds in `at_most`;
* an attribute in no QID has values that its taxonomy or its range allows;
* every requirement holds, and the smallest groups and the risk are those that `result.json` names;
* the specializations that `result.json` lists lead from the topmost values to the cut, and their
  scores and the parties' contributions are those of the released records.

The first check that fails raises a `VerificationError`. Scores are not compared if records were
suppressed, or if the rule depends on earlier steps.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.models.audit import Released, audit, check_risk
from coterie.anonymity.specialization.scores import RULES, SCALE, Effect
from coterie.anonymity.specialization.specialize import suppression_limit
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree, Tree
from coterie.anonymity.table.intervals import (
    NOTATION,
    OLD_NOTATION,
    Interval,
    Notation,
    lower_end,
)
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.jobs.data.sources import read_table
from coterie.jobs.file.result_file import RESULT, Claim
from coterie.jobs.kinds.integrate.job import IntegrateJob, ReleasedAttribute
from coterie.jobs.kinds.kind import Verdict

RELEASE = "release.csv"


def verify_release(job: IntegrateJob, result: Claim, folder: Path) -> Verdict:
    """Checks `release.csv` and `result.json` of a result folder."""
    try:
        facts = _verify_release(job, result.value, folder / RELEASE)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise VerificationError(
            f"{folder / RESULT}: not the result of such a job ({error})"
        ) from None
    holds = [f"{facts['records']:,} records in sorted order, every value as the cut allows"]
    for held in facts["requirements"]:
        names = ", ".join(held["qid"])
        reached = "".join(
            f", {model} at {value:g}" for model, value in held.get("models", {}).items()
        )
        holds.append(f"k={held['k']} on {names}: smallest group {held['smallest']}{reached}")
    holds.append("the specializations lead to this release")
    unchecked = ["whether the parties put in true data"]
    if facts["suppressed"] or not RULES[job.rule].lasting or job.class_name is None:
        unchecked.append("the scores, which these records do not determine")
    return Verdict(holds, unchecked, facts)


def _verify_release(job: IntegrateJob, result: Any, path: Path) -> dict[str, Any]:
    table = read_release(job, path)
    records = len(next(iter(table.values())).codes)
    suppressed = int(result.get("suppressed", 0))
    if records != result["records"]:
        raise VerificationError(
            f"{path}: has {records} records, but {RESULT} says {result['records']}"
        )
    total = records + suppressed
    if not 0 <= suppressed <= suppression_limit(job.max_suppression, total):
        raise VerificationError(
            f"{suppressed} of {total} records were suppressed; the job allows a share of "
            f"{job.max_suppression:g}"
        )
    if not 0 <= int(result.get("bounds_cost", 0)) <= suppressed:
        raise VerificationError(
            f"{RESULT} says that bounds cost {result['bounds_cost']} records, but {suppressed} were "
            "suppressed"
        )
    _check_order(table, path)
    notation = _notation(result)
    for attribute in job.attributes:
        if attribute.in_qid:
            _check_cut(attribute, table[attribute.name], result["cut"][attribute.name], notation)
        else:
            _check_plain(attribute, table[attribute.name], path, notation)
    if len(result["anonymity"]) != len(job.requirements):
        raise VerificationError(f"{RESULT} has another number of requirements than the job")
    requirements = []
    for number, requirement in enumerate(job.requirements):
        name = f"requirement {number + 1} ({', '.join(requirement.qid)})"
        try:
            held = audit(
                table, requirement.qid, requirement.k, requirement.sensitive, requirement.model
            )
        except VerificationError as error:
            raise VerificationError(f"{name}: {error}") from None
        claimed = result["anonymity"][number]
        for key in ("qid", "k", "smallest"):
            if claimed[key] != held[key]:
                raise VerificationError(
                    f"{name}: {RESULT} says {key} = {claimed[key]}, the release {held[key]}"
                )
        requirements.append(held)
    _check_utility(job, result, table, suppressed, notation)
    in_qid = [attribute.name for attribute in job.attributes if attribute.in_qid]
    check_risk(table, result, in_qid, [requirement.qid for requirement in job.requirements])
    _check_winners(job, result, table, bool(suppressed), notation)
    return {"records": records, "suppressed": suppressed, "requirements": requirements}


def read_release(job: IntegrateJob, path: Path) -> dict[str, Released]:
    expected = [attribute.name for attribute in job.attributes]
    if job.class_name is not None:
        expected.append(job.class_name)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, csv.Error):
        raise VerificationError(f"{path}: not a CSV file") from None
    if header != expected:
        raise VerificationError(
            f"{path}: has the columns {', '.join(header) or 'none'}; "
            f"the job releases {', '.join(expected)}"
        )
    try:
        text = read_table(path, expected)
    except DataError as error:
        raise VerificationError(str(error)) from None
    table = {}
    for name in expected:
        column = pc.fill_null(text.column(name), "").combine_chunks().dictionary_encode()
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        codes = column.indices.to_numpy().astype(np.int64)
        table[name] = Released(codes, tuple(column.dictionary.to_pylist()))
    return table


def _check_order(table: Mapping[str, Released], path: Path) -> None:
    """Checks that rows are sorted by their values, so that their order reveals nothing."""
    keys = []
    for column in table.values():
        order = sorted(range(len(column.values)), key=column.values.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        keys.append(rank[column.codes])
    undecided = np.ones(max(len(keys[0]) - 1, 0), bool)
    for key in keys:
        wrong = undecided & (key[1:] < key[:-1])
        if wrong.any():
            raise VerificationError(f"{path}: row {int(wrong.argmax()) + 2} is out of order")
        undecided &= key[1:] == key[:-1]


def _notation(result: Any) -> Notation:
    """The notation of intervals: results without a version use the older one."""
    return NOTATION if "version" in result.get("job", {}) else OLD_NOTATION


def _check_cut(
    attribute: ReleasedAttribute, column: Released, cut: Sequence[str], notation: Notation
) -> None:
    where = f"column '{attribute.name}'"
    intervals: list[Interval] = []
    for value in column.values:
        if value not in cut:
            raise VerificationError(f"{where}: '{value}' is not in the cut that {RESULT} lists")
    if attribute.taxonomy is not None:
        taxonomy = attribute.taxonomy
        for value in cut:
            _span(taxonomy, value, where)
            if too_high(taxonomy, value, attribute.at_most):
                raise VerificationError(
                    f"{where}: '{value}' is above the bounds {', '.join(attribute.at_most)}"
                )
        spans = sorted(_span(taxonomy, value, where) for value in cut)
        low, high = 0.0, float(len(taxonomy.leaves))
    else:
        intervals = sorted(
            (_interval(value, where, notation) for value in cut), key=lambda i: (i.low, i.high)
        )
        spans = [(i.low, i.high) for i in intervals]
        low, high = attribute.limits or (spans[0][0], spans[-1][1])
    ends = [low, *(last for _, last in spans)]
    if [first for first, _ in spans] != ends[:-1] or ends[-1] != high:
        raise VerificationError(f"{where}: the cut {', '.join(cut)} does not cover each value once")
    if intervals and notation.says_closed:
        closed = [i.closed for i in intervals]
        if closed != [False] * (len(closed) - 1) + [True]:
            raise VerificationError(f"{where}: not the topmost interval alone is closed")


def too_high(taxonomy: Taxonomy, value: str, marks: Sequence[str]) -> bool:
    """Whether a mark is below the value, so that the value is above a bound."""
    below = [taxonomy.labels.index(value)]
    for node in below:  # the list grows while it is read
        below += taxonomy.children[node]
    return any(taxonomy.labels[node] in marks for node in below[1:])


def _span(taxonomy: Taxonomy, value: str, where: str) -> tuple[float, float]:
    if value not in taxonomy.labels:
        raise VerificationError(f"{where}: '{value}' is not in its taxonomy")
    node = taxonomy.labels.index(value)
    return taxonomy.first[node], taxonomy.last[node]


def _interval(value: str, where: str, notation: Notation) -> Interval:
    interval = notation.read(value)
    if interval is None or interval.low > interval.high:
        raise VerificationError(f"{where}: '{value}' is not an interval")
    return interval


def _check_plain(
    attribute: ReleasedAttribute, column: Released, path: Path, notation: Notation
) -> None:
    where = f"{path}: column '{attribute.name}'"
    for value in column.values:
        if attribute.taxonomy is not None and value not in attribute.taxonomy.leaves:
            raise VerificationError(f"{where}: '{value}' is not a leaf of its taxonomy")
        if attribute.limits is not None:
            number = lower_end(value) if notation.read(value) is None else None
            if number is None or not attribute.limits[0] <= number <= attribute.limits[1]:
                raise VerificationError(f"{where}: '{value}' is not a number in its range")


def _check_utility(
    job: IntegrateJob, result: Any, table: Mapping[str, Released], gone: int, notation: Notation
) -> None:
    """The measures that the release itself gives; older results have none."""
    claimed = result.get("utility")
    if claimed is None:
        return
    names = [attribute.name for attribute in job.attributes if attribute.in_qid]
    records = len(table[names[0]].codes)
    total = records + gone
    groups = Counter(zip(*(table[name].codes.tolist() for name in names), strict=True))
    widths = heights = 0.0
    for attribute in job.attributes:
        if attribute.in_qid:
            column = table[attribute.name]
            cut = result["cut"][attribute.name]
            for value, times in zip(column.values, np.bincount(column.codes).tolist(), strict=True):
                width, height = _share(attribute, value, cut, notation)
                widths, heights = widths + times * width, heights + times * height
    cells = len(names) * total
    found = {
        "discernibility": sum(size * size for size in groups.values()) + gone * total,
        "normalised_width": (widths + gone * len(names)) / cells,
        "precision": 1 - (heights + gone * len(names)) / cells,
    }
    for key, own in found.items():
        if not math.isclose(claimed[key], own, rel_tol=1e-9, abs_tol=1e-9):
            raise VerificationError(f"{RESULT} says {key} = {claimed[key]}, the release {own}")


def _share(
    attribute: ReleasedAttribute, value: str, cut: Sequence[str], notation: Notation
) -> tuple[float, float]:
    """How much of the attribute's leaves, and of its tree's height, a value covers."""
    where = f"column '{attribute.name}'"
    if attribute.taxonomy is None:
        ends = [_interval(one, where, notation) for one in cut]
        low, high = attribute.limits or (min(i.low for i in ends), max(i.high for i in ends))
        own = _interval(value, where, notation)
        width = (own.high - own.low) / (high - low) if high > low else 0.0
        return width, width
    taxonomy = attribute.taxonomy

    def height(node: int) -> int:
        return max((1 + height(child) for child in taxonomy.children[node]), default=0)

    first, last = _span(taxonomy, value, where)
    leaves = max(len(taxonomy.leaves) - 1, 1)
    return (last - first - 1) / leaves, height(taxonomy.labels.index(value)) / max(height(0), 1)


class _Cut:
    """The cut of one attribute while the specializations are replayed, value by value."""

    def __init__(
        self, attribute: ReleasedAttribute, final: Sequence[str], notation: Notation
    ) -> None:
        tree = attribute.tree()
        if tree is None:
            ends = [_interval(value, attribute.name, notation) for value in final]
            tree = IntervalTree(min(i.low for i in ends), max(i.high for i in ends))
        self.tree: Tree = tree
        self._notation = notation
        self.nodes = {self._label(0): 0}
        taxonomy = attribute.taxonomy
        if taxonomy is None:
            return
        for value in list(taxonomy.labels):  # parents come before their children
            if too_high(taxonomy, value, attribute.at_most):
                node = self.nodes.pop(value)
                below = taxonomy.children[node]
                self.nodes |= {taxonomy.labels[child]: child for child in below}

    def _label(self, node: int) -> str:
        if isinstance(self.tree, IntervalTree):
            return self._notation.write(self.tree.interval(node))
        return self.tree.label(node)

    def specialize(self, value: str, children: Sequence[str]) -> list[int] | None:
        """The nodes that replace a value; None if these children cannot replace it."""
        node = self.nodes.pop(value, None)
        if node is None:
            return None
        if isinstance(self.tree, IntervalTree):
            ends = [self._notation.read(child) for child in children]
            if len(ends) != 2 or ends[1] is None or not self.tree.can_split(node, ends[1].low):
                return None
            self.tree.split(node, ends[1].low)
        below = list(self.tree.children(node))
        if [self._label(child) for child in below] != list(children):
            return None
        self.nodes |= dict(zip(children, below, strict=True))
        return below

    def rows_below(self, node: int, column: Released) -> list[bool]:
        """Which values of a column, all in the final cut, are under a node."""
        at = [self.nodes[value] for value in column.values]
        tree = self.tree
        if isinstance(tree, IntervalTree):
            low, high, closed = tree.low[node], tree.high[node], tree.closed[node]
            return [low <= tree.low[i] and (tree.low[i] < high or closed) for i in at]
        assert isinstance(tree, TaxonomyTree)  # noqa: S101
        first, last = tree.taxonomy.first, tree.taxonomy.last
        return [first[node] <= first[i] and last[i] <= last[node] for i in at]


def _check_winners(
    job: IntegrateJob,
    result: Any,
    table: Mapping[str, Released],
    suppressed: bool,
    notation: Notation,
) -> None:
    """Replays the specializations from the topmost values down to the cut."""
    attributes = {attribute.name: attribute for attribute in job.attributes if attribute.in_qid}
    cuts = {name: _Cut(attributes[name], result["cut"][name], notation) for name in attributes}
    contributions = dict.fromkeys(job.party_names, 0.0)
    steps = []
    for number, winner in enumerate(result["winners"]):
        where = f"{RESULT}: winner {number + 1}"
        attribute = attributes.get(winner["attribute"])
        if attribute is None or winner["party"] != attribute.party:
            raise VerificationError(f"{where} is of no attribute of {winner['party']} in a qid")
        below = cuts[attribute.name].specialize(winner["value"], winner["children"])
        if below is None:
            children = ", ".join(winner["children"])
            raise VerificationError(f"{where} puts {children} in the place of '{winner['value']}'")
        contributions[attribute.party] += winner["score"]
        steps.append((where, winner, below))
    for name, cut in cuts.items():
        if sorted(cut.nodes) != sorted(result["cut"][name]):
            raise VerificationError(f"{RESULT}: the winners do not lead to the cut of '{name}'")
    rule = RULES[job.rule]
    if rule.lasting and not suppressed and job.class_name is not None:
        for where, winner, below in steps:
            name = winner["attribute"]
            counts = _class_counts(cuts[name], below, table[name], table[job.class_name])
            score = rule.score(Effect(counts, np.empty((0, 0)), (), result["records"])) / SCALE
            if score != winner["score"]:  # both are multiples of 2^-30
                raise VerificationError(
                    f"{where} has the score {winner['score']}, the release gives {score}"
                )
    for party, total in contributions.items():
        if result["contributions"][party] != total:
            raise VerificationError(
                f"{RESULT}: {party} contributed {total}, not {result['contributions'][party]}"
            )


def _class_counts(
    cut: _Cut, nodes: Sequence[int], column: Released, classes: Released
) -> list[list[int]]:
    """The number of released records of each class under each node."""
    counts = np.zeros((len(column.values), len(classes.values)), np.int64)
    np.add.at(counts, (column.codes, classes.codes), 1)
    return [counts[cut.rows_below(node, column)].sum(axis=0).tolist() for node in nodes]
