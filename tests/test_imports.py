"""The rooms' imports point one way, and so do those of the folders inside a room."""

import ast
import re
from pathlib import Path

import pytest

from tests import ROOT

# From the bottom up: a room may import those that stand before it, as far as they are listed.
BELOW = {
    "base": set(),
    "protos": set(),
    "anonymity": {"base"},
    "protocols": {"base", "anonymity"},
    "trust": {"base"},
    "transport": {"base", "protos", "protocols", "trust"},
    "jobs": {"base", "anonymity", "protocols"},
    "onetable": {"base", "anonymity", "jobs"},
    "relay": {"base", "jobs", "trust"},
    "party": {"base", "protos", "anonymity", "protocols", "trust", "transport", "jobs"},
    "coordinator": {"base", "protos", "anonymity", "protocols", "trust", "transport", "jobs",
                    "onetable"},
    "experiments": {"base", "anonymity", "protocols", "jobs", "onetable", "coordinator"},
    "bench": {"base", "protos", "anonymity", "protocols", "trust", "transport", "jobs", "onetable",
              "party", "coordinator", "experiments"},
}  # fmt: skip
# In the order in which the folders of a room build on each other. The modules at the top of a room
# import none of them, unless the list names the modules, too.
FOLDERS = {
    "anonymity": ["table", "models", "classifier", "utility", "counts", "specialization",
                  "cuts", "algorithms", "anatomy", "condensation", "randomization", "rules", "risk"],
    "protocols": ["messaging", "primitives", "transfer", "intersection", "circuits", "multiparty",
                  "numbers", "statistics", "models", "aggregates", "patterns", "integration"],
    "jobs": ["file", "data", "matching", "pages", "kinds", "run", "results"],
    "onetable": ["checks", "large", "methods", "interface", "inspection", "advice", "starting",
                 "attack", "commands"],
    "party": ["store", "limits", "settings", "policy", "config", "answers", "job_record", "books", "history",
              "records", "holds", "live", "callers", "queue", "receptions", "output", "preflight",
              "steward", "health", "relayed", "worker", "proposals", "service", "server", "desk", "operator",
              "cli"],
    "coordinator": ["run", "results", "simulate", "demo", "interface", "cli"],
}  # fmt: skip


def imports(path: Path) -> set[str]:
    """The modules of `coterie` that a file imports, without the package's name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    bare = {name for name in found if name.split(".")[0] in {*BELOW, "tests"}}
    assert not bare, f"{path} imports {bare} without 'coterie.'"
    return {name.removeprefix("coterie.") for name in found if name.startswith("coterie.")}


def files(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    assert found, folder
    return found


def test_every_folder_of_the_project_is_a_room_and_a_link():
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"coterie", "tests"}
    assert rooms == set(BELOW)
    for room in rooms:
        link = ROOT / "coterie" / room
        assert link.is_symlink()
        assert link.readlink() == Path("..", room)


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_what_lies_below_it(room):
    allowed = {room, *BELOW[room]}
    for path in files(ROOT / room):
        for module in imports(path):
            # The registry of a room's commands and the version are the front door's.
            assert module.split(".")[0] in {*allowed, "__version__"}, f"{path} imports {module}"


@pytest.mark.parametrize("room", FOLDERS)
def test_the_folders_of_a_room_are_these(room):
    inside = {path.parent.name for path in (ROOT / room).glob("*/__init__.py")}
    modules = {path.stem for path in (ROOT / room).glob("*.py")} - {"__init__"}
    assert set(FOLDERS[room]) in (inside, inside | modules)


@pytest.mark.parametrize(
    ("room", "folder"), [(room, folder) for room in FOLDERS for folder in ["", *FOLDERS[room]]]
)
def test_a_folder_imports_only_from_itself_and_those_before(room, folder):
    order = FOLDERS[room]
    allowed = order[: order.index(folder) + 1] if folder else []
    place = ROOT / room / folder
    if not folder:
        inside = [path for path in place.glob("*.py") if path.stem not in order]
    else:
        inside = files(place) if place.is_dir() else [place.with_suffix(".py")]
    for path in inside:
        for module in imports(path):
            name, _, rest = module.partition(".")
            if name == room and rest.split(".")[0] in order:
                assert rest.split(".")[0] in allowed, f"{path} imports {module}"


def test_the_table_of_rooms_lists_the_folders_that_a_room_has():
    page = (ROOT / "docs/architecture.md").read_text()
    listed = {
        room: folders.replace("`", "").split()
        for room, folders in re.findall(
            r"^\| `(\w+)/` \|.*\|(?: (`[\w ]+`))? \|$", page, re.MULTILINE
        )
    }
    for room, folders in listed.items():
        inside = {path.name for path in (ROOT / room).iterdir() if path.is_dir()}
        assert set(folders) == inside - {"__pycache__"}, room
        if room in FOLDERS:
            assert folders == [name for name in FOLDERS[room] if name in inside]
    assert set(BELOW) - set(listed) == {"protos", "experiments"}
