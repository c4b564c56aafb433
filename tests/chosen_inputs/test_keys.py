"""Every key of a job has a line in the threat model, which names a test."""

import ast
import importlib.util

import pytest

from coterie.base.errors import UsageError
from tests import ROOT
from tests.chosen_inputs.every_key import REFUSED, all_keys, parse, unreached, with_key


@pytest.fixture(scope="module")
def found():
    return all_keys()


@pytest.fixture(scope="module")
def lines():
    spec = importlib.util.spec_from_file_location("openings", ROOT / "docs/openings.py")
    openings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(openings)
    return openings.key_lines()


def test_the_examples_have_every_key(found):
    """A key that the code asks for and no example has: give it to an example of its kind."""
    keys, present, _ = found
    assert keys - present == set(REFUSED), "mend EXAMPLES in tests/chosen_inputs/every_key.py"


def test_the_examples_reach_every_place_that_asks_for_a_key(found):
    """Without it a key could be read where no example goes, and be in no line."""
    assert unreached(found[2]) == [], "add an example to tests/chosen_inputs/every_key.py"


@pytest.mark.parametrize("key", REFUSED, ids=".".join)
def test_a_key_that_only_explains_itself_is_refused_everywhere(key):
    for text in with_key(*key, REFUSED[key]):
        with pytest.raises(UsageError):
            parse(text)


def test_every_key_has_one_line(found, lines):
    keys = found[0] - set(REFUSED)
    named = []
    for line in lines:
        kinds = line.get("kinds") or {kind for kind, _ in keys}
        here = [(kind, key) for kind in kinds for key in line["keys"] if (kind, key) in keys]
        assert {key for _, key in here} == set(line["keys"]), f"no kind has a key of {line['keys']}"
        assert "kinds" not in line or {kind for kind, _ in here} == set(kinds), line["kinds"]
        named += here
    missing = sorted(keys - set(named))
    assert missing == [], "add a line to docs/job_keys.yaml, then: make openings"
    assert len(named) == len(set(named)), "a key has two lines in docs/job_keys.yaml"


def test_every_line_is_whole_and_its_test_exists(lines):
    missing = []
    for line in lines:
        assert set(line) - {"kinds"} == {"keys", "who", "worst", "bound", "test"}
        assert all(line.values()), line["keys"]
        path, _, name = line["test"].partition("::")
        if not (ROOT / path).is_file() or (name and name not in _tests(path)):
            missing.append(line["test"])
    assert missing == []


def _tests(path):
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
