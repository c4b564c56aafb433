"""One table anonymised by Coterie and by its peers, in one run: time and entropy loss.

    coterie bench anonymise [--data FOLDER] [--records N] [--k 50] [--repeat 3] [--rows 1000000]
                            [--large 10000000] [--peers PYTHON] [--only PARTS]

Adult, complete training records, with two choices of eight columns: the categorical ones, and those
with age that the literature on Mondrian uses. The loss is the non-uniform entropy loss, the mean over
the columns, as docs/one-table.md defines it. `--peers` is the interpreter of an environment with
anonypy, anjana and pycanon. `--rows` is the size of a random table of eight columns for Mondrian, and
of a column of different numbers for the clusters of one dimension. `--large` is the size of a table
of eight columns that the memory given does not hold, and of one of 54 columns for keys. What
incognito finds is compared with every node counted by force. `targets` has what is asked of Coterie,
what was measured, and whether that is enough. `--only` runs some of the parts that need no peers:
condensation, sensitive, reconstruction, dimension. Seconds are the median of the repeats, with the
least and the largest; processor seconds beside them. Compiling is done before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.datafly import datafly_table
from coterie.anonymity.algorithms.incognito import incognito
from coterie.anonymity.algorithms.mondrian import mondrian
from coterie.anonymity.algorithms.one_dimension.clusters import COSTS, optimal_clusters
from coterie.anonymity.anatomy.anatomy import anatomise
from coterie.anonymity.models.privacy import JointDiversity
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Labels, Table
from coterie.base.errors import UsageError
from coterie.bench._inspect_speed import adult_entries, wide_entry
from coterie.bench.one_table.larger_than_memory import larger_than_memory
from coterie.bench.one_table.lattice_by_force import by_force
from coterie.bench.one_table.targets import one_table_targets
from coterie.experiments.secure_data_integration.adult_data import (
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
)
from coterie.jobs.kinds.integrate.release_table import Coded, write_release

CHOICES = {
    "categorical": (
        "education", "marital-status", "native-country", "occupation", "race", "relationship",
        "sex", "workclass",
    ),
    "with age": (
        "age", "workclass", "education", "marital-status", "occupation", "race", "sex",
        "native-country",
    ),
}  # fmt: skip
METHODS: dict[str, Callable[..., Anonymized]] = {
    "mondrian": mondrian,
    "incognito": incognito,
    "datafly": datafly_table,
}


def timed(work: Callable[[], Any], repeat: int) -> tuple[Any, dict[str, Any]]:
    """The result of the work, and the spread of its seconds."""
    walls, cpus = [], []
    for _ in range(repeat):
        begun, cpu = time.perf_counter(), time.process_time()
        answer = work()
        walls.append(time.perf_counter() - begun)
        cpus.append(time.process_time() - cpu)
    return answer, {
        "seconds": round(statistics.median(walls), 3),
        "spread": [round(min(walls), 3), round(max(walls), 3)],
        "cpu_seconds": round(statistics.median(cpus), 3),
    }


def coterie_entry(table: Table, names: tuple[str, ...], method: str, k: int, repeat: int) -> Any:

    def work() -> Anonymized:
        return METHODS[method](table, [Requirement(names, k)])

    work()  # compiles the kernels
    answer, spent = timed(work, repeat)
    found = {"tool": f"coterie {method}", **spent}
    return answer, found | {
        "entropy_loss": round(answer.utility().entropy_loss, 4),
        "smallest": answer.anonymity([Requirement(names, k)])[0]["smallest"],
    }


def peer_entry(tool: str, options: Any, path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    script = Path(__file__).with_name("peers") / "anonymise.py"
    command = [
        options.peers,
        str(script),
        tool,
        str(path),
        str(adult_folder(options.data) / "taxonomies"),
    ]
    command += [str(options.k), *names]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=options.patience
        )
    except subprocess.TimeoutExpired:
        return {"tool": tool, "error": f"not done after {options.patience} s"}
    if done.returncode:
        return {"tool": tool, "error": done.stderr.strip().splitlines()[-1:]}
    return {"tool": tool, **json.loads(done.stdout.splitlines()[-1])}


def write_raw(data: Adult, rows: Any, names: tuple[str, ...], path: Path) -> None:
    import pyarrow.csv as pacsv

    pacsv.write_csv(data.table.select(list(names)).take(rows), path)


def write_released(answer: Anonymized, path: Path) -> None:
    columns = {name: Coded(c.codes, c.labels) for name, c in answer.columns.items()}
    write_release(columns, path)


def random_table(rows: int) -> Table:
    """Eight columns of numbers of different kinds: few values, many, skewed."""
    rng = np.random.default_rng(1)
    columns = []
    for j, size in enumerate((2, 5, 7, 16, 40, 73, 1000, 20_000)):
        values = np.minimum(rng.geometric(min(3 / size, 0.6), rows) - 1, size - 1)
        found, codes = np.unique(values, return_inverse=True)
        columns.append(ContinuousColumn(f"c{j}", codes.astype(np.uint32), found.astype(float)))
    return Table(tuple(columns))


def condensation_entries(rows: int) -> list[dict[str, Any]]:
    """Streams of ten columns, condensed; with k = 20 a tenth of the rows, since groups are many."""
    from coterie.anonymity.condensation.streaming import Condenser

    rng = np.random.default_rng(2)
    points = rng.normal(size=(rows, 10)) @ rng.normal(size=(10, 10))
    Condenser(2).add(points[:100])  # compiles the kernel
    entries = []
    for k, records in ((1_000, rows), (20, rows // 10)):
        condenser = Condenser(k)
        _, spent = timed(partial(condenser.add, points[:records]), 1)
        groups = 0 if condenser.moments is None else len(condenser.moments.sizes)
        entries.append({
            "k": k, "rows": records, "columns": 10, "groups": groups, **spent,
            "records_per_second": round(records / spent["seconds"]),
            "records_per_processor_second": round(records / spent["cpu_seconds"]),
        })  # fmt: skip
    return entries


def reconstruction_entries(rows: int) -> list[dict[str, Any]]:
    """Distributions of noisy values, by both ways and under both laws."""
    from coterie.anonymity.randomization.noise import noise_for
    from coterie.anonymity.randomization.reconstruction import METHODS, reconstruct

    rng = np.random.default_rng(3)
    values, entries = np.clip(rng.normal(40, 12, rows), 17, 90), []
    for law in ("normal", "uniform"):
        noise = noise_for(law, 0.5, 73)
        noisy = values + noise.draw(rows, rng.bytes)
        for method in METHODS:
            found, spent = timed(
                partial(reconstruct, noisy, noise, np.linspace(17, 90, 41), method), 1
            )
            entries.append({"law": law, "method": method, "rows": rows, **spent,
                            "iterations": found.iterations})  # fmt: skip
    return entries


def peak_memory() -> float:
    """The most memory that this process has had, in gigabytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def several_sensitive_entries(data: Adult, repeat: int, quick: bool) -> list[dict[str, Any]]:
    """Mondrian and anatomy of all complete records with three sensitive columns, L = 10, K = 50."""
    names, sensitive = (
        ("age", "sex", "race", "fnlwgt"),
        ("hours-per-week", "occupation", "education"),
    )
    rows = np.arange(len(data.table))[:: 15 if quick else 1]
    labels = {}
    for name in sensitive:
        values, codes = np.unique(np.array(data.table[name].to_pylist())[rows], return_inverse=True)
        labels[name] = Labels(codes, tuple(map(str, values)))
    table = Table(tuple(column.take(rows) for column in data.columns(names)), labels)
    least = 5 if quick else 10
    needs = [Requirement(names, 50, sensitive, JointDiversity(least, sensitive))]
    works: dict[str, Callable[[], Any]] = {
        "mondrian": lambda: mondrian(table, needs),
        "anatomy": lambda: anatomise(table, needs),
    }
    found = []
    for method, work in works.items():
        work()  # compiles the kernels
        answer, spent = timed(work, repeat)
        answer.anonymity(needs)
        _, audit = timed(partial(answer.anonymity, needs), 1)
        held = answer.anonymity(needs)[0]
        found.append(
            {"method": method, "records": table.records, "sensitive": list(sensitive), "k": 50,
             "l": least, **spent, "audit_cpu_seconds": audit["cpu_seconds"],
             "groups": held["groups"], "smallest": held["smallest"]}
        )  # fmt: skip
    return found


