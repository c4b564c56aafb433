"""Joint specialization: equal to that of one table, and no message says more than its result."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymity.columns import IntervalTree, TaxonomyTree
from anonymity.privacy import DistinctDiversity, EntropyDiversity
from anonymity.scores import RULES, SCALE
from anonymity.specialization import Instruction, Specializer, specialize
from anonymity.taxonomy import taxonomy_of
from coterie.errors import DataError, PeerError, PeerFaultError, PeerLostError
from protocols import wire
from protocols.codes import pack_codes, unpack_codes
from protocols.integration.class_labels import share_class
from protocols.integration.integrate import Plan, announce_scores, integrate, key_of
from protocols.memory import run_parties
from protocols.randomness import Random
from protocols.wrappers import Fault, Faulty, KilledError, Metered, Traced
from tests.anonymity.tables import Case, cases
from tests.papers.loans import JOB, REQUIREMENTS, ROWS, SEX

NAMES = ("ann", "bob", "cat", "dan", "eve")
END_OF_TURN = b"".join(wire.encode([0]))


@dataclass
class Split:
    """A table whose columns several parties hold."""

    case: Case
    names: tuple
    holders: dict  # of the attributes
    class_holders: tuple
    models: dict | None = None  # requirement -> (sensitive column, model)
    rule: str = "gain-ratio"
    max_suppression: float = 0.0
    turns: bool = False

    @property
    def requirements(self):
        listed = self.case.requirement_list()
        for j, (sensitive, model) in (self.models or {}).items():
            listed[j] = replace(listed[j], sensitive=sensitive, model=model)
        return tuple(listed)

    @property
    def needs_class(self):
        return RULES[self.rule].needs_class

    def used(self):
        return [column.name for column in self.case.columns()]

    def sensitive(self):
        return {s for s, _ in (self.models or {}).values() if s != "class"}

    def plan(self):
        trees = {}
        for name in self.used():
            kind, detail = self.case.attributes[name]
            if kind == "taxonomy":
                trees[name] = TaxonomyTree(taxonomy_of(detail))
            else:
                trees[name] = None if detail is None else IntervalTree(*detail)
        return Plan(
            self.names,
            trees,
            {name: self.holders[name] for name in trees},
            self.requirements,
            self.class_holders if self.needs_class else (),
            "class" if self.needs_class else None,
            {name: self.holders[name] for name in self.sensitive()},
            self.rule,
            self.max_suppression,
            self.turns,
        )

    def party(self, name, **options):
        columns = {n: self.case.column(n) for n in self.used() if self.holders[n] == name}
        labels = {n: self.case.labels(n) for n in self.sensitive() if self.holders[n] == name}
        if self.needs_class and name in self.class_holders:
            labels["class"] = self.case.labels("class")
        return lambda channel: integrate(
            channel, self.plan(), columns, labels, len(self.case.rows), Random(name), **options
        )

    def run(self, wrap=lambda transport: transport, **options):
        return run_parties({name: self.party(name, **options) for name in self.names}, wrap=wrap)

    def single(self):
        sensitive = {name: self.case.labels(name) for name in self.sensitive()}
        classes = self.case.labels("class") if self.needs_class else None
        if any(s == "class" for s, _ in (self.models or {}).values()):
            sensitive["class"] = classes
        return specialize(
            self.case.columns(),
            classes,
            self.requirements,
            sensitive=sensitive,
            rule=self.rule,
            max_suppression=self.max_suppression,
        )


@st.composite
def splits(draw, **options):
    case = draw(cases(**options))
    count = draw(st.integers(2, 5))
    names = NAMES[:count]
    holders = {name: draw(st.sampled_from(names)) for name in case.attributes}
    class_holders = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    return Split(case, names, holders, tuple(n for n in names if n in class_holders))


def assert_equal(outcome, single):
    assert outcome.table.winners == single.winners
    assert outcome.table.cut == single.cut
    assert outcome.table.anonymity == single.anonymity
    assert np.array_equal(outcome.table.kept, single.kept)
    for name in single.names:
        ours, theirs = outcome.table.generalized(name), single.generalized(name)
        assert ours[1] == theirs[1]
        assert np.array_equal(ours[0], theirs[0])


@settings(max_examples=100, deadline=None)
@given(splits(), st.booleans())
def test_every_party_gets_the_result_of_the_single_table(split, turns):
    single = split.single()
    split.turns = turns
    outcomes = split.run()
    for outcome in outcomes.values():
        assert_equal(outcome, single)
        assert outcome.winners == [split.holders[w.attribute] for w in single.winners]
        for name in split.names:
            scores = [w.score for w in single.winners if split.holders[w.attribute] == name]
            assert outcome.contributions[name] == sum(scores)


@settings(max_examples=40, deadline=None)
@given(splits(max_rows=25, max_attributes=4), st.sampled_from(sorted(RULES)))
def test_every_score_gives_the_result_of_the_single_table(split, rule):
    split.rule = rule
    single = split.single()
    for outcome in split.run().values():
        assert_equal(outcome, single)


@settings(max_examples=60, deadline=None)
@given(
    splits(classes=3),
    st.sampled_from([DistinctDiversity(2), EntropyDiversity(1.5)]),
    st.data(),
)
def test_conditions_on_sensitive_columns_give_the_result_of_the_single_table(split, model, data):
    names = [*split.case.attributes, "class"]
    chosen = data.draw(st.sampled_from(names))
    places = [j for j, (qid, _) in enumerate(split.case.requirements) if chosen not in qid]
    split.models = dict.fromkeys(places, (chosen, model))
    try:
        single = split.single()
    except DataError as error:
        with pytest.raises(DataError, match="not even the whole table") as joint:
            split.run()
        assert str(joint.value) == str(error)  # noqa: PT017
        return
    for outcome in split.run().values():
        assert_equal(outcome, single)


@settings(max_examples=60, deadline=None)
@given(splits(), st.sampled_from([0.05, 0.1, 0.25]), st.sampled_from(sorted(RULES)))
def test_suppression_gives_the_result_of_the_single_table(split, share, rule):
    split.max_suppression, split.rule = share, rule
    single = split.single()
    for outcome in split.run().values():
        assert_equal(outcome, single)


@pytest.mark.parametrize("leaves", [2, 255, 256, 257, 700])
def test_a_value_may_have_many_children(leaves):
    paths = [(f"v{i}", "Any") for i in range(leaves)]
    rows = [
        {"a": f"v{i % leaves}", "b": str(i % 3), "class": "xy"[i % 5 == 0]}
        for i in range(2 * leaves)
    ]
    case = Case(rows, {"a": ("taxonomy", paths), "b": ("range", None)}, [(["a"], 2), (["b"], 1)])
    split = Split(case, ("ann", "bob"), {"a": "ann", "b": "bob"}, ("bob",))
    split.max_suppression = 0.01
    single = split.single()
    assert "a" in {winner.attribute for winner in single.winners}
    for outcome in split.run().values():
        assert_equal(outcome, single)


# What the wire tells


def traced_run(split):
    traced = {}

    def wrap(transport):
        traced[transport.me] = Traced(transport, capture=True)
        return traced[transport.me]

    outcomes = split.run(wrap)
    received = {
        me: [c for c in trace.captured if c.direction == "received"] for me, trace in traced.items()
    }
    return outcomes, received


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
                body = wire.encode([attribute, node, score, split_at, packed, 0])
                expected.append((party, b"".join(body)))
        got = [
            (c.peer, c.body)
            for c in received[me]
            if c.step == "specialize/instruct" and c.body != END_OF_TURN
        ]
        assert got == expected

        for message in received[me]:
            values = wire.decode(bytearray(message.body))
            if message.step == "specialize/winner":
                assert len(values) == 1
                assert isinstance(values[0], int)
            elif message.step == "specialize/announce":
                spans = [
                    [tree.low[0], tree.high[0]]
                    for name, tree in zip(final.names, final.trees, strict=True)
                    if split.holders[name] == message.peer
                    and split.case.attributes[name] == ("range", None)
                ]
                assert values[0].tolist() == spans
            elif message.step == "class/share":
                assert values[0] == list(outcome.classes.values)
                packed = pack_codes(outcome.classes.codes, len(outcome.classes.values))
                assert np.array_equal(values[1], packed)
            elif message.step == "class/verdict":
                assert values == [[]]
            elif message.step == "class/agree":  # one encrypted point for a column, and the verdict
                shapes = [getattr(value, "shape", value) for value in values]
                assert shapes in ([1], [(1, 32)], [(1, 32), (1, 32)])
            else:
                assert message.step == "specialize/instruct"


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


def loans():
    rows = [{**row, "class": row["Class"]} for row in ROWS]
    attributes = {
        "Sex": ("taxonomy", SEX),
        "Job": ("taxonomy", JOB),
        "Salary": ("range", (1, 99)),
    }
    holders = {"Sex": "ann", "Job": "bob", "Salary": "bob"}
    return Split(
        Case(rows, attributes, list(REQUIREMENTS)), ("ann", "bob"), holders, ("ann", "bob")
    )


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


# Bad peers and bad tables


def fault_of(split, cheat, **options):
    """The error of an honest party whose peer `bob` runs with a changed function."""
    parties = {name: split.party(name, **options) for name in split.names}
    parties["bob"] = cheat
    with pytest.raises(PeerFaultError) as error:
        run_parties(parties)
    return str(error.value)


def honest_until_instruct(change):
    """Bob wins the first round of the loan table and then sends a changed instruction."""
    split = loans()
    split.turns = True

    def bob(channel):
        plan = split.plan()
        columns = {name: split.case.column(name) for name in ("Job", "Salary")}
        records = len(split.case.rows)
        labels = split.case.labels("class")
        labels = share_class(channel, ("ann", "bob"), labels, records, Random("bob"))
        with channel.step("specialize"):
            with channel.step("announce"):
                pass
            table = Specializer(
                {n: (columns[n].tree if n in columns else t) for n, t in plan.trees.items()},
                columns,
                {"class": labels},
                plan.requirements,
                records,
                "class",
            )
            candidate = table.propose()
            body = [
                candidate.attribute,
                candidate.node,
                candidate.score,
                np.array([candidate.split]),
                pack_codes(table.instruction(candidate).children, 2),
                0,
            ]
            with channel.step("winner"):
                announce_scores(channel, split.names, key_of(candidate.score, candidate.attribute))
            with channel.step("instruct"):
                channel.send("ann", *change(body))
                channel.send("ann", 0)
            with channel.step("winner"):
                channel.recv("ann")

    return fault_of(split, bob)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: [0, *b[1:]], "instructs on 'Sex', which it does not hold"),
        (lambda b: [7, *b[1:]], "instructs on an attribute 7 that is none"),
        (lambda b: [b[0], 5, *b[2:]], "'Salary' has no value 5 in its cut"),
        (lambda b: [*b[:3], np.array([100.0]), *b[4:]], r"no split of [1-99)"),
        (lambda b: [*b[:3], np.array([np.nan]), *b[4:]], r"no split of [1-99)"),
        (lambda b: [*b[:3], np.array([]), *b[4:]], r"no split of [1-99)"),
        (lambda b: [*b[:4], b[4][:-1], 0], "has 4 bytes where 5 are due"),
        (lambda b: [*b[:4], b[4] | 0x80, 0], "has bits set beyond its end"),
        (lambda b: [*b[:4], b[4].astype(np.int64), 0], "is no array of bytes"),
        (lambda b: [*b[:2], b[2] + 1, *b[3:]], "declared the score"),
        (lambda b: b[:5], "sent no instruction"),
        (lambda b: [*b[:5], 1], "leaves out records, which the job does not permit"),
        (lambda b: ["Salary", *b[1:]], "sent no instruction"),
        (lambda b: [*b[:4], np.array([1, 0, 0, 0, 0], np.uint8), 0], "violates requirement 2"),
    ],
)
def test_an_instruction_that_no_honest_party_gives_names_its_sender(change, message):
    said = honest_until_instruct(change)
    assert said.startswith("bob: ")
    assert message in said


def test_a_winner_that_gives_no_instruction_is_a_fault():
    assert "bob: won and gave no instruction" in honest_until_instruct(lambda body: [0])


def test_a_turn_ends_where_another_party_has_a_better_score():
    """Bob goes on with Salary after the first split, though Ann has announced a better score."""
    split = loans()
    split.turns = True
    split.case.requirements = [(["Sex"], 1), (["Job", "Salary"], 1)]

    def bob(channel):
        columns = {name: split.case.column(name) for name in ("Job", "Salary")}
        trees = {n: columns[n].tree if n in columns else t for n, t in split.plan().trees.items()}
        labels = split.case.labels("class")
        records = len(split.case.rows)
        labels = share_class(channel, ("ann", "bob"), labels, records, Random("bob"))
        table = Specializer(trees, columns, {"class": labels}, split.requirements, records, "class")
        with channel.step("specialize"):
            with channel.step("announce"):
                pass
            candidate = table.propose()
            with channel.step("winner"):
                announce_scores(channel, split.names, key_of(candidate.score, candidate.attribute))
            with channel.step("instruct"):
                for _ in range(30):
                    instruction = table.instruction(candidate)
                    body = [
                        *(instruction.attribute, instruction.node, instruction.score),
                        np.array([] if instruction.split is None else [instruction.split]),
                        pack_codes(instruction.children, candidate.width),
                    ]
                    channel.send("ann", *body, 0)
                    table.apply(instruction)
                    candidate = table.propose()
                    if candidate is None:
                        break
            with channel.step("winner"):
                channel.recv("ann")

    assert "bob: goes on though another party has a better score" in fault_of(split, bob)


def test_an_honest_instruction_is_followed():
    with pytest.raises(PeerLostError, match="bob: has finished"):  # after it, and without fault
        honest_until_instruct(lambda body: body)


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(["garble", "repeat", "kill-before", "kill-after"]),
    st.integers(0, 30),
    st.sampled_from(["ann", "bob"]),
    st.booleans(),
)
def test_whatever_happens_to_a_message_ends_in_a_named_error_or_the_right_table(
    kind, at, name, turns
):
    split = loans()
    split.turns = turns
    split.models = {0: ("Zodiac", DistinctDiversity(2))}
    split.case.attributes["Zodiac"] = ("range", None)
    split.holders["Zodiac"] = "ann"
    for i, row in enumerate(split.case.rows):
        row["Zodiac"] = str(i % 3)
    single = split.single()

    def wrap(transport):
        return Faulty(transport, Fault(kind, at)) if transport.me == name else transport

    try:
        outcomes = split.run(wrap)
    except KilledError:
        assert kind.startswith("kill")
    except (PeerError, DataError):
        return
    else:
        for outcome in outcomes.values():
            assert outcome.table.cut == single.cut


def test_a_score_that_is_no_number_is_a_fault():
    split = loans()
    split.class_holders = ("ann",)

    def bob(channel):
        with channel.step("class"), channel.step("share"):
            channel.recv("ann")
        with channel.step("specialize"), channel.step("winner"):
            channel.send("ann", "high")

    assert "bob: sent no score" in fault_of(split, bob)


def test_no_common_records_is_an_error():
    split = loans()
    split.case.rows = []
    plan = split.plan()
    with pytest.raises(DataError, match="no common records"):
        run_parties({n: lambda c: integrate(c, plan, {}, {}, 0, Random(1)) for n in split.names})


def test_k_above_the_common_records_is_an_error_before_anything_is_sent():
    split = loans()
    split.case.requirements[1] = (["Sex", "Salary"], 35)
    sent = []

    class Watched(Traced):
        def transmit(self, peer, message):
            sent.append(message)

    with pytest.raises(DataError, match=r"requirement 2 \(Sex, Salary\): k = 35 is more than"):
        split.run(Watched)
    assert not sent


def test_scores_are_whole_numbers_of_a_2_to_the_30th():
    outcome = loans().run()["ann"]
    assert outcome.table.winners[0].attribute == "Salary"
    assert sum(outcome.contributions.values()) == sum(w.score for w in outcome.table.winners)
    assert 0 < outcome.table.winners[0].score < SCALE
