"""Servers beside each other get ports that are free and different."""

import os
import random
import socket
import subprocess
import sys

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.coordinator.demo.ports import free_ports

# A process that would take the same ports in the same order, if nothing told it that they are taken.
SECOND = """
import random, sys
from coterie.coordinator.demo import ports
random.SystemRandom = lambda: random.Random(1)
print(*ports.free_ports(3))
"""


def test_the_ports_are_different_and_can_be_bound():
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))


def test_a_second_process_takes_others_before_the_servers_of_the_first_have_started(monkeypatch):
    monkeypatch.setattr(random, "SystemRandom", lambda: random.Random(1))
    ports = free_ports(3)
    done = subprocess.run(
        [sys.executable, "-c", SECOND], capture_output=True, text=True, check=True
    )
    second = [int(port) for port in done.stdout.split()]
    assert len(second) == 3
    assert not set(ports) & set(second)


def test_calls_leave_no_more_than_a_few_descriptors():
    for _ in range(20):
        free_ports(3)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        free_ports(3)
    assert len(os.listdir("/proc/self/fd")) <= before


def test_too_many_ports_are_an_error():
    with pytest.raises(EnvironmentFaultError, match="no free ports"):
        free_ports(201)
