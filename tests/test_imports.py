"""The rooms' imports point one way."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = {
    "anonymity": set(),
    "protos": set(),
    "protocols": {"anonymity"},
    "jobs": {"protocols", "anonymity"},
    "party": {"jobs", "protocols", "anonymity", "protos"},
    "coordinator": {"jobs", "protocols", "anonymity", "protos"},
}
ALL = {*ROOMS, "coterie", "bench", "tests"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_lies_below_it(room):
    allowed = {room, *ROOMS[room]}
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        for module in imports(path):
            top = module.split(".")[0]
            if top == "coterie":
                assert module in ("coterie", "coterie.errors"), f"{path} imports {module}"
            elif top in ALL:
                assert top in allowed, f"{path} imports {module}"
