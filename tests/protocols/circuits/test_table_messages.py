"""Tables are spread over messages so that each gate of each instance is sent once, in order."""

import pytest

from coterie.protocols.circuits import table_messages
from coterie.protocols.circuits.arithmetic import Builder
from coterie.protocols.circuits.boolean import AND
from coterie.protocols.circuits.table_messages import WINDOW, Part, parts_of


def product(width):
    builder = Builder()
    x, y = builder.input("x", width), builder.input("y", width)
    builder.output("z", builder.multiply(x, y, width))
    return builder.build()


@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 15])
@pytest.mark.parametrize("count", [1, 5])
def test_every_gate_of_every_instance_is_in_one_message(monkeypatch, chunk, count):
    monkeypatch.setattr(table_messages, "CHUNK_ANDS", chunk)
    circuit = product(6)
    sent = [
        (instance, gate)
        for part in parts_of(circuit, count)
        for instance in range(part.instances.start, part.instances.stop)
        for gate in range(part.start, part.stop)
    ]
    assert sent == [(i, gate) for i in range(count) for gate in range(len(circuit.kinds))]


def test_no_message_of_a_large_circuit_has_more_gates_than_fit(monkeypatch):
    monkeypatch.setattr(table_messages, "CHUNK_ANDS", 7)
    circuit = product(6)
    for part in parts_of(circuit, 3):
        assert (circuit.kinds[part.start : part.stop] == AND).sum() <= 7


def test_the_sender_waits_for_exactly_the_windows_that_are_confirmed():
    parts = [Part(number, slice(0, 1), 0, 1) for number in range(5 * WINDOW)]
    waited = [part.waits_for() for part in parts if part.waits_for()]
    confirmed = [part.completes(parts) for part in parts if part.completes(parts)]
    assert waited == confirmed == [1, 2, 3]
