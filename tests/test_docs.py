"""The documentation speaks of what there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_every_protocol_stands_in_the_reading_order():
    text = (ROOT / "docs/protocols.md").read_text()
    named = set(re.findall(r"^\| `(\w+)` \|", text, re.M))
    modules = {path.stem for path in (ROOT / "protocols").glob("*.py")} - {"__init__"}
    assert named == modules


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page):
    pattern = r"`((?:protos|protocols|anonymity|jobs|party|coordinator|bench|docs|tests)/[\w/.-]+\.(?:py|md|svg|proto))`"
    for name in re.findall(pattern, page.read_text()):
        assert (ROOT / name).exists(), f"{page.name} names {name}"
