"""What methods keep of a table, joint and alone, beside their cost: `coterie bench utility`.

    adult   the 30,162 complete training records of Adult, one QID of eight columns, one of numbers
    second  the 15,060 test records, one QID of seven columns, five of numbers: the rule of mondrian by
            width was not chosen on them
    scale   both methods of one table on a million records of adult's eight columns

For every k: the normalised width (the mean share of a column that a released value covers), the error
of random counts, the class error of a decision tree, and seconds. `joint` is a simulated job of two
parties with half of the columns each; its release is that of one table. `messages` are those in
sequence that cut the groups: two a level. The parties of a job know the declared range of a column
and not its values, so that their width is slightly larger than one table's of the same release.
`--peers` is the Python of an environment with anonypy, whose boxes are tight and whose categories are
sets of values, without a taxonomy. Its groups have two rows: `sets` has the width of these sets, and
`nodes` measures each category by the smallest node that covers the set, as all other rows do. ARX
cannot be had here, and no figures of it for these tables are at hand.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.comparison import OF_TABLES, Tried, compared, measured_way
from coterie.anonymity.algorithms.local_recoding import Parts, recode
from coterie.anonymity.algorithms.mondrian import Options, mondrian
from coterie.anonymity.algorithms.top_down import specialize_table
from coterie.anonymity.algorithms.width import WidthOptions, cut_by_width
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table
from coterie.coordinator.simulate.simulation import simulate
from coterie.experiments.secure_data_integration.adult_data import (
    CONTINUOUS,
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
)
from coterie.experiments.secure_data_integration.enlarged import load
from coterie.jobs.kinds.job_file import load_job

TRAINING = 30_162
TABLES = {
    "adult": (
        "age", "workclass", "education", "marital-status", "occupation", "race", "sex",
        "native-country",
    ),
    "second": (
        "age", "education-num", "capital-gain", "capital-loss", "hours-per-week", "race", "sex",
    ),
}  # fmt: skip
REGIONS = "method: mondrian, boxes: regions"
WAYS = {
    **OF_TABLES,
    REGIONS: lambda table, needs, most, _: mondrian(table, needs, most, Options(boxes="regions")),
    "method: mondrian, rule: width, boxes: tight": lambda table, needs, most, _: cut_by_width(
        table, needs, most, WidthOptions(tight=True)
    ),
}
JOINT = ("method: mondrian", "method: specialize")


@dataclass(frozen=True)
class Measured:
    """One of the tables, as columns and as text."""

    name: str
    adult: Adult

    @property
    def columns(self) -> tuple[str, ...]:
        return TABLES[self.name]

    def table(self) -> Table:
        return Table(tuple(self.adult.columns(self.columns)), {"class": self.adult.classes})

    def texts(self) -> dict[str, list[str]]:
        classes = self.adult.classes
        found = {name: self.adult.table[name].to_pylist() for name in self.columns}
        return found | {"class": [classes.values[code] for code in classes.codes]}


def tables_of(folder: Path, most: int | None) -> list[Measured]:
    adult = load_adult(folder)
    starts = {"adult": 0, "second": TRAINING}
    ends = {"adult": TRAINING, "second": len(adult.target)}
    found = []
    for name, start in starts.items():
        count = min(ends[name] - start, most or len(adult.target))
        part = replace(
            adult, table=adult.table.slice(start, count), target=adult.target[start : start + count]
        )
        found.append(Measured(name, part))
    return found


def alone(one: Measured, k: int) -> list[dict[str, Any]]:
    found = compared(one.table(), [Requirement(one.columns, k)], "class", WAYS)
    return [{"tool": f"one table, {tried.keys}", **_figures(tried)} for tried in found]


def _figures(tried: Tried) -> dict[str, Any]:
    return {
        "groups": tried.groups,
        "width": round(1 - tried.detail, 4),
        "query_error": round(tried.query_error.mean, 4),
        "class_error": tried.class_error,
        "seconds": round(tried.seconds, 3),
    }


def joint(one: Measured, k: int, keys: str, taxonomies: Path, place: Path) -> dict[str, Any]:
    """A job of two parties with the columns in turns, in one process."""
    texts, parties = one.texts(), ("p0", "p1")
    held = {name: parties[at % 2] for at, name in enumerate(one.columns)}
    for party in parties:
        own = [n for n in one.columns if held[n] == party] + (["class"] if party == "p0" else [])
        with (place / f"{party}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["ID", *own])
            writer.writerows(
                zip(map(str, range(len(one.adult.target))), *(texts[n] for n in own), strict=True)
            )
    listed = []
    for name in one.columns:
        place_of = f"range: [{', '.join(map(str, CONTINUOUS[name]))}]" if name in CONTINUOUS else ""
        if not place_of:
            text = (taxonomies / f"{name}.csv").read_bytes()
            (place / f"{name}.csv").write_bytes(text)
            place_of = f"taxonomy: {name}.csv"
        listed.append(f"  {name}: {{party: {held[name]}, {place_of}}}\n")
    (place / "job.yaml").write_text(
        f"kind: integrate\nname: utility\n{keys}\nparties:\n  p0: {{data: p0.csv}}\n"
        f"  p1: {{data: p1.csv}}\nid: ID\nclass: class\nattributes:\n{''.join(listed)}"
        f"requirement:\n  - {{qid: [{', '.join(one.columns)}], k: {k}}}\n"
    )
    out = place / f"{keys[8:]}-{k}"
    out.mkdir()
    result = simulate(load_job(place / "job.yaml"), place, out)
    phase = "cut" if "tree" in result else "specialize"
    with (out / "release.csv").open(newline="") as file:
        groups = len({tuple(row[:-1]) for row in csv.reader(file)}) - 1
    utility = result["utility"]
    found = {
        "tool": f"joint, {keys}",
        "groups": groups,
        "width": round(utility["normalised_width"], 4),
        "query_error": round(utility["query_error"]["mean"], 4),
        "class_error": utility["class_error"]["release"],
        "seconds": result["seconds"][phase],
        "sent_bytes": sum(party["sent_bytes"] for party in result["parties"].values()),
    }
    if "tree" in result:
        found["messages"] = 2 * max(cut["level"] for cut in result["tree"])
    return found


def peer(one: Measured, k: int, python: Path, place: Path) -> list[dict[str, Any]]:
    """anonypy, in an environment of its own: its sets of values, and the nodes that cover them."""
    path = place / "table.csv"
    texts = one.texts()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(one.columns)
        writer.writerows(zip(*(texts[name] for name in one.columns), strict=True))
    script = Path(__file__).with_name("peers") / "anonymise.py"
    command = [str(python), str(script), "anonypy", str(path), ".", str(k), *one.columns]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    if done.returncode:
        return [{"tool": "anonypy", "error": done.stderr.strip().splitlines()[-1:]}]
    found = json.loads(done.stdout)
    tool, seconds = f"anonypy {found['version']}", found["seconds"]
    covered = measured_way("", covering(one, k, found["parts"]), "class", seconds)
    sets = {"groups": found["groups"], "width": found["normalised_width"], "seconds": seconds}
    return [{"tool": f"{tool}, sets", **sets}, {"tool": f"{tool}, nodes", **_figures(covered)}]


def covering(one: Measured, k: int, parts: Sequence[Sequence[int]]) -> Anonymized:
    """Groups of records as tight boxes: the ends of numbers, and the smallest nodes above all values."""
    table = one.table()
    group = np.empty(table.records, np.int64)
    for number, part in enumerate(parts):
        group[list(part)] = number
    return recode("anonypy", table, [Requirement(one.columns, k)], 0, lambda *_: Parts(group))


def scale(folder: Path, records: int) -> list[dict[str, Any]]:
    """Both methods on one table of many records; processor seconds."""
    columns, classes = load(folder, records, TABLES["adult"])
    table = Table(tuple(columns[name] for name in TABLES["adult"]), {"class": classes})
    needs = [Requirement(TABLES["adult"], 50)]
    ways: dict[str, Callable[[Table], Any]] = {
        "method: mondrian": lambda t: cut_by_width(t, needs),
        "method: specialize": lambda t: specialize_table(t, needs, 0, "class"),
    }
    found = []
    for keys, way in ways.items():
        way(table.take(np.arange(min(2_000, records))))  # compiled loops
        used = time.process_time()
        way(table)
        found.append({"tool": keys, "records": records, "cpu_seconds": round(time.process_time() - used, 2)})  # fmt: skip
    return found


def targets(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is asked of the joint table, whose release is the one of `rule: width`, in this run."""
    entries = []
    for table in TABLES:
        for k in sorted({row["k"] for row in found[table]}):
            rows = [row for row in found[table] if row["k"] == k and "width" in row]
            width = {
                re.sub(r"anonypy [\d.]+", "anonypy", row["tool"]): row["width"] for row in rows
            }
            ours = width["one table, method: mondrian, rule: width"]
            regions = min(
                width[f"one table, {keys}"]
                for keys in (REGIONS, "method: specialize", "method: specialize, refine: groups")
            )
            asked = f"{table}, k = {k}: width of the joint release, the best other one in regions"
            entries.append(_target(asked, ours, regions))
            tight = width["one table, method: mondrian, rule: width, boxes: tight"]
            for kind in ("sets", "nodes"):
                if f"anonypy, {kind}" in width:
                    asked = f"{table}, k = {k}: the same in tight boxes, anonypy's {kind}"
                    entries.append(_target(asked, tight, width[f"anonypy, {kind}"]))
    if len(found.get("scale", ())) == 2:
        one, other = (row["cpu_seconds"] for row in found["scale"])
        asked = f"{found['scale'][0]['records']:,} records: mondrian over specialize, processor"
        entries.append(_target(asked, round(one / max(other, 1e-9), 2), 3.0))
    return entries


