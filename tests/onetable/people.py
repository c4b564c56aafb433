"""A small table of people, its taxonomy and its table file, written into a folder."""

import json
from pathlib import Path

from coterie.__main__ import run
from coterie.onetable.methods.registry import GENERALIZING as METHODS

SEVERAL_COLUMNS = [method for method in METHODS if method != "quantiles"]  # in one qid

TABLE_FILE = """\
data: people.csv
method: mondrian
id: ID
class: Class
attributes:
  Age: {range: [17, 90]}
  Place: {taxonomy: taxonomies/Place.csv}
  Sex: {flat: true}
  Ill: {}
requirement:
  - {qid: [Age, Place, Sex], k: 3, sensitive: Ill, l: 2}
"""
PLACES = """\
San Diego;California;West;USA
Los Angeles;California;West;USA
Wichita;Kansas;Midwest;USA
Kansas City;Kansas;Midwest;USA
Lincoln;Nebraska;Midwest;USA
"""
CITIES = ["San Diego", "Los Angeles", "Wichita", "Kansas City", "Lincoln"]


def rows(number: int = 40) -> list[list[str]]:
    return [
        [
            f"p{i}",
            str(20 + i * 7 % 50),
            CITIES[i * 3 % 5],
            "FM"[i // 3 % 2],
            ("cold", "flu", "gout")[i * i % 3],
            "yn"[i % 2],
        ]
        for i in range(number)
    ]


def write_people(
    folder: Path, text: str = TABLE_FILE, people: list[list[str]] | None = None
) -> Path:
    """The table file; its data and taxonomy stand beside it."""
    (folder / "taxonomies").mkdir(exist_ok=True)
    (folder / "taxonomies/Place.csv").write_text(PLACES)
    lines = [["ID", "Age", "Place", "Sex", "Ill", "Class"], *(rows() if people is None else people)]
    (folder / "people.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    path = folder / "people.yaml"
    path.write_text(text)
    return path


def anonymised(folder: Path, text: str = TABLE_FILE, *options: str) -> dict:
    """Runs the command; the content of its `result.json`."""
    path = write_people(folder, text)
    run(["anonymise", str(path), "--out", str(folder / "out"), "--force", *options])
    return json.loads((folder / "out/result.json").read_text())
