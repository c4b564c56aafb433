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
                assert module in ("coterie", "coterie.checks", "coterie.errors"), (
                    f"{path} imports {module}"
                )
            elif top in ALL:
                assert top in allowed, f"{path} imports {module}"


FOLDERS = (
    "bulk",
    "transfer",
    "intersection",
    "circuits",
    "multiparty",
    "integration",
    "numbers",
    "statistics",
)  # of protocols/, in the order in which they build on each other


def test_the_folders_of_protocols_are_these():
    inside = {path.parent.name for path in (ROOT / "protocols").glob("*/*.py")}
    assert inside == set(FOLDERS)


@pytest.mark.parametrize("folder", ["", *FOLDERS])
def test_a_protocol_imports_only_from_its_own_folder_and_those_above(folder):
    allowed = FOLDERS[: FOLDERS.index(folder) + 1] if folder else ()
    for path in (ROOT / "protocols" / folder).glob("*.py"):
        for module in imports(path):
            _, *rest = module.split(".")
            if module.startswith("protocols.") and len(rest) > 1:
                assert rest[0] in allowed, f"{path} imports {module}"
