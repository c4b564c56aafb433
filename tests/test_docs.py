"""The documentation speaks of what there is."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from tests import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_every_protocol_stands_in_the_reading_order():
    text = (ROOT / "docs/protocols.md").read_text()
    named = set()
    for section in text.split("\n## ")[1:]:
        folder = re.match(r".*: `protocols/([\w/]+)/`$", section.splitlines()[0])
        place = Path("protocols", folder[1]) if folder else Path("protocols")
        named |= {place / f"{name}.py" for name in re.findall(r"^\| `(\w+)` \|", section, re.M)}
    modules = {path.relative_to(ROOT) for path in (ROOT / "protocols").rglob("*.py")}
    assert named == {path for path in modules if path.name != "__init__.py"}


def test_the_reading_order_repeats_the_first_line_of_each_module():
    text = (ROOT / "docs/protocols.md").read_text()
    for path in (ROOT / "protocols").rglob("*.py"):
        if path.name != "__init__.py":
            docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
            first = docstring.split("\n\n")[0].replace("\n", " ")
            assert f"| `{path.stem}` | {first} |" in text, path.relative_to(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page):
    pattern = r"`((?:base|protos|protocols|anonymity|trust|transport|jobs|onetable|party|coordinator|experiments|bench|docs|tests)/[\w/.-]+\.(?:py|md|svg|proto))`"
    for name in re.findall(pattern, page.read_text()):
        assert (ROOT / name).exists(), f"{page.name} names {name}"


def test_the_threat_model_lists_what_is_opened_as_the_code_declares_it():
    spec = importlib.util.spec_from_file_location("openings", ROOT / "docs/openings.py")
    openings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(openings)
    page = openings.PAGE.read_text()
    assert page == openings.filled(page), "run: python docs/openings.py"


WITH_PYTHON = [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if "```python\n" in page.read_text()
]
FRAGMENTS = {
    "fair-play.md": "its lines stand inside a protocol, which has a channel",
    "logarithm.md": "its lines stand inside a protocol, which has a channel",
    "one-table.md": "a reader's own frame stands in its lines; tests/onetable/interface/test_frames.py has them",
}


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_of_the_docs_runs(page, tmp_path, monkeypatch):
    """All blocks of a page, one after the other, as a reader would type them."""
    if page.name in FRAGMENTS:
        pytest.skip(FRAGMENTS[page.name])
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    exec(compile("".join(blocks), str(page), "exec"), {})
