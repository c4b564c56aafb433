"""Reports of models: the coefficients with their errors, drawn and listed."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.jobs.kinds.aggregate.report import promise as noise_in_words
from coterie.jobs.kinds.models.verify_regress import ClaimedModel, ModelPromise
from coterie.jobs.pages.charts import WIDTH, Rows, chart, label
from coterie.jobs.pages.markup import Content, Element, element, foreign, listed
from coterie.jobs.pages.page import Part, note, table

NORMAL = 1.959964  # standard errors that are half of a 95 % interval
_CERTAIN = (
    "The records tell a coefficient only roughly: were they drawn anew many times, 95 of 100 such "
    "intervals would have the true one in them. Where the interval has zero in it, the records do not "
    "tell whether the feature matters at all."
)
_NOISE = (
    "Noise was added by chance to the sums that the model is computed from, so that nobody can tell "
    "from it what the columns say of any one person. The smaller epsilon, the more noise. How far a "
    "coefficient is from that without noise is not told; with fewer records it is farther."
)
_MEANING = {
    "linear": "A coefficient is the change of the outcome for one more of the feature.",
    "ridge": "A coefficient is the change of the outcome for one more of the feature, held back by the penalty.",
    "logistic": "A coefficient is the change of the logarithm of the odds of the outcome for one more of the feature.",
    "svm": "A record is classified by the sign of the intercept plus its features times their coefficients.",
    "cox": "A coefficient is the change of the logarithm of the hazard for one more of the feature.",
}
_DIRECTION = {
    "linear": "A positive one means that the outcome is larger where the feature is.",
    "ridge": "A positive one means that the outcome is larger where the feature is.",
    "logistic": "A positive one means that the outcome is likelier where the feature is larger.",
    "svm": "A positive one speaks for the outcome where the feature is larger.",
    "cox": "A positive one means that the event comes sooner where the feature is larger.",
}
_FIT = {
    "r_squared": "The share of the outcome's variance that the features explain: 0 is none of it, 1 all.",
    "residual_deviation": "How far the model's answer is from the outcome of a record, as a rule.",
    "log_likelihood": "The logarithm of how likely these outcomes are under the model; only to compare models.",
    "auc": "Of two records with different outcomes, how often the model ranks them rightly: 0.5 is chance, 1 always.",
    "auc_error": "How far the figure above may be off, because scores are told in classes.",
    "concordance": "Of two people, how often the model says rightly who has the event first: 0.5 is chance, 1 always.",
    "concordance_error": "How far the figure above may be off, because scores are told in classes.",
    "approximation": "How far a coefficient may be from that of the exact model, in standard errors.",
}


def report_model(found: ClaimedModel) -> Sequence[Part]:
    """The model's own parts of a report."""
    promise = found.promise
    certain = any(error for error in found.errors)
    content: list[Content] = [
        note(*_outcome(promise), f" {_MEANING[promise.model]} ", _DIRECTION[promise.model]),
        *([note(*_categories(promise))] if promise.first_categories else []),
        *([note(_CERTAIN)] if certain else []),
        *([note(f"{noise_in_words(promise.noise)}. {_NOISE}")] if promise.noise else []),
        *(note(caution) for caution in _cautions(found)),
        coefficient_plot(found),
        _coefficients(found, certain),
    ]
    if found.intercept is not None:
        content.append(
            note("The intercept is what the model says of a record whose features are all zero.")
        )
    if found.survival:
        content += [
            element("h3", "Survival"),
            note(
                "The share of people with average features who have had no event yet, at each time. "
                "The curve falls where events happened; times are told in joined classes."
            ),
            survival_curve(found),
        ]
    if found.measures:
        fit: list[Sequence[Content]] = [
            [name.replace("_", " "), f"{value:.6g}", _FIT.get(name, "")]
            for name, value in found.measures.items()
        ]
        content.append(table(["measure of fit", "value", "meaning"], fit, (1,), sentences=True))
    return [Part("The model", content, public=True)]


def _outcome(promise: ModelPromise) -> list[Content]:
    """What is explained; of two values the one that the coefficients speak for."""
    said: list[Content] = ["The outcome is ", foreign(promise.outcome)]
    if promise.outcomes is None:
        return [*said, "."]
    other, one = promise.outcomes
    return [*said, " = ", foreign(one), ", as against ", foreign(other), "."]


