"""Every experiment in the registry is a function that takes arguments."""

import importlib

import pytest

from coterie.experiments.registry import EXPERIMENTS


@pytest.mark.parametrize("place", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_an_experiment_is_there_and_explains_itself(place, capsys):
    module, _, function = place.partition(":")
    with pytest.raises(SystemExit) as ended:
        getattr(importlib.import_module(module), function)(["--help"])
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out
