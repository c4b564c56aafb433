"""Writes the tables in docs/ from the results that `coterie bench --save` keeps.

A table is between `<!-- bench: NAME PART -->` and `<!-- end bench -->`; the text between them is
replaced. A benchmark without a saved result leaves its tables unchanged.

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
    rows = []
    for row in result["rows"]:
        for who, way in (("coterie", "total"), ("mpyc", "arrays")):
            given_up = who == "mpyc" and "gave_up" in row["mpyc_seconds"]
            took = shown(row[f"{who}_seconds"][way], " s")
            rows.append(
                [
                    f"{row['parties']} parties: " + ("MPyC" if who == "mpyc" else "ours"),
                    f"more than {took}" if given_up else took,
                    shown(row["coterie_seconds"]["ahead"], " s") if who == "coterie" else "",
                    shown(row.get(f"{who}_cpu_seconds", {}).get(way), " s"),
                    shown(row.get(f"{who}_sent_bytes", {}).get(way)),
                    shown(row[f"{who}_seconds"].get("single"), " s"),
                    shown(row["times_faster_batch"]) if who == "coterie" else "",
                    shown(row["parties"] - 1 if who == "coterie" else row["mpyc_tolerates"]),
                ]
            )
    head = [f"maxima of {shown(result['rows'][0]['batch'])}", "seconds", "of which ahead",
            "processor", "bytes sent", "one alone", "times faster",
            "colluding parties resisted"]  # fmt: skip
    return table(head, rows)


def fair_rounds(result: dict[str, Any]) -> str:
    seconds = result["hide_scores_3_parties"]
    spent = result.get("hide_scores_3_parties_spent", {})
    rows = [
        [name, shown(seconds[key], " s"), *_used(spent.get(key, {}))]
        for key, name in (
            ("first_round", "the first round, base transfers and loading included"),
            ("hidden_round", "a round with `hide_scores`"),
            ("open_round", "a round with open scores"),
        )
    ]
    return table(["three parties", "seconds", "processor", "bytes sent"], rows)


def _used(spent: dict[str, Any]) -> list[str]:
    return [shown(spent.get("cpu_seconds"), " s"), shown(spent.get("sent_bytes"))]


def _spent(spent: dict[str, Any]) -> list[str]:
    return [shown(spent["seconds"], " s"), *_used(spent)]


def garbling_speed(result: dict[str, Any]) -> str:
    sizes, ours, rate = result["sizes"], result["coterie"], result["a_second"]
    gates = sizes["instances"] * result["circuit"]["and"]
    rows = [
        [f"{shown(gates)} AND gates of {shown(sizes['instances'])} products of 32 bits",
         *_spent(ours["instances"]), shown(rate["instances"])],
        [f"{shown(sizes['comparisons'])} comparisons of 32 bits", *_spent(ours["comparisons"]),
         shown(rate["comparisons"])],
        ["the same by MPyC, three parties", *_spent(result["mpyc"]["comparisons"]), ""],
        ["one comparison", *_spent(ours["comparison"]), ""],
        ["the same by MPyC, three parties", *_spent(result["mpyc"]["single"]), ""],
    ]  # fmt: skip
    rows += [
        [f"{shown(sizes['transfers'])} {kind}", *_spent(ours[kind]), shown(rate[kind])]
        for kind in ("correlated transfers", "random transfers", "bit transfers")
    ]
    rows += [
        [f"{shown(sizes['products'])} products modulo 2^64", *_spent(ours["products"]),
         shown(rate["products"])],
        ["the base transfers of a session", *_spent(ours["base transfers"]), ""],
    ]  # fmt: skip
    return table(["two parties", "seconds", "processor", "bytes sent", "a second"], rows)


def logarithm_times(result: dict[str, Any]) -> str:
    ours, theirs = result["coterie"], result["mpyc"]
    count = shown(ours["transfer"]["batch"]["count"])
    entries = [
        ("one by transfer", ours["transfer"]["one"]),
        ("one by Paillier", ours["paillier"]["one"]),
        ("one by MPyC's arrays", theirs["one"]),
        (f"{count} by transfer, each", ours["transfer"]["batch"]),
        (f"{count} by Paillier, each", ours["paillier"]["batch"]),
        (f"{count} by the quick base-2 variant, each", ours["quick_base_2"]),
        (f"{count} by MPyC's arrays, each", theirs["batch"]),
    ]
    rows = [
        [name, shown(e["online_ms_each"], " ms"), shown(e["online_cpu_ms_each"], " ms"),
         shown(e["whole_ms_each"], " ms"), shown(e["sent_bytes_each"])]
        for name, e in entries
    ]  # fmt: skip
    for name, entry in (
        ("a session by transfer", ours["transfer"]["set_up"]),
        ("a session by Paillier", ours["paillier"]["set_up"]),
        ("a new key of Paillier", ours["key"]),
    ):
        spent = {
            key: _thousandfold(entry[f"{key}seconds"])
            for key in ("", "cpu_")
        }  # fmt: skip
        rows.append([name, "", shown(spent["cpu_"], " ms"), shown(spent[""], " ms"),
                     shown(entry["sent_bytes"])])  # fmt: skip
    bits = f"{result['bits']} bits, {result['terms']} terms"
    head = [bits, "online", "processor, online", "offline and online", "bytes sent"]
    return table(head, rows)


def _thousandfold(figure: Any) -> Any:
    if isinstance(figure, dict):
        return {key: 1e3 * value for key, value in figure.items()}
    return 1e3 * figure


def logarithm_paillier(result: dict[str, Any]) -> str:
    found = result["paillier"]
    names = {
        "encrypt_public_half": "encrypt, `half`, anyone",
        "encrypt_owner_full": "encrypt, `full`, the owner",
        "encrypt_public_full": "encrypt, `full`, anyone",
        "encrypt_with_prepared_randomizers": "encrypt, randomizers prepared",
        "decrypt_on_two_threads": "decrypt, on two threads at once",
        "add": "add",
    }
    rows = [
        [name, shown(found[key].get("a_second", found[key].get("a_second_and_core"))),
         shown(found[key]["times_phe"])]
        for key, name in names.items()
    ]  # fmt: skip
    head = [f"{shown(result['key_bits'])} bits", "a second and core", "times phe"]
    return table(head, rows)


def logarithm_gates(result: dict[str, Any]) -> str:
    rows = [
        [f"{row['bits']} bits, {row['terms']} terms",
         *(shown(row["with_60_bit_shares"][gate]) for gate in ("and", "xor", "not")),
         shown(row["paper"]["gates"]), shown(row["exact_scaling"]["and"])]
        for row in result["gates"]
    ]  # fmt: skip
    head = ["circuit of phase one", "AND", "XOR", "NOT", "paper, all gates", "AND of exact scaling"]
    return table(head, rows)


def scalar_products_ways(result: dict[str, Any]) -> str:
    plain = result["phe_plainly_seconds_extrapolated"]["total"]
    rows = [["phe used plainly, extrapolated", "", shown(plain, " s"), "", ""]]
    for way, name in (("transfer", "transfers"), ("paillier", "Paillier")):
        found = result[way]
        rows.append([f"{name}, online", *_spent(found["online"]),
                     shown(found["times_faster_online"])])  # fmt: skip
        rows.append([f"{name}, set-up and offline included", *_spent(found["whole"]),
                     shown(found["times_faster"])])  # fmt: skip
    what = f"{shown(result['products'])} products over {shown(result['records'])} records"
    return table([what, "seconds", "processor", "bytes sent", "times faster than phe"], rows)


def channel_rates(result: dict[str, Any]) -> str:
    ways = [("in memory", result["memory"]), ("gRPC", result["plain"]), ("mTLS", result["mtls"])]
    entries = [
        ("messages of 64 bytes a second", "messages_per_second", ""),
        ("bare grpcio", "grpcio_messages_per_second", ""),
        ("ratio", "messages_ratio", ""),
        ("processor seconds for 1,000", "messages_cpu_seconds_per_1000", " s"),
        ("bare grpcio", "grpcio_messages_cpu_seconds_per_1000", " s"),
        ("megabytes a second of arrays of 1 MiB", "megabytes_per_second", ""),
        ("bare grpcio, bytes that are counted", "grpcio_megabytes_per_second", ""),
        ("ratio", "stream_ratio", ""),
        ("bare grpcio, arrays to bytes and back", "grpcio_arrays_megabytes_per_second", ""),
        ("ratio", "arrays_ratio", ""),
        ("bare grpcio, the way the channel streams", "grpcio_collected_megabytes_per_second", ""),
        ("ratio", "collected_ratio", ""),
        ("processor seconds for 1 GB", "stream_cpu_seconds_per_gigabyte", " s"),
        ("bare grpcio, bytes that are counted", "grpcio_stream_cpu_seconds_per_gigabyte", " s"),
        ("bare grpcio, arrays to bytes and back", "grpcio_arrays_cpu_seconds_per_gigabyte", " s"),
    ]
    rows = [[name, *(shown(way.get(key), unit) for _, way in ways)] for name, key, unit in entries]
    return table(["", *(name for name, _ in ways)], rows)


def dka_growth(result: dict[str, Any]) -> str:
    keys = ["records", "rounds", "encryptions_per_round", "seconds", "cpu_seconds", "sent_bytes"]
    head = ["records", "rounds", "encryptions a round", "seconds", "processor", "bytes sent"]
    return table(head, [[shown(entry.get(key)) for key in keys] for entry in result["growth"]])


def conditions_models(result: dict[str, Any]) -> str:
    keys = ["model", "proposals", "median_seconds", "largest_seconds", "first_seconds"]
    head = ["model", "proposals", "seconds a proposal", "the largest", "the first, with set-up"]
    entries = result["models"]
    return table(head, [[e["model"], *(shown(e.get(k)) for k in keys[1:])] for e in entries])


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
                    f"{entry['choice']}: {found['tool']}",
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


def anonymise_targets(result: dict[str, Any]) -> str:
    words = {True: "yes", False: "no", None: ""}
    rows = [
        [entry["target"], shown(entry["figure"]), shown(entry["at_most"]), words[entry["reached"]]]
        for entry in result["targets"]
    ]
    return table(["what is asked", "measured", "at most", "reached"], rows)


# What makes each table, and the parts of a result of which it needs at least one.
Writer = Callable[[dict[str, Any]], str]


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


TABLES: dict[tuple[str, str], tuple[Writer, set[str]]] = {
    ("anonymise", "rows"): (anonymise_rows, {"mondrian of a random table"}),
    ("anonymise", "adult"): (anonymise_adult, {"adult"}),
    ("anonymise", "reconstruction"): (anonymise_reconstruction, {"reconstruction"}),
    ("anonymise", "streams"): (anonymise_streams, {"condensation of a stream"}),
    ("anonymise", "targets"): (anonymise_targets, {"targets"}),
    ("channel", "rates"): (channel_rates, {"mtls"}),
    ("conditions", "models"): (conditions_models, {"models"}),
    ("dka", "growth"): (dka_growth, {"growth"}),
    ("fair", "argmax"): (fair_argmax, {"rows"}),
    ("fair", "rounds"): (fair_rounds, {"hide_scores_3_parties"}),
    ("garbling", "speed"): (garbling_speed, {"coterie"}),
    ("anonymise", "risk"): (inspect_risk, {"risk"}),
    ("anonymise", "keys"): (inspect_wide, {"wide"}),
    ("history", "judgements"): (history_judgements, {"counts"}),
    ("integrate", "ratios"): (integrate_ratios, {"adult", "many"}),
    ("integrate", "scale"): (integrate_scale, {"scale"}),
    ("intersect", "memory"): (intersect_memory, {"runs"}),
    ("intersect", "pairs"): (intersect_pairs, {"runs"}),
    ("intersect", "parties"): (intersect_parties, {"runs"}),
    ("intersect", "ratios"): (intersect_ratios, {"ratios"}),
    ("logarithm", "gates"): (logarithm_gates, {"gates"}),
    ("logarithm", "paillier"): (logarithm_paillier, {"paillier"}),
    ("logarithm", "times"): (logarithm_times, {"coterie"}),
    ("models", "jobs"): (models_jobs, {"bayes_net"}),
    ("scalar_products", "ways"): (scalar_products_ways, {"transfer"}),
}


def rendered(text: str, results: Path) -> str:
    """The page with every table made from its saved result, if there is one."""

    def block(match: re.Match[str]) -> str:
        name, part = match[2], match[3]
        if (name, part) not in TABLES:
            raise UsageError(f"no table '{part}' of the benchmark '{name}'")
        path = results / f"{name}.json"
        if not path.exists():
            return match[0]
        result = json.loads(path.read_text())
        write, parts = TABLES[name, part]
        if not parts & result.keys():
            return match[0]  # this part was not measured
        body = write(result)
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