def _categories(promise: ModelPromise) -> list[Content]:
    first = [f"{name}={value}" for name, value in promise.first_categories.items()]
    return ["A value of a column of categories is compared with the first one, which has no coefficient: ", *listed(first), "."]  # fmt: skip


def _coefficients(found: ClaimedModel, certain: bool) -> Element:
    rows: list[Sequence[Content]] = []
    for name, value, error in found.rows:
        row: list[Content] = [foreign(name), f"{value:.6g}"]
        if certain:
            half = NORMAL * (error or 0.0)
            row += [f"{error or 0.0:.4g}", f"{value - half:.4g} to {value + half:.4g}"]
        rows.append(row)
    head = ["column", "coefficient"] + (["standard error", "95 % interval"] if certain else [])
    return table(head, rows, range(1, len(head)), sentences=True)


def _cautions(found: ClaimedModel) -> list[str]:
    """Sentences about where the model is not the exact one."""
    cautions = []
    if not found.settled:
        cautions.append(
            "The model has not settled. The search ended one step before the optimum, because the last step was up to fewer "
            "records than the job's minimum."
        )
    if found.survival:
        cautions.append(found.coarsened())
    if (bound := found.measures.get("approximation")) is not None:
        cautions.append(
            "The sigmoid was computed approximately: a coefficient is at most "
            f"{bound:.2g} standard errors from that of the exact model."
        )
    return cautions


def coefficient_plot(found: ClaimedModel) -> Element:
    """Each coefficient divided by its standard error, so that all fit on one axis.

    A model without standard errors is drawn by the size of its coefficients.
    """
    names = found.promise.columns
    sizes = [
        value if error is None or not error else value / error
        for value, error in zip(found.values, found.errors, strict=True)
    ]
    certain = all(error for error in found.errors)
    beyond = NORMAL if certain else 0.0  # the half of an interval, which must fit, too
    most = max([abs(size) + beyond for size in sizes] + [2 * beyond]) or 1.0
    rows = Rows(names)
    middle, scale = (rows.left + WIDTH) / 2, (WIDTH - rows.left) / 2 / (most * 1.05)
    height = rows.height + 28
    shapes: list[Content] = [
        element("line", x1=middle, x2=middle, y1=0, y2=height - 24, class_="axis")
    ]
    for at, size in enumerate(sizes):
        y, x = rows.top(at) + 13, middle + size * scale
        shapes.append(rows.name(at))
        if certain:
            ends = (x - NORMAL * scale, x + NORMAL * scale)
            shapes.append(element("line", x1=ends[0], x2=ends[1], y1=y, y2=y, class_="line c0"))
        shapes.append(element("circle", cx=x, cy=y, r=4.5, class_="bar"))
    axis = (
        "in standard errors, with 95 % intervals; the line is zero"
        if certain
        else "coefficient; the line is zero"
    )
    shapes.append(label(WIDTH, height - 6, axis, "end", "quiet"))
    return chart("The coefficients and how certain they are", height, *shapes)


def survival_curve(found: ClaimedModel) -> Element:
    """The share of people with average features who have had no event yet, over time."""
    height, left, bottom, top = 268.0, 60.0, 56.0, 18.0
    end = found.survival[-1][0]
    across, tall = (WIDTH - left - 8) / end, height - bottom - top
    floor = height - bottom
    shapes: list[Content] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = floor - tall * share
        shapes += [
            element("line", x1=left, x2=WIDTH - 8, y1=y, y2=y, class_="axis"),
            label(left - 6, y + 5, f"{share:.0%}", "end", "quiet"),
        ]
    for part in (0.0, 0.5, 1.0):
        at = ("start", "middle", "end")[int(part * 2)]
        shapes.append(label(left + part * end * across, floor + 20, f"{part * end:g}", at, "quiet"))
    path = f"M{left:.1f} {top:.1f}"
    for time, share in found.survival:
        path += f"H{left + time * across:.1f}V{top + tall * (1 - share):.1f}"
    return chart(
        "The share of people with average features who have had no event, over time",
        height,
        *shapes,
        label(WIDTH - 8, height - 8, found.promise.time or "time", "end", "quiet", longest=40),
        element("path", d=path, class_="line c0", fill="none"),
    )
