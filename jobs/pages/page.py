"""The frame of every report: one file that loads nothing, for a screen, a phone and paper.

A report is a verdict and sections. A section says whether it may stand in the public variant, which
has nothing that is not in the release or in the promise about it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from coterie.jobs.pages.markup import Content, Element, element, foreign

State = Literal["holds", "partly", "violated", "unchecked"]
_TEXT = 100_000  # characters of a file that a page shows
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|\+00:00)", re.ASCII)


@dataclass(frozen=True)
class Part:
    """A part of a report. `public` says that it tells nothing beyond the release and its promise.

    A part of which only some is public has `instead`: what stands in the public variant in place of
    its content.
    """

    title: str
    content: Sequence[Content]
    public: bool
    instead: Sequence[Content] | None = None


def public_parts(parts: Sequence[Part]) -> list[Part]:
    """The parts of the public variant of a report."""
    return [
        part if part.instead is None else replace(part, content=part.instead, instead=None)
        for part in parts
        if part.public
    ]


@dataclass(frozen=True)
class Opinion:
    """What the verification found, in words; it stands first. `lead` says what the lines are.

    `warned` stands above both: what a reader might believe and must not.
    """

    state: State
    title: str
    lines: Sequence[Content]
    lead: str = ""
    warned: Sequence[Content] = ()


def note(*content: Content) -> Element:
    return element("p", *content)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[Content]],
    numbers: Sequence[int] = (),
    sentences: bool = False,
) -> Element:
    """A table; `numbers` are the columns set to the right.

    It scrolls sideways on a narrow screen. One with `sentences` becomes a list there, in which every
    cell stands below the other with the head of its column.
    """

    def cell(tag: str, at: int, content: Content) -> Element:
        scope, named = ("col", None) if tag == "th" else (None, head[at] if sentences else None)
        set_right = "number" if at in numbers else None
        return element(tag, content, class_=set_right, scope=scope, data_head=named)

    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", [cell("th", at, text) for at, text in enumerate(head)])),
            element("tbody", [
                element("tr", [cell("td", at, content) for at, content in enumerate(row)]) for row in rows
            ]),
        ),
        class_="wide sentences" if sentences else "wide",
        tabindex="0", role="region", aria_label=", ".join(head),
    )  # fmt: skip


def moment(text: str) -> Element:
    """A time as results and books have it, 2026-01-31T09:00:00Z, written for a person."""
    found = _TIME.fullmatch(text)
    if found is None:
        return foreign(text, 40)
    return element("time", f"{found[1]} {found[2]} UTC", datetime=text)


def facts(rows: Sequence[tuple[str, Content]]) -> Element:
    """Names of things with their values."""
    return element("dl", [[element("dt", name), element("dd", value)] for name, value in rows])


def file_text(text: str, file: str) -> Element:
    """A file as it is, up to a length that a page can bear; `file` is where the whole of it is."""
    shown = [text] if len(text) <= _TEXT else [text[:_TEXT], f"\n… the rest is in {file}"]
    return element("pre", *shown)


def folded(summary: str, *content: Content) -> Element:
    """Details that are shown on request."""
    return element("details", element("summary", summary), *content)


def page(
    title: str,
    subtitle: Sequence[Content],
    opinion: Opinion,
    sections: Sequence[Part],
    pictures: bool = False,
) -> str:
    """The whole file of a report."""
    anchors = [f"part-{at}" for at, _ in enumerate(sections)]
    body: list[Content] = [
        element("header", element("h1", title), element("p", *subtitle, class_="quiet")),
        element(
            "section",
            element("h2", opinion.title, id="verdict"),
            *opinion.warned,
            element("p", opinion.lead) if opinion.lead else [],
            element("ul", [element("li", line) for line in opinion.lines]),
            class_=f"verdict {opinion.state}", aria_labelledby="verdict",
        ),
        element(
            "nav",
            element("ul", [
                element("li", element("a", section.title, href=f"#{anchor}"))
                for anchor, section in zip(anchors, sections, strict=True)
            ]),
            aria_label="Contents",
        ),
    ]  # fmt: skip
    body += [
        element("section", element("h2", section.title, id=anchor), *section.content, aria_labelledby=anchor)
        for anchor, section in zip(anchors, sections, strict=True)
    ]  # fmt: skip
    return document(title, body, STYLE, pictures)


def document(title: str, body: Sequence[Content], style: str, pictures: bool = False) -> str:
    """A file that loads nothing; `pictures` permits those that stand in the file itself."""
    images = "; img-src data:" if pictures else ""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element(
            "meta", http_equiv="Content-Security-Policy",
            content=f"default-src 'none'; style-src 'unsafe-inline'{images}",
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )  # fmt: skip
    whole = element("html", head, element("body", element("main", *body)), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


STYLE = """
:root{--paper:#fff;--ink:#1c2430;--quiet:#56606e;--edge:#d5dae1;--soft:#f3f5f8;--bar:#2563a8;
--good:#1d6b3a;--goodsoft:#e6f4ea;--bad:#a32020;--badsoft:#fdeaea;--open:#7a5200;--opensoft:#fdf3dc;
--c0:#1b6ca8;--c1:#a8471f;--c2:#2f7040;--c3:#7a4b9e;--c4:#80650a;--c5:#46566a}
@media(prefers-color-scheme:dark){:root{--paper:#14181e;--ink:#e8ecf1;--quiet:#a3aebb;--edge:#3a4350;
--soft:#1e242c;--bar:#6aa9e9;--good:#7fd69b;--goodsoft:#15301f;--bad:#ff9c9c;--badsoft:#3d1a1a;
--open:#f0c674;--opensoft:#362a10;--c0:#6db3ea;--c1:#eb9a72;--c2:#7fcf92;--c3:#c39be6;--c4:#dfc35a;
--c5:#a9bacd}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:2.4rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--edge)}
h3{font-size:1.02rem;margin:1.4rem 0 .3rem;overflow-wrap:anywhere}
p,li{max-width:46rem}
bdi{overflow-wrap:anywhere}td bdi,th bdi{overflow-wrap:break-word}td:has(bdi){min-width:7rem}
.quiet{color:var(--quiet)}
.verdict{border-left:6px solid;border-radius:4px;padding:.2rem 1rem .6rem;margin:1rem 0}
.verdict h2{border:0;margin:.5rem 0 .2rem;padding:0}
.verdict ul{margin:.2rem 0;padding-left:1.2rem}.verdict p{margin:.2rem 0}
.holds{background:var(--goodsoft);border-color:var(--good)}.holds h2{color:var(--good)}
.violated{background:var(--badsoft);border-color:var(--bad)}.violated h2{color:var(--bad)}
.unchecked,.partly{background:var(--opensoft);border-color:var(--open)}.unchecked h2,.partly h2{color:var(--open)}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;padding:0;margin:.6rem 0}
a{color:var(--bar)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.6rem;font-size:.86rem}
.wide{overflow-x:auto;margin:.8rem 0;position:relative}time{white-space:nowrap}
table{border-collapse:collapse;font-size:.94rem;min-width:18rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--edge)}
th{color:var(--quiet);font-weight:600}th.number{white-space:normal!important}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;padding-left:.7rem}
.number+td:not(.number),.number+th:not(.number){padding-left:.9rem}
dl{display:grid;grid-template-columns:minmax(7rem,12rem) 1fr;gap:.25rem 1rem}
dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
.shade{background:color-mix(in srgb,var(--bar) var(--s),transparent)}
.mono{font-family:ui-monospace,monospace;font-size:.86rem;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto;margin:.6rem 0;font:13px system-ui,sans-serif}
.centred svg{margin:.6rem auto}
svg:not(.drawn) text{fill:var(--ink)}svg:not(.drawn) .quiet{fill:var(--quiet)}
.bar{fill:var(--bar)}.segment{fill:var(--bar);stroke:var(--paper)}.axis{stroke:var(--edge)}
.line{stroke-width:2.2}.open{fill:none;stroke:var(--quiet);stroke-dasharray:4 4}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}
svg:not(.drawn) .ink0{fill:var(--c0)}svg:not(.drawn) .ink1{fill:var(--c1)}svg:not(.drawn) .ink2{fill:var(--c2)}svg:not(.drawn) .ink3{fill:var(--c3)}svg:not(.drawn) .ink4{fill:var(--c4)}svg:not(.drawn) .ink5{fill:var(--c5)}
ul.tree,ul.tree ul{list-style:none;margin:0;padding-left:1.1rem;border-left:1px solid var(--edge)}
ul.tree{border:0;padding:0}
.cut{background:var(--soft);border:1px solid var(--bar);border-radius:4px;padding:0 .35rem}
td.hidden{background:repeating-linear-gradient(45deg,var(--edge) 0 2px,transparent 2px 7px);min-width:2.6rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}caption{text-align:left}.wide svg.drawn{width:auto;max-width:none}.wide svg.small{max-width:100%}
svg.drawn>rect[fill="#fbfbf9"]{fill:var(--soft);stroke:none}svg.drawn rect{stroke:var(--quiet)}
svg.drawn rect[fill="#ffffff"]{fill:var(--paper)}svg.drawn text:not([fill="#ffffff"]){fill:var(--ink)}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--bar)}
:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
@media print{:root{--paper:#fff;--ink:#000;--quiet:#333}body{font-size:11pt}nav{display:none}
section{break-inside:avoid-page}.wide{overflow:visible}h2,h3{break-after:avoid-page}svg,tr{break-inside:avoid-page}}
@media(max-width:30rem){dl{display:block}dd{margin:0 0 .5rem}
.sentences table,.sentences tbody,.sentences tr,.sentences td{display:block;min-width:0}
.sentences thead{display:block;position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.sentences tr{border-bottom:1px solid var(--edge);padding:.5rem 0}
.sentences td{border:0;padding:.1rem 0;text-align:left;white-space:normal}
.sentences td:empty,.sentences td:has(>bdi:only-child:empty){display:none}
.sentences .number+td:not(.number){padding-left:0}.sentences table{font-size:.94rem}
.sentences td::before{content:attr(data-head) ": ";color:var(--quiet)}
table{font-size:.88rem}svg:not(.drawn){font-size:19px}main{padding:1rem .8rem 3rem}h1{font-size:1.35rem}th,td{padding-right:.5rem}}
"""
