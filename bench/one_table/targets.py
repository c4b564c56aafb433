"""What is asked of the parts of `coterie bench anonymise` that need no peers, and whether it is reached.

Figures are processor seconds, which other work on the machine hardly changes.
"""

from __future__ import annotations

from typing import Any

from coterie.anonymity.algorithms.one_dimension.clusters import COSTS


def one_table_targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The targets of the parts that need no peers, in processor seconds, of those that were run."""
    asked: list[tuple[str, float, float]] = []
    for entry in result.get("condensation of a stream", []):
        if entry["k"] == 1_000:
            what = f"condensation of a stream of {entry['rows']:,} x {entry['columns']}, k = 1,000"
            each = entry["cpu_seconds"] / entry["rows"] * 100_000
            asked.append((f"{what}: processor seconds for 100,000 records", round(each, 3), 1))
    for entry in result.get("several sensitive columns", []):
        what = f"{entry['method']}, three sensitive columns, L = {entry['l']}"
        asked.append((f"{what}: processor seconds", entry["cpu_seconds"], 2))
    for entry in result.get("reconstruction", []):
        what = f"reconstruction ({entry['method']}, {entry['law']}) of {entry['rows']:,} values"
        asked.append((f"{what}: processor seconds", entry["cpu_seconds"], 1))
    if one := result.get("one dimension"):
        for cost in COSTS:
            what = f"clusters ({cost}) of {one['rows']:,} numbers, k = {one['k']}"
            asked.append((f"{what}: processor seconds", one[cost]["cpu_seconds"], 2))
    return [
        {"target": what, "figure": figure, "at_most": most, "reached": figure <= most}
        for what, figure, most in asked
    ]
