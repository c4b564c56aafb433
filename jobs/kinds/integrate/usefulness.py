"""What a release is good for, in a few lines: how much of each column it shows, and what was promised.

The share of a column's detail is 1 less its normalised width: of a taxonomy by the leaves under each
value, of numbers and dates by the width of each interval. A column that shows nothing, one that
leaves as it is, and records that were left out are said first and loudly, because nobody looks for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from coterie.anonymity.models.audit import Released, audit
from coterie.anonymity.models.privacy import TupleModel
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.errors import VerificationError
from coterie.base.text import first_names
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.integrate.release_table import Coded
from coterie.jobs.kinds.kind import Json

_SHOWN = 40  # columns that have a line


def reached_by(columns: Mapping[str, Coded], requirement: Requirement) -> dict[str, Json]:
    """The worst value of each model of a requirement in any group; empty where there is none.

    A model of several columns has no value between holding and not: its own bound stands for it.
    """
    model = requirement.model
    if model is None or requirement.sensitive is None:
        return {}
    if isinstance(model, TupleModel):
        return {model.name: float(model.l)}
    names = {*requirement.qid, *requirement.sensitive_columns}
    table = {
        name: Released(columns[name].codes.astype(np.int64), tuple(columns[name].values))
        for name in names
    }
    try:
        held = audit(table, requirement.qid, requirement.k, requirement.sensitive, model)
    except VerificationError:  # `coterie verify` reports the fault and its place
        return {}
    return dict(held["models"])


def methods_lines(result: Claim) -> list[str]:
    """What each method would keep, where a simulation has compared them; the best comes first."""
    if (methods := result.optional("methods")) is None:
        return []
    if not methods.items():
        return ["methods were not compared: a condition needs more than k and the class"]
    found = []
    for one in methods.items():
        error = one.optional("class_error")
        found.append(
            f"{one.entry('keys').text()}: {one.entry('detail').number():.0%} of the detail kept, half of random counts off "
            f"by at most {one.entry('query_error').entry('median').number():.0%}"
            + (f", class error {error.number():.1%}" if error is not None else "")
        )
    return ["on these tables, the method that keeps most first:", *(f"  {line}" for line in found)]


def usefulness_lines(job: IntegrateJob, result: Claim) -> list[str]:
    """The lines of a summary: warnings first, then columns, then what each requirement has reached."""
    records = result.entry("records").integer(minimum=0)
    kept = result.optional("detail")
    shares = {} if kept is None else {n: c.number() for n, c in kept.entries().items()}
    listed = result.optional("cut")  # local cuts have no one cut of a column
    cut = {} if listed is None else listed.entries()
    lines = []
    hidden = [name for name, share in shares.items() if share <= 0]
    if hidden:
        lines.append(
            f"FULLY GENERALISED: {first_names(hidden)}: every record shows the same value; a lower k, fewer "
            "columns in a qid, or 'max_suppression' would show more"
        )
    raw = [attribute.name for attribute in job.attributes if not attribute.in_qid]
    if raw:
        lines.append(
            f"RELEASED UNCHANGED: {first_names(raw)}: part of no qid, so no k protects them"
        )
    gone = result.optional("suppressed")
    if gone is not None and gone.integer():
        share = gone.integer() / max(records + gone.integer(), 1)
        lines.append(f"SUPPRESSED: {gone.integer():,} records, {share:.1%} of all")
    for name, share in itertools.islice(shares.items(), _SHOWN):
        values = len(cut[name].items()) if name in cut else 0
        shown = f", {values} value{'s' * (values > 1)}" if values else ""
        lines.append(f"{name}: {share:.0%} of its detail kept{shown}")
    if len(shares) > _SHOWN:
        lines.append(f"and {len(shares) - _SHOWN:,} more columns, which report.html has")
    reached = result.optional("reached")
    models = reached.items() if reached is not None else [Claim({})] * len(job.requirements)
    for entry, model in zip(result.entry("anonymity").items(), models, strict=False):
        k, smallest = entry.entry("k").integer(), entry.entry("smallest").integer()
        names = first_names(entry.entry("qid").texts())
        found = "".join(
            f", {name} reached {value.number():g}"
            for name, value in model.entries().items()
            if value.value is not None
        )
        people = entry.optional("k_map")
        if people is not None:
            lines.append(
                f"k_map={people.integer()} on {names}: counted by {job.universe} in its population; "
                f"smallest group of records {smallest}"
            )
            continue
        lines.append(f"k={k} on {names}: smallest group {smallest}{found}")
    return lines
