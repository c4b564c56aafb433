"""Writes the generated tables of docs/threat-model.md: `python docs/openings.py`.

A table of what is opened stands between `<!-- opened: PART … -->` and `<!-- end -->`, and holds the
openings that the modules of these parts declare (coterie/protocols/messaging/opening.py). The table
of the keys of a job stands between `<!-- keys -->` and `<!-- end -->`, and has the lines of
docs/job_keys.yaml.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from coterie.protocols.messaging.opening import Opening, declared

PAGE = Path(__file__).parent / "threat-model.md"
KEYS = Path(__file__).parent / "job_keys.yaml"
ROOMS = ("coterie.protocols", "coterie.jobs", "coterie.transport", "coterie.party")
_TABLE = re.compile(r"<!-- opened: ([a-z ]+) -->\n.*?<!-- end -->", re.DOTALL)
_KEYS = re.compile(r"<!-- keys -->\n.*?<!-- end -->", re.DOTALL)


def all_openings() -> list[Opening]:
    """All openings that the modules of the project declare, in the order of declaration."""
    for room in ROOMS:
        package = importlib.import_module(room)
        for module in pkgutil.walk_packages(package.__path__, f"{room}."):
            importlib.import_module(module.name)
    # By name, because the order of declarations is that in which modules happen to be imported.
    found = sorted(declared().values(), key=lambda opening: opening.name)
    return [opening for opening in found if opening.part != "test"]


def table(openings: Iterable[Opening]) -> str:
    rows = [f"| {o.name} | {o.what} | {o.to} | {o.why} |" for o in openings]
    return "\n".join(["| opened | what it is | to whom | why |", "|---|---|---|---|", *rows])


def key_lines() -> list[dict[str, Any]]:
    """The lines of the table of keys: `keys`, perhaps `kinds`, `who`, `worst`, `bound`, `test`."""
    lines = yaml.safe_load(KEYS.read_text(encoding="utf-8"))
    return [{"who": "coordinator"} | line for line in lines]


def key_table() -> str:
    rows = [
        "| key | who may choose it | the worst | what bounds it | test |",
        "|---|---|---|---|---|",
    ]
    for line in key_lines():
        names = ", ".join(f"`{key}`" for key in line["keys"])
        kinds = f" of {', '.join(line['kinds'])}" if "kinds" in line else ""
        path, _, test = line["test"].partition("::")
        named = f"`{path}`" + (f": {test.removeprefix('test_').replace('_', ' ')}" if test else "")
        rows.append(
            f"| {names}{kinds} | {line['who']} | {line['worst']} | {line['bound']} | {named} |"
        )
    return "\n".join(rows)


def filled(page: str) -> str:
    """The page with its tables as the declarations have them."""
    openings = all_openings()
    told: list[str] = []

    def fill(match: re.Match[str]) -> str:
        parts = match[1].split()
        told.extend(parts)
        inside = [o for part in parts for o in openings if o.part == part]
        return f"<!-- opened: {match[1]} -->\n{table(inside)}\n<!-- end -->"

    page = _TABLE.sub(fill, page)
    page, keys = _KEYS.subn(lambda _: f"<!-- keys -->\n{key_table()}\n<!-- end -->", page)
    if keys != 1:
        raise ValueError(f"{PAGE.name} must have one table of keys: a line <!-- keys -->")
    missing = {opening.part for opening in openings} ^ set(told)
    if missing or len(told) != len(set(told)):
        names = ", ".join(sorted(missing)) or "every part"
        raise ValueError(
            f"{PAGE.name} must have one table for {names}: a line <!-- opened: NAME -->, and below "
            "it a line <!-- end -->"
        )
    return page


if __name__ == "__main__":
    try:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    except ValueError as error:
        sys.exit(str(error))
