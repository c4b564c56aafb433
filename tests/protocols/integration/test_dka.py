from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.datafly import datafly, raised
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.levels import Ladder, ladder
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import PeerFaultError
from coterie.protocols.integration.dka import Outcome, dka, encryptions
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives.group import derive
from coterie.protocols.primitives.randomness import Random

LETTERS = taxonomy_of([[letter, "AB" if letter in "ab" else "CD", "any"] for letter in "abcd"])


def letters(text: str) -> Ladder:
    return ladder(categorical_column("letter", list(text), LETTERS))


def numbers(values: list[int]) -> Ladder:
    return ladder(continuous_column("number", [str(value) for value in values]))


def run(a: list[Ladder], b: list[Ladder], k: int, **options: Any) -> dict[str, Outcome]:
    def party(name: str, table: list[Ladder]) -> Any:
        return lambda channel: dka(channel, "a", table, k, Random(name))

    return run_parties({"a": party("a", a), "b": party("b", b)}, **options)


def join(a: list[Ladder], b: list[Ladder], levels: dict[str, tuple[int, ...]]) -> Counter[Any]:
    columns = [c.texts(at) for c, at in zip(a, levels["a"], strict=True)]
    columns += [c.texts(at) for c, at in zip(b, levels["b"], strict=True)]
    return Counter(zip(*columns, strict=True))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Ladder], list[Ladder], int]:
    k = draw(st.integers(1, 5))
    size = draw(st.integers(k, 25))
    text = draw(st.text("abcd", min_size=size, max_size=size))
    values = [draw(st.lists(st.integers(0, 12), min_size=size, max_size=size)) for _ in range(2)]
    return [letters(text), numbers(values[0])], [numbers(values[1])], k


@given(tables())
@settings(max_examples=40, deadline=None)
def test_the_join_is_k_anonymous_and_was_not_one_round_before(
    case: tuple[list[Ladder], list[Ladder], int],
) -> None:
    a, b, k = case
    found = run(a, b, k)
    assert found["a"].rounds == found["b"].rounds
    levels = {"a": datafly(a, k), "b": datafly(b, k)}
    for number in range(1, found["a"].rounds + 1):
        good = min(join(a, b, levels).values()) >= k
        assert good == (number == found["a"].rounds)
        if not good:
            levels = {
                "a": raised(a, levels["a"]) or levels["a"],
                "b": raised(b, levels["b"]) or levels["b"],
            }
    assert levels == {name: outcome.levels for name, outcome in found.items()}


def test_the_example_of_the_paper_takes_two_rounds() -> None:
    """Paper 1, Table 2: 2-anonymity of Job at one party, Sex and Salary at the other."""
    job = taxonomy_of(
        [[j, "Non-Technical", "Blue-collar", "ANY"] for j in ("Janitor", "Mover")]
        + [[j, "Technical", "Blue-collar", "ANY"] for j in ("Carpenter", "Technician")]
    )
    salary = taxonomy_of(
        [[s, "[1, 35)", "[1, 37)", "[1, 99]"] for s in ("30", "33")]
        + [["36", "[35, 37)", "[1, 37)", "[1, 99]"]]
    )
    sex = taxonomy_of([["Male", "ANY"], ["Female", "ANY"]])
    a = [ladder(categorical_column("Job", ["Janitor", "Mover", "Carpenter", "Technician"], job))]
    b = [
        ladder(categorical_column("Sex", ["Male"] * 4, sex)),
        ladder(categorical_column("Salary", ["36", "33", "30", "36"], salary)),
    ]
    found = run(a, b, 2)
    assert found["a"].rounds == 2
    levels = {name: outcome.levels for name, outcome in found.items()}
    assert join(a, b, levels) == {("Blue-collar", "Male", "[1, 37)"): 4}


