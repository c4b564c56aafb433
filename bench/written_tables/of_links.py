"""The table and the chart of intersections on slow links."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from coterie.bench._link import parsed
from coterie.bench.saved_results.figures import shown
from coterie.bench.written_tables.form import table


def _of_intersections(result: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every run of an intersection with its link, the fastest links first."""
    entries = [e for e in result["results"] if e["name"] == "intersect"]
    entries.sort(key=lambda e: (-parsed(e["link"]).rate, parsed(e["link"]).delay))
    return [(e["link"], run) for e in entries for run in e["runs"] if "seconds" in run]


def intersections(result: dict[str, Any]) -> str:
    head = ["link, delay each way", "parties", "elements a side", "", "seconds", "processor"]
    rows = [
        [
            link.replace(",", ", "),
            shown(run["parties"]),
            shown(run["size"]),
            run["tool"],
            shown(run["seconds"], " s"),
            shown(run["cpu_seconds"], " s"),
            shown(run.get("all_mb"), " MB"),
            shown(run.get("rounds")),
        ]
        for link, run in _of_intersections(result)
    ]
    return table([*head, "sent by all", "rounds"], rows)


def draw(result: dict[str, Any], path: Path) -> None:
    """Seconds against the rate, for two parties and the largest size of all links."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "coterie"
    from matplotlib import pyplot

    runs = [(parsed(link), run) for link, run in _of_intersections(result) if run["parties"] == 2]
    size = max(run["size"] for _, run in runs)
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for link, run in runs:
        if run["size"] == size:
            seconds = run["seconds"]
            middle = seconds["median"] if isinstance(seconds, dict) else seconds
            points[run["tool"]].append((link.rate / 1e6, middle))
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for tool, found in points.items():
        style = "s-" if tool.startswith("coterie") else "x--"
        axes.plot(*zip(*sorted(found), strict=True), style, label=tool)
    axes.set(xscale="log", yscale="log", xlabel="Mbit/s", ylabel=f"seconds, {size:,} a side")
    axes.grid(which="major", alpha=0.4)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
