"""The sections of a report that any anonymous release has: the promise, the risk, the detail kept.

Everything is computed from the released table and the promise made about it. Nothing here needs the
original data, so that whoever has the release could compute the same; these sections may be public.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from coterie.anonymity.models.audit import Released, group_numbers
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.intervals import Interval, read_interval
from coterie.anonymity.table.scales import Scale
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Array, Ints
from coterie.jobs.data.release_file import read_release as read_columns
from coterie.jobs.data.released.together import all_columns, apart
from coterie.jobs.pages.charts import bars, histogram, short_number, strip
from coterie.jobs.pages.markup import Content, Element, element, foreign, listed
from coterie.jobs.pages.models_in_words import in_words
from coterie.jobs.pages.page import Part, folded, note, table

TOGETHER = "all of these columns at once (not covered by the promise)"
_DRAWN = 40  # columns that get a drawing of their own
_NODES = 200  # values that a drawing of a taxonomy shows
_ALL_NODES = 4_000  # values that all drawings together show
_LINES = 50  # lines of the promise that are shown
_NAMED = 20  # columns that are named in a line
_BARS = 60  # columns whose detail is drawn
_WORK = 6_000_000  # records times sets of columns that are tried for what an attacker may know
_SETS = 30
_BINS = 9  # bars of a histogram, so that their labels do not touch


class ShownAttribute(Protocol):
    """A column of a release, as a job file or a table file declares it."""

    @property
    def name(self) -> str: ...
    @property
    def in_qid(self) -> bool: ...
    @property
    def taxonomy(self) -> Taxonomy | None: ...
    @property
    def limits(self) -> tuple[float, float] | None: ...
    @property
    def scale(self) -> Scale: ...


@dataclass(frozen=True)
class Release:
    """A released table and what was promised about it. `suppressed` records are not in the table.

    `detail` is the share of each column's detail that a joint result names and `coterie verify` checks.
    """

    columns: Mapping[str, Released]
    attributes: Sequence[ShownAttribute]
    requirements: Sequence[Requirement]
    class_name: str | None
    suppressed: int
    detail: Mapping[str, float] | None = None

    @property
    def records(self) -> int:
        return len(next(iter(self.columns.values())).codes)


def read_release(
    path: Path,
    attributes: Sequence[ShownAttribute],
    requirements: Sequence[Requirement],
    class_name: str | None,
    suppressed: int,
    detail: Mapping[str, float] | None = None,
) -> Release:
    names = [a.name for a in attributes] + ([] if class_name is None else [class_name])
    columns = read_columns(path, names, "the job")
    return Release(columns, attributes, requirements, class_name, suppressed, detail)


def release_parts(release: Release) -> list[Part]:
    """What the reader of a release wants to know first."""
    if not release.records:
        return [Part("The table", [note("The release has no records.")], public=True)]
    return [_promise(release), _risk(release), _detail(release)]


def _promise(release: Release) -> Part:
    rows: list[list[Content]] = []
    for entry in release.requirements[:_LINES]:
        sizes = _sizes(release, entry.qid)
        more: Content = "each group has at least k records"
        if entry.sensitive is not None and entry.model is not None:
            more = ["also: ", *in_words(entry.model, entry.sensitive_columns)]
        if entry.k_map is not None:
            more = f"at least {entry.k_map:,} people of the population share each group's values"
        names = listed(entry.qid, _NAMED)
        least = "none" if entry.k == 1 else f"{entry.k:,}"  # counted in a population alone
        rows.append([names, least, f"{sizes.min():,}", f"{len(sizes):,}", more])
    content: list[Content] = [
        note(
            "Someone who knows the columns of one row about a person finds at least k records that "
            "match, and cannot tell which of them belongs to the person. These records form a "
            "group."
        ),
        table(
            ["known columns", "k", "smallest group", "groups", "promise"],
            rows,
            (1, 2, 3),
            sentences=True,
        ),
        *_further(release, _LINES),
    ]
    if any(entry.k_map is not None for entry in release.requirements):
        content.append(
            note(
                "A line with a population hides a person among the people of that population, not "
                "among the records of the table. It protects from readers who do not know who is in "
                "the table, and from no one else. The party that holds the population has counted "
                "these people; nobody can count them again in the release."
            )
        )
    loose = [a.name for a in release.attributes if not a.in_qid]
    if loose:
        content.append(
            note(
                "These columns are released unchanged, and no row above protects them. Someone who "
                "knows them about a person may find that person: ", listed(loose), ".",
            )
        )  # fmt: skip
    if release.suppressed:
        total = release.records + release.suppressed
        content.append(
            note(
                f"Left out: {release.suppressed:,} of {total:,} records "
                f"({release.suppressed / total:.2%}), since the promise could not be kept for them "
                "with this much detail."
            )
        )
    return Part("The promise", content, public=True)


def _further(release: Release, shown: int) -> list[Content]:
    left = len(release.requirements) - shown
    return [note(f"{left:,} more lines of the promise are in result.json.")] if left > 0 else []


def _sizes(release: Release, names: Sequence[str]) -> Ints:
    """The sizes of the groups of records that agree in these columns."""
    return np.bincount(group_numbers([release.columns[name] for name in names]))


def _chances(release: Release, known: Sequence[str]) -> tuple[float, float]:
    """The highest and the mean chance that a record is linked correctly by these columns."""
    sizes = _sizes(release, known)
    return 1 / int(sizes.min()), len(sizes) / release.records


def _risk(release: Release) -> Part:
    content: list[Content] = [
        note(
            "The risk that a record is linked to a person by an attacker who knows all columns of "
            "a row. Prosecutor: the attacker knows that the person is in the table; the figure is "
            "the worst record's, one divided by the smallest group. Journalist: the attacker wants to "
            "show that anybody can be found; without a register of the population it is the same "
            "figure. Marketer: the share of all records that are linked correctly, on average."
        )
    ]
    rows: list[list[Content]] = []
    for entry in release.requirements[:_LINES]:
        worst, mean = _chances(release, entry.qid)
        anybody = f"{worst:.2%}"
        if entry.k_map is not None:
            anybody = f"at most {min(worst, 1 / entry.k_map):.2%}"
        rows.append([listed(entry.qid, _NAMED), f"{worst:.2%}", anybody, f"{mean:.2%}"])
    if apart(release.requirements):
        worst, mean = _chances(release, all_columns(release.requirements))
        rows.append([TOGETHER, f"{worst:.2%}", f"{worst:.2%}", f"{mean:.2%}"])
    content.append(
        table(["known columns", "prosecutor", "journalist", "marketer"], rows, (1, 2, 3), True)
    )
    content.append(
        note(
            "Each bar shows how many records are in groups of that size. The further left, the fewer "
            "records a person hides among."
        )
    )
    for number, entry in enumerate(release.requirements[:8], 1):
        sizes = _sizes(release, entry.qid)
        heading = ["Group sizes for ", listed(entry.qid, _NAMED)]
        about = f"Records by the size of their group, promise {number}"
        content += [
            element("h3", *heading),
            histogram(about, _by_size(sizes), "records in a group"),
        ]
    content += _knowing(release)
    return Part("The risk of being found", content, public=True)


def _by_size(sizes: Ints) -> list[tuple[str, float]]:
    """How many records are in groups of which size: in steps of 1, 2 and 5, or of 10 if it is wide."""
    least, most = int(sizes.min()), int(sizes.max())
    for steps in ((1, 2, 5), (1,)):
        edges = [step * 10**power for power in range(len(str(most)) + 1) for step in steps]
        first = max(at for at, edge in enumerate(edges) if edge <= least)
        last = next(at for at, edge in enumerate(edges) if edge > most)
        if last - first <= _BINS:
            break
    return [
        (_size_class(low, high), float(sizes[(sizes >= low) & (sizes < high)].sum()))
        for low, high in itertools.pairwise(edges[first : last + 1])
    ]


def _size_class(low: int, high: int) -> str:
    """The sizes from `low` to below `high`, in so few characters that they fit below a bar."""
    if high > 1000:
        return f"{short_number(low)}–{short_number(high)}"
    return f"{low}" if high == low + 1 else f"{low}–{high - 1}"


def _knowing(release: Release) -> list[Content]:
    """What somebody finds who knows any B columns of a person, whether a promise names them or not."""
    names = [a.name for a in release.attributes]
    smallest = min((r.k for r in release.requirements if r.k_map is None), default=2)
    tried = max(3, min(_SETS, _WORK // max(release.records, 1)))
    rng = np.random.default_rng(0)  # the same release gives the same report
    rows: list[list[Content]] = []
    for known in range(1, min(len(names), 5) + 1):
        number = math.comb(len(names), known)
        if number <= tried:
            chosen = list(itertools.combinations(names, known))
        else:
            chosen = [tuple(rng.choice(names, known, replace=False)) for _ in range(tried)]
        alone, below, hit = [], [], []
        for some in chosen:
            sizes = _sizes(release, some)
            alone.append(float((sizes == 1).sum()) / release.records)
            below.append(float(sizes[sizes < smallest].sum()) / release.records)
            hit.append(len(sizes) / release.records)
        rows.append([
            str(known), f"{len(chosen)} of {number:,}", f"{np.mean(hit):.2%}",
            f"{np.mean(below):.2%}", f"{max(alone):.2%}",
        ])  # fmt: skip
    return [
        element("h3", "What someone learns who knows some of the columns"),
        note(
            "For any columns of the release, including those outside the promise. Linked correctly: the "
            f"share of records, on average over the sets tried. Small: records in groups of fewer than "
            f"{smallest}. Unique: records that match no other record, in the worst set tried."
        ),
        table(
            ["columns known", "sets tried", "linked correctly", "small", "unique, at worst"],
            rows,
            (0, 1, 2, 3, 4),
            sentences=True,
        ),
    ]


def _detail(release: Release) -> Part:
    """How much of each column is left, by the normalised width of the released values.

    Records that were left out keep nothing, as in `detail` of result.json.
    """
    kept: dict[str, float] = {}
    for attribute in release.attributes:
        if attribute.in_qid and release.detail is not None:
            kept[attribute.name] = release.detail[attribute.name]
        elif attribute.in_qid:
            column = release.columns[attribute.name]
            shown = float((1 - _widths(attribute, column))[column.codes].sum())
            kept[attribute.name] = shown / (release.records + release.suppressed)
    content: list[Content] = [
        note(
            "100 % means that every original value is visible, 0 % that all values are merged into "
            "one. In between: one minus the mean share of the column's values (or of its range) that "
            "a released value covers. Records that were left out count as 0 %."
        ),
        *_bars_of(kept),
    ]
    gone = [name for name, share in kept.items() if share < 1e-9]
    if gone:
        content.append(
            note(
                element("strong", "Fully generalised, of no use for an analysis: "),
                listed(gone),
                ".",
            )
        )
    plain = [a.name for a in release.attributes if not a.in_qid]
    if plain:
        content.append(note("Released unchanged: ", listed(plain), "."))
    drawn = [a for a in release.attributes if a.in_qid][:_DRAWN]
    if drawn:
        content.append(
            note(
                "Unfold a column to see its values. In a tree the framed ones stand in the release, "
                "each for all values below it. A range is divided where the release divides it; the "
                "stronger the colour of a piece, the more records are in it."
            )
        )
    most = min(_NODES, _ALL_NODES // max(len(drawn), 1))
    for attribute in drawn:
        column = release.columns[attribute.name]
        content.append(
            folded(
                f"How the values of {foreign(attribute.name).content[0]} are shown",
                _drawing(attribute, column, most),
            )
        )
    if len(kept) > _DRAWN:
        content.append(note(f"{len(kept) - _DRAWN} more columns are not drawn."))
    return Part("How much detail is left", content, public=True)


def _bars_of(kept: Mapping[str, float]) -> list[Content]:
    """The detail kept, drawn for the columns that have lost most, and listed for all."""
    least = dict(sorted(kept.items(), key=lambda entry: entry[1])[:_BARS])
    drawn = [
        (name, share, f"{share:.0%}") for name, share in kept.items() if name in least
    ]  # in the order of the table
    found: list[Content] = [bars("Detail kept by column", drawn)]
    if len(kept) > _BARS:
        rows: list[list[Content]] = [
            [foreign(name), f"{share:.1%}"] for name, share in kept.items()
        ]
        found += [
            note(f"The {_BARS} columns that have lost most are drawn."),
            folded(f"All {len(kept):,} columns", table(["column", "detail kept"], rows, (1,))),
        ]
    return found


def _interval(value: str, scale: Scale) -> Interval | None:
    if found := read_interval(value, scale):
        return found
    number = scale.read(value)
    return Interval(number, number, True, scale) if math.isfinite(number) else None


def _widths(attribute: ShownAttribute, column: Released) -> Array:
    """The normalised width of every released value; what is neither node nor interval has none."""
    if attribute.taxonomy is not None:
        tree = attribute.taxonomy
        at = {label: node for node, label in enumerate(tree.labels)}
        nodes = [at.get(value) for value in column.values]
        return np.array([0.0 if node is None else tree.width(node) for node in nodes])
    intervals = [_interval(value, attribute.scale) for value in column.values]
    if all(interval is None for interval in intervals):  # the value or `*`
        return np.array([float(value == "*") for value in column.values])
    known = [interval for interval in intervals if interval is not None]
    low, high = attribute.limits or (min(i.low for i in known), max(i.high for i in known))
    span = (high - low) or 1.0
    return np.array(
        [
            float(value == "*") if i is None else min((i.high - i.low) / span, 1.0)
            for value, i in zip(column.values, intervals, strict=True)
        ]
    )


def _drawing(attribute: ShownAttribute, column: Released, most: int) -> Element:
    """The values of a column, of which at most so many are drawn."""
    shares = np.bincount(column.codes, minlength=len(column.values)) / max(len(column.codes), 1)
    if attribute.taxonomy is not None:
        shown = dict(zip(column.values, shares.tolist(), strict=True))
        return _cut_tree(attribute.taxonomy, shown, most)
    ordered = sorted(
        ((interval, share, value) for value, share in zip(column.values, shares, strict=True)
         if (interval := _interval(value, attribute.scale)) is not None),
        key=lambda entry: (entry[0].low, entry[0].high),
    )  # fmt: skip
    apart = all(a[0].high <= b[0].low for a, b in itertools.pairwise(ordered))
    if ordered and apart and len(ordered) == len(column.values) and len(ordered) <= most:
        edges = [entry[0].low for entry in ordered] + [ordered[-1][0].high]
        about = (
            f"The range of {foreign(attribute.name).content[0]} cut into {len(ordered)} intervals"
        )
        return strip(about, edges, [float(e[1]) for e in ordered], [e[2] for e in ordered])
    often = sorted(zip(column.values, shares.tolist(), strict=True), key=lambda entry: -entry[1])
    rows: list[list[Content]] = [[foreign(value), f"{share:.1%}"] for value, share in often[:20]]
    left = [note(f"and {len(often) - 20:,} rarer values")] if len(often) > 20 else []
    return element("div", table(["value", "share of the records"], rows, (1,)), *left)


def _cut_tree(taxonomy: Taxonomy, shares: Mapping[str, float], most: int) -> Element:
    """The taxonomy as far as the release shows it; released values are framed.

    Of a taxonomy with more than `most` such nodes the upper ones are drawn, and of the others it is
    said how many they are.
    """
    seen = _seen(taxonomy, shares)
    drawn: set[int] = set()
    level = [0] if seen[0] else []
    while level and len(drawn) < most:
        room = most - len(drawn)
        drawn.update(level[:room])
        below = [child for node in level[:room] for child in taxonomy.children[node] if seen[child]]
        level = level[room:] or below

    def branch(node: int) -> Element:
        name, leaves = taxonomy.labels[node], taxonomy.last[node] - taxonomy.first[node]
        words: list[Content] = [foreign(name)]
        if name in shares:
            values = f"{leaves:,} values, " if leaves > 1 else ""
            words = [
                element("span", foreign(name), class_="cut"),
                element("span", f" {values}{shares[name]:.1%} of the records", class_="quiet"),
            ]
        below = [child for child in taxonomy.children[node] if seen[child]]
        inside = [branch(child) for child in below if child in drawn]
        if left := len(below) - len(inside):
            inside.append(element("li", f"and {left:,} more", class_="quiet"))
        return element("li", *words, *([element("ul", *inside)] if inside else []))

    return element(
        "div",
        element("ul", *([branch(0)] if 0 in drawn else []), class_="tree"),
        *([note("The rest of the taxonomy is not drawn.")] if level else []),
    )


def _seen(taxonomy: Taxonomy, shares: Mapping[str, float]) -> list[bool]:
    """Of every node whether it, or one below it, is in the release."""
    seen = [label in shares for label in taxonomy.labels]
    order = [0]
    for node in order:
        order.extend(taxonomy.children[node])
    for node in reversed(order):
        seen[node] = seen[node] or any(seen[child] for child in taxonomy.children[node])
    return seen
