"""Reports of models: the coefficients with their errors, drawn and listed."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.jobs.kinds.models.verify_regress import ClaimedModel
from coterie.jobs.pages.charts import WIDTH, chart, label
from coterie.jobs.pages.markup import Content, Element, element, foreign
from coterie.jobs.pages.page import Part, note, table

NORMAL = 1.959964  # of a standard error: the half of an interval of 95 %
_MEANING = {
    "linear": "A coefficient is the change of {outcome} for one more of the feature.",
    "ridge": "A coefficient is the change of {outcome} for one more of the feature, held back by the penalty.",
    "logistic": "A coefficient is the change of the logarithm of the odds of {outcome} for one more of the feature.",
    "svm": "A record is classified by the sign of the intercept plus its features times their coefficients.",
    "cox": "A coefficient is the change of the logarithm of the hazard for one more of the feature.",
}


def report_model(found: ClaimedModel) -> Sequence[Part]:
    """The model's own parts of a report."""
    meaning = _MEANING[found.promise.model].format(outcome="the outcome")
    rows: list[Sequence[Content]] = []
    for name, value, error in found.rows:
        bounds = (
            "" if error is None else f"{value - NORMAL * error:.4g} to {value + NORMAL * error:.4g}"
        )
        shown = "" if error is None else f"{error:.4g}"
        rows.append([foreign(name), f"{value:.6g}", shown, bounds])
    content: list[Content] = [
        note("The outcome is ", foreign(found.promise.outcome), f". {meaning}"),
        *(note(caution) for caution in _cautions(found)),
        coefficient_plot(found),
        table(["column", "coefficient", "standard error", "95 % interval"], rows, (1, 2, 3)),
    ]
    if found.survival:
        content += [element("h3", "Survival"), survival_curve(found)]
    if found.measures:
        fit: list[Sequence[Content]] = [
            [name.replace("_", " "), f"{value:.6g}"] for name, value in found.measures.items()
        ]
        content.append(table(["measure of fit", "value"], fit, (1,)))
    return [Part("The model", content, public=True)]


def _cautions(found: ClaimedModel) -> list[str]:
    """In what the model is not the exact one."""
    cautions = []
    if not found.settled:
        cautions.append(
            "The search ended one step before the optimum, because the last step was up to fewer "
            "records than the job's minimum."
        )
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
    most = max([abs(size) for size in sizes] + [2 * NORMAL if certain else 0.0]) or 1.0
    left, row = 200.0, 26.0
    middle, scale = left + (WIDTH - left) / 2, (WIDTH - left) / 2 / (most * 1.15)
    height = len(names) * row + 28
    shapes: list[Content] = [
        element("line", x1=middle, x2=middle, y1=0, y2=height - 24, class_="axis")
    ]
    for at, (name, size) in enumerate(zip(names, sizes, strict=True)):
        y, x = at * row + 13, middle + size * scale
        shapes.append(label(left - 8, y + 5, name, "end"))
        if certain:
            ends = (x - NORMAL * scale, x + NORMAL * scale)
            shapes.append(element("line", x1=ends[0], x2=ends[1], y1=y, y2=y, class_="line c0"))
        shapes.append(element("circle", cx=x, cy=y, r=4.5, class_="bar"))
    axis = (
        "coefficient in standard errors, with its 95 % interval; zero in the middle"
        if certain
        else "coefficient; zero in the middle"
    )
    shapes.append(label(middle, height - 6, axis, "middle", "quiet"))
    return chart("The coefficients and how certain they are", height, *shapes)


def survival_curve(found: ClaimedModel) -> Element:
    """The share of people with average features who have had no event yet, over time."""
    height, left, bottom = 240.0, 44.0, 34.0
    end = found.survival[-1][0]
    across, tall = (WIDTH - left - 8) / end, height - bottom - 10
    path = f"M{left:.1f} 10"
    for time, share in found.survival:
        path += f"H{left + time * across:.1f}V{10 + tall * (1 - share):.1f}"
    return chart(
        "The share of people with average features who have had no event, over time",
        height,
        element(
            "line", x1=left, x2=WIDTH - 8, y1=height - bottom, y2=height - bottom, class_="axis"
        ),
        element("line", x1=left, x2=left, y1=10, y2=height - bottom, class_="axis"),
        label(left - 6, 16, "1", "end", "quiet"),
        label(left - 6, height - bottom, "0", "end", "quiet"),
        label(left, height - 12, "0", "start", "quiet"),
        label(WIDTH - 8, height - 12, f"{end:g}", "end", "quiet"),
        element("path", d=path, class_="line c0", fill="none"),
    )
