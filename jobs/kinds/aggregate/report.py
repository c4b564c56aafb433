"""The report of an `aggregate` job: the groups with their measures, hidden ones hatched."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.jobs.kinds.aggregate.job import AggregateJob, Measure
from coterie.jobs.kinds.aggregate.verify_groups import ClaimedGroup, shown
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.markup import Content, Element, element, foreign, listed
from coterie.jobs.pages.page import Part, note
from coterie.protocols.aggregates.noise import Noise

_ROWS = 1_000  # groups that the table of a report shows
_BARS = 25
_MEANINGS = {
    "count": "Count: how many records a group has.",
    "sum": "Sum: the values of its records added up.",
    "mean": "Mean: the sum divided by the number of records.",
    "variance": "Variance: how far the values lie apart, as the mean square of their distances from the mean.",
}
_NOISE = (
    "Noise was added to the numbers by chance, so that nobody can tell from them whether any one "
    "person is among the records. The smaller epsilon, the more noise, and the better everybody is "
    "hidden. Numbers of small groups may be far off."
)


def report_groups(job: AggregateJob, groups: Sequence[ClaimedGroup]) -> Part:
    """A table of all groups, and bars of the last measure if there are few groups."""
    hidden = sum(group.hidden for group in groups)
    why = (
        f"A group that is hatched has fewer than {job.minimum} records, or it would give away a group "
        "that has. Which of the two is not told."
    )
    if job.noise is not None:
        why = (
            f"A group that is hatched has, with noise, fewer than {job.minimum} records. "
            f"All numbers have {promise(job.noise)}."
        )
    shown_of = f"{len(groups) - hidden:,} of {len(groups):,} groups are shown."
    meanings = dict.fromkeys(_meaning(measure) for measure in job.measures)
    content: list[Content] = [note(f"{shown_of} {why}"), note(" ".join(meanings))]
    if job.noise is not None:
        content.append(note(_NOISE))
    title = job.measures[-1].title
    drawn = [(g.name, float(g.numbers[-1]), shown(g.numbers[-1])) for g in groups
             if g.numbers[-1] is not None]  # fmt: skip
    if 1 < len(drawn) <= _BARS and min(value for _, value, _ in drawn) >= 0:
        about: list[Content] = [foreign(title), " by ", listed(job.by)]
        content += [element("h3", *about), bars(f"{title} by {', '.join(job.by)}", drawn)]
    content.append(_table(job, groups))
    if len(groups) > _ROWS:
        content.append(note("The rest is in result.json."))
    return Part("Groups", content, public=True)


def _meaning(measure: Measure) -> str:
    if measure.what in ("smallest", "largest"):
        return (
            f"{measure.title.partition(' of ')[0].capitalize()}: so many records of the group have this "
            "value or one beyond it, so that it is about no single person. It is the lower end of a bucket."
        )
    if measure.share is None:
        return _MEANINGS[measure.what]
    share = float(measure.share)
    return f"Quantile {share:g}: {100 * share:.4g} % of a group's records have at most this value."


def promise(noise: Noise) -> str:
    """The noise of a result for a person."""
    delta = f", delta {float(noise.delta):g}" if noise.delta else ""
    return f"{noise.mechanism} noise for epsilon {float(noise.epsilon):g}{delta}"


def _table(job: AggregateJob, groups: Sequence[ClaimedGroup]) -> Element:
    head = [element("th", foreign(name), scope="col") for name in job.by or ("group",)]
    head += [
        element("th", foreign(measure.title), scope="col", class_="number")
        for measure in job.measures
    ]
    rows = []
    for group in groups[:_ROWS]:
        cells = [element("th", foreign(v), scope="row") for v in group.values or ("all records",)]
        cells += [_cell(number) for number in group.numbers]
        rows.append(element("tr", cells))
    return element(
        "div",
        element(
            "table", element("thead", element("tr", head)), element("tbody", rows)
        ),
        class_="wide", tabindex="0", role="region", aria_label="groups",
    )  # fmt: skip


def _cell(number: int | float | None) -> Element:
    if number is None:
        return element("td", element("span", "hidden", class_="unseen"), class_="hidden")
    return element("td", shown(number), class_="number")
