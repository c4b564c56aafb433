"""A first table file: what `advise` proposes for one table, every line explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.onetable.advice.advise import advise_source
from coterie.onetable.advice.suggestion import Wishes
from coterie.onetable.starting.look import Looked

_ABOVE = {
    "data:": "where the table is; docs/job-file.md#data has every kind of source",
    "id:": "identifiers: they are never released",
    "class:": "what a classifier would predict",
    "attributes:": "the columns of the release, in this order; what is not listed is left out",
    "requirement:": "the promise: in each line, people equal in the columns of 'qid' are at least k",
}


def table_text(looked: Looked, wishes: Wishes, out: Path) -> tuple[str, dict[str, Any]]:
    """The text of the file `out`, and the figures that `advise` gives."""
    advice = advise_source(looked.source, looked.data(out.parent), wishes, out.parent)
    lines = [
        f"# A table file of 'coterie init table' for {looked.place.where} ({looked.described()}).",
        f"# Look through it, then: coterie anonymise {out}",
        "# Every key is in docs/one-table.md. Correct it where you know better: the data does not",
        "# say what a stranger can know about somebody.",
        *(f"# look here: {remark}" for remark in looked.remarks),
    ]
    for line in advice["yaml"].splitlines():
        key = line.split(" ")[0]
        if key in _ABOVE:
            lines += ["", f"# {_ABOVE[key]}"]
        if key == "attributes:":
            lines[-2:] = [
                "",
                "# how groups are made; docs/one-table.md names more methods",
                *(advice["methods"][0]["keys"] if advice["methods"] else "method: mondrian").split(
                    ", "
                ),
                *lines[-2:],
            ]
        lines.append(line)
    return "\n".join(lines) + "\n", advice
