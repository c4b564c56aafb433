"""What tables of several benchmarks are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.bench.saved_results.figures import shown


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def used_cells(spent: dict[str, Any]) -> list[str]:
    return [shown(spent.get("cpu_seconds"), " s"), shown(spent.get("sent_bytes"))]


def spent_cells(spent: dict[str, Any]) -> list[str]:
    return [shown(spent["seconds"], " s"), *used_cells(spent)]


def targets(result: dict[str, Any]) -> str:
    """What is asked of Coterie, what was measured, and whether it is reached."""
    words = {True: "yes", False: "no", None: ""}
    rows = [
        [entry["target"], shown(entry["figure"]), shown(entry["at_most"]), words[entry["reached"]]]
        for entry in result["targets"]
    ]
    return table(["what is asked", "measured", "at most", "reached"], rows)
