"""The list of secrecy mutants is sound and complete. `make secrecy` runs them."""

import ast
from collections import Counter

import pytest

from tests import ROOT
from tests.secrecy.mutants import HARMLESS, MUTANTS, REASONS, WEAKENED
from tests.test_openings import functions

DRAWS = {"bytes", "array", "bits", "below", "integers", "permutation", "fork"}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutants_snippet_stands_once_in_its_file_and_its_tests_exist(mutant):
    source = (ROOT / mutant.file).read_text()
    assert source.count(mutant.old) == 1, f"'{mutant.old}' in {mutant.file}"
    ast.parse(source.replace(mutant.old, mutant.new))
    assert mutant.tests
    for test in mutant.tests:
        path, _, name = test.partition("::")
        text = (ROOT / path).read_text()
        assert not name or f"def {name.split('[')[0].split('::')[-1]}(" in text, test


@pytest.mark.parametrize("harmless", HARMLESS, ids=lambda harmless: harmless.name)
def test_what_may_be_weaker_still_stands_in_its_file_and_has_a_reason(harmless):
    source = (ROOT / harmless.file).read_text()
    assert source.count(harmless.old) == 1, f"'{harmless.old}' in {harmless.file}"
    ast.parse(source.replace(harmless.old, harmless.new))
    assert len(harmless.reason.split()) > 5
    assert (harmless.file, harmless.new) not in {(one.file, one.new) for one in MUTANTS}


def test_there_are_at_least_forty_and_no_two_have_one_name():
    assert len(MUTANTS) - len(WEAKENED) >= 40
    assert len(WEAKENED) >= 40
    assert max(Counter(one.name for one in [*MUTANTS, *HARMLESS]).values()) == 1


def generator(node):
    """Whether an expression is a generator of random numbers by its name."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("rng", "_rng")


def draws(path):
    """(line, function) of every value that is drawn in a file."""
    found = set()
    for name, function in functions(ast.parse(path.read_text())):
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in DRAWS
                and generator(node.func.value)
            ):
                found.add((node.lineno, name))
    return found


def mutated_lines(place, mutants):
    source = (ROOT / place).read_text()
    lines = set()
    for mutant in mutants:
        if mutant.file == place and mutant.old in source:
            first = source[: source.index(mutant.old)].count("\n") + 1
            lines |= set(range(first, first + mutant.old.count("\n") + 1))
    return lines


@pytest.mark.parametrize(
    "path", sorted((ROOT / "protocols").rglob("*.py")), ids=lambda path: path.stem
)
def test_every_use_of_randomness_has_a_mutant_or_a_reason(path):
    place = str(path.relative_to(ROOT))
    removed = mutated_lines(place, [one for one in MUTANTS if one not in WEAKENED])
    weakened = mutated_lines(place, [*WEAKENED, *HARMLESS])
    for line, function in draws(path):
        known = {(place, "*"), (place, function)} & REASONS.keys()
        where = f"{place}:{line} ({function}) draws something"
        assert line in removed or known, f"{where}: no mutant draws nothing"
        assert line in weakened or known, f"{where}: no mutant draws less (weakened_….py)"


def test_every_reason_is_needed():
    for place, function in REASONS:
        names = {name for _, name in draws(ROOT / place)} or {"*"}
        assert function == "*" or function in names, f"{place}: {function} draws nothing"
