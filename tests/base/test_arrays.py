"""Signatures name arrays by one set of names."""

import re

from tests import ROOT

ALIAS = re.compile(
    r"np\.ndarray\[Any, (?:Any|np\.dtype\[np\.(?:u?int(?:8|32|64)|float64|bool_)\])\]"
)


def test_no_module_spells_an_array_type_that_has_a_name():
    own = {ROOT / "base/arrays.py", ROOT / "anonymity/counts/hidden_cells.py"}
    for room in ROOT.glob("*/__init__.py"):
        for path in set(room.parent.rglob("*.py")) - own:
            if "coterie" not in path.relative_to(ROOT).parts:
                assert not ALIAS.search(path.read_text()), f"{path}: see base/arrays.py"
