"""Whatever a peer sends in place of any message: a named fault, never another error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from coterie.base.errors import PeerFaultError, PeerLostError
from coterie.protocols.circuits.arithmetic import to_bits
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import minindex
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.numbers.multiplication import receive_products, send_products
from coterie.protocols.primitives.randomness import Random
from tests.protocols.circuits.comparisons import comparison

DTYPES = st.sampled_from([np.uint8, np.uint64, np.int8, np.int64, np.float64, np.bool_, np.uint16])
VALUES = st.recursive(
    st.one_of(
        st.integers(-(2**70), 2**70),
        st.text(max_size=5),
        st.binary(max_size=40),
        arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)),
        # Shapes that are due somewhere, filled with anything.
        arrays.arrays(
            st.just(np.uint8), st.sampled_from([(128, 2), (128, 1), (2, 1), (128, 2, 32)])
        ),
        arrays.arrays(st.just(np.uint64), st.sampled_from([(2, 15, 2, 2), (2, 10, 2), (2, 1, 2)])),
    ),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=6,
)


def everything(channel, peer, first):
    """One of each kind of call, from one side."""
    circuit = comparison()
    role = (Garbler if first else Evaluator)(channel, peer, Random(1))
    session = role._transfers
    if first:
        session.send(np.zeros((9, 3), np.uint8), np.ones((9, 3), np.uint8))
        session.multiply_bits(np.zeros(2, np.uint8), 9)
        send_products(session, [1, 2], 11, 4)
        role.run(circuit, {"x": to_bits([1, 2], 8)}, "both")
    else:
        session.receive(np.zeros(9, np.uint8), 3)
        session.multiply_bits(np.zeros(2, np.uint8), 9)
        receive_products(session, [1, 2], 11, 4)
        role.run(circuit, {"y": to_bits([3, 1], 8)}, "both")
    minindex(role, np.array([[1, 2]]), 16)


@pytest.mark.parametrize("liar", ["anna", "bela"])
@settings(max_examples=30, deadline=None)
@given(values=st.lists(VALUES, max_size=3), at=st.integers(0, 9))
def test_a_message_of_anything_is_refused_by_name(liar, values, at):
    def run(channel):
        if channel.me == liar:
            original, count = channel.send, [0]

            def send(peer, *honest):
                count[0] += 1
                original(peer, *(values if count[0] == at + 1 else honest))

            channel.send = send
        peer = "bela" if channel.me == "anna" else "anna"
        everything(channel, peer, channel.me == "anna")

    try:
        run_parties({"anna": run, "bela": run})
    except (PeerFaultError, PeerLostError) as error:
        assert error.peer in ("anna", "bela")  # noqa: PT017 to pass unharmed is as good
