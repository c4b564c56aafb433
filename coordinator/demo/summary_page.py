"""The page that ends the demo: what was joined, what one can learn from it, and how safe it is.

Everything but the numbers of customers comes from the release and its result, as a reader of the
release could compute it. Where a released value stands for several, its people are spread evenly over
them; that blurs a difference between groups and makes none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released
from coterie.anonymity.table.intervals import read_interval
from coterie.base.arrays import Array
from coterie.coordinator.demo import population
from coterie.jobs.data.release_file import read_release
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.pages.markup import Content, Element, element
from coterie.jobs.pages.page import STYLE, document

PAGE = "summary.html"
_FEWEST = 20  # people of whom a share is shown
_WHO = {"lender": "The lender", "bank": "The bank", "card": "The card company"}
_SALARY, _SPENDING = (30.0, 40.0), (8.0, 12.0)  # thousands a month
_EARN = ("under 30,000", "30,000 to 40,000", "over 40,000")
_SPEND = ("under 8,000", "8,000 to 12,000", "over 12,000")


@dataclass(frozen=True)
class Rate:
    """The share of some people who are behind with a loan; None of too few people."""

    people: float
    share: float | None


@dataclass(frozen=True)
class Finding:
    """By salary and spending, and by each alone; the lowest values first."""

    both: Sequence[Sequence[Rate]]
    salary: Sequence[Rate]
    spending: Sequence[Rate]
    all: Rate

    @property
    def corners(self) -> tuple[float, float] | None:
        """Who earns least and spends most, and the other way round."""
        low, high = self.both[-1][0].share, self.both[0][-1].share
        return (high, low) if low and high and high > 1.5 * low else None


def find(columns: Mapping[str, Released]) -> Finding:
    """Who is behind with a loan, by a column of the bank and one of the card company."""
    behind = _is_behind(columns[population.CLASS])
    salary, spending = _parts(columns["Salary"], _SALARY), _parts(columns["Spending"], _SPENDING)

    def rate(part: Array) -> Rate:
        people = float(part.sum())
        return Rate(people, float(part[behind].sum()) / people if people >= _FEWEST else None)

    return Finding(
        [[rate(one * other) for other in spending.T] for one in salary.T],
        [rate(one) for one in salary.T],
        [rate(other) for other in spending.T],
        rate(np.ones(len(behind))),
    )


def _is_behind(column: Released) -> Array:
    return np.array([value == population.BEHIND for value in column.values])[column.codes]


def _parts(column: Released, edges: Sequence[float]) -> Array:
    """For each record, which part of its released value lies in each band."""
    bands = [-math.inf, *edges, math.inf]
    rows = []
    for text in column.values:
        found = read_interval(text)
        low, high = (found.low, found.high) if found else (float(text), float(text) + 1)
        inside = [min(high, end) - max(low, start) for start, end in itertools.pairwise(bands)]
        rows.append(np.maximum(inside, 0.0) / (high - low))
    parts: Array = np.array(rows)[column.codes]
    return parts


def write_summary(out: Path, job: IntegrateJob, result: Mapping[str, Any]) -> Path:
    """Writes the page beside the demo's folders."""
    names = [attribute.name for attribute in job.attributes]
    columns = read_release(out / "result" / "release.csv", [*names, population.CLASS], "the job")
    customers = {name: _rows(out / name / "people.csv") for name in job.party_names}
    finding = find(columns)
    title, lead = _headline(finding)
    body = [
        element(
            "header",
            element("p", "Coterie’s demo. The people are invented. The finding was in their data, spread over three tables.", class_="quiet"),
            element("h1", title), element("p", lead, class_="lead"),
        ),
        _section("What one can learn now", *_learned(finding)),
        _section("What was joined", *_joined(job, result, customers)),
        _section("What nobody saw", *_unseen()),
        _section("How safe it is", *_safe(job, result, columns)),
        _section("How much detail is left", *_left(job, result)),
        _section("How it was made", *_made(result)),
    ]  # fmt: skip
    page = out / PAGE
    page.write_text(document("Coterie’s demo: what was found", body, STYLE + _MORE), "utf-8")
    return page


def _rows(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file) - 1


def _section(title: str, *content: Content) -> Element:
    return element("section", element("h2", title), *content)


def _headline(finding: Finding) -> tuple[str, str]:
    if finding.corners is None:  # few people, or another seed
        return (
            "Three organisations have made one table that none of them could make alone",
            "Too few people are left to say who falls behind with a loan: try more people.",
        )
    high, low = finding.corners
    return (
        "People who earn little and spend much fall behind with their loan "
        f"{high / low:.0f} times as often as people who earn much and spend little",
        f"{high:.0%} against {low:.0%}. No organisation could find this alone: the lender knows who is "
        "behind, the bank the salary, the card company the spending.",
    )


