"""Joint specialization with bad peers and bad tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.anonymity.specialization.specialize import Specializer
from coterie.base.errors import DataError, PeerError, PeerFaultError, PeerLostError
from coterie.protocols.integration.class_labels import share_class
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.scores import announce_scores, key_of
from coterie.protocols.messaging.codes import pack_codes
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.protocols.integration.splits import loans
from tests.protocols.wrappers import Fault, Faulty, KilledError, Traced


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
        (lambda b: [7, *b[1:]], "instructs on attribute 7, which does not exist"),
        (lambda b: [b[0], 5, *b[2:]], "'Salary' has no value 5 in its cut"),
        (lambda b: [*b[:3], np.array([100.0]), *b[4:]], r"no split of [1, 99]"),
        (lambda b: [*b[:3], np.array([np.nan]), *b[4:]], r"no split of [1, 99]"),
        (lambda b: [*b[:3], np.array([]), *b[4:]], r"no split of [1, 99]"),
        (lambda b: [*b[:4], b[4][:-1], 0], "has 4 bytes where 5 are due"),
        (lambda b: [*b[:4], b[4] | 0x80, 0], "has bits set beyond its end"),
        (lambda b: [*b[:4], b[4].astype(np.int64), 0], "is not an array of bytes"),
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
