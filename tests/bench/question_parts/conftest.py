"""Parts of benchmarks without processes and networks: their parties run in this one's memory."""

import importlib

import pytest

from coterie.bench import _sessions
from coterie.protocols.messaging.memory import run_same


@pytest.fixture
def in_memory(monkeypatch):
    def run(place, arguments):
        module, _, function = place.partition(":")
        party = getattr(importlib.import_module(module), function)
        names = [f"p{at}" for at in range(len(arguments))]
        found = run_same(
            names, lambda channel: party(channel, names, arguments[names.index(channel.me)])
        )
        return [found[name] for name in names]

    monkeypatch.setattr(_sessions, "run", run)
