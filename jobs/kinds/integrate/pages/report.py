"""The report of an integrate job: the release, and for the parties how it came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from coterie.anonymity.specialization.scores import COLUMNS
from coterie.base.text import numbered
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.behaviour import RESISTS
from coterie.jobs.kinds.integrate.cuts.keys import MONDRIAN
from coterie.jobs.kinds.integrate.cuts.report import report_cuts
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.integrate.slack import slack_sentences
from coterie.jobs.kinds.integrate.verify_release import RELEASE
from coterie.jobs.pages.charts import steps
from coterie.jobs.pages.markup import Content, foreign, listed
from coterie.jobs.pages.measures import measures_part
from coterie.jobs.pages.page import Part, folded, note, table
from coterie.jobs.pages.release import read_release, release_parts

_SHOWN = 300  # specializations in the table


def report_release(job: IntegrateJob, result: Claim, folder: Path) -> list[Part]:
    suppressed = result.optional("suppressed")
    detail = result.optional("detail")  # older results have none
    release = read_release(
        folder / RELEASE, job.attributes, job.requirements, job.class_name,
        0 if suppressed is None else suppressed.integer(minimum=0),
        None if detail is None else {n: c.number() for n, c in detail.entries().items()},
    )  # fmt: skip
    alone = result.optional("alone")
    measures = measures_part(
        result.entry("utility"), alone.entries() if alone is not None else None
    )
    compared = [_methods(result)] if result.optional("methods") is not None else []
    courses = [] if job.method == MONDRIAN else [_course(job, result)]
    if job.cuts_groups:
        courses.append(report_cuts(job, result, release.columns))
    return [*release_parts(release), measures, *compared, *courses]


def _methods(result: Claim) -> Part:
    """What each method would have kept, as a simulation finds it, which has all tables."""
    rows: list[list[Content]] = []
    for one in result.entry("methods").items():
        error = one.optional("class_error")
        rows.append([
            foreign(one.entry("keys").text()), f"{one.entry('detail').number():.0%}",
            f"{one.entry('query_error').entry('median').number():.0%}",
            "" if error is None else f"{error.number():.1%}", f"{one.entry('groups').integer():,}",
        ])  # fmt: skip
    content: list[Content] = [
        note(
            "The same requirement on the same tables, the method that keeps most first. Half of "
            "random counts are off by at most the share below. Only a simulation can compare: at the "
            "parties' servers nobody has the joined table."
        ),
        table(
            ["keys of the job", "detail kept", "random counts off by", "class error", "groups"],
            rows, (1, 2, 3, 4), sentences=True,
        ),
    ]  # fmt: skip
    return Part("What each method would keep", content, public=False)


def _second_phase(job: IntegrateJob, result: Claim, winners: Sequence[Claim]) -> list[Content]:
    """What the second phase of `refine: columns` added."""
    totals = {n: c.number() for n, c in result.entry("refine_contributions").entries().items()}
    count = sum(winner.entry("phase").integer() == 2 for winner in winners)
    return [
        note(
            f"The last {numbered(count, 'step')} are of a second phase, which shows more whether or not "
            "it helps to predict the class. Their scores say how much further apart they put people, so "
            "that they are counted by themselves: "
            + ", ".join(f"{name} {totals.get(name, 0.0):.4f}" for name in job.record_holders)
            + "."
        )
    ]


def _debts(party: str, given: Mapping[str, float]) -> list[str]:
    """To whom a party owes how much by what all have given."""
    mine = given.get(party, 0.0)
    owed = {name: amount - mine for name, amount in given.items()}
    return [f"{name} {difference:.4f}" for name, difference in owed.items() if difference > 5e-5]


def _course(job: IntegrateJob, result: Claim) -> Part:
    """Who specialized what, and how each party's contribution grew."""
    winners = result.entry("winners").items()
    grown: dict[str, list[float]] = {name: [0.0] for name in job.record_holders}
    rows: list[list[Content]] = []
    for number, winner in enumerate(winners, 1):
        party, score = winner.entry("party").text(), winner.entry("score").number()
        if party not in grown:
            raise winner.error(f"'{party}' is not a party of the job")
        second = job.refine is not None and winner.entry("phase").integer() == 2
        for name, values in grown.items() if not second else ():
            values.append(values[-1] + (score if name == party else 0.0))
        if number <= _SHOWN:
            rows.append([
                str(number), foreign(party), foreign(winner.entry("attribute").text()),
                foreign(winner.entry("value").text(), 60),
                listed(winner.entry("children").texts()[:12]), f"{score:.4f}",
            ])  # fmt: skip
    slack: list[Content] = [
        note(f"{line[0].upper()}{line[1:]}.") for line in slack_sentences(result)
    ]
    if not winners:
        return Part(
            "How the table was made",
            [
                note("Nothing was specialized: any more detail would have broken the promise."),
                *slack,
            ],
            public=False,
        )
    totals = {
        name: claim.number() for name, claim in result.entry("contributions").entries().items()
    }
    content: list[Content] = [
        note(
            f"The parties began with the most general table and put more detail into it in "
            f"{numbered(len(winners), 'step')}, each time the detail that says most about the class "
            "and keeps the promise. The score of a step says how much it tells about the class; a party's "
            "contribution is the sum of the scores of its own steps."
            if job.class_name is not None
            else f"The parties began with the most general table and put more detail into it in "
            f"{numbered(len(winners), 'step')} that kept the promise. A party's contribution is the "
            "sum of the scores of its own steps."
        ),
        steps("Contribution of each party as it grew", grown, "steps, from first to last"),
        note(
            "A party that gave less than another owes it the difference, as the ledgers of both say "
            "afterwards."
        ),
        table(
            ["party", "contribution", "steps", "owes"],
            [
                [foreign(name), f"{totals.get(name, 0.0):.4f}",
                 str(sum(w.entry("party").value == name for w in winners)),
                 listed(_debts(name, totals), 20) or "nothing"]
                for name in job.record_holders
            ],
            (1, 2),
            sentences=True,
        ),
    ]  # fmt: skip
    if job.adversary == "malicious":
        content.append(
            note(
                "Parties were not trusted to play fair: a party takes part as long as its contribution "
                f"is at most {job.epsilon:g} above every other party's, and scores were recomputed "
                f"from what was sent. {RESISTS}."
            )
        )
    if job.refine == COLUMNS:
        content += _second_phase(job, result, winners)
    content += slack
    rest = f", the first {_SHOWN}" if len(winners) > _SHOWN else ""
    content.append(
        folded(
            f"All steps{rest}",
            table(
                ["step", "party", "column", "value", "became", "score"],
                rows,
                (0, 5),
                sentences=True,
            ),
        )
    )
    return Part("How the table was made", content, public=False)
