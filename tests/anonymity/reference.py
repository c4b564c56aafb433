"""Top-down specialization as the papers and the design say it, record by record and with no thought
of speed. It shares no code with the product.

A table is a list of dicts. A taxonomy is a list of leaf-to-root paths. An attribute is
`("taxonomy", paths)` or `("range", (low, high) or None)`.
"""

from collections import Counter
from itertools import pairwise
from math import log2


def entropy(labels):
    n = len(labels)
    return -sum(c / n * log2(c / n) for c in Counter(labels).values())


def gain(parts):
    whole = [label for part in parts for label in part]
    return entropy(whole) - sum(len(p) / len(whole) * entropy(p) for p in parts if p)


def ratio(parts):
    split = entropy([i for i, part in enumerate(parts) for _ in part])
    return gain(parts) / split if split else gain(parts)


def text(number):
    return str(int(number)) if number == int(number) else str(number)


class Categorical:
    def __init__(self, name, paths, rows):
        self.name = name
        self.up = {}
        self.below = {}
        for path in paths:
            for child, parent in pairwise(path):
                if child != parent and child not in self.up:
                    self.up[child] = parent
                    self.below.setdefault(parent, []).append(child)
        self.top = paths[0][-1]

    def label(self, node):
        return node

    def covers(self, node, value):
        while value != node and value in self.up:
            value = self.up[value]
        return value == node

    def specialize(self, node, rows, classes):
        return self.below.get(node)


