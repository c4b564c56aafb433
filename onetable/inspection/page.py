"""The page of `coterie inspect --html`: what in a table identifies people, for a reader who is no expert."""

from __future__ import annotations

from typing import Any

from coterie.anonymity.risk.quasi_identifiers import cut_off
from coterie.base.text import numbered, one_line
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.markup import Content, element, foreign, listed
from coterie.jobs.pages.page import Opinion, Part, note, page, table
from coterie.onetable.inspection.report import share

_SHOWN = 100  # columns, sets, pairs


def inspection_page(found: dict[str, Any], source: str) -> str:
    """The whole file; `source` names the table that was inspected."""
    part = found.get("besides", found)
    parts = [_columns(found), _sets(part), _risk(part), *_qids(found), *_population(found)]
    parts += [*_revealing(found), *_mask(found), *_duplicates(found)]
    if found["notes"]:
        notes = element("ul", [element("li", text) for text in found["notes"]])
        parts.append(Part("Notes", [notes], public=False))
    return page(
        "What in this table identifies people",
        [
            foreign(source),
            f": {numbered(found['records'], 'record')}, {numbered(len(found['columns']), 'column')}",
        ],
        _verdict(found, part),
        parts,
    )


def _verdict(found: dict[str, Any], part: dict[str, Any]) -> Opinion:
    alone, records = part["risk"]["uniques"], found["records"]
    lines: list[Content] = [
        "Records that are the only ones with their combination of values"
        + (", identifiers left aside" if found["identifiers"] else "")
        + f": {alone:,} of {records:,}.",
    ]
    if key := part.get("minimum_key"):
        lines.append(["These columns distinguish all records that are not duplicates: ", *listed(key), "."])  # fmt: skip
    if found["identifiers"]:
        lines.append(["These columns have another value in every record and name people by themselves: ", *listed(found["identifiers"]), "."])  # fmt: skip
    if alone:
        return Opinion("violated", "This table singles people out", lines)
    return Opinion("unchecked", "No record is alone, which does not make a table anonymous", lines)


def _columns(found: dict[str, Any]) -> Part:
    rows: list[list[Content]] = [
        [foreign(c["name"]), c["type"], f"{c['distinct']:,}", f"{c['missing']:,}",
         share(c["separation"]), f"{c['adds']:,}"]
        for c in found["columns"][:_SHOWN]
    ]  # fmt: skip
    widest = sorted(found["columns"], key=lambda c: -c["separation"])[:20]
    return Part(
        "The columns",
        [
            note(
                "A column separates two people if it shows another value for each; the bars have the "
                "share of all pairs of people that a column separates. Unique only by it: people whom "
                "nobody could distinguish from others if this column were not there."
            ),
            bars(
                "How many pairs of people each column separates",
                [(c["name"], c["separation"], share(c["separation"])) for c in widest],
            ),
            table(
                ["column", "type", "values", "missing", "separates", "unique only by it"],
                rows,
                (2, 3, 4, 5),
                sentences=True,
            ),
            *_more(len(found["columns"]), "columns"),
        ],
        public=False,
    )


def _sets(part: dict[str, Any]) -> Part:
    sets = {tuple(sorted(entry["columns"])): entry for entry in reversed(part["keys"])}
    rows: list[list[Content]] = [
        [listed(entry["columns"]), f"{entry['uniques']:,}", f"{100 * entry['separation']:.6g} %"]
        for entry in sorted(sets.values(), key=lambda entry: len(entry["columns"]))[:_SHOWN]
    ]
    return Part(
        "Small sets that single people out",
        [
            note(
                "Somebody who knows the columns of one line about a person, and no name, finds that "
                "person in the table if the person is among the unique ones. Distinguished pairs: the "
                "share of all pairs of people who differ in one of these columns."
            ),
            table(
                ["columns", "unique people", "distinguished pairs"], rows, (1, 2), sentences=True
            ),
        ],
        public=False,
    )


_MEANINGS = {
    "prosecutor": "The chance to find one given person who is known to be in the table, at worst.",
    "journalist": "The same where it is not known who of the population is in the table.",
    "marketer": "The share of all people whom somebody would find who tries it with everybody.",
    "uniques": "Records that are alone with their combination of values.",
}


def _risk(part: dict[str, Any]) -> Part:
    risk = part["risk"]
    rows: list[list[Content]] = [
        [name, f"{risk[name]:,}" if name == "uniques" else share(risk[name]), meaning]
        for name, meaning in _MEANINGS.items()
        if risk.get(name) is not None
    ]
    known = [
        (f"{e['columns']} columns" if e["columns"] > 1 else "1 column", e["uniques"], share(e["uniques"]))
        for e in part["known"]
    ]  # fmt: skip
    return Part(
        "The risk, if all columns were known",
        [
            table(["measure", "value", "meaning"], rows, (1,), sentences=True),
            note("Usually less is known. The share of people who are unique by random columns:"),
            bars("People who are unique by so many random columns", known),
        ],
        public=False,
    )


