"""Whatever a party tells several others before the first round is compared: who tells two stories is
named, and no honest party ever is."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.jobs.kinds.statistics import joining
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import decode, encode
from coterie.protocols.messaging.wrappers import Wrapper
from coterie.protocols.primitives.randomness import Random
from tests.jobs.test_views import HEAD, INTEGRATE, KEYS, NAMES, SENSITIVE, VERTICAL, world_of

INTERSECT = "kind: intersect\nid: ID\n"
COUNT = f"kind: count\n{VERTICAL}{KEYS['count']}"
BOUNDED = (
    INTEGRATE.replace("taxonomy: Job.csv", "taxonomy: Job.csv, at_most: [A, B, C]")
    + "max_suppression: 0.5\n"
)


def another_head(values):
    return [*values[:2], "ab" * 32, *values[3:]] if len(values) == 7 else values


def another_nonce(values):
    return [*values[:3], bytes(len(values[3])), *values[4:]] if len(values) == 7 else values


def another_salt(values):
    return [values[0], bytes(32), *values[2:]] if len(values) == 5 else values


def turned(values):
    """Points in another order; digests, which come in a list, as they are."""
    return [values[0][::-1]] if isinstance(values[0], np.ndarray) else values


def one_more(values):
    return [[[*values[0][0], "Z"]]] if isinstance(values[0][0], list) else values


def flipped(values):
    changed = values[-1].copy()
    changed[0] ^= 1
    return [*values[:-1], changed]


def counted_wrongly(values):
    return [values[0] + 1] if isinstance(values[0], np.ndarray) else values


def another_bit(values):
    """Which records stay, or the codes of an instruction."""
    at = next((i for i, v in enumerate(values) if isinstance(v, np.ndarray) and v.size > 2), None)
    if at is None:
        return values
    changed = values[at].copy()
    changed[0] ^= 1
    return [*values[:at], changed, *values[at + 1 :]]


CASES = {
    "head of the audit log": (INTERSECT, "bank", "agree", another_head),
    "number of this attempt": (INTERSECT, "bank", "agree", another_nonce),
    "salt": (INTERSECT, "bank", "intersect/sizes", another_salt),
    "blinded points": (INTERSECT + "protocol: ring\n", "lender", "intersect/all/function", turned),
    "encrypted sets": (INTERSECT + "reveal: pairwise\n", "bank", "intersect/all/compare", turned),
    "domains": (COUNT, "bank", "domains", one_more),
    "class": (COUNT, "lender", "class/share", flipped),
    "class of an integration": (INTEGRATE, "lender", "class/share", flipped),
    "numbers of sensitive values": (SENSITIVE, "card", "specialize/conditions", counted_wrongly),
    "records within bounds": (BOUNDED, "bank", "bounds", another_bit),
    "start values": (BOUNDED, "bank", "specialize/start/instruct", another_bit),
}


class TwoFaced(Wrapper):
    """Changes what goes to one peer in one step."""

    def __init__(self, inner, peer, step, change):
        super().__init__(inner)
        self.peer, self.step, self.change = peer, step, change

    def transmit(self, peer, message):
        if peer == self.peer and message.step == self.step:
            values = decode(bytearray(b"".join(bytes(b) for b in message.body)))
            message = replace(message, body=encode(self.change(values)))
        self.inner.transmit(peer, message)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_who_tells_two_stories_is_named_and_no_honest_party(case, place, tmp_path, monkeypatch):
    monkeypatch.setattr(joining, "MOST_CLASSES", 4)
    text, liar, step, change = CASES[case]
    kind, rest = text.split("\n", 1)
    honest = [name for name in NAMES if name != liar]
    found, lock = {}, threading.Lock()

    def noting(name, party):
        def run(channel):
            try:
                return party(channel, Random(name))
            except PeerFaultError as error:
                with lock:
                    found[name] = error
                raise

        return run

    parties = world_of(f"{kind}\n{HEAD}{rest}", tmp_path, "bank", 0)
    with pytest.raises(PeerFaultError):
        run_parties(
            {name: noting(name, party) for name, party in parties.items()},
            wrap=lambda t: TwoFaced(t, honest[place], step, change) if t.me == liar else t,
        )
    faults = {name: error for name, error in found.items() if name in honest}
    assert faults
    assert {error.peer for error in faults.values()} == {liar}
    assert all("different things" in e.reason or "something else" in e.reason for e in faults.values())  # fmt: skip