def _target(what: str, figure: float | None, most: float | None) -> dict[str, Any]:
    reached = None if figure is None or most is None else figure <= most
    return {"target": what, "figure": figure, "at_most": most, "reached": reached}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench utility", description=__doc__)
    parser.add_argument("--k", type=int, nargs="+", default=[10, 50, 200])
    parser.add_argument("--records", type=int, default=1_000_000, help="of the scale; 0: none")
    parser.add_argument("--peers", type=Path, help="Python of an environment with anonypy")
    parser.add_argument("--rows", type=int, help="only so many records of each table")
    add_data_option(parser)
    options = parser.parse_args(argv)
    folder = adult_folder(options.data)
    result: dict[str, Any] = {}
    for one in tables_of(folder, options.rows):
        rows = []
        for k in options.k:
            with tempfile.TemporaryDirectory() as place:
                found = [joint(one, k, keys, folder / "taxonomies", Path(place)) for keys in JOINT]
                found += alone(one, k)
                if options.peers is not None:
                    found += peer(one, k, options.peers, Path(place))
            rows += [{"k": k, **entry} for entry in found]
            print(json.dumps(rows[-len(found) :]), file=sys.stderr)
        result[one.name] = rows
    if options.records:
        result["scale"] = scale(folder, options.records)
    result["targets"] = targets(result)
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
