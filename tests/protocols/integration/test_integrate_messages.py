"""What the messages of a joint specialization tell, and what they cost."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.specialization.specialize import Instruction, Specializer
from coterie.anonymity.table.columns import IntervalTree
from coterie.protocols.messaging.codes import pack_codes, unpack_codes
from coterie.protocols.messaging.wrappers import Metered
from tests.protocols.integration.splits import loans, splits
from tests.protocols.wrappers import Traced
from tests.views import plain, watch

END_OF_TURN = [0]


def traced_run(split):
    """What every party got, and what it received."""
    functions = {name: split.party(name) for name in split.names}
    views = watch(
        {name: lambda channel, _, f=f: f(channel) for name, f in functions.items()}, "messages"
    )
    return {name: view.result for name, view in views.items()}, {
        name: view.received for name, view in views.items()
    }


def child_places(tree, node):
    """For every node below a node, the place of the child it is under."""
    below = {}
    for place, child in enumerate(tree.children(node)):
        stack = [child]
        while stack:
            at = stack.pop()
            below[at] = place
            stack += tree.children(at)
    return below


@settings(max_examples=60, deadline=None)
@given(splits(), st.booleans())
def test_what_a_party_receives_can_be_written_from_the_final_table(split, turns):
    """Every party's messages, but for the scores that lost, follow from the final generalized table
    and the class: so none is more specific than the table."""
    split.turns = turns
    outcomes, received = traced_run(split)
    for me, outcome in outcomes.items():
        final = outcome.table
        nodes = [final.partitions.generalized(i) for i in range(len(final.names))]
        trees = {
            name: split.plan().trees[name] or IntervalTree(tree.low[0], tree.high[0])
            for name, tree in zip(final.names, final.trees, strict=True)
        }
        labels = {"class": outcome.classes}
        state = Specializer(trees, {}, labels, split.requirements, final.records, "class")
        parts = state.partitions
        expected = []
        for winner, party in zip(final.winners, outcome.winners, strict=True):
            attribute = final.names.index(winner.attribute)
            full = final.trees[attribute]
            [node] = [
                n
                for n in state.cut_nodes(attribute)
                if full.label(n) == winner.value and len(parts.link(attribute, n))
            ]
            at = full.high[full.children(node)[0]] if isinstance(full, IntervalTree) else None
            records = np.concatenate(
                [
                    parts.order[parts.start[leaf] : parts.start[leaf] + parts.size[leaf]]
                    for leaf in parts.link(attribute, node)
                ]
            )
            below = child_places(full, node)
            codes = np.array([below[n] for n in nodes[attribute][records]], np.uint8)
            score = state.apply(Instruction(attribute, node, at, 0, codes))
            if party != me:
                split_at = np.array([] if at is None else [at])
                packed = pack_codes(codes, len(winner.children))
                expected.append((party, plain([attribute, node, score, split_at, packed, 0])))
        got = [
            (peer, plain(values))
            for peer, step, values in received[me]
            if step == "specialize/instruct" and values != END_OF_TURN
        ]
        assert got == expected

        for peer, step, values in received[me]:
            if step == "specialize/winner":
                assert len(values) == 1
                assert isinstance(values[0], int)
            elif step == "specialize/announce":
                spans = [
                    [tree.low[0], tree.high[0]]
                    for name, tree in zip(final.names, final.trees, strict=True)
                    if split.holders[name] == peer
                    and split.case.attributes[name] == ("range", None)
                ]
                assert values[0].tolist() == spans
            elif step == "class/share":
                assert values[0] == list(outcome.classes.values)
                packed = pack_codes(outcome.classes.codes, len(outcome.classes.values))
                assert np.array_equal(values[1], packed)
            elif step == "specialize/compare":  # what this party has sent itself
                one, other = (
                    {str(plain(v)) for _, place, v in received[name] if place == step}
                    for name in (me, peer)
                )
                assert one == other
                assert [len(digest) for digest in values[0]] == [32] * len(split.names)
            elif step == "class/verdict":
                assert values == [[]]
            elif step == "class/agree":  # one encrypted point for a column, and the verdict
                shapes = [getattr(value, "shape", value) for value in values]
                assert shapes in ([1], [(1, 32)], [(1, 32), (1, 32)])
            else:
                assert step == "specialize/instruct"


@pytest.mark.parametrize("choices", [1, 2, 3, 5, 16, 200, 256, 257, 3000])
def test_codes_come_back_from_as_few_bits_as_they_need(choices):
    codes = np.random.default_rng(1).integers(0, choices, 1001)
    codes = codes.astype(np.uint8 if choices <= 256 else np.uint16)
    packed = pack_codes(codes, choices)
    assert len(packed) == (1001 * (choices - 1).bit_length() + 7) // 8
    assert np.array_equal(unpack_codes(packed, 1001, choices), codes)


def test_a_code_out_of_range_is_refused():
    packed = pack_codes(np.array([0, 1, 3], np.uint8), 4)
    with pytest.raises(ValueError, match="has the code 3 where 2 is the largest"):
        unpack_codes(packed, 3, 3)


def test_a_seeded_run_has_the_same_messages():
    split = loans()
    chains = []
    for _ in range(2):
        traced = []

        def wrap(transport, traced=traced):
            traced.append(Traced(transport))
            return traced[-1]

        split.run(wrap)
        chains.append(sorted(trace.chain for trace in traced))
    assert chains[0] == chains[1]


def test_traffic_is_what_the_module_says():
    """A bit per record and binary specialization, and so many bytes a message."""
    split = loans()
    split.turns = True
    split.case.rows = [dict(row) for row in split.case.rows for _ in range(1000)]
    metered = {}

    def wrap(transport):
        metered[transport.me] = Metered(transport)
        return metered[transport.me]

    outcomes = split.run(wrap)
    outcome = outcomes["ann"]
    winners = outcome.table.winners
    assert {len(winner.children) for winner in winners} == {2}
    codes, labels = {}, {}
    for name in outcome.table.names:
        codes[name], labels[name] = outcome.table.generalized(name)
    concerned = 0
    for place, winner in enumerate(winners):
        below = {winner.value}
        for later in winners[place:]:
            if later.attribute == winner.attribute and later.value in below:
                below |= set(later.children)
        texts = labels[winner.attribute]
        concerned += sum(texts[code] in below for code in codes[winner.attribute])
    turns = 1 + sum(a != b for a, b in itertools.pairwise(outcome.winners))
    instructs = [m.by_step["specialize/instruct"] for m in metered.values()]
    sent = sum(traffic.sent_bytes for traffic in instructs)
    assert concerned / 8 < sent < concerned / 8 + 150 * len(winners)
    assert sum(traffic.sent_messages for traffic in instructs) == len(winners) + turns
    for meter in metered.values():
        scores = meter.by_step["specialize/winner"]
        assert scores.sent_messages == turns + 1
        assert scores.sent_bytes <= 20 * scores.sent_messages
