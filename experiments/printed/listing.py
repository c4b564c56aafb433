"""`coterie experiment list`: what became of every table, figure and worked example of the sources."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict

from coterie.experiments.census import markdown
from coterie.experiments.printed.rows import ROWS, SOURCES, STATES


def text() -> str:
    """The whole list, source by source."""
    parts = []
    for number, title in SOURCES.items():
        rows = [
            [row.item, STATES[row.state], row.printed, row.ours, row.place, row.note]
            for row in ROWS
            if row.source == number
        ]
        head = ["what", "state", "printed", "here", "shown by", "why not exactly"]
        parts.append(f"{number}. {title}\n\n{markdown(head, rows)}")
    count = Counter(STATES[row.state] for row in ROWS)
    total = ", ".join(f"{number} {state}" for state, number in count.items())
    return "\n".join([*parts, f"{len(ROWS)} rows: {total}"])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment list", description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    print(json.dumps([asdict(row) for row in ROWS]) if options.json else text())
    return 0
