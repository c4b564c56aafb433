"""The page of `coterie attack --html`: whom an outsider finds in a release, and what follows."""

from __future__ import annotations

from typing import Any

from coterie.base.text import one_line
from coterie.jobs.pages.charts import histogram
from coterie.jobs.pages.markup import Content, foreign, listed
from coterie.jobs.pages.page import Opinion, Part, note, page, table
from coterie.onetable.attack.attack import by_chance, outside_lines

_SHOWN = 100  # people
_SIZES = (1, 2, 5, 10, 20, 50, 100)  # the least candidates of each bar


def attack_page(result: dict[str, Any], release: str, known: str) -> str:
    """The whole file; `release` and `known` name the folder and the table of people."""
    people = result["people"]
    return page(
        "What an outsider finds in this release",
        [foreign(release), ", linked with ", foreign(known), f": {len(people):,} people"],
        _verdict(result),
        [_candidates(people), *([_values(result)] if result["certain"] else []), _surest(result)],
    )


def _verdict(result: dict[str, Any]) -> Opinion:
    found, people = result["found"], len(result["people"])
    certain = max((result["certain"][name] for name in result["sensitive"]), default=0)
    lines: list[Content] = [
        ["The release and the table of people share ", *listed(result["linked_on"]), "."],
        f"People who match at least one record: {result['matched']:,} of {people:,}.",
        f"People who match one record alone, which nobody else matches, and so are found: {found:,}.",
    ]
    lines += [one_line(line[0].upper() + line[1:] + ".", 400) for line in outside_lines(result)]
    lines += [
        [foreign(name), ": people for whom it is certain, if they are in the release at all: ", f"{result['certain'][name]:,}."]
        for name in result["sensitive"]
    ]  # fmt: skip
    if found or certain:
        return Opinion("violated", "Somebody with this table learns something certain", lines)
    return Opinion("holds", "With this table nobody is found and nothing is certain", lines)


def _candidates(people: list[dict[str, Any]]) -> Part:
    counts = [person["candidates"] for person in people if person["candidates"]]
    columns = []
    for low, high in zip(_SIZES, (*_SIZES[1:], None), strict=True):
        name = str(low) if high == low + 1 else f"{low}+" if high is None else f"{low}–{high - 1}"  # fmt: skip
        inside = [c for c in counts if c >= low and (high is None or c < high)]
        columns.append((name, float(len(inside))))
    return Part(
        "How many records could be each person's",
        [
            note(
                "A bar is the number of people for whom so many records of the release fit. The "
                "further to the left, the closer somebody is to being found."
            ),
            histogram(
                "People by the number of records that could be theirs",
                columns,
                "records that could be a person's",
            ),
        ],
        public=False,
    )


def _values(result: dict[str, Any]) -> Part:
    rows: list[list[Content]] = [
        [foreign(name), f"{count:,}"] for name, count in result["certain"].items()
    ]
    return Part(
        "Which values follow",
        [
            note(
                "A value is certain for a person if all records that could be the person's have it, "
                "even where none of them is the person's for sure."
            ),
            table(["column", "certain for people"], rows, (1,)),
        ],
        public=False,
    )


def _surest(result: dict[str, Any]) -> Part:
    order = by_chance(result)
    rows: list[list[Content]] = []
    guessed = bool(result["sensitive"])
    for person in order[:_SHOWN]:
        guesses: list[Content] = []
        for name in result["sensitive"]:
            value, share = next(iter(person["inferred"][name].items()))
            guesses += [", "] if guesses else []
            guesses += [foreign(name), " = ", foreign(value), f" ({share:.0%})"]
        numbers = [f"{person['row']:,}", f"{person['candidates']:,}", f"{person['chance']:.2%}"]
        rows.append([*numbers, guesses] if guessed else [*numbers])
    left = len(order) - _SHOWN
    more = [note(f"… and {left:,} more people; --json has all of them.")] if left > 0 else []
    return Part(
        "The people who are found most surely",
        [
            note(
                "Row: of the table of people. Records: those of the release that could be the "
                "person's. Chance: how likely one of them is, at most."
                + (
                    " Likeliest values: those that most of these records have, with their share."
                    if guessed
                    else ""
                )
            ),
            table(
                ["row", "records", "chance", *(["likeliest values"] if guessed else [])],
                rows,
                (0, 1, 2),
                sentences=guessed,
            ),
            *more,
        ],
        public=False,
    )