def _qids(found: dict[str, Any]) -> list[Part]:
    parts = []
    for entry in found["qids"]:
        content: list[Content] = [
            note(
                f"The chance to find a given person by these columns is at most "
                f"{share(entry['risk']['prosecutor'])}. People who are unique by them: "
                f"{entry['risk']['uniques']:,}."
            )
        ]
        if entry["costs"]:
            content += [
                note(
                    f"What one more column costs, in a release with k = {entry['k']}: the groups "
                    "that are left, and the share of a column's span that a value then covers."
                ),
                table(
                    ["with", "groups", "a value covers"],
                    [
                        [foreign(c["column"]), f"{c['groups']:,}", share(c["width"])]
                        for c in entry["costs"]
                    ],
                    (1, 2),
                ),
            ]
        parts.append(
            Part(one_line(f"Known: {', '.join(entry['qid'])}", 100), content, public=False)
        )
    return parts


def _population(found: dict[str, Any]) -> list[Part]:
    if "quasi_identifiers" not in found:
        return []
    entries, searched = found["quasi_identifiers"], found["searched"]
    rows: list[list[Content]] = [
        [listed(e["columns"]), f"{e['cells']:,}", share(e["bound"]), f"{e['crowd']:.3g}"]
        for e in entries[:_SHOWN]
    ]
    words = (
        "The smallest sets of columns that could make the given share of the whole population "
        "unique, by the number of their values alone. Unique at most: the share of the population "
        "that can be alone with its combination. People each: how many people there are for each "
        "combination of values, on average."
        if entries
        else "No set of columns can single out the given share of the population."
    )
    found_table = [table(["columns", "combinations", "unique at most", "people each"], rows, (1, 2, 3), True)]  # fmt: skip
    return [
        Part(
            "In the whole population",
            [
                note(words),
                *(found_table if entries else []),
                *_more(len(entries), "sets"),
                *([] if searched["complete"] else [note(cut_off(searched))]),
            ],
            public=False,
        )
    ]


def _revealing(found: dict[str, Any]) -> list[Part]:
    """The rules that reveal most about a sensitive value."""
    rows: list[list[Content]] = []
    for rule in found.get("revealing", ()):
        sides = (
            listed([f"{name} = {value}" for name, value in rule[key].items()])
            for key in ("if", "then")
        )
        numbers = f"{rule['people']:,}", share(rule["confidence"]), share(rule["share"])
        rows.append([*sides, *numbers])
    if not rows:
        return []
    return [
        Part(
            "What reveals sensitive values",
            [
                note(
                    "Whoever knows the values on the left of a person can guess the sensitive one. "
                    "People: how many have the values on the left. Of them, of all: the share of "
                    "these people, and of all people, who have the sensitive value. Rules that "
                    "reveal most, about most people, stand first."
                ),
                table(
                    ["who has", "often has", "people", "of them", "of all"],
                    rows,
                    (2, 3, 4),
                    sentences=True,
                ),
            ],
            public=False,
        )
    ]


def _mask(found: dict[str, Any]) -> list[Part]:
    if "mask" not in found:
        return []
    held = listed(found["mask"]) or ["nothing"]
    shown = listed(found["publish"]) or ["nothing"]
    return [
        Part(
            "What to withhold",
            [
                note("Withhold: ", *held, "."),
                note("Then these can be shown: ", *shown, "."),
                note(
                    f"Together they have a ratio of {found['published_ratio']:.4f}: the share of pairs "
                    "of people whom they distinguish, or of people who differ from all others, "
                    "whichever was bounded."
                ),
            ],
            public=False,
        )
    ]  # fmt: skip


def _duplicates(found: dict[str, Any]) -> list[Part]:
    likely = found.get("likely_duplicates")
    if not likely:
        return []
    rows: list[list[Content]] = [
        [f"{e['rows'][0]:,}", f"{e['rows'][1]:,}", foreign(e["differ"] or "nothing")]
        for e in likely[:_SHOWN]
    ]
    return [
        Part(
            "Records that may be of one person",
            [
                note(
                    "Two records that differ in little may be two records of one person, who then "
                    "is counted twice in a group."
                ),
                table(["row", "other row", "differ in"], rows, (0, 1)),
                *_more(len(likely), "pairs"),
            ],
            public=False,
        )
    ]


def _more(count: int, what: str) -> list[Content]:
    left = count - _SHOWN
    return [note(f"… and {left:,} more {what}; --json has all of them.")] if left > 0 else []
