"""Random jobs for `method: mondrian`, and how the product and the reference take them."""

import random

from coterie.anonymity.algorithms.width import WidthOptions, cut_by_width
from coterie.anonymity.models.privacy import AlphaAnonymity, DistinctDiversity
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.specialization.starting import start_nodes
from coterie.anonymity.table.columns import categorical_column, continuous_column, encode_text
from coterie.anonymity.table.intervals import GAP
from coterie.anonymity.table.table import Labels, Table
from coterie.anonymity.table.taxonomy import flat_taxonomy, paths_of, taxonomy_of, with_gap
from tests.anonymity.cuts import reference

NUMBERS = ["0", "1", "2", "2.5", "3", "4", "6", "7", "9"]


def random_tree(rng, name):
    paths = []

    def grow(label, above, depth):
        wide = rng.randint(1, 4) if depth < 2 else rng.choice([0, 0, 2, 3])
        if depth == 3 or wide == 0:
            paths.append([label, *above])
            return
        for i in range(wide):
            grow(f"{label}{i}", [label, *above], depth + 1)

    grow(name, [], 0)
    rng.shuffle(paths)
    return taxonomy_of(paths)


class RandomJob:
    """A table of 4 to 7 attributes with one or two conditions; `seed` fixes everything."""

    def __init__(self, seed, most=70):
        rng = self.rng = random.Random(seed)
        size = rng.randint(6, most)
        self.names = [f"{'abcdefg'[i]}" for i in range(rng.randint(2, 6))]
        self.columns, self.domains, self.texts = {}, {}, {}
        for name in self.names:
            self._column(name, rng, size)
        for name, values in {"class": "xyz", "ill": ("cold", "flu", "gout", "hay")}.items():
            self.texts[name] = [
                rng.choice(values[: rng.randint(1, len(values))]) for _ in range(size)
            ]
        self.requirements = self._requirements(rng, size)
        used = {name for r in self.requirements for name in r.qid}
        self.names = [name for name in self.names if name in used]
        self.score = rng.choice(["width", "width", "gain-ratio", "information-gain"])
        self.priority = {n: rng.choice([1.0, 1.0, 3.0, 0.5, 0.1]) for n in self.names}

    def _column(self, name, rng, size):
        kind = rng.choice(["tree", "tree", "number", "number", "flat"])
        gap = rng.random() < 0.3
        if kind == "number":
            few = rng.sample(NUMBERS, rng.randint(1, len(NUMBERS)))
            values = [rng.choice(few) for _ in range(size)]
            values = [GAP if gap and rng.random() < 0.3 else v for v in values]
            known = [float(v) for v in values if v != GAP]
            limits = rng.choice([(0.0, 10.0), (-3.0, 9.5)])
            if rng.random() < 0.3 and known:
                limits = min(known), max(known)
            import pyarrow as pa

            gaps = pa.array([v == GAP for v in values]) if gap else None
            column = continuous_column(
                name, values, limits, gaps=None if gaps is None else gaps.to_numpy(False)
            )
            self.columns[name] = column
            self.domains[name] = reference.Numbers(*limits, gap)
        else:
            tree = random_tree(rng, name.upper())
            if gap and kind == "tree":
                tree = with_gap(tree)
            few = rng.sample(tree.leaves, rng.randint(1, len(tree.leaves)))
            values = [rng.choice(few) for _ in range(size)]
            if kind == "flat":
                tree = flat_taxonomy(values)
            self.columns[name] = categorical_column(name, values, tree)
            self.domains[name] = reference.Tree(paths_of(tree))
        self.texts[name] = values

    def _requirements(self, rng, size):
        found = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            qid = rng.sample(self.names, rng.randint(1, len(self.names)))
            k = rng.randint(1, max(1, min(6, size // 2)))
            model = rng.choice([None, None, DistinctDiversity(2), AlphaAnonymity(0.8)])
            if model is not None:
                kinds = set(self.texts["ill"])
                often = max(self.texts["ill"].count(v) for v in kinds) / size
                if len(kinds) < 2 or often > 0.8:
                    model = None
            sensitive = None if model is None else "ill"
            found.append(Requirement(tuple(qid), k, sensitive, model))
        return tuple(found)

    def labels(self, name):
        codes, values = encode_text(name, self.texts[name], "table")
        return Labels(codes, tuple(values))

    def table(self, at_most=None):
        return Table(
            tuple(self.columns[name] for name in self.names),
            {"class": self.labels("class"), "ill": self.labels("ill")},
            at_most or {},
            self.priority,
        )

    def released(self, at_most=None, most=0, tight=False):
        options = WidthOptions(self.score, tight, "class")
        return cut_by_width(self.table(at_most), self.requirements, most, options)

    def expected(self, at_most=None, rows=None, holders=None, epsilon=None):
        """What the reference shows of these rows; requirements joined by hand."""
        kept = range(len(self.texts["ill"])) if rows is None else rows
        texts = [{name: self.texts[name][i] for name in self.texts} for i in kept]
        job = reference.Job(texts, self.domains, [], self.score, self.priority, {}, "class")
        for name, marks in (at_most or {}).items():
            taxonomy = self.columns[name].taxonomy
            job.starts[name] = [taxonomy.labels[n] for n in start_nodes(taxonomy, marks)[1]]
        for names, entries in joined(self.requirements):
            ordered = [name for name in self.names if name in names]
            models = [holds_of(texts, r.model) for r in entries if r.model is not None]
            job.conditions.append((ordered, max(r.k for r in entries), models))
        return reference.run(job, holders, epsilon)


def joined(requirements):
    """Entries that share an attribute, directly or through others, by the first of each set."""
    found = []
    for requirement in requirements:
        touching = [one for one in found if one[0] & set(requirement.qid)]
        names = set(requirement.qid).union(*(one[0] for one in touching))
        entries = [r for one in touching for r in one[1]] + [requirement]
        place = found.index(touching[0]) if touching else len(found)
        found = (
            [one for one in found[:place] if one not in touching]
            + [(names, entries)]
            + [one for one in found[place:] if one not in touching]
        )
    return found


def holds_of(texts, model):
    def holds(rows):
        ills = [texts[i]["ill"] for i in rows]
        if isinstance(model, DistinctDiversity):
            return len(set(ills)) >= model.l
        return max(ills.count(v) for v in ills) / len(ills) <= model.alpha

    return holds


def shown_rows(answer):
    """What a release shows of each record, by attribute."""
    return [
        {name: column.labels[column.codes[i]] for name, column in answer.columns.items()}
        for i in range(len(answer.kept))
    ]