def _learned(finding: Finding) -> list[Content]:
    most = max(rate.share or 0 for rates in finding.both for rate in rates) or 1.0

    def cell(rate: Rate, class_: str) -> Element:
        if rate.share is None:
            return element("td", "too few", class_="quiet")
        people = element("small", f"of {rate.people:,.0f}")
        strength = f"--s:{60 * rate.share / most:.0f}%"
        return element(
            "td", element("strong", f"{rate.share:.0%}"), people, class_=class_, style=strength
        )

    rows = [
        element(
            "tr",
            element("th", earn, scope="row"),
            [cell(r, "shade") for r in both],
            cell(alone, "alone"),
        )
        for earn, both, alone in zip(_EARN, finding.both, finding.salary, strict=True)
    ]
    rows.append(
        element(
            "tr",
            element("th", "any", scope="row"),
            [cell(r, "alone") for r in finding.spending],
            cell(finding.all, "alone"),
        )
    )
    spend = element("th", "spend a month, from the card company", colspan="4", scope="colgroup")
    heads = [element("th", name, scope="col") for name in (*_SPEND, "any")]
    alone = [_times(finding.salary), _times(finding.spending)]
    return [
        element(
            "table",
            element("caption", "How many are behind with a loan, of people who …"),
            element("thead",
                element("tr", element("th", "earn a month, from the bank", rowspan="2", scope="col"), spend),
                element("tr", heads)),
            element("tbody", rows), class_="grid",
        ),
        element(
            "p", f"The edges of the table are what one column alone would show: a factor of {alone[0]} by "
            f"salary, {alone[1]} by spending. The lender has neither. All is counted in the released "
            "table, which shows ranges: a person counts for each field by the part of the range that "
            "lies in it. That blurs differences between the fields.",
            class_="quiet",
        ),
    ]  # fmt: skip


def _times(rates: Sequence[Rate]) -> str:
    shares = [rate.share for rate in rates if rate.share]
    return f"{max(shares) / min(shares):.1f}" if shares else "?"


def _joined(
    job: IntegrateJob, result: Mapping[str, Any], customers: Mapping[str, int]
) -> list[Content]:
    brought = {
        name: [a.name.lower() for a in job.of_party(name)]
        + (["who is behind"] if name == population.LENDER else [])
        for name in job.party_names
    }
    cards = [
        element(
            "li", element("strong", _WHO[name]), element("span", f"{customers[name]:,} customers"),
            element("span", "brought ", ", ".join(brought[name])),
        )
        for name in job.party_names
    ]  # fmt: skip
    return [
        element("ul", cards, class_="cards"),
        element(
            "p", element("strong", f"{result['records']:,} people"), " are customers of all three. The "
            "result is one table with a row for each of them, and without a name or number.",
        ),
    ]  # fmt: skip


def _unseen() -> list[Content]:
    return [
        element("ul", [
            element("li", "Nobody saw the exact joined table. Each organisation’s rows stayed on its own server."),
            element("li", "Nobody saw another’s personal numbers: they were compared in encrypted form."),
            element("li", "Nobody outside an organisation saw a value more exactly than the release shows it."),
        ]),
        element(
            "p", "What the partners did learn: which of their own customers all three have, whether each "
            "of these is behind, and the values of each as the release shows them. The analyst has the "
            "released table.",
        ),
    ]  # fmt: skip


def _safe(
    job: IntegrateJob, result: Mapping[str, Any], columns: Mapping[str, Released]
) -> list[Content]:
    [entry] = result["anonymity"]
    worst, mean = result["risk"]["prosecutor"], result["risk"]["marketer"]
    return [
        element(
            "p", element("strong", f"1 in {entry['smallest']}", class_="big"),
            f"is the best chance to pick out a person’s row, for somebody who knows all "
            f"{len(entry['qid'])} columns about that person ({worst:.0%}; {mean:.1%} on average). Every "
            "column of the table is part of this promise.",
        ),
        element(
            "p", element("strong", f"{_worst_group(entry['qid'], columns):.0%}", class_="big"),
            "of the people in a group are behind, at most: nobody becomes certain that a neighbour is. "
            "The promise allows 75 %.",
        ),
        element(
            "p", "Separate code counted both again from the released table. The promise protects from "
            "readers of the table. It does not protect from an organisation that lies about its own "
            "data, nor from partners who put their heads together about people whom they know.",
        ),
    ]  # fmt: skip


