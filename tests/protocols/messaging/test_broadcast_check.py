"""Who tells different parties different things before the first round is itself named."""

import re
from dataclasses import replace

import pytest

from coterie.base.errors import PeerFaultError, PeerLostError
from coterie.protocols.integration.class_labels import class_holders
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import decode, encode
from coterie.protocols.messaging.wrappers import Metered, Wrapper
from tests.protocols.integration.splits import loans


class TwoFaced(Wrapper):
    """Changes what goes to one peer in some steps."""

    def __init__(self, inner, peer, changes):
        super().__init__(inner)
        self.peer, self.changes = peer, changes

    def transmit(self, peer, message):
        change = self.changes.get(message.step)
        if peer == self.peer and change is not None:
            message = replace(
                message, body=encode(change(decode(b"".join(bytes(b) for b in message.body))))
            )
        self.inner.transmit(peer, message)


def three(class_holder="ann"):
    """cat holds Sex, bob Salary without a range, ann the class and Job."""
    split = loans()
    split.names = ("ann", "bob", "cat")
    split.holders = {"Sex": "cat", "Job": "ann", "Salary": "bob"}
    split.class_holders = (class_holder,)
    split.case.attributes["Salary"] = ("range", None)
    return split


def errors(split, liar, to, changes, strategic=True):
    """What each honest party ends with when `liar` sends one peer something else."""
    found = {}

    def guarded(name):
        strategy = Strategy(0.01)
        hooks = {
            "find_winner": strategy.find_winner,
            "takes_part": strategy.takes_part,
            "confirm": strategy.confirm,
        }
        body = split.party(name, **(hooks if strategic else {}))

        def run(channel):
            try:
                return body(channel)
            except (PeerFaultError, PeerLostError) as error:
                if name != liar:
                    found[name] = error
                raise

        return run

    with pytest.raises((PeerFaultError, PeerLostError)):
        run_parties(
            {name: guarded(name) for name in split.names},
            wrap=lambda t: TwoFaced(t, to, changes) if t.me == liar else t,
        )
    return found


def other_class(values):
    labels, codes = values
    changed = codes.copy()
    changed[0] ^= 1
    return [labels, changed]


def other_span(values):
    [spans] = values
    return [spans - 1]


CASES = {
    "class": ("ann", {"class/share": other_class}),
    "spans": ("bob", {"specialize/announce": other_span}),
}


@pytest.mark.parametrize("strategic", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("place", [0, 1])
def test_who_tells_two_stories_is_named_and_no_honest_party(case, place, strategic):
    liar, changes = CASES[case]
    split = three()
    honest = [name for name in split.names if name != liar]
    found = errors(split, liar, honest[place], changes, strategic)
    faults = {name: error for name, error in found.items() if isinstance(error, PeerFaultError)}
    assert faults
    for name, error in faults.items():
        assert error.peer == liar, (name, str(error))
        assert error.step == "specialize/compare"
        [witness] = set(honest) - {name}
        # Certain where the liar repeats another digest than it sent, else on the witness's word.
        certain = "and now says that it sent something else" in error.reason
        assert "digest" in error.inside
        assert not re.search(r"[0-9a-f]{16}", str(error))
        assert error.said_by == ("" if certain else witness)
        assert certain or f"(or {witness} lies" in error.reason
    assert not any(e.peer in honest for e in found.values() if isinstance(e, PeerFaultError))


def test_who_repeats_falsely_what_it_heard_is_named_by_the_author():
    def lie(values):
        [digests] = values
        return [[bytes(32), *digests[1:]]]

    split = three()
    found = errors(split, "bob", "ann", {"specialize/compare": lie})
    assert isinstance(found["ann"], PeerFaultError)
    assert found["ann"].peer == "bob"
    assert found["ann"].said_by == ""
    assert "repeats falsely what ann sent it" in found["ann"].reason
    assert found["ann"].inside.endswith("at bob 0000000000000000")


def test_who_says_something_else_now_than_it_sent_is_named_for_certain():
    def lie(values):
        [digests] = values
        return [[bytes(32), *digests[1:]]]

    split = three()
    found = errors(split, "ann", "cat", {"specialize/compare": lie})
    assert (found["cat"].peer, found["cat"].said_by) == ("ann", "")
    assert "and now says that it sent something else" in found["cat"].reason
    assert found["cat"].inside.endswith("at ann 0000000000000000")


def test_different_answers_about_who_holds_the_class_are_found_out():
    names = ("ann", "bob", "cat")
    found = {}

    def body(name):
        def run(channel):
            try:
                return class_holders(channel, names, "class", name == "ann")
            except PeerFaultError as error:
                found[name] = error
                raise

        return run

    def lie(values):
        return [1] if values == [0] else values

    with pytest.raises(PeerFaultError):
        run_parties(
            {name: body(name) for name in names},
            wrap=lambda t: TwoFaced(t, "cat", {"holders": lie}) if t.me == "bob" else t,
        )
    honest = [error for name, error in found.items() if name != "bob"]
    assert honest
    assert {error.peer for error in honest} == {"bob"}


def test_two_parties_have_nothing_to_compare():
    meters = {}
    loans().run(wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    assert "specialize/compare" not in meters["ann"].by_step


def test_three_parties_compare_in_one_round():
    meters = {}
    three().run(wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    compared = meters["ann"].by_step["specialize/compare"]
    assert (compared.sent_messages, compared.rounds) == (2, 1)
