"""How long it takes to find out what identifies people; `coterie bench anonymise` has the figures.

Adult, complete training records, three choices of columns: the risk by Coterie and by pycanon. A
random table with columns of 2 to 200 values, skewed, in memory as codes: its (0.001, 0.01)-separation
key, the ratios that this key has on all rows, and its minimum key. Reading and compiling are done
before the clock starts.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv

from coterie.anonymity.risk.grouping import group_sizes
from coterie.anonymity.risk.keys import minimum_key
from coterie.anonymity.risk.ratios import ratios_of
from coterie.anonymity.risk.reidentification import risk_of
from coterie.anonymity.risk.sampled_keys import pairs_for_separation, separation_key
from coterie.base.arrays import Codes
from coterie.experiments.secure_data_integration.adult_data import load_adult
from coterie.onetable.coded import coded_table
from coterie.onetable.inspection.inspect import inspect_table
from coterie.onetable.inspection.settings import Settings

CHOICES = (
    ("age", "sex", "race"),
    ("age", "sex", "race", "marital-status", "education"),
    ("age", "workclass", "education", "marital-status", "occupation", "race", "sex",
     "native-country"),
)  # fmt: skip


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    begun, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return answer, {
        "seconds": round(time.perf_counter() - begun, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
    }


def adult_entries(folder: Path, command: Sequence[str], quick: bool) -> dict[str, Any]:
    data = load_adult(folder)
    names = list(data.table.column_names)
    raw = data.table.slice(0, 3_000 if quick else data.training)
    table = coded_table([raw], names, "adult")
    group_sizes(table.codes(names), table.records)
    entries = []
    with tempfile.TemporaryDirectory(prefix="coterie-bench-") as place:
        path = Path(place, "raw.csv")
        pacsv.write_csv(raw, path)
        for chosen in CHOICES:
            codes = table.codes(chosen)
            sizes, spent = timed(partial(group_sizes, codes, table.records))
            risk = risk_of(sizes)
            own = {**spent, "prosecutor": risk.prosecutor, "marketer": risk.marketer,
                   "uniques": risk.uniques, "mean_over_groups": float((1 / sizes).mean())}  # fmt: skip
            entries.append({"columns": list(chosen), "coterie": own,
                            "pycanon": peer(command, path, chosen)})  # fmt: skip
    inspect_table(table, Settings(seed=1))
    _, spent = timed(lambda: inspect_table(table, Settings(seed=1)))
    return {"records": table.records, "risk": entries, "inspect": {"columns": len(names), **spent}}


def peer(command: Sequence[str], path: Path, columns: Sequence[str]) -> dict[str, Any]:
    """What pycanon says; `command` runs it on a file."""
    done = subprocess.run(
        [*command, "pycanon", str(path), "-", "0", *columns],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    if done.returncode:
        return {"error": " ".join(done.stderr.strip().splitlines()[-1:])}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def random_columns(rows: int, number: int) -> list[Codes]:
    rng = np.random.default_rng(1)
    found = []
    for j in range(number):
        size = 2 + (j * 37) % 199
        drawn = rng.random(rows, np.float32)
        # Squaring the uniform numbers makes small codes frequent.
        found.append((size * drawn * drawn).astype(np.uint8))
    return found


def wide_entry(rows: int, number: int) -> dict[str, Any]:
    columns = random_columns(rows, number)
    rng = np.random.default_rng(2)
    minimum_key([codes[:1000] for codes in columns], min(rows, 1000))  # compiles
    chosen, sampled = timed(lambda: separation_key(columns, rows, 0.001, 0.01, rng))
    ratios, checked = timed(lambda: ratios_of([columns[j] for j in chosen], rows))
    minimum, exact = timed(lambda: minimum_key(columns, rows))
    return {
        "rows": rows,
        "columns": number,
        "pairs": pairs_for_separation(number, 0.001, 0.01),
        "separation_key": {**sampled, "size": len(chosen), "separation": ratios.separation},
        "ratios_on_all_rows": checked,
        "minimum_key": {**exact, "size": len(minimum.columns), "at_least": minimum.at_least},
    }
