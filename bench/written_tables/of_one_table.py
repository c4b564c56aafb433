"""Tables of the benchmarks of one table: what each writes of a saved result."""

from __future__ import annotations

from typing import Any

from coterie.bench.saved_results.figures import shown
from coterie.bench.written_tables.form import table


def _share(figure: Any) -> str:
    """A share with three decimals, because methods differ in the third; of several runs the median."""
    median = figure["median"] if isinstance(figure, dict) else figure
    return "" if median is None else f"{median:.3f}"


def anonymise_adult(result: dict[str, Any]) -> str:
    rows = []
    for entry in result["adult"]:
        for found in [*entry["coterie"], *entry["peers"]]:
            failed = "error" in found
            rows.append(
                [
                    f"{entry['choice']}: {found['tool']} {found.get('version', '')}".rstrip(),
                    _share(found.get("entropy_loss")),
                    shown(found.get("smallest")),
                    "not done" if failed else shown(found["seconds"], " s"),
                    shown(found.get("cpu_seconds"), " s"),
                ]
            )
    big = result["mondrian of a random table"]
    rows.append(
        [f"random table of {shown(big['rows'])} rows: coterie mondrian", "", "",
         shown(big["seconds"], " s"), shown(big["cpu_seconds"], " s")]
    )  # fmt: skip
    records = shown(result["adult"][0]["records"])
    head = [f"Adult, {records} records, k = {result['k']}", "entropy loss", "smallest group",
            "seconds", "processor"]  # fmt: skip
    return table(head, rows)


def anonymise_rows(result: dict[str, Any]) -> str:
    entry = result["mondrian of a random table"]
    keys = ["rows", "columns", "cpu_seconds", "seconds", "peak_gigabytes"]
    head = ["Mondrian of a random table: rows", "columns", "processor seconds", "seconds",
            "peak memory, GB"]  # fmt: skip
    return table(head, [[shown(entry.get(key)) for key in keys]])


def anonymise_streams(result: dict[str, Any]) -> str:
    entries = result["condensation of a stream"]
    keys = ["k", "rows", "columns", "groups", "seconds", "cpu_seconds", "records_per_second"]
    head = ["stream: k", "records", "columns", "groups at the end", "seconds",
            "processor seconds", "records a second"]  # fmt: skip
    return table(head, [[shown(entry.get(key)) for key in keys] for entry in entries])


def anonymise_reconstruction(result: dict[str, Any]) -> str:
    keys = ["rows", "iterations", "seconds", "cpu_seconds"]
    head = ["noise, method", "values", "iterations", "seconds", "processor seconds"]
    return table(
        head,
        [
            [f"{entry['law']}, {entry['method']}", *(shown(entry.get(key)) for key in keys)]
            for entry in result["reconstruction"]
        ],
    )


def inspect_risk(result: dict[str, Any]) -> str:
    rows = []
    for entry in result["risk"]["risk"]:
        own, peer = entry["coterie"], entry["pycanon"]
        rows.append(
            [
                ", ".join(entry["columns"]),
                shown(own["uniques"]),
                shown(own["marketer"]),
                shown(own["mean_over_groups"]),
                "failed" if "error" in peer else shown(peer.get("mean_over_groups")),
                shown(own["cpu_seconds"], " s"),
                "" if "error" in peer else shown(peer["cpu_seconds"], " s"),
            ]
        )
    head = ["Adult, raw, by", "unique", "mean risk over records", "over groups", "pycanon's",
            "processor, Coterie", "pycanon"]  # fmt: skip
    return table(head, rows)


def inspect_wide(result: dict[str, Any]) -> str:
    wide = result["wide"]
    rows = [
        [name, shown(wide[key].get("size")), shown(wide[key]["seconds"], " s"),
         shown(wide[key]["cpu_seconds"], " s")]
        for key, name in (
            ("separation_key", f"(0.001, 0.01)-separation key, {wide['pairs']:,} pairs"),
            ("ratios_on_all_rows", "its ratios on all rows"),
            ("minimum_key", f"minimum key (at least {wide['minimum_key']['at_least']})"),
        )
    ]  # fmt: skip
    return table([f"{wide['rows']:,} rows, {wide['columns']} columns", "columns", "seconds",
                  "processor"], rows)  # fmt: skip
