"""Tables of the benchmarks of joint jobs: what each writes of a saved result."""

from __future__ import annotations

from typing import Any

from coterie.bench.saved_results.figures import shown
from coterie.bench.written_tables.form import table


def integrate_ratios(result: dict[str, Any]) -> str:
    rows = []
    for part, about in (("adult", "one QID of 14 attributes"), ("many", "random requirements")):
        entry = result.get(part) or {}
        for way, name in (
            ("joint", "two parties over mTLS"),
            ("single", "one table"),
            ("scikit_learn", "scikit-learn"),
        ):
            if f"{way}_seconds" in entry:
                leaves = entry["scikit_learn_leaves" if way == "scikit_learn" else "leaves"]
                rows.append(
                    [
                        f"{about}: {name}",
                        shown(leaves),
                        shown(entry[f"{way}_seconds"], " s"),
                        shown(entry[f"{way}_seconds_with_coding"], " s"),
                        shown(entry[f"{way}_cpu_seconds"], " s"),
                        shown(entry["joint_bytes"]) if way == "joint" else "",
                    ]
                )
    head = ["Adult, k = 50", "leaves", "seconds", "with coding", "processor", "bytes sent"]
    return table(head, rows)


def integrate_scale(result: dict[str, Any]) -> str:
    head = ["records", "specializations", "seconds", "processor", "bytes sent",
            "memory, bytes per record and party", "bits per record and specialization"]  # fmt: skip
    keys = ["records", "specializations", "seconds", "cpu_seconds", "bytes",
            "memory_bytes_per_record_and_party", "bits_per_record_and_specialization"]  # fmt: skip
    return table(head, [[shown(entry.get(key)) for key in keys] for entry in result["scale"]])


def utility_kept(part: str, result: dict[str, Any]) -> str:
    """A row for each method; in its cells the figures for every k, the smallest first."""
    tools: dict[str, list[dict[str, Any]]] = {}
    for entry in result[part]:
        tools.setdefault(entry["tool"].replace("method: ", ""), []).append(entry)

    def cell(entries: list[dict[str, Any]], key: str) -> str:
        return " / ".join(shown(entry[key]) for entry in entries if key in entry)

    ks = " / ".join(str(k) for k in dict.fromkeys(entry["k"] for entry in result[part]))
    head = [f"k = {ks}", "groups", "normalised width", "query error", "class error", "seconds",
            "bytes sent", "messages in sequence"]  # fmt: skip
    keys = ["groups", "width", "query_error", "class_error", "seconds", "sent_bytes", "messages"]
    rows = [[tool, *(cell(entries, key) for key in keys)] for tool, entries in tools.items()]
    return table(head, rows)


def _cell(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return ""
    if "error" in entry:
        return "failed"
    sent = f"; {shown(entry['sent_mb'], ' MB')}" if "sent_mb" in entry else ""
    return f"{shown(entry['seconds'], ' s')}; {shown(entry['cpu_seconds'], ' s')}{sent}"


def _by_tool(runs: list[dict[str, Any]], key: str, head: str) -> str:
    columns = sorted({run[key] for run in runs})
    tools = list(dict.fromkeys(run["tool"] for run in runs))
    found = {(run["tool"], run[key]): run for run in runs}
    rows = [[tool, *(_cell(found.get((tool, column))) for column in columns)] for tool in tools]
    return table([head, *(f"{column:,}" for column in columns)], rows)


def intersect_pairs(result: dict[str, Any]) -> str:
    runs = [run for run in result["runs"] if run["parties"] == 2]
    return _by_tool(runs, "size", "two parties, elements a side: seconds; processor; sent")


def intersect_parties(result: dict[str, Any]) -> str:
    runs = [run for run in result["runs"] if run["parties"] > 2]
    size = runs[0]["size"] if runs else 0
    return _by_tool(runs, "parties", f"{size:,} each, by parties: seconds; processor; sent")


def models_jobs(result: dict[str, Any]) -> str:
    trees = result.get("adult_tree", [])
    entries = [("Bayes net", result["bayes_net"])]
    entries += [(f"ID3 on Adult, {tree['parties']} parties", tree) for tree in trees]
    rows = [
        [name, shown(e["records"]), shown(e["seconds"]), shown(e["cpu_seconds"]),
         shown(e["megabytes"], " MB"), shown(e["rounds"])]
        for name, e in entries
    ]  # fmt: skip
    return table(["what", "records", "seconds", "processor", "sent", "rounds"], rows)


def intersect_ratios(result: dict[str, Any]) -> str:
    sizes = sorted({size for found in result["ratios"].values() for size in found}, key=int)
    rows = [
        [f"{name}, {unit}", *(shown(found.get(size)) for size in sizes)]
        for key, unit in (("ratios", "seconds"), ("ratios_cpu", "processor"))
        for name, found in result[key].items()
    ]
    return table(["times as much", *(f"{int(size):,}" for size in sizes)], rows)


def intersect_memory(result: dict[str, Any]) -> str:
    rows = [
        [run["tool"], shown(run["parties"]), shown(run["size"]), shown(run["peak_mb"], " MB")]
        for run in result["runs"]
        if "peak_mb" in run
    ]
    return table(["", "parties", "elements a side", "peak memory of a party"], rows)


def history_judgements(result: dict[str, Any]) -> str:
    head = ["what is remembered", "of people", "seconds", "memory", "state on the disk", "found"]
    entries = [
        (f"{few['jobs']:,} counts of 20 sets of people", few)
        if name == "few sets"
        else (f"{few['jobs']:,} counts, each of another set at random", few)
        for name, few in result["counts"].items()
    ]
    entries.append((f"{result['releases']['jobs']:,} releases in groups", result["releases"]))
    rows = [
        [
            about,
            shown(entry["people"]),
            shown(entry["seconds"], " s"),
            _megabytes(entry["memory_bytes"]),
            _megabytes(entry["state_bytes"]),
            "refused" if entry["found"] else "goes on",
        ]
        for about, entry in entries
    ]
    return table(head, rows)


def _megabytes(figure: Any) -> str:
    middle = figure["median"] if isinstance(figure, dict) else figure
    return f"{middle / 1e6:,.0f} MB"
