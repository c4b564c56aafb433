"""Where a server that listens on all addresses is reached from its own machine."""

import pytest

from coterie.base.addresses import from_this_machine


@pytest.mark.parametrize(
    ("listen", "reached"),
    [
        ("0.0.0.0:7000", "127.0.0.1:7000"),
        ("[::]:7000", "[::1]:7000"),
        ("bank.example:7000", "bank.example:7000"),
    ],
)
def test_an_address_for_everybody_is_reached_by_the_loopback(listen, reached):
    assert from_this_machine(listen) == reached