class Continuous:
    def __init__(self, name, limits, rows):
        self.name = name
        values = [float(row[name]) for row in rows]
        low, high = limits or (min(values), max(values))
        self.top = (low, high, True)

    def label(self, node):
        return f"[{text(node[0])}, {text(node[1])}" + ("]" if node[2] else ")")

    def covers(self, node, value):
        low, high, closed = node
        return low <= float(value) < high or (closed and float(value) == high)

    points = None  # where intervals may be split, if not at every value

    def at_point(self, value):
        """The highest point that is no higher than a value."""
        if self.points is None:
            return value
        return max(point for point in [self.top[0], *self.points] if point <= value)

    def specialize(self, node, rows, classes):
        values = [self.at_point(float(row[self.name])) for row in rows]
        if self.k is not None and len(values) >= 2 * self.k:
            return self.towards_groups_of_k(node, sorted(values))
        best = None
        for at in sorted(set(values))[1:]:
            left = [c for v, c in zip(values, classes, strict=True) if v < at]
            right = [c for v, c in zip(values, classes, strict=True) if v >= at]
            value = self.split_score(left, right)
            if best is None or value > best[0]:
                best = value, at
        if best is None:
            return None
        return [(node[0], best[1], False), (best[1], node[1], node[2])]

    k = None  # where intervals are split towards groups of k

    def towards_groups_of_k(self, node, values):
        groups = [[] for _ in range(len(values) // self.k)]
        for i in range(len(values)):
            groups[i % len(groups)].append(i)
        wanted = sum(len(group) for group in groups[: (len(groups) + 1) // 2])
        cuts = sorted(set(values))[1:]
        if not cuts:
            return None
        at = min(cuts, key=lambda cut: abs(sum(v < cut for v in values) - wanted))
        return [(node[0], at, False), (at, node[1], node[2])]

    def split_score(self, left, right):
        if left[0] is None:  # no class: the most even split
            n = len(left) + len(right)
            return round((1 - (len(left) / n) ** 2 - (len(right) / n) ** 2) * 2**30)
        return round(gain([left, right]) * 2**30)


class LackingError(Exception):
    """Groups of the table that nobody in the population is in."""


def specialize(
    rows,
    attributes,
    class_name,
    requirements,
    rule="gain-ratio",
    holds=None,
    most_left_out=0,
    population=(),
    k_maps=None,
):
    """`requirements` are (qid, k). `holds(rows of a group, j)` adds a condition to requirement j.

    `k_maps` has, for each requirement, None or the least people of the `population` (rows, too) in
    every combination that occurs there. Raises `LackingError` if a group has nobody in it.

    Returns (winners, cut, generalized rows); a row that is left out is None.
    """
    k_maps = k_maps or [None] * len(requirements)
    maps = [(qid, k) for (qid, _), k in zip(requirements, k_maps, strict=True) if k]
    used = [name for name in attributes if any(name in qid for qid, _ in requirements)]
    kinds = {
        name: (Categorical if attributes[name][0] == "taxonomy" else Continuous)(
            name, attributes[name][1], rows
        )
        for name in used
    }
    if rule == "discernibility-by-quantile":
        for name in used:
            kinds[name].k = max(k for qid, k in requirements if name in qid)
    table = [{name: kinds[name].top for name in used} for _ in rows]
    classes = [row[class_name] if class_name else None for row in rows]
    cut = {name: [kinds[name].top] for name in used}  # in order of creation
    order = {name: [kinds[name].top] for name in used}
    winners = []

    def groups(table, qid):
        found = {}
        for i, row in enumerate(table):
            if row is None:
                continue
            found.setdefault(tuple(row[name] for name in qid), []).append(i)
        return found

    def satisfied(table):
        return all(
            len(group) >= k and (holds is None or holds([rows[i] for i in group], j))
            for j, (qid, k) in enumerate(requirements)
            for group in groups(table, qid).values()
        )

    def left_out(table):
        """The table less the groups that are too small, and less those that get too small then."""
        table = list(table)
        changed = True
        while changed:
            changed = False
            for qid, k in requirements:
                for group in groups(table, qid).values():
                    if len(group) < k:
                        changed = True
                        for i in group:
                            table[i] = None
        return table

    mapped = {name for qid, _ in maps for name in qid}
    people = [{name: kinds[name].top for name in mapped} for _ in population]
    for name in mapped:
        if attributes[name][0] != "taxonomy":
            k = max(k for qid, k in maps if name in qid)
            counted = Counter(float(person[name]) for person in population)
            kinds[name].points = [value for value, number in counted.items() if number >= k]

    def people_after(name, node, children):
        after = [dict(person) for person in people]
        for person, raw in zip(after, population, strict=True):
            if person[name] == node:
                [person[name]] = [c for c in children if kinds[name].covers(c, raw[name])]
        return after

    def crowds(of, qid):
        return Counter(tuple(person[name] for name in qid) for person in of)

    def crowded(name, node, children):
        """Whether each combination in the population keeps its k people."""
        if name not in mapped:
            return True
        if all(person[name] != node for person in people):
            return False
        after = people_after(name, node, children)
        return all(size >= k for qid, k in maps for size in crowds(after, qid).values())

    def smallest(table, qid):
        return min(map(len, groups(table, qid).values()))

    while True:
        best = None
        for name in used:
            for node in order[name]:
                if node not in cut[name]:
                    continue
                at = [i for i, row in enumerate(table) if row is not None and row[name] == node]
                if not at or (class_name and len({classes[i] for i in at}) < 2):
                    continue
                children = kinds[name].specialize(
                    node, [rows[i] for i in at], [classes[i] for i in at]
                )
                if not children or not crowded(name, node, children):
                    continue
                after = [None if row is None else dict(row) for row in table]
                parts = [[] for _ in children]
                places = {}
                for i in at:
                    [place] = [
                        p
                        for p, child in enumerate(children)
                        if kinds[name].covers(child, rows[i][name])
                    ]
                    after[i][name] = children[place]
                    places[i] = place
                counted = after
                if most_left_out and not satisfied(after):
                    # Scores are of the children that stay; whole partitions elsewhere may go too.
                    after = left_out(after)
                    if after.count(None) > most_left_out:
                        continue
                    counted = [
                        row if i not in places or after[i] is not None else None
                        for i, row in enumerate(counted)
                    ]
                for i, place in places.items():
                    if after[i] is not None:
                        parts[place].append(classes[i])
                if not satisfied(after) or not any(parts):
                    continue
                if class_name and len({label for part in parts for label in part}) < 2:
                    continue
                if rule == "gain-ratio":
                    score = ratio(parts)
                elif rule == "information-gain":
                    score = gain(parts)
                elif rule.startswith("discernibility"):
                    here = [
                        None if i in places and after[i] is None else r for i, r in enumerate(table)
                    ]
                    squares = [
                        sum(len(g) ** 2 for g in groups(t, used).values()) for t in (here, counted)
                    ]
                    score = (squares[0] - squares[1]) / len(rows) ** 2
                else:
                    losses = [
                        max(0, smallest(table, qid) - smallest(counted, qid))
                        for qid, _ in requirements
                        if name in qid
                    ]
                    score = gain(parts) / (1 + sum(losses) / len(losses))
                score = round(score * 2**30)
                if best is None or score > best[0]:
                    best = score, name, node, children, after
        if best is None:
            break
        score, name, node, children, table = best
        label = kinds[name].label
        winners.append((name, label(node), tuple(map(label, children)), score))
        place = cut[name].index(node)
        cut[name][place : place + 1] = children
        order[name] += children
        if name in mapped:
            people = people_after(name, node, children)
    for qid, _ in maps:
        known = crowds(people, qid)
        if any(group not in known for group in groups(table, qid)):
            raise LackingError
    return (
        winners,
        {name: [kinds[name].label(node) for node in cut[name]] for name in used},
        [
            None if row is None else {name: kinds[name].label(row[name]) for name in used}
            for row in table
        ],
    )
