"""Addresses of servers: their ports, and where one that listens everywhere is reached."""

import pytest

from coterie.base.addresses import from_this_machine, port_of


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


@pytest.mark.parametrize(("address", "port"), [("a:0", 0), ("[::1]:7", 7), ("a:b:65535", 65535)])
def test_a_port_is_what_stands_behind_the_last_colon(address, port):
    assert port_of(address) == port


@pytest.mark.parametrize(
    "text",
    ["bank", ":1", "bank:", "bank:-1", "bank:65536", "bank:²", "bank:٣", "bank:" + "9" * 5000],
)
def test_what_has_no_port_is_no_address(text):
    assert port_of(text) is None
