"""One k-anonymisation by another library, and the entropy loss of what it releases.

    python anonymise.py TOOL FILE TAXONOMIES K COLUMN...        TOOL: anonypy, anjana, pycanon

Reads a CSV file, prints {"version", "seconds", "cpu_seconds", "entropy_loss", "smallest"}. The
script does not import Coterie, so that the libraries may be installed in an environment of their own.
The loss is the mean over the columns of the sum of log2(n(R)/n(v)) over all records, as a share of the
same sum for a fully generalized column, where R is the set of values that the release leaves possible
for a record with the value v. pycanon only measures: "smallest" is the k that it finds in FILE,
"prosecutor" the highest risk, "mean_over_groups" its average, over groups and not over records.
"""

import csv
import json
import math
import sys
import time
from collections import Counter
from importlib.metadata import version
from typing import Any


def taxonomy_rows(folder: str, column: str, values: list[Any]) -> list[list[str]]:
    """Leaf-to-root rows, from the taxonomy file or as bands of 5, 10, 20 and 40 for numbers."""
    try:
        with open(f"{folder}/{column}.csv", newline="") as file:
            return [row for row in csv.reader(file, delimiter=";") if row]
    except OSError:
        return [[str(v), *(f"{v // w * w}-{v // w * w + w - 1}" for w in (5, 10, 20, 40)), "*"]
                for v in sorted(set(values))]  # fmt: skip


def loss_of(values: list[Any], shown: list[frozenset[Any] | None]) -> float:
    """The share of a column's bits that is lost; None in `shown` is a suppressed record."""
    counts, total = Counter(values), len(values)
    covered = {region: sum(counts[v] for v in region) for region in set(shown) if region}
    lost = sum(
        math.log2((covered[region] if region else total) / counts[value])
        for value, region in zip(values, shown, strict=True)
    )
    most = sum(math.log2(total / counts[value]) for value in values)
    return lost / most if most else 0.0


def width_of(values: list[Any], shown: list[frozenset[Any]], numbers: bool) -> float:
    """The mean share of the column that a region covers: of its range, or of its values less one."""
    spread = [max(r) - min(r) if numbers else len(r) - 1 for r in shown]
    whole = max(values) - min(values) if numbers else len(set(values)) - 1
    return sum(spread) / len(spread) / whole if whole else 0.0


def anonypy(
    frame: Any, columns: list[str], folder: str, k: int, found: dict[str, Any]
) -> tuple[list[Any], int]:
    from anonypy import Preserver

    typed = frame[columns].copy()
    for column in columns:
        if typed[column].dtype == object:
            typed[column] = typed[column].astype("category")
    typed["sensitive"] = "x"
    preserver = Preserver(typed, columns, "sensitive")
    preserver.anonymize_k_anonymity(k)
    parts = preserver.modrian.partition(k)
    losses, widths = [], []
    for column in columns:
        shown: list[Any] = [None] * len(frame)
        values = frame[column].tolist()
        for part in parts:
            inside = [values[i] for i in part]
            region = frozenset(inside)
            if frame[column].dtype != object:
                low, high = min(inside), max(inside)
                region = frozenset(v for v in set(values) if low <= v <= high)
            for i in part:
                shown[i] = region
        losses.append(loss_of(values, shown))
        widths.append(width_of(values, shown, frame[column].dtype != object))
    found |= {"normalised_width": round(sum(widths) / len(widths), 4), "groups": len(parts)}
    if folder == ".":  # for `bench utility`, which measures the groups itself, too
        found["parts"] = [list(map(int, part)) for part in parts]
    return losses, min(map(len, parts))


def anjana(
    frame: Any, columns: list[str], folder: str, k: int, found: dict[str, Any]
) -> tuple[list[Any], int]:
    from anjana.anonymity import k_anonymity

    hierarchies, leaves = {}, {}
    for column in columns:
        rows = taxonomy_rows(folder, column, frame[column].tolist())
        depth = len(rows[0])
        typed = type(frame[column].tolist()[0])
        # One row for each value, as anjana's own examples have them; it looks each record up in turn.
        hierarchies[column] = {
            level: [row[level] if level else typed(row[0]) for row in rows]
            for level in range(depth)
        }
        leaves[column] = {
            label: frozenset(row[0] for row in rows if row[level] == label)
            for level in range(depth)
            for label in {row[level] for row in rows}
        }
    named = frame[columns].copy()
    named["row"] = range(len(frame))
    made = k_anonymity(named, [], columns, k, 0, hierarchies)
    losses = []
    for column in columns:
        shown: list[Any] = [None] * len(frame)
        for row, label in zip(made["row"], made[column], strict=True):
            shown[row] = leaves[column][str(label)]
        losses.append(loss_of(frame[column].astype(str).tolist(), shown))
    return losses, int(made.groupby(columns).size().min())


def main() -> None:
    tool, path, folder, k, *columns = sys.argv[1:]
    import pandas as pd

    frame = pd.read_csv(path)
    begun, cpu = time.perf_counter(), time.process_time()
    if tool == "pycanon":
        from pycanon.anonymity import k_anonymity

        found: dict[str, Any] = {"smallest": int(k_anonymity(frame, columns))}
        try:  # older versions of pycanon do not measure risk
            from pycanon.metrics import average_rir, max_rir
        except ModuleNotFoundError:
            pass
        else:
            found["prosecutor"] = float(max_rir(frame, columns))
            found["mean_over_groups"] = float(average_rir(frame, columns))
    else:
        found = {}
        losses, smallest = {"anonypy": anonypy, "anjana": anjana}[tool](
            frame, columns, folder, int(k), found
        )
        found |= {"entropy_loss": round(sum(losses) / len(losses), 4), "smallest": smallest}
    spent = {
        "seconds": round(time.perf_counter() - begun, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
    }
    print(json.dumps({"version": version(tool), **spent, **found}))


if __name__ == "__main__":
    main()
