"""What a peer sends is checked as it comes: by the channel's typed receivers, or for a listed reason."""

import ast

import pytest

from tests import ROOT

# Where a message is received without saying at once what is due: by file and function, the reason.
REASONS = {
    ("protocols/integration/mondrian/shown_cuts.py", "ShownCuts"): (
        "cuts that a holder sees; read_instruct checks every field"
    ),
    ("protocols/integration/instructions.py", "Exchange"): (
        "an instruction, or 0 at the end of a turn; read_instruction checks every field"
    ),
    ("protocols/integration/participation.py", "Strategy"): (
        "compared as a whole with this party's own value (same_value)"
    ),
    ("protocols/integration/mondrian/winner_exchange.py", "WinnerExchange"): (
        "lists of regions and keys; check_list, read_settled and read_keys check every field"
    ),
    ("protocols/integration/mondrian/instructions_of_cuts.py", "Instructions"): (
        "cuts; read_instruct checks every field"
    ),
    ("protocols/integration/mondrian/levels.py", "Levels"): (
        "the ends of numbers; read_ends checks every field"
    ),
    ("jobs/run/party_run.py", "agree"): "versions of the wire differ in the form of this message",
}
# Functions that take what was received as an argument and check it before anything else.
CHECKING = {"from_wire", "_unpacked", "_checked", "_points", "_corrections"}


def received(path):
    """The calls of recv and gather that no checking call surrounds, by their function or class."""
    tree = ast.parse(path.read_text())
    checked = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) in CHECKING
        for inner in ast.walk(node)
    }
    # A name that is passed on to a checking function in the same place counts, too.
    passed = {
        inner.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) in CHECKING
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name)
    }
    for top in tree.body:
        for node in ast.walk(top):
            if isinstance(node, ast.Assign) and all(
                isinstance(target, ast.Name) and target.id in passed for target in node.targets
            ):
                checked.add(id(node.value))
        for node in ast.walk(top):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("recv", "gather")
                and "channel" in ast.unparse(node.func.value)
                and id(node) not in checked
            ):
                yield getattr(top, "name", ""), node.lineno


def _name(function):
    return getattr(function, "attr", getattr(function, "id", ""))


def modules():
    return [
        path.relative_to(ROOT)
        for room in ("protocols", "jobs")
        for path in sorted((ROOT / room).rglob("*.py"))
    ]


@pytest.mark.parametrize("module", modules(), ids=str)
def test_every_message_is_received_with_what_is_due(module):
    for function, line in received(ROOT / module):
        assert (str(module), function) in REASONS, f"{module}:{line} receives anything at all"


def test_the_reasons_are_needed():
    found = {(str(module), name) for module in modules() for name, _ in received(ROOT / module)}
    assert set(REASONS) <= found
