"""Circuits over counts that two parties hold as additive shares modulo 2^32.

Each circuit has one input a party for every count, `x0 …` and `y0 …`, whose sums are the counts, and
is evaluated garbled by `protocols.statistics.hidden_counts`. Together they are all that joint statistics and
models decide about a count they must not see:

    leaf_circuit      is a tree's node a leaf, and of which class
"""

from __future__ import annotations

from functools import lru_cache

from coterie.protocols.circuits.arithmetic import Builder, Circuit, Word

WIDTH = 32


def _counts(builder: Builder, number: int) -> list[Word]:
    ours = [builder.input(f"x{i}", WIDTH) for i in range(number)]
    theirs = [builder.input(f"y{i}", WIDTH) for i in range(number)]
    return [builder.add(a, b, WIDTH) for a, b in zip(ours, theirs, strict=True)]


@lru_cache(maxsize=32)
def leaf_circuit(classes: int, minimum: int, last: bool = False) -> Circuit:
    """From a node's counts of each class, and its parent's class as input `inherited`.

    `leaf` is set when the node has fewer than `minimum` records or records of one class only;
    `label` is the most frequent class, the first of several, or the parent's where there are fewer
    than `minimum` records: the class of so few is nobody's business. At the `last` level all nodes
    are leaves, and only `label` is computed.
    """
    builder = Builder()
    width = max(1, (classes - 1).bit_length())
    counts = _counts(builder, classes)
    inherited = builder.input("inherited", width)
    filled = [builder.any(count) for count in counts]
    total = counts[0]
    for count in counts[1:]:
        total = builder.add(total, count, WIDTH)
    mixed, seen = builder.constant(0, 1)[0], filled[0]
    for bit in filled[1:]:
        mixed = builder.either(mixed, builder.conjoin(seen, bit))
        seen = builder.either(seen, bit)
    few = builder.less(total, builder.constant(minimum, WIDTH))
    _, label = builder.maximum(counts)
    if not last:
        builder.output("leaf", [builder.either(few, builder.invert(mixed))])
    builder.output("label", builder.choose(few, inherited, builder.extend(label, width)))
    return builder.build()
