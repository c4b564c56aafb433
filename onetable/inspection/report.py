"""What `coterie inspect` found, in lines for a person and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from coterie.anonymity.risk.quasi_identifiers import cut_off
from coterie.base.text import numbered
from coterie.onetable.inspection.revealing import revealing_lines

_SHOWN = 10
_HOW = {
    "minimum": "the fewest columns that distinguish all records that are not duplicates",
    "greedy": "by the greedy rule",
    "separation": "distinguishes nearly all pairs",
    "distinct": "nearly all records are alone",
}


def lines(found: dict[str, Any]) -> list[str]:
    """Some thirty lines; `--json` has everything."""
    text = [
        f"{numbered(found['records'], 'record')}, {numbered(len(found['columns']), 'column')}, "
        f"{numbered(found['duplicates'], 'record')} {'repeats' if found['duplicates'] == 1 else 'repeat'} another",
        "",
        *aligned(*_columns(found)),
        "",
    ]
    if found["identifiers"]:
        text.append(
            f"{', '.join(found['identifiers'])}: a different value in every record; name such columns "
            "'id', or leave them out by --columns. Of the others:"
        )
    part = found.get("besides", found)
    text += ["Small sets that single people out:", *(f"  {line}" for line in _keys(part))]
    text += ["", f"Risk to be found by all these columns: {_risk(part['risk'])}"]
    text += [
        f"  by {entry['columns']} random column{'s' if entry['columns'] > 1 else ''}: "
        f"{share(entry['uniques'])} of the records are unique (from {share(entry['least'])} to "
        f"{share(entry['most'])})"
        for entry in part["known"]
        if entry["uniques"] > 0 or entry["columns"] == 3
    ][:6]
    for entry in found["qids"]:
        text += ["", f"qid {', '.join(entry['qid'])}: {_risk(entry['risk'])}"]
        text += [
            f"  with {step['column']}: {step['groups']:,} groups at k = {entry['k']}, a value "
            f"covers {share(step['width'])} of its span"
            for step in entry["costs"] or ()
        ]
    if rules := found.get("revealing"):
        text += ["", "The most revealing rules into a sensitive value:"]
        text += [f"  {line}" for line in revealing_lines(rules)]
    if "quasi_identifiers" in found:
        text += ["", *_quasi(found)]
    if "mask" in found:
        text += [
            "",
            f"withhold {', '.join(found['mask']) or 'nothing'}",
            f"  then {', '.join(found['publish']) or 'nothing'} can be shown, with a ratio of "
            f"{found['published_ratio']:.4f}",
        ]
    if likely := found.get("likely_duplicates"):
        text += ["", f"{len(likely)} pairs of records may be of one person:"]
        text += [
            f"  rows {entry['rows'][0]:,} and {entry['rows'][1]:,} "
            + (f"differ in {entry['differ']} only" if entry["differ"] else "are equal")
            for entry in likely[:_SHOWN]
        ]
    return [*text, *([""] if found["notes"] else []), *(f"note: {n}" for n in found["notes"])]


def share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _columns(found: dict[str, Any]) -> tuple[Sequence[str], list[list[str]]]:
    head = ["column", "type", "values", "missing", "separates", "unique only by it"]
    rows = [
        [c["name"], c["type"], f"{c['distinct']:,}", f"{c['missing']:,}",
         share(c["separation"]), f"{c['adds']:,}"]
        for c in found["columns"]
    ]  # fmt: skip
    return head, rows


def _keys(found: dict[str, Any]) -> list[str]:
    text = []
    seen = set()
    for entry in found["keys"]:
        columns = tuple(sorted(entry["columns"]))
        if columns in seen:
            continue
        seen.add(columns)
        how = _HOW.get(entry["how"]) or f"{share(entry['beta'])} of all pairs"
        if entry.get("at_least", len(columns)) < len(columns):
            how = f"the fewest that were found; at least {entry['at_least']} are needed"
        text.append(
            f"{', '.join(entry['columns'])}: {entry['uniques']:,} unique, "
            f"{100 * entry['separation']:.6g} % of pairs apart ({how})"
        )
    return text


def _risk(risk: dict[str, Any]) -> str:
    journalist = "" if risk["journalist"] is None else f"journalist {risk['journalist']:.3g}, "
    return (
        f"prosecutor {risk['prosecutor']:.3g}, {journalist}marketer {risk['marketer']:.3g}, "
        f"{risk['uniques']:,} unique, {risk['below']['5']:,} in groups below 5"
    )


def _quasi(found: dict[str, Any]) -> list[str]:
    entries, searched = found["quasi_identifiers"], found["searched"]
    if not searched["complete"]:
        return [*_quasi_sets(entries), f"  {cut_off(searched)}"]
    return _quasi_sets(entries)


def _quasi_sets(entries: list[dict[str, Any]]) -> list[str]:
    if not entries:
        return ["No set of columns can single out that share of the population."]
    text = [f"{numbered(len(entries), 'minimal set')} may single out that share of the population:"]
    text += [
        f"  {', '.join(entry['columns'])}: {entry['cells']:,} combinations, at most "
        f"{share(entry['bound'])} unique, {entry['crowd']:.3g} people each"
        for entry in entries[:_SHOWN]
    ]
    return [*text, f"  and {len(entries) - _SHOWN:,} more"] if len(entries) > _SHOWN else text


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of texts; columns of figures stand to the right."""
    every = [head, *rows]
    widths = [max(len(row[at]) for row in every) for at in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            text.ljust(width) if at < 2 else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    return [line(row) for row in every]


class Inspection(dict[str, Any]):
    """What was found, under the keys of `coterie inspect --json`. Notebooks show it as HTML."""

    def __str__(self) -> str:
        return "\n".join(lines(self))

    def _repr_html_(self) -> str:
        part = self.get("besides", self)
        head, rows = _columns(self)
        body = [
            f"<p>{numbered(self['records'], 'record')}, {self['duplicates']:,} of them the same as another</p>",
            _table(head, rows),
            "<h4>Small sets that single people out</h4>",
            _list(_keys(part)),
            f"<p>Risk by all columns: {html.escape(_risk(part['risk']))}</p>",
        ]
        if "quasi_identifiers" in self:
            body += ["<h4>Population</h4>", _list(_quasi(self))]
        if "mask" in self:
            body.append(f"<p>Withhold {html.escape(', '.join(self['mask']) or 'nothing')}</p>")
        if self["notes"]:
            body.append(_list(self["notes"]))
        return "".join(body)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        inner = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in cells)
        return f"<tr>{inner}</tr>"

    return f"<table>{row('th', head)}{''.join(row('td', cells) for cells in rows)}</table>"


def _list(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(text)}</li>' for text in texts)}</ul>"
