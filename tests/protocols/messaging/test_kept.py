"""Answers that are kept over attempts: used without a message, never mixed, never redrawn."""

import numpy as np
import pytest

from coterie.base.errors import CoterieError, RefusedError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.kept import Kept, MemoryAnswers, sound_claim
from coterie.protocols.messaging.memory import MemoryNetwork, run_parties
from coterie.protocols.messaging.opening import declare

SEEN = declare(
    "test: a kept answer",
    what="A number that a test opens.",
    to="every party",
    why="The test counts how often it is noted.",
)


def attempt(stores, nonces, work=lambda channel: None):
    """One attempt of parties a and b, each with its store and what it draws for the token."""
    kept = {name: Kept(store) for name, store in stores.items()}
    claims = {name: one.claim for name, one in kept.items()}
    for name, one in kept.items():
        one.begin(nonces, [claims[other] for other in kept if other != name])
    network = MemoryNetwork(list(stores))
    return {
        name: work(Channel(network.transport(name), "s", None, one)) for name, one in kept.items()
    }


def numbers(*values):
    def work(channel):
        return [channel.once(f"answer {at}", lambda v=value: v) for at, value in enumerate(values)]

    return work


FIRST, SECOND, THIRD = ({"a": bytes([n]) * 16, "b": bytes(16)} for n in (1, 2, 3))


def test_what_all_parties_kept_is_not_sought_again():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    attempt(stores, FIRST, numbers(5, 6))
    assert attempt(stores, SECOND, numbers(7, 8)) == {"a": [5, 6], "b": [5, 6]}


def test_all_go_on_after_the_last_answer_that_all_have():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    attempt(stores, FIRST, numbers(5, 6))
    stores["b"].answers.pop()
    assert attempt(stores, SECOND, numbers(7, 8)) == {"a": [5, 8], "b": [5, 8]}
    assert len(stores["a"].answers) == len(stores["b"].answers) == 2


def test_answers_of_different_attempts_are_never_mixed():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    attempt(stores, FIRST, numbers(5))
    before = list(stores["a"].answers)
    stores["b"].answers.clear()
    attempt(stores, SECOND, numbers(7))
    stores["a"].answers = before  # it was killed before it could store that it begins anew
    assert attempt(stores, THIRD, numbers(9)) == {"a": [9], "b": [9]}


def test_arrays_bytes_and_lists_come_back_as_they_were():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    value = [np.arange(5, dtype=np.int64), b"x", [1 << 80, "text"], np.zeros((2, 3), np.bool_)]
    attempt(stores, FIRST, lambda channel: channel.once("all", lambda: value))
    array, data, rest, table = attempt(stores, SECOND, lambda c: c.once("all", lambda: None))["a"]
    assert array.tolist() == list(range(5))
    assert (data, rest, table.shape, table.dtype) == (b"x", [1 << 80, "text"], (2, 3), np.bool_)


def test_what_was_opened_for_a_kept_answer_is_listed_again():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}

    def work(channel):
        channel.once("opened", lambda: channel.open(SEEN, 3))
        return channel.opened.listed()

    assert attempt(stores, FIRST, work) == attempt(stores, SECOND, work)


def test_an_answer_within_an_answer_is_part_of_it():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}

    def work(channel):
        inner = lambda: channel.once("inner", lambda: 1) + 1  # noqa: E731
        return [channel.once("outer", inner), channel.once("next", lambda: 9)]

    attempt(stores, FIRST, work)
    assert [answer.what for answer in stores["a"].answers] == ["outer", "next"]
    assert attempt(stores, SECOND, work)["a"] == [2, 9]


def test_what_is_random_in_the_result_is_drawn_once_even_if_nothing_else_is_kept():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    draws = iter(range(100))

    def work(channel):
        return channel.drawn("number", lambda: next(draws))

    first = attempt(stores, FIRST, work)
    stores["b"].answers.clear()
    again = attempt(stores, SECOND, work)
    assert again["a"] == first["a"]
    assert again["b"] != first["b"]


def test_answers_of_another_protocol_end_the_job():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    attempt(stores, FIRST, numbers(5))
    with pytest.raises(CoterieError, match="'answer 0' was kept where 'else' is due"):
        attempt(stores, SECOND, lambda channel: channel.once("else", lambda: 1))


def test_without_a_store_everything_is_computed():
    assert run_parties({"a": numbers(1), "b": numbers(2)}) == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    "claim",
    [5, [b"x" * 16], [b"x" * 15, 1], [b"x" * 16, 0], [b"x" * 16, True], [b"x" * 16, 1] * 1001],
)
def test_a_claim_of_a_wrong_form_is_none(claim):
    assert not sound_claim(claim)
    assert sound_claim([b"x" * 16, 1])


# ---- what an attempt tells, after answers were dropped because a peer says that it lacks them


def telling(*parts, then=lambda channel: None, whole=True):
    """An attempt that tells parts of an answer, one after the other, and perhaps keeps it."""

    def work(channel):
        told = b""
        for part in parts:
            told += part
            channel.compare(told)
        then(channel)
        if whole:
            channel.keep("answer", 0, told)

    return work


A, B, C = (bytes([n]) * 32 for n in (1, 2, 3))


@pytest.mark.parametrize("whole", [False, True])
def test_what_was_told_may_be_told_again_and_gone_on_with(whole):
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    for nonces, parts in ((FIRST, [A]), (SECOND, [A, B]), (THIRD, [A, B])):
        attempt(stores, nonces, telling(*parts, whole=whole and parts != [A]))
        stores["b"].answers = []


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("parts", [[B], [A, C], [A[:31] + b"2"], [A[:16] + B[:16]]])
def test_every_part_of_what_is_told_is_compared(whole, parts):
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    attempt(stores, FIRST, telling(A, B, whole=whole))
    stores["b"].answers = []
    with pytest.raises(RefusedError, match="goes on with other data than before"):
        attempt(stores, SECOND, telling(*parts))


def test_an_answer_that_tells_less_than_before_is_another_answer():
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}
    attempt(stores, FIRST, telling(A, B))
    stores["b"].answers = []
    with pytest.raises(RefusedError, match="goes on with other data than before"):
        attempt(stores, SECOND, telling(A))


def test_what_an_attempt_was_about_to_tell_counts_as_told():
    """The peer breaks off when it has heard it, and before the answer is kept."""
    stores = {"a": MemoryAnswers(), "b": MemoryAnswers()}

    def broken(channel):
        raise CoterieError("broke off")

    with pytest.raises(CoterieError, match="broke off"):
        attempt(stores, FIRST, telling(A, then=broken))
    with pytest.raises(RefusedError):
        attempt(stores, SECOND, telling(B))
