"""The fast replay of many local cuts, beside the rows that a plain reference has cut."""

import functools
import itertools
import random

import numpy as np
import pytest

from coterie.anonymity.models.audit import Released
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.jobs.data.attributes import CutAttribute
from coterie.jobs.kinds.integrate.cuts.verify_tree import Cutting, origins
from tests.anonymity.cuts import reference

K = 4
PATHS = [[f"{a}{b}", a, "*"] for a in "ABC" for b in "123"]


def priority_of_w(waiting):
    return 1.0 if waiting else 0.01


@functools.cache
def cut_table(seed, waiting):
    """A table in which many groups have the same regions and sizes, cut by the reference.

    Values repeat in turns, so that often several groups of a level fit a cut; then a column at
    random, which is cut last, tells them apart, or nothing does but their order. Where groups wait for
    a level while others are cut, because a model refuses parts, that column is cut as all others are.
    """
    rng = random.Random(seed)
    models = [lambda part: sum(part) % 41 > 0] if waiting else []
    rows = [
        {"x": PATHS[i % 9][0], "y": str(i // 9 % 8), "z": str(i // 72 % 5), "w": str(rng.randint(0, 7))}
        for i in range(2880)
    ]  # fmt: skip
    rng.shuffle(rows)
    domains = {"x": reference.Tree(PATHS), **dict.fromkeys("yzw", reference.Numbers(0.0, 8.0))}
    job = reference.Job(
        rows, domains, [(list("xyzw"), K, models)], priority={"w": priority_of_w(waiting)}
    )
    made = []
    tree, shown, _ = reference.run(job, made=made)
    return tree, shown, made


def released(shown):
    table = {}
    for name in "xyzw":
        values, codes = np.unique([reference.text(row[name]) for row in shown], return_inverse=True)
        table[name] = Released(codes.astype(np.int64), tuple(values.tolist()))
    return table


def cutting(waiting):
    numbers = [
        CutAttribute(
            n, limits=(0.0, 8.0), in_qid=True, priority=priority_of_w(waiting) if n == "w" else 1.0
        )
        for n in "yzw"
    ]
    tree = CutAttribute("x", taxonomy=taxonomy_of(PATHS), in_qid=True)
    return Cutting([tree, *numbers], (Requirement(tuple("xyzw"), K),))


def parents(made):
    """Of each cut the cut and its part that have the same rows."""
    of_rows = {
        tuple(sorted(part)): (n, at)
        for n, parts in enumerate(made)
        for at, part in enumerate(parts)
    }
    return {n: of_rows.get(tuple(sorted(itertools.chain(*parts)))) for n, parts in enumerate(made)}


@pytest.mark.parametrize("waiting", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_each_of_many_cuts_is_of_the_group_whose_rows_it_has_cut(seed, waiting):
    tree, shown, made = cut_table(seed, waiting)
    different = set(map(repr, tree))
    assert len(tree) > 300
    assert len(different) < len(tree)
    assert origins(cutting(waiting), tree, released(shown)) == parents(made)
