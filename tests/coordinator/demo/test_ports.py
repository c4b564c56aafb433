"""Servers beside each other get ports that are free and different."""

import socket

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.coordinator.demo.ports import free_ports


def test_the_ports_are_different_and_can_be_bound():
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))


def test_too_many_ports_are_an_error():
    with pytest.raises(EnvironmentFaultError, match="no free ports"):
        free_ports(201)
