"""Writes the tables in docs/ from the results that `coterie bench --save` keeps.

A table stands between `<!-- bench: NAME PART -->` and `<!-- end bench -->`; whatever is between them is
replaced. A benchmark without a saved result leaves its tables as they are.

    coterie bench tables [--results bench/results] [--docs docs] [--check]
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError
from coterie.bench._figures import caption, shown

_BLOCK = re.compile(r"(<!-- bench: (\w+) ([\w-]+) -->\n).*?(<!-- end bench -->)", re.DOTALL)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


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


def fair_argmax(result: dict[str, Any]) -> str:
    rows = [
        [
            shown(row["parties"]),
            shown(row["coterie_seconds"]["total"], " s"),
            shown(row["coterie_seconds"]["ahead"], " s"),
            shown(row["mpyc_seconds"]["arrays"], " s"),
            shown(row["times_faster_batch"]),
            shown(row["mpyc_tolerates"]),
        ]
        for row in result["rows"]
    ]
    head = ["parties", "ours, a batch", "of which ahead", "MPyC", "times faster",
            "colluding parties MPyC resists"]  # fmt: skip
    return table(head, rows)


TABLES: dict[tuple[str, str], Callable[[dict[str, Any]], str]] = {
    ("integrate", "ratios"): integrate_ratios,
    ("integrate", "scale"): integrate_scale,
    ("intersect", "pairs"): intersect_pairs,
    ("intersect", "parties"): intersect_parties,
    ("models", "jobs"): models_jobs,
    ("fair", "argmax"): fair_argmax,
}
# Of these parts of a result, a table needs at least one.
_PARTS = {
    ("integrate", "ratios"): {"adult", "many"},
    ("integrate", "scale"): {"scale"},
    ("intersect", "pairs"): {"runs"},
    ("intersect", "parties"): {"runs"},
    ("models", "jobs"): {"bayes_net"},
    ("fair", "argmax"): {"rows"},
}


def rendered(text: str, results: Path) -> str:
    """The page with every table made from its saved result, as far as there is one."""

    def block(match: re.Match[str]) -> str:
        name, part = match[2], match[3]
        if (name, part) not in TABLES:
            raise UsageError(f"no table '{part}' of the benchmark '{name}'")
        path = results / f"{name}.json"
        if not path.exists():
            return match[0]
        result = json.loads(path.read_text())
        if not _PARTS[name, part] & result.keys():
            return match[0]  # that part was not measured
        body = TABLES[name, part](result)
        return f"{match[1]}{caption(result)}\n\n{body}{match[4]}"

    return _BLOCK.sub(block, text)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench tables", description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("bench/results"))
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page would")
    options = parser.parse_args(argv)
    changed = []
    for page in sorted(options.docs.glob("*.md")):
        text = page.read_text()
        if (new := rendered(text, options.results)) != text:
            changed.append(page.name)
            if not options.check:
                page.write_text(new)
    print(json.dumps({"changed": changed}))
    return 1 if changed and options.check else 0