def one_dimension(rows: int, k: int) -> dict[str, Any]:
    """Optimal clusters of different numbers, sorted before the clock starts."""
    values = np.sort(np.random.default_rng(3).normal(size=rows))
    ones = np.ones(rows, np.int64)
    found = {}
    for cost in COSTS:
        optimal_clusters(values[: 4 * k], ones[: 4 * k], k, cost)  # compiles
        answer, spent = timed(partial(optimal_clusters, values, ones, k, cost), 1)
        found[cost] = {**spent, "clusters": len(answer.starts), "cost": answer.cost}
    return {"rows": rows, "k": k, **found}


def lattice_entry(table: Table, names: tuple[str, ...], k: int, own: dict[str, Any]) -> Any:
    """The optimum of all nodes, beside every node counted by force."""
    told = incognito(table, [Requirement(names, k)]).details["lattice"]
    forced = by_force(table, names, k)
    keys = ("nodes", "satisfying", "minimal", "least_height")
    found = {key: told[key] for key in keys} | {"entropy_loss": own["entropy_loss"]}
    return {
        **found,
        "seconds": own["seconds"],
        "cpu_seconds": own["cpu_seconds"],
        "by_force": forced,
        "equal": all(found[key] == forced[key] for key in (*keys, "entropy_loss")),
    }


def targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What is asked, what was measured, and whether it is reached; None where it was not measured."""
    found: list[dict[str, Any]] = []

    def add(what: str, figure: Any, most: Any) -> None:
        reached = None if figure is None or most is None else bool(figure <= most)
        found.append({"target": what, "figure": figure, "at_most": most, "reached": reached})

    for entry in result["adult"]:
        mondrian = entry["coterie"][0]
        peers = [peer["entropy_loss"] for peer in entry["peers"] if "entropy_loss" in peer]
        choice = entry["choice"]
        if choice == "categorical":
            add("categorical: entropy loss of mondrian", mondrian["entropy_loss"], 0.32)
            add("categorical: seconds of mondrian", mondrian["seconds"], 1)
        add(f"{choice}: entropy loss, below the best peer's", mondrian["entropy_loss"],
            min(peers, default=None))  # fmt: skip
    lattice = result["lattice"]
    add(f"the optimum of all {lattice['nodes']:,} nodes: seconds", lattice["seconds"], 1)
    add("the optimum differs from brute force", 0 if lattice["equal"] else 1, 0)
    big = result["mondrian of a random table"]
    add(f"mondrian of {big['rows']:,} x {big['columns']}: seconds", big["seconds"], 5)
    large = result["larger than memory"]
    for command in ("inspect", "mondrian"):
        told = large[command]
        peak = None if "error" in told else told["peak_megabytes"] - told["started_megabytes"]
        what = f"{command} of {large['rows']:,} x {large['columns']}: anonymous megabytes above the start"
        add(what, peak, large["memory_megabytes"])
    wide = result["wide"]
    what = f"separation key of {wide['columns']} x {wide['rows']:,}: seconds"
    add(what, wide["separation_key"]["seconds"], 10)
    return found + one_table_targets(result)


# Parts that can be run alone: what they are called in the result, and what makes them.
ALONE: dict[str, tuple[str, Callable[[argparse.Namespace], Any]]] = {
    "condensation": ("condensation of a stream", lambda o: condensation_entries(o.rows)),
    "sensitive": (
        "several sensitive columns",
        lambda o: several_sensitive_entries(load_adult(adult_folder(o.data)), o.repeat, o.quick),
    ),
    "reconstruction": ("reconstruction", lambda o: reconstruction_entries(o.rows)),
    "dimension": ("one dimension", lambda o: one_dimension(o.rows, 100)),
}


def chosen_parts(text: str) -> list[str]:
    """The parts that `--only` names, separated by commas."""
    names = text.split(",")
    for name in names:
        if name not in ALONE:
            raise UsageError(f"--only: no part '{name}'; there are: {', '.join(ALONE)}")
    return names


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench anonymise", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--records", type=int, default=30_162)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, default=10_000_000)
    parser.add_argument("--memory", type=int, default=1000, help="megabytes for the large table")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--patience", type=float, default=300, help="seconds that a peer may take")
    parser.add_argument("--quick", action="store_true", help="3,000 records, 100,000 rows, once")
    parser.add_argument("--only", metavar="PARTS", help=f"some of: {', '.join(ALONE)}")
    options = parser.parse_args(argv)
    if options.quick:
        options.records, options.rows, options.repeat = 3_000, 100_000, 1
        options.large, options.memory = 100_000, 20
    if options.only is not None:
        some = {ALONE[name][0]: ALONE[name][1](options) for name in chosen_parts(options.only)}
        done = {"benchmark": "anonymise", **some, "targets": one_table_targets(some)}
        print(json.dumps(done, indent=1))
        return 0
    data = load_adult(adult_folder(options.data))
    entries = []
    lattice: dict[str, Any] = {}
    for choice, names in CHOICES.items():
        count = min(options.records, data.training)
        rows = np.arange(data.training)[:: max(data.training // count, 1)][:count]
        table = Table(tuple(column.take(rows) for column in data.columns(names)))
        with tempfile.TemporaryDirectory(prefix="coterie-bench-") as folder:
            raw, made = Path(folder, "raw.csv"), Path(folder, "release.csv")
            write_raw(data, rows, names, raw)
            own = []
            for method in METHODS:
                answer, entry = coterie_entry(table, names, method, options.k, options.repeat)
                write_released(answer, made)
                told = peer_entry("pycanon", options, made, names)
                own.append(entry | {"smallest_by_pycanon": told.get("smallest", told)})
            peers = [peer_entry(tool, options, raw, names) for tool in ("anonypy", "anjana")]
        if choice == "categorical":
            lattice = lattice_entry(table, names, options.k, own[list(METHODS).index("incognito")])
        for entry in peers:
            if "seconds" in entry:
                ratio = entry["cpu_seconds"] / max(own[0]["cpu_seconds"], 0.001)
                entry["times_the_processor_time_of_mondrian"] = round(ratio, 1)
        entries.append({"columns": list(names), "choice": choice, "records": len(rows),
                        "coterie": own, "peers": peers})  # fmt: skip
    big = random_table(options.rows)
    _, spent = timed(lambda: mondrian(big, [Requirement(big.names, options.k)]), 1)
    mondrian_peak = round(peak_memory(), 2)
    command = [options.peers, str(Path(__file__).with_name("peers") / "anonymise.py")]
    result: dict[str, Any] = {
        "benchmark": "anonymise",
        "k": options.k,
        "formula": "mean over columns of sum log2(n(R)/n(v)) / sum log2(n/n(v))",
        "adult": entries,
        "lattice": lattice,
        "mondrian of a random table": {
            "rows": options.rows,
            "columns": 8,
            **spent,
            "peak_gigabytes": mondrian_peak,
        },
        "condensation of a stream": condensation_entries(options.rows),
        "several sensitive columns": several_sensitive_entries(data, options.repeat, options.quick),
        "reconstruction": reconstruction_entries(options.rows),
        "one dimension": one_dimension(options.rows, 100),
        "risk": adult_entries(adult_folder(options.data), command, options.quick),
        "wide": wide_entry(options.large, 54),
        "larger than memory": larger_than_memory(options.large, options.memory, options.k),
    }
    print(json.dumps({**result, "targets": targets(result)}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