@pytest.mark.parametrize(("records", "k"), [(12, 2), (24, 2), (48, 2), (48, 5)])
def test_encryptions_and_bytes_are_the_stated_ones_and_grow_with_the_square(
    records: int, k: int
) -> None:
    rng = np.random.default_rng(records)
    a, b = ([numbers(rng.integers(0, 9, records).tolist())] for _ in range(2))
    meters: list[Metered] = []

    def wrap(transport: Any) -> Metered:
        meters.append(Metered(transport))
        return meters[-1]

    found = run(a, b, k, wrap=wrap)
    rounds = found["a"].rounds
    total = sum(outcome.encryptions for outcome in found.values())
    assert total == encryptions(records, k, rounds)
    assert total / rounds >= 2 * records**2 / k - 2 * records
    tables = 96 * (records // k) * records * rounds
    sent = sum(meter.total.sent_bytes for meter in meters)
    assert tables < sent < tables + 200 * (rounds + 1)


def test_two_tables_of_different_size_are_noticed_before_anything_is_compared() -> None:
    with pytest.raises(PeerFaultError, match="another number of records"):
        run([numbers([1, 2, 3])], [numbers([1, 2])], 2)


def bad_peer(*messages: Any) -> Any:
    def act(channel: Channel) -> None:
        with channel.step("dka"):
            with channel.step("size"):
                channel.send("a", 4, 2, 3)
                channel.recv("a")
            with channel.step("round-1"):
                for message in messages:
                    channel.send("a", message)
                channel.recv("a")

    return act


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([np.zeros((2, 4, 32), np.uint8)], "element 0 is not one of the group"),
        ([np.zeros((2, 3, 32), np.uint8)], "sent no table"),
        ([np.zeros((2, 4, 32), np.int64)], "sent no table"),
        ([b"table"], "sent no table"),
    ],
)
def test_a_peer_that_sends_no_table_is_named(messages: list[Any], complaint: str) -> None:
    table = [numbers([1, 2, 3, 4])]
    with pytest.raises(PeerFaultError, match=f"b: .*{complaint}"):
        run_parties(
            {"a": lambda channel: dka(channel, "a", table, 2, Random(1)), "b": bad_peer(*messages)}
        )


def test_a_peer_with_other_records_is_named() -> None:
    table = [numbers([1, 2, 3, 4])]

    noise = derive(Random(5).array((8, 64), np.uint8)).reshape(2, 4, 32)
    with pytest.raises(PeerFaultError, match="has other records"):
        run_parties(
            {
                "a": lambda channel: dka(channel, "a", table, 2, Random(1)),
                "b": bad_peer(noise, noise),
            }
        )


def test_a_verdict_that_is_none_is_refused() -> None:
    table = [numbers([1, 2, 3, 4])]

    def comparer(channel: Channel) -> None:
        noise = derive(Random(5).array((8, 64), np.uint8)).reshape(2, 4, 32)
        with channel.step("dka"):
            with channel.step("size"):
                channel.send("b", 4, 2, 3)
                channel.recv("b")
            with channel.step("round-1"):
                channel.send("b", noise)
                channel.send("b", "perhaps")
                channel.recv("b")

    with pytest.raises(PeerFaultError, match="sent no verdict"):
        run_parties({"a": comparer, "b": lambda channel: dka(channel, "a", table, 2, Random(1))})


def test_a_comparer_that_is_never_content_is_named() -> None:
    table = [numbers([1, 2, 3, 4])]
    noise = derive(Random(5).array((8, 64), np.uint8)).reshape(2, 4, 32)

    def comparer(channel: Channel) -> None:
        with channel.step("dka"):
            with channel.step("size"):
                channel.send("b", 4, 2, 0)
                channel.recv("b")
            for number in range(1, 100):
                with channel.step(f"round-{number}"):
                    channel.send("b", noise)
                    channel.recv("b")
                    channel.recv("b")
                    channel.send("b", 0)

    with pytest.raises(PeerFaultError, match="a: finds that the topmost table is not k-anonymous"):
        run_parties({"a": comparer, "b": lambda channel: dka(channel, "a", table, 2, Random(1))})


@pytest.mark.parametrize("told", [[4, 2, -1], [4, 2, 1 << 30], [4, 2], [4, 2, "x"]])
def test_an_impossible_opening_is_refused(told: list[Any]) -> None:
    table = [numbers([1, 2, 3, 4])]

    def peer(channel: Channel) -> None:
        with channel.step("dka"), channel.step("size"):
            channel.send("a", *told)
            channel.recv("a")

    with pytest.raises(PeerFaultError, match=r"b: sent no (numbers|possible)"):
        run_parties({"a": lambda channel: dka(channel, "a", table, 2, Random(1)), "b": peer})
