"""Plain ID3 and K2 on a joined table: what the joint protocols, with no code in common, must agree with."""

from collections import Counter
from math import factorial, log


def x_ln_x(x):
    return x * log(x) if x else 0.0


def conditional_entropy(rows, attribute, label):
    """n times the entropy of the class given the attribute."""
    groups = Counter(row[attribute] for row in rows)
    cells = Counter((row[attribute], row[label]) for row in rows)
    return sum(map(x_ln_x, groups.values())) - sum(map(x_ln_x, cells.values()))


def majority(rows, label, labels):
    counts = Counter(row[label] for row in rows)
    return max(labels, key=lambda value: (counts[value], -labels.index(value)))


def id3(rows, domains, label, max_depth, minimum, inherited=None, gaps=None):
    """The tree as result.json writes it. `gaps` collects best-against-second score distances."""
    labels = domains[label]
    enough = rows and len(rows) >= minimum  # fewer have the class of their parent
    mine = majority(rows, label, labels) if enough else inherited or labels[0]
    attributes = [name for name in domains if name != label]
    often = max(Counter(row[label] for row in rows).values(), default=0)
    if len(rows) - often < minimum or not attributes or max_depth == 0:
        return {"class": mine}
    scores = [conditional_entropy(rows, name, label) for name in attributes]
    best = min(range(len(scores)), key=lambda i: (scores[i], i))
    if gaps is not None and len(scores) > 1:
        gaps.append((min(s for i, s in enumerate(scores) if i != best) - scores[best], len(rows)))
    name = attributes[best]
    rest = {key: values for key, values in domains.items() if key != name}
    return {
        "attribute": name,
        "branches": {
            value: id3(
                [row for row in rows if row[name] == value],
                rest, label, max_depth - 1, minimum, mine, gaps,
            )
            for value in domains[name]
        },
    }  # fmt: skip


def ln_factorial(x):
    """The logarithm of the exact factorial."""
    return log(factorial(int(x)))


def k2_score(rows, child, parents, domains):
    """The logarithm of Cooper and Herskovits' measure, of exact factorials."""
    size = len(domains[child])
    cells = Counter((tuple(row[p] for p in parents), row[child]) for row in rows)
    total = 0.0
    configurations = [()]
    for parent in parents:
        configurations = [(*c, value) for c in configurations for value in domains[parent]]
    for configuration in configurations:
        counts = [cells[configuration, value] for value in domains[child]]
        total += ln_factorial(size - 1) - ln_factorial(sum(counts) + size - 1)
        total += sum(map(ln_factorial, counts))
    return total


def k2(rows, order, domains, max_parents, gaps=None):
    """Edges (parent, child), in the order they are found for each child."""
    edges = []
    for at, child in enumerate(order):
        parents = []
        best = k2_score(rows, child, parents, domains)
        while len(parents) < max_parents:
            candidates = [p for p in order[:at] if p not in parents]
            if not candidates:
                break
            scores = [
                k2_score(rows, child, sorted([*parents, p], key=order.index), domains)
                for p in candidates
            ]
            ranked = sorted([best, *scores], reverse=True)
            if gaps is not None:
                gaps.append(ranked[0] - ranked[1])
            if max(scores) <= best:
                break
            best = max(scores)
            parents.append(candidates[scores.index(best)])
        edges += [[parent, child] for parent in parents]
    return edges
