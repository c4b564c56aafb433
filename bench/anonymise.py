"""One table anonymised by Coterie and by its peers, in one run: time and entropy loss.

    coterie bench anonymise [--data FOLDER] [--records N] [--k 50] [--repeat 3] [--rows 1000000]
                            [--peers PYTHON]

Adult, complete training records, with two choices of eight columns: the categorical ones, and those
with age that the literature on Mondrian uses. The loss is the non-uniform entropy loss, the mean
over the columns, as docs/one-table.md defines it. `--peers` is the interpreter of an environment
with anonypy, anjana and pycanon. `--rows` is the size of a random table of eight columns for
Mondrian. Seconds are the median of the repeats, with the least and the largest; processor seconds
beside them. Compiling is done before the clock starts.
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
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.methods import anonymise
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Table
from coterie.experiments.masking_quasi_identifiers.speed import adult_entries, wide_entry
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
METHODS = ("mondrian", "incognito", "datafly")


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
        return anonymise(method, table, [Requirement(names, k)])

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


def peak_memory() -> float:
    """The most memory that this process has had, in gigabytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench anonymise", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--records", type=int, default=30_162)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--patience", type=float, default=300, help="seconds that a peer may take")
    parser.add_argument("--quick", action="store_true", help="3,000 records, 100,000 rows, once")
    options = parser.parse_args(argv)
    if options.quick:
        options.records, options.rows, options.repeat = 3_000, 100_000, 1
    data = load_adult(adult_folder(options.data))
    entries = []
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
        for entry in peers:
            if "seconds" in entry:
                ratio = entry["cpu_seconds"] / max(own[0]["cpu_seconds"], 0.001)
                entry["times_the_processor_time_of_mondrian"] = round(ratio, 1)
        entries.append({"columns": list(names), "choice": choice, "records": len(rows),
                        "coterie": own, "peers": peers})  # fmt: skip
    big = random_table(options.rows)
    _, spent = timed(lambda: anonymise("mondrian", big, [Requirement(big.names, options.k)]), 1)
    mondrian_peak = round(peak_memory(), 2)
    command = [options.peers, str(Path(__file__).with_name("peers") / "anonymise.py")]
    print(
        json.dumps(
            {
                "benchmark": "anonymise",
                "k": options.k,
                "formula": "mean over columns of sum log2(n(R)/n(v)) / sum log2(n/n(v))",
                "adult": entries,
                "mondrian of a random table": {
                    "rows": options.rows,
                    "columns": 8,
                    **spent,
                    "peak_gigabytes": mondrian_peak,
                },
                "risk": adult_entries(adult_folder(options.data), command, options.quick),
                "wide": wide_entry(100_000 if options.quick else 10_000_000, 54),
            },
            indent=1,
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
