"""The rule of `method: mondrian` record by record, written from its text and slow on purpose.

A table is a list of dictionaries of texts. A region is a tuple: ("node", value), ("rest", value,
children that went off), ("span", lo, hi, closed, gap), ("?",). A group is a list of row numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

from tests.anonymity.specialization.exact_scores import gain_ratio, information_gain


@dataclass
class Tree:
    """A taxonomy as rows of leaf-to-root paths; children stand in the order of their first leaf."""

    paths: list

    def __post_init__(self):
        self.paths = [
            [v for i, v in enumerate(path) if i == 0 or path[i - 1] != v] for path in self.paths
        ]
        self.root = self.paths[0][-1]

    def children(self, value):
        found = []
        for path in self.paths:
            if value in path and path.index(value) > 0:
                child = path[path.index(value) - 1]
                if child not in found:
                    found.append(child)
        return found

    def leaves(self, value):
        return [path[0] for path in self.paths if value in path]

    def width(self, value):
        whole = len(self.leaves(self.root)) - 1
        return Fraction(len(self.leaves(value)) - 1, whole) if whole else Fraction(0)


@dataclass
class Numbers:
    low: float
    high: float
    gap: bool = False


@dataclass
class Job:
    rows: list
    attributes: dict  # name -> Tree or Numbers, in job order
    conditions: list  # (names in job order, k, [function of rows -> bool])
    score: str = "width"
    priority: dict = field(default_factory=dict)
    starts: dict = field(default_factory=dict)  # name -> start values
    class_name: str | None = None
    first: list | None = None  # the regions that each row starts with
    closed: set = field(default_factory=set)  # conditions whose groups stay as they start


def number(text):
    return float("inf") if text == "?" else float(text)


def top(domain):
    if isinstance(domain, Tree):
        return ("node", domain.root)
    return ("span", domain.low, domain.high, True, domain.gap)


def width(domain, region):
    if region[0] == "?":
        return Fraction(0)
    if region[0] == "span":
        whole = Fraction(domain.high) - Fraction(domain.low)
        return (Fraction(region[2]) - Fraction(region[1])) / whole if whole else Fraction(0)
    return domain.width(region[1])


def settle(job, name, region, group):
    """Rule 4."""
    while region[0] == "node":
        values = {job.rows[i][name] for i in group}
        below = [
            child
            for child in job.attributes[name].children(region[1])
            if values <= set(job.attributes[name].leaves(child))
        ]
        if not below:
            break
        region = ("node", below[0])
    return region


def cut(job, name, region, group, k):
    """Rules 5 and 6: the parts with their rows, or None."""
    domain = job.attributes[name]
    if region[0] == "node":
        order = domain.children(region[1])
        rows = {c: [i for i in group if job.rows[i][name] in domain.leaves(c)] for c in order}
        off = [c for c in order if len(rows[c]) >= k]
        rest = [c for c in order if 1 <= len(rows[c]) < k]
        while rest and sum(len(rows[c]) for c in rest) < k:
            if not off:
                return None
            least = min(len(rows[c]) for c in off)
            last = [c for c in off if len(rows[c]) == least][-1]
            off.remove(last)
            rest.append(last)
        if not off:
            return None
        parts = [(("node", c), rows[c]) for c in off]
        if rest:
            gone = [i for i in group if any(i in rows[c] for c in rest)]
            parts.append((("rest", region[1], tuple(off)), gone))
        return parts
    if region[0] == "span":
        best = None
        for c in sorted({number(job.rows[i][name]) for i in group}):
            left = [i for i in group if number(job.rows[i][name]) < c]
            right = [i for i in group if number(job.rows[i][name]) >= c]
            uneven = abs(2 * len(left) - len(group))
            if min(len(left), len(right)) >= k and (best is None or uneven < best[0]):
                best = uneven, c, left, right
        if best is None:
            return None
        _, c, left, right = best
        _, low, high, closed, gap = region
        if c == float("inf"):
            return [(("span", low, high, closed, False), left), (("?",), right)]
        return [(("span", low, c, False, False), left), (("span", c, high, closed, gap), right)]
    return None


def score(job, name, region, group, parts):
    """Rule 7."""
    if job.score != "width":
        classes = sorted({job.rows[i][job.class_name] for i in group})
        if len(classes) > 1:
            table = [
                [sum(job.rows[i][job.class_name] == c for i in rows) for c in classes]
                for _, rows in parts
            ]
            return (gain_ratio if job.score == "gain-ratio" else information_gain)(table)
    domain = job.attributes[name]
    size = len(group)
    lost = sum(len(rows) * (width(domain, region) - width(domain, part)) for part, rows in parts)
    pairs = size**2 - sum(len(rows) ** 2 for _, rows in parts)
    return round(Fraction(job.priority.get(name, 1.0)) * lost * size / pairs * 2**30)


def text(region):
    if region[0] == "?":
        return "?"
    if region[0] == "span":
        _, low, high, closed, gap = region
        ends = ", ".join(str(int(x)) if x == int(x) else str(x) for x in (low, high))
        return f"[{ends}{']' if closed else ')'}{' or ?' if gap else ''}"
    return region[1]


def named(region):
    return {"rest": region[1]} if region[0] == "rest" else text(region)


def starting(job, names):
    """Rule 3: (regions, rows) of the first groups."""
    found = {}
    for i, row in enumerate(job.rows):
        regions = []
        for name in names:
            region = job.first[i][name] if job.first else top(job.attributes[name])
            for value in job.starts.get(name, ()):
                if row[name] in job.attributes[name].leaves(value):
                    region = ("node", value)
            regions.append(region)
        found.setdefault(tuple(regions), []).append(i)
    return list(found.items())


def told(group, parts, records):
    """The contribution of a cut, times 2^30, to 60 digits."""

    def weight(rows):
        return len(rows) * Decimal(len(rows)).ln() / Decimal(2).ln()

    with localcontext() as context:
        context.prec = 60
        bits = (weight(group) - sum(weight(rows) for _, rows in parts)) / records
        return int((bits * 2**30).quantize(Decimal(1), ROUND_HALF_EVEN))


def run(job, holders=None, epsilon=None, made=None):
    """The tree of cuts, for each row what each attribute shows, and the parties' contributions.

    `holders` has the party of each attribute; with `epsilon` parties take part by the strategy. `made`
    is a list to which the rows of the parts of each cut are added.
    """
    holders = holders or dict.fromkeys(job.attributes, "")
    names = sorted(set(holders.values()))
    mu = dict.fromkeys(names, 0)
    tree, shown = [], [{} for _ in job.rows]
    opened = [
        [
            (dict(zip(attributes, r, strict=True)), rows, set())
            for r, rows in starting(job, attributes)
        ]
        for attributes, _, _ in job.conditions
    ]
    level = 0
    for place in job.closed:
        for regions, group, _ in opened[place]:
            for i in group:
                shown[i] |= regions
        opened[place] = []
    while any(opened):
        level += 1
        taking = [
            n
            for n in names
            if epsilon is None
            or all(mu[n] <= mu[m] + round(epsilon * 2**30) for m in names if m != n)
        ]
        something = False
        worth = dict.fromkeys(names, 0)
        for place, (attributes, k, models) in enumerate(job.conditions):
            following = []
            for regions, group, struck in opened[place]:
                settled = {n: settle(job, n, r, group) for n, r in regions.items()}
                best = None
                for name in attributes:
                    if name in struck or holders[name] not in taking:
                        continue
                    parts = cut(job, name, settled[name], group, k)
                    if parts:
                        points = score(job, name, settled[name], group, parts)
                        if best is None or points > best[0]:
                            best = points, name, parts
                if best is None:
                    for i in group:
                        shown[i] |= settled
                    if len(taking) < len(names):
                        following.append((settled, group, struck))
                    continue
                something = True
                points, name, parts = best
                if not all(holds(rows) for holds in models for _, rows in parts):
                    following.append((settled, group, struck | {name}))
                    continue
                worth[holders[name]] += told(group, parts, len(job.rows))
                tree.append(
                    {
                        "level": level,
                        "condition": place,
                        "attribute": name,
                        "region": named(settled[name]),
                        "parts": [named(part) for part, _ in parts],
                        "sizes": [len(rows) for _, rows in parts],
                        "score": points / 2**30,
                    }
                )
                following += [(settled | {name: part}, rows, set()) for part, rows in parts]
                if made is not None:
                    made.append([rows for _, rows in parts])
            opened[place] = following
        for name in names:
            mu[name] += worth[name]
        if not something:
            break
    return tree, shown, mu
