"""A stream that may be forked again is named by its turn: the same name gives the same masks again.

A generator's fork follows from its seed and the label alone. Within a loop, or a function within a
function, which its caller may call again, a label that never changes is a pad used twice. View tests
notice it where they run the loop twice (`tests/views.py`); here every fork is read.
"""

import ast

import pytest

from tests import ROOT

# (file, label): why the function that forks it is called once.
ONCE = {
    ("protocols/patterns/separation.py", "seed"): "`Channel.once`",
    ("protocols/patterns/separation.py", "offsets"): "`Channel.once`",
    ("jobs/kinds/models/regress.py", "rank"): "a model is ranked when it is found",
    ("jobs/kinds/models/regress.py", "events"): "the grid of times is joined before the first step",
    ("jobs/kinds/models/vertical_regress.py", "counts"): "`joint_sums` asks once, about all counts",
    (
        "jobs/kinds/models/vertical_regress.py",
        "noise",
    ): "`joint_sums` draws once, in `Channel.once`",
    ("jobs/kinds/models/vertical_regress.py", "products"): "`Channel.once`",
    ("jobs/kinds/statistics/joining.py", "class"): "`Channel.once`",
    ("jobs/kinds/statistics/keeping.py", "costs"): "`kept_share`",
    ("jobs/kinds/statistics/mixed.py", "decide"): "`Channel.once`",
}
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


def repeated_forks(node, within=False, again=False):
    """(line, label) of forks by a constant label that may be run more than once in one call."""
    for child in ast.iter_child_nodes(node):
        function = isinstance(child, _FUNCTIONS)
        repeated = again or isinstance(child, _LOOPS) or (function and within)
        if (
            repeated
            and isinstance(child, ast.Call)
            and isinstance(child.func, ast.Attribute)
            and child.func.attr == "fork"
            and all(isinstance(label, ast.Constant) for label in child.args)
        ):
            yield child.lineno, "".join(str(label.value) for label in child.args)
        yield from repeated_forks(child, within or function, repeated)


FILES = [path for room in ("jobs", "protocols") for path in sorted((ROOT / room).rglob("*.py"))]
FORKING = [path for path in FILES if ".fork(" in path.read_text()]


@pytest.mark.parametrize("path", FORKING, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stream_that_may_be_forked_again_is_named_by_its_turn(path):
    place = str(path.relative_to(ROOT))
    for line, label in repeated_forks(ast.parse(path.read_text())):
        assert (place, label) in ONCE, f"{place}:{line}: the fork '{label}' may come again"


def test_every_reason_is_needed():
    found = {
        (str(path.relative_to(ROOT)), label)
        for path in FORKING
        for _, label in repeated_forks(ast.parse(path.read_text()))
    }
    assert set(ONCE) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(rng):\n    return rng.fork('a')", []),
        ("def f(rng):\n    for i in range(2):\n        rng.fork('a')", [(3, "a")]),
        ("def f(rng):\n    for i in range(2):\n        rng.fork(f'a {i}')", []),
        ("def f(rng):\n    def g():\n        return rng.fork('a')\n    return g", [(3, "a")]),
        ("class C:\n    def f(self):\n        return self.rng.fork('a')", []),
        ("def f(rng):\n    return [rng.fork('a') for _ in range(2)]", [(2, "a")]),
    ],
)
def test_loops_and_inner_functions_are_read(text, found):
    assert list(repeated_forks(ast.parse(text))) == found
