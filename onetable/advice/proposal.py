"""How many values each column of a qid may keep, and the requirement as YAML with comments."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.risk.crowd import allot
from coterie.anonymity.risk.quasi_identifiers import singleton_share
from coterie.anonymity.table.columns import CategoricalColumn
from coterie.anonymity.table.levels import ladder
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.distinct import distinct

MOST_QIDS = 6
_MOST_SETS = 20_000  # of `known` columns that are tried
_MOST_MERGED = 200  # sets that are merged into a few qids
_PLAIN = re.compile(r"[A-Za-z_][\w-]*( [\w-]+)*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


@dataclass(frozen=True)
class Kept:
    """How many of its values a column keeps; `level` is that of its taxonomy, from the leaves."""

    values: int
    keep: int
    level: int | None
    levels: int | None

    def comment(self, name: str) -> str:
        if self.keep == self.values:
            what = "all can be kept"
        elif self.keep == 1:
            what = "all merged into one"
        elif self.level is not None:
            what = f"keep {self.keep}: level {self.level} of its taxonomy's {self.levels}"
        else:
            what = f"keep about {self.keep}"
        return f"{name}: {self.values:,} values, {what}"


def level_sizes(taxonomy: Taxonomy) -> list[int]:
    """The values of each level, leaves first."""
    levels = ladder(CategoricalColumn("", np.zeros(0, np.uint8), taxonomy)).levels
    return [len(distinct(level)) for level in levels]


def keep_values(
    cells: int,
    sizes: Mapping[str, int],
    levels: Mapping[str, Sequence[int]],
    weights: Mapping[str, float],
) -> dict[str, Kept]:
    """Equation 1 (`anonymity.risk.crowd`): the values that each column may keep within `cells`.

    A column with levels takes the finest level that fits; the others share what is left.
    """
    fixed: dict[str, int] = {}
    order = [name for name in sizes if name in levels]
    for name in order:
        open_names = [other for other in sizes if other not in fixed]
        room = cells / math.prod(fixed.values())
        parts = allot(
            room, [sizes[n] for n in open_names], [weights.get(n, 1.0) for n in open_names]
        )
        limit = parts[open_names.index(name)]
        fixed[name] = next((size for size in levels[name] if size <= limit), 1)
    numbers = [name for name in sizes if name not in levels]
    room = cells / math.prod(fixed.values())
    if numbers:
        parts = allot(room, [sizes[n] for n in numbers], [weights.get(n, 1.0) for n in numbers])
        fixed |= dict(zip(numbers, parts, strict=True))
    raised = True
    while raised:  # what rounding to levels left over
        raised = False
        for name in order:
            finer = [size for size in levels[name] if size > fixed[name]]
            rest = math.prod(fixed.values()) // fixed[name]
            if finer and rest * finer[-1] <= cells:
                fixed[name], raised = finer[-1], True
    found = {}
    for name, size in sizes.items():
        level = levels[name].index(fixed[name]) if name in levels else None
        many = len(levels[name]) - 1 if name in levels else None
        found[name] = Kept(size, fixed[name], level, many)
    return found


def qids_for(
    sizes: Mapping[str, int], population: int, alpha: float, known: int | None
) -> list[tuple[str, ...]]:
    """One qid with every column; or several, for somebody who knows at most `known` columns.

    Groups that are equal in a minimal set alone do not stop somebody who knows one column more. So the
    qid has all columns that tell anybody apart, unless an attacker is taken to know at most `known`.
    """
    names = list(sizes)
    every = tuple(name for name in names if sizes[name] > 1)
    if known is None or known >= len(every) or math.comb(len(every), known) > _MOST_SETS:
        return [every]
    sets = [
        set(chosen)
        for chosen in itertools.combinations(every, known)
        if singleton_share(math.prod(sizes[name] for name in chosen), population) >= alpha
    ]
    if not sets or len(sets) > _MOST_MERGED:
        return [every]
    while len(sets) > MOST_QIDS:  # two that share most become one, which protects more
        one, other = min(
            itertools.combinations(range(len(sets)), 2),
            key=lambda pair: len(sets[pair[0]] | sets[pair[1]]),
        )
        union = sets[one] | sets[other]
        sets = [s for s in sets if not s <= union] + [union]
    return [tuple(name for name in names if name in chosen) for chosen in sets]


def written(text: str) -> str:
    """A text as YAML: plain where that is safe, otherwise in quotation marks."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def entry(qid: Sequence[str], k: int, more: str) -> str:
    names = ", ".join(map(written, qid))
    return f"  - {{qid: [{names}], k: {k}{', ' + more if more else ''}}}"
