"""`refine` of a specialization, written from its text: the second phase, after any first one.

A release is one list of shown texts for each attribute. Nothing is counted ahead: each step looks at
all texts of the cut again, in the order in which they came into it.
"""

from collections import Counter
from fractions import Fraction

from tests.anonymity.cuts import reference


def ends(shown):
    """`[1, 4)` as its two numbers and the bracket at its end."""
    low, high = shown[1:-1].split(", ")
    return float(low), float(high), shown[-1]


def written(number):
    return f"{number:g}"


def halves(shown, numbers):
    """The most even cut of an interval, at the lowest number of several; None of one number."""
    low, high, bracket = ends(shown)
    uneven = {
        at: abs(2 * sum(n < at for n in numbers) - len(numbers)) for at in sorted(set(numbers))[1:]
    }
    if not uneven:
        return None
    at = min(uneven, key=uneven.get)
    return (
        [f"[{written(low)}, {written(at)})", f"[{written(at)}, {written(high)}{bracket}"],
        lambda n: int(n >= at),
    )


def below(paths, shown):
    """The children of a value, and which of them is above a leaf; None of a leaf."""
    lines = [[v for i, v in enumerate(path) if v not in path[:i]] for path in paths]
    found = {}
    for line in lines:
        if shown in line[1:]:
            found.setdefault(line[line.index(shown) - 1], set()).add(line[0])
    if not found:
        return None
    return list(found), lambda leaf: next(i for i, c in enumerate(found) if leaf in found[c])


def columns(raw, attributes, requirements, first, holds=None):
    """The steps of the second phase and the texts after it.

    `raw` are the rows; `first` has the winners, the cut and the shown rows of the first phase.
    """
    winners, cut, rows = first
    shown = {name: [row[name] for row in rows] for name in cut}
    came = {name: [] for name in cut}  # the texts of a column in the order of their creation
    for name, value, children, _ in winners:
        came[name] = [*(came[name] or [value]), *children]
    for name, values in cut.items():
        came[name] = came[name] or list(values)
    tried, steps = set(), []

    def squares(texts):
        return sum(n * n for n in Counter(zip(*texts.values(), strict=True)).values())

    def good(texts):
        for j, (qid, k) in enumerate(requirements):
            groups = {}
            for i, key in enumerate(zip(*(texts[name] for name in qid), strict=True)):
                groups.setdefault(key, []).append(i)
            for group in groups.values():
                if len(group) < k or (holds and not holds([raw[i] for i in group], j)):
                    return False
        return True

    while True:
        offers = []
        for place, name in enumerate(shown):
            kind, detail = attributes[name]
            for age, value in enumerate(came[name]):
                at = [i for i, text in enumerate(shown[name]) if text == value]
                if not at or (name, value) in tried:
                    continue
                if kind == "taxonomy":
                    found, key = below(detail, value), str
                else:
                    found, key = halves(value, [float(raw[i][name]) for i in at]), float
                if found is None:
                    continue
                children, part = found
                after = list(shown[name])
                for i in at:
                    after[i] = children[part(key(raw[i][name]))]
                texts = {**shown, name: after}
                if not good(texts):
                    tried.add((name, value))
                    continue
                fall = Fraction(squares(shown) - squares(texts), len(raw) ** 2)
                offers.append((-round(fall * 2**30), place, age, name, value, children, texts))
        if not offers:
            return steps, shown
        score, _, _, name, value, children, shown = min(offers, key=lambda offer: offer[:3])
        came[name] = [*came[name], *children]
        steps.append((name, value, tuple(children), -score))


def groups(raw, attributes, requirements, cut_rows):
    """The tree and the shown rows of `refine: groups` after the first phase has shown `cut_rows`."""
    domains = {}
    for name, (kind, detail) in attributes.items():
        if kind == "taxonomy":
            domains[name] = reference.Tree([list(path) for path in detail])
        else:
            numbers = [float(row[name]) for row in raw]
            domains[name] = reference.Numbers(*map(float, detail or (min(numbers), max(numbers))))
    texts = [
        {name: region(domains[name], shown) for name, shown in row.items()} for row in cut_rows
    ]
    job = reference.Job(raw, domains, [], first=texts)
    for names, k in together(requirements):
        ordered = [name for name in attributes if name in names]
        sizes = Counter(tuple(row[name] for name in ordered) for row in cut_rows)
        job.conditions.append((ordered, k, []))
        if min(sizes.values()) < k:
            job.closed.add(len(job.conditions) - 1)
    return reference.run(job)


def region(domain, shown):
    if isinstance(domain, reference.Tree):
        return ("node", shown)
    low, high, bracket = ends(shown)
    return ("span", low, high, bracket == "]", False)


def together(requirements):
    """Attributes that share an entry, directly or through others, by the first entry of each."""
    sets = []
    for qid, k in requirements:
        near = [one for one in sets if one[0] & set(qid)]
        merged = (set(qid).union(*(one[0] for one in near)), max([k, *(one[1] for one in near)]))
        place = sets.index(near[0]) if near else len(sets)
        sets = (
            [one for one in sets[:place] if one not in near]
            + [merged]
            + [one for one in sets[place:] if one not in near]
        )
    return sets