def _worst_group(qid: Sequence[str], columns: Mapping[str, Released]) -> float:
    """The largest share of people behind, of the groups of a qid."""
    codes = np.stack([columns[name].codes for name in qid], axis=1)
    group = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
    behind = np.bincount(group, _is_behind(columns[population.CLASS]))
    return float((behind / np.bincount(group)).max())


def _left(job: IntegrateJob, result: Mapping[str, Any]) -> list[Content]:
    kept = result["detail"]
    rows = [
        element(
            "tr", element("th", a.name, scope="row"), element("td", _WHO[a.party].removeprefix("The ")),
            element("td", element("span", style=f"width:{kept[a.name]:.1%}"), class_="bar-cell"),
            element("td", f"{kept[a.name]:.0%}", class_="number"),
        )
        for a in job.attributes
    ]  # fmt: skip
    names = ("column", "from", "bar", "detail kept")
    head = element("tr", [element("th", name, scope="col") for name in names])
    return [
        element("p", f"{sum(kept.values()) / len(kept):.0%} on average. 100 % shows every value as it was."),
        element(
            "table", element("caption", "Detail kept by column", class_="unseen"),
            element("thead", head, class_="unseen"), element("tbody", rows), class_="share",
        ),
    ]  # fmt: skip


def _made(result: Mapping[str, Any]) -> list[Content]:
    seconds, sent = sum(result["seconds"].values()), sum(p["sent_bytes"] for p in result["parties"].values())  # fmt: skip
    links = {
        "result/report.html": "the full report, with all that was revealed to whom",
        "result/release.csv": "the table",
        "analyst/job.yaml": "the job, one file",
    }
    return [
        element(
            "p", f"Three servers found their common customers and cut the table into groups together, in "
            f"{seconds:.1f} seconds, with {sent / 1e6:.1f} MB of encrypted messages. Groups were cut "
            "where a cut loses least detail, and never below ten people.",
        ),
        element("ul", [element("li", element("a", file, href=file), f": {text}") for file, text in links.items()]),
    ]  # fmt: skip


_MORE = """
main{max-width:54rem}h1{font-size:clamp(1.5rem,4.5vw,2.3rem);margin:.2rem 0 .8rem;text-wrap:balance}
.lead{font-size:1.15rem}header{padding:1rem 0 0}
.grid{width:100%;table-layout:fixed;border-collapse:separate;border-spacing:4px;min-width:0;margin:1rem 0}
.grid caption{font-weight:600;padding-bottom:.4rem}.grid th{border:0;font-weight:400;padding:.2rem .3rem}
.grid thead th{text-align:center;vertical-align:bottom}.grid thead th:first-child[rowspan]{text-align:left}
.grid td{text-align:center;vertical-align:middle;border:0;border-radius:4px;padding:1rem .2rem}.grid tbody th{vertical-align:middle;color:var(--ink)}
.grid td strong{display:block;font-size:1.45rem;line-height:1.2}.grid td small{color:inherit}
.grid .alone{border:1px dashed var(--edge)}.grid .alone strong{font-weight:400;font-size:1.15rem}
.share{width:100%;border-collapse:separate;border-spacing:0 .3rem;min-width:0}.share caption{font-weight:600;padding-bottom:.3rem}
.share th,.share td{border:0;padding:.2rem .6rem .2rem 0;vertical-align:middle}
.share tbody th{color:var(--ink);font-weight:400;white-space:nowrap;width:1%}
.share .number{width:1%;padding:0;font-weight:600}.share tbody td:nth-child(2):not(.bar-cell){width:1%;white-space:nowrap;color:var(--quiet)}
.bar-cell span{display:block;height:1.15em;background:var(--bar);border-radius:0 3px 3px 0;min-width:2px}
.cards{display:grid;grid-template-columns:repeat(3,1fr);gap:1rem;list-style:none;padding:0}
.cards li{background:var(--soft);border-top:4px solid var(--bar);border-radius:4px;padding:.8rem 1rem;display:grid;gap:.2rem;align-content:start}
.big{font-size:1.7rem;color:var(--good);display:inline-block;margin-right:.5rem;line-height:1.1}
@media print{.bar-cell span{print-color-adjust:exact}}
@media(max-width:40rem){.cards{grid-template-columns:1fr}.grid{border-spacing:2px;font-size:.78rem}.grid td strong{font-size:1.05rem}.grid td{padding:.7rem 0}}
"""
