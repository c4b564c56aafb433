"""`coterie verify` for an integrate job: does the release satisfy what the job promises?

Everything is computed again from `release.csv` and the job that is stored beside it (`job/`):

* the columns are the job's attributes, then the class, and nothing else; rows are in sorted order;
* a value of an attribute in a QID stands in the final cut; the cut is one of the taxonomy, every leaf
  under exactly one value, or intervals that follow each other over the whole range;
* no value lies above the bounds in `at_most`;
* an attribute in no QID has values that its taxonomy or its range allows;
* every requirement holds, and the smallest groups and the risk are those that `result.json` names;
* the specializations that `result.json` lists lead from the topmost values to the cut, and their
  scores and the parties' contributions are those of the released records;
* with `slack: tell`, the slack is of smaller k and of attributes with something left to specialize.

The first check that fails raises a `VerificationError`. Scores are not compared if records were
suppressed, or if the rule depends on earlier steps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released, check_risk, group_numbers
from coterie.anonymity.specialization.scores import GROUPS
from coterie.anonymity.specialization.specialize import suppression_limit
from coterie.anonymity.table.intervals import GAP, Interval, lower_end, read_interval
from coterie.anonymity.table.taxonomy import TOP
from coterie.base.errors import VerificationError
from coterie.base.text import numbered
from coterie.jobs.data.release_file import (
    check_order,
    check_requirements,
    in_words,
    read_release,
)
from coterie.jobs.data.released.together import together_counted
from coterie.jobs.file.result_file import RESULT, Claim
from coterie.jobs.kinds.integrate.cuts.keys import MONDRIAN
from coterie.jobs.kinds.integrate.cuts.verify_tree import before_cuts, check_tree
from coterie.jobs.kinds.integrate.job import IntegrateJob, ReleasedAttribute
from coterie.jobs.kinds.integrate.slack import UNCHECKED, check_slack
from coterie.jobs.kinds.integrate.verify_winners import (
    SCORED,
    check_winners,
    interval_of,
    span_of,
    too_high,
)
from coterie.jobs.kinds.kind import Verdict

RELEASE = "release.csv"


def verify_release(job: IntegrateJob, result: Claim, folder: Path) -> Verdict:
    """Checks `release.csv` and `result.json` of a result folder."""
    try:
        facts = _verify_release(job, result.value, folder / RELEASE)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise VerificationError(
            f"{folder / RESULT}: not the result of such a job ({error})"
        ) from None
    together = facts.pop("together")
    holds = [
        f"{numbered(facts['records'], 'record')}, sorted so that their order reveals nothing, and each "
        "value at the level of detail that the job ended with",
        *map(in_words, facts["requirements"]),
        *([together.clause] if together and not together.exposed else []),
        "the steps listed in the result lead to this release",
    ]
    unchecked = ["whether the parties put in true data"]
    unchecked += [
        f"whether {requirement.k_map} people of the population share the values of each group of "
        f"{', '.join(requirement.qid)}, which its holder alone can count"
        for requirement in job.requirements
        if requirement.k_map is not None
    ]
    if job.method == MONDRIAN:
        unchecked.append("whether each cut was the most even one that its party could make")
    elif facts["suppressed"] or job.rule not in SCORED or job.class_name is None:
        unchecked.append("the scores, which these records do not determine")
    if job.slack:
        unchecked.append(UNCHECKED)
    if together is None:
        return Verdict(holds, unchecked, facts)
    not_promised = [together.sentence] if together.exposed else []
    return Verdict(holds, unchecked, {**facts, "together": together.facts}, not_promised)


def _verify_release(job: IntegrateJob, result: Any, path: Path) -> dict[str, Any]:
    table = read_release(path, released_columns(job), "the job")
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
    check_order(table, path)
    specialized = dict(table)  # as the specializations show it, before groups are cut
    if job.refine == GROUPS:
        in_qids = [attribute for attribute in job.attributes if attribute.in_qid]
        specialized |= before_cuts(in_qids, result["cut"], table)
    for attribute in job.attributes:
        if attribute.in_qid and job.method == MONDRIAN:
            continue  # `check_tree` has the values of these
        if attribute.in_qid:
            _check_cut(attribute, specialized[attribute.name], result["cut"][attribute.name])
        else:
            _check_plain(attribute, table[attribute.name], path)
    requirements = check_requirements(job.requirements, result["anonymity"], table, "the job")
    in_qid = [attribute.name for attribute in job.attributes if attribute.in_qid]
    check_risk(table, result, in_qid, [requirement.qid for requirement in job.requirements])
    cuts = result.get("cut", {})
    if job.method == MONDRIAN:
        _check_suppressed_by_bounds(result, suppressed)
        check_tree(job, result, table, "contributions")
        cuts = {name: [_widest(result, name, table[name])] for name in in_qid}
    else:
        check_winners(job, result, specialized, bool(suppressed))
        if job.refine == GROUPS:
            check_tree(job, result, table, "refine_contributions")
        check_slack(job.requirements, job.slack, result, _with_steps_left(job, result))
    _check_utility(job, result, table, suppressed, cuts)
    _check_reached(result, requirements)
    _check_mapped(job, result)
    sizes = np.bincount(group_numbers([table[name] for name in in_qid]))
    return {
        "records": records,
        "suppressed": suppressed,
        "requirements": requirements,
        "together": together_counted(job.requirements, sizes),
    }


def _check_suppressed_by_bounds(result: Any, suppressed: int) -> None:
    """Local cuts leave no record out: bounds alone do."""
    if int(result.get("bounds_cost", 0)) != suppressed:
        raise VerificationError(
            f"{RESULT}: {suppressed} records were left out, but bounds cost "
            f"{result.get('bounds_cost', 0)}"
        )


def _widest(result: Any, name: str, column: Released) -> str:
    """The first region of a column that was cut: of a column without range, its whole span."""
    regions = [cut["region"] for cut in result["tree"] if cut["attribute"] == name]
    first = [cut["level"] for cut in result["tree"] if cut["attribute"] == name]
    return regions[first.index(min(first))] if regions else column.values[0]


def released_columns(job: IntegrateJob) -> list[str]:
    names = [attribute.name for attribute in job.attributes]
    return names if job.class_name is None else [*names, job.class_name]


def _with_steps_left(job: IntegrateJob, result: Any) -> list[str]:
    """The attributes whose final cut has a value that could be specialized further."""
    found = []
    for attribute in job.attributes:
        if not attribute.in_qid:
            continue
        cut, taxonomy = result["cut"][attribute.name], attribute.taxonomy
        if taxonomy is not None:
            left = any(value not in taxonomy.leaves for value in cut)
        elif attribute.flat:
            left = list(cut) == [TOP]
        else:
            known = [value for value in cut if not (attribute.gap and value == GAP)]
            ends = [interval_of(v, attribute.name, attribute.scale) for v in known]
            left = any(one.low < one.high for one in ends)
        if left:
            found.append(attribute.name)
    return found


def _check_cut(attribute: ReleasedAttribute, column: Released, cut: Sequence[str]) -> None:
    where = f"column '{attribute.name}'"
    intervals: list[Interval] = []
    for value in column.values:
        if value not in cut:
            raise VerificationError(f"{where}: '{value}' is not in the cut that {RESULT} lists")
    if attribute.flat:
        if list(cut) != [TOP] and (TOP in cut or len(set(cut)) < len(cut)):
            raise VerificationError(f"{where}: the cut has {TOP} beside values, or one twice")
        return
    if attribute.taxonomy is not None:
        taxonomy = attribute.taxonomy
        for value in cut:
            span_of(taxonomy, value, where)
            if too_high(taxonomy, value, attribute.at_most):
                raise VerificationError(
                    f"{where}: '{value}' is above the bounds {', '.join(attribute.at_most)}"
                )
        spans = sorted(span_of(taxonomy, value, where) for value in cut)
        low, high = 0.0, float(len(taxonomy.leaves))
    else:
        known = [value for value in cut if not (attribute.gap and value == GAP)]
        intervals = sorted(
            (interval_of(value, where, attribute.scale) for value in known),
            key=lambda i: (i.low, i.high),
        )
        if [i.gap for i in intervals] != [attribute.gap and len(known) == len(cut)] * len(known):
            raise VerificationError(f"{where}: the cut does not have missing values once")
        spans = [(i.low, i.high) for i in intervals]
        low, high = attribute.limits or (spans[0][0], spans[-1][1])
    ends = [low, *(last for _, last in spans)]
    if [first for first, _ in spans] != ends[:-1] or ends[-1] != high:
        raise VerificationError(f"{where}: the cut {', '.join(cut)} does not cover each value once")
    if intervals:
        closed = [i.closed for i in intervals]
        if closed != [False] * (len(closed) - 1) + [True]:
            raise VerificationError(f"{where}: not the topmost interval alone is closed")


def _check_plain(attribute: ReleasedAttribute, column: Released, path: Path) -> None:
    where = f"{path}: column '{attribute.name}'"
    for value in column.values:
        if attribute.taxonomy is not None and value not in attribute.taxonomy.leaves:
            raise VerificationError(f"{where}: '{value}' is not a leaf of its taxonomy")
        if attribute.type is not None and not (attribute.gap and value == GAP):
            scale = attribute.scale
            low, high = attribute.limits or (-math.inf, math.inf)
            number = lower_end(value, scale) if read_interval(value, scale) is None else None
            if number is None or not low <= number <= high:
                raise VerificationError(f"{where}: '{value}' is not {scale.noun} in its range")


def _check_utility(
    job: IntegrateJob,
    result: Any,
    table: Mapping[str, Released],
    gone: int,
    cuts: Mapping[str, Sequence[str]],
) -> None:
    """The measures that the release itself gives."""
    claimed = result["utility"]
    names = [attribute.name for attribute in job.attributes if attribute.in_qid]
    records = len(table[names[0]].codes)
    total = records + gone
    groups = Counter(zip(*(table[name].codes.tolist() for name in names), strict=True))
    widths = heights = 0.0
    by_column: dict[str, float] = {}
    for attribute in job.attributes:
        if attribute.in_qid:
            column = table[attribute.name]
            cut = cuts[attribute.name]
            for value, times in zip(column.values, np.bincount(column.codes).tolist(), strict=True):
                width, height = _share(attribute, value, cut)
                widths, heights = widths + times * width, heights + times * height
                by_column[attribute.name] = by_column.get(attribute.name, 0.0) + times * (1 - width)
    cells = len(names) * total
    found = {
        "discernibility": sum(size * size for size in groups.values()) + gone * total,
        "normalised_width": (widths + gone * len(names)) / cells,
        "precision": 1 - (heights + gone * len(names)) / cells,
    }
    for key, own in found.items():
        if not math.isclose(claimed[key], own, rel_tol=1e-9, abs_tol=1e-9):
            raise VerificationError(f"{RESULT} says {key} = {claimed[key]}, the release {own}")
    for name, share in result["detail"].items():
        if not math.isclose(share, by_column[name] / total, abs_tol=1e-6):
            raise VerificationError(
                f"{RESULT} says that {share:.1%} of the detail of '{name}' is kept, the release "
                f"{by_column[name] / total:.1%}"
            )


def _check_reached(result: Any, requirements: Sequence[Mapping[str, Any]]) -> None:
    """What the models have reached is what the release shows."""
    for number, (claimed, held) in enumerate(
        zip(result.get("reached", []), requirements, strict=False)
    ):
        found = held.get("models", {})  # sums of floats, which depend on the order of values
        if claimed.keys() != found.keys() or any(
            value != found[name] and not math.isclose(value, found[name], rel_tol=1e-9)
            for name, value in claimed.items()
        ):
            raise VerificationError(
                f"{RESULT}: requirement {number + 1} says it reached {claimed}, the release {found}"
            )


def _check_mapped(job: IntegrateJob, result: Any) -> None:
    """What the population was asked for is what the job says."""
    for number, (claimed, requirement) in enumerate(
        zip(result["anonymity"], job.requirements, strict=True)
    ):
        if claimed.get("k_map") != requirement.k_map:
            raise VerificationError(
                f"{RESULT}: requirement {number + 1} says k_map = {claimed.get('k_map')}, the job "
                f"{requirement.k_map}"
            )


def _share(attribute: ReleasedAttribute, value: str, cut: Sequence[str]) -> tuple[float, float]:
    """How much of the attribute's leaves, and of its tree's height, a value covers."""
    where = f"column '{attribute.name}'"
    if attribute.flat:
        return (1.0, 1.0) if value == TOP else (0.0, 0.0)
    if attribute.taxonomy is None:
        scale, gap = attribute.scale, attribute.gap
        if gap and value == GAP:
            return 0.0, 0.0
        known = [one for one in cut if not (gap and one == GAP)]
        ends = [interval_of(one, where, scale) for one in known]
        low, high = attribute.limits or (min(i.low for i in ends), max(i.high for i in ends))
        if math.isfinite(scale.read(value)):  # of a tight box
            return 0.0, 0.0
        own = interval_of(value, where, scale)
        width = (own.high - own.low) / (high - low) if high > low else 0.0
        return width, width
    taxonomy = attribute.taxonomy
    if taxonomy.root == TOP and len(taxonomy.children[0]) == len(taxonomy.labels) - 1:
        return (1.0, 1.0) if value == TOP else (0.0, 0.0)

    def height(node: int) -> int:
        return max((1 + height(child) for child in taxonomy.children[node]), default=0)

    first, last = span_of(taxonomy, value, where)
    leaves = max(len(taxonomy.leaves) - 1, 1)
    return (last - first - 1) / leaves, height(taxonomy.labels.index(value)) / max(height(0), 1)
