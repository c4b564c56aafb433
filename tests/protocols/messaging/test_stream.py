"""A long array arrives whole however it was cut, and a peer cannot send another shape."""

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.stream import cut, receive_array, send_array

WHOLE = np.arange(60, dtype=np.uint8).reshape(20, 3)


def received(send):
    return run_parties({"a": send, "b": lambda channel: receive_array(channel, "a", 20, 3)})["b"]


@pytest.mark.parametrize("size", [1, 7, 20, 100])
def test_the_cut_does_not_matter(size):
    assert (received(lambda channel: send_array(channel, "b", WHOLE, size)) == WHOLE).all()
    assert sum(len(piece) for piece in cut(WHOLE, size)) == 20


@pytest.mark.parametrize(
    "piece",
    [
        b"bytes",
        WHOLE.astype(np.uint16),
        WHOLE[:, :2],
        WHOLE[:0],
        WHOLE.ravel(),
        np.vstack([WHOLE] * 2),
    ],
    ids=["no array", "type", "width", "empty", "flat", "too many"],
)
def test_another_piece_is_a_fault_of_the_sender(piece):
    with pytest.raises(PeerFaultError) as caught:
        received(lambda channel: channel.send("b", piece))
    assert caught.value.peer == "a"
