"""Circuits over counts that two parties hold as additive shares modulo 2^32.

Each circuit has for every count one input of each party, `x0 …` and `y0 …`, whose sum is the count.
`protocols.statistics.hidden_counts` garbles and evaluates the circuits. They decide about the nodes
of a tree; the circuits of `visibility_circuits` decide about the cells of tables.

    leaf_circuit      whether a node of a tree is a leaf, and if so, of which class
    label_circuit     the class of a node that turned out to be a leaf
"""

from __future__ import annotations

from coterie.protocols.circuits.arithmetic import Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

WIDTH = 32


def _counts(builder: Builder, number: int) -> list[Word]:
    ours = [builder.input(f"x{i}", WIDTH) for i in range(number)]
    theirs = [builder.input(f"y{i}", WIDTH) for i in range(number)]
    return [builder.add(a, b, WIDTH) for a, b in zip(ours, theirs, strict=True)]


@built_once(32)
def leaf_circuit(classes: int, minimum: int, last: bool = False) -> Circuit:
    """Decides on a node, from its counts of each class and its parent's class as XOR shares.

    The inputs `inherited0` and `inherited1` are the shares of the parent's class.

    `leaf` is set when fewer than `minimum` records have another class than the most frequent one:
    none of them and a few look the same, since all parties know who has which class, and would learn
    from a leaf of one class who is not in it. `label` is a leaf's class: the most frequent one (the
    first if several are equally frequent), or the parent's if the node has fewer than `minimum`
    records in all, since the class of so few must stay hidden. A node that is no leaf has the label 0, and `kept` is its most frequent class, for its
    children. At the `last` level all nodes are leaves, and only `label` is computed.
    """
    builder = Builder()
    width = max(1, (classes - 1).bit_length())
    counts = _counts(builder, classes)
    inherited = builder.xor_words(
        builder.input("inherited0", width), builder.input("inherited1", width)
    )
    total = counts[0]
    for count in counts[1:]:
        total = builder.add(total, count, WIDTH)
    few = builder.less(total, builder.constant(minimum, WIDTH))
    most, label = builder.maximum(counts)
    own = builder.choose(few, inherited, builder.extend(label, width))
    if last:
        builder.output("label", own)
        return builder.build()
    others = builder.subtract(total, most, WIDTH)
    leaf = builder.less(others, builder.constant(minimum, WIDTH))
    builder.output("leaf", [leaf])
    builder.output("label", builder.gate_word(leaf, own))
    builder.output("kept", own)
    return builder.build()


@built_once(32)
def label_circuit(width: int) -> Circuit:
    """Opens a class from its XOR shares."""
    builder = Builder()
    shares = [builder.input(f"kept{place}", width) for place in (0, 1)]
    builder.output("label", builder.xor_words(*shares))
    return builder.build()
