"""Joint specialization beside the single-table algorithm and scikit-learn's decision tree.

    adult    Adult, 45,222 records, one QID of all 14 attributes, k = 50; two parties over mTLS
    many     30 random requirements of 3 to 7 QIDs (paper 1 §7.3), averaged
    scale    Adult blown up to 200 thousand, 2 million and 10 million records (§7.3): seconds, bytes
             of memory per record and party, bits sent per record and specialization
    dka      how the encryptions of the DkA baseline grow, which grow with the square of the records

Two parties are two processes with a certificate each, as party servers talk. What is timed is the
phase `specialize`, from the first announcement to the last round, after a run for warmth; columns
are coded before, as a server does when a job is proposed. scikit-learn grows an entropy tree, without
limits, on the same codes (taxonomies and ranks as numbers, float32, which is what it works on).
Blow-up: every further copy of a record has a random value, of those that occur, in about half of its
attributes. `--chart FILE` draws the scale.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.specialization.specialize import Labels, Requirement, specialize, warm_up
from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.bench import _sessions
from coterie.experiments.secure_data_integration.adult_data import (
    NAMES,
    PARTY_A,
    PARTY_B,
    add_data_option,
    adult_folder,
    load_adult,
)
from coterie.protocols.integration.integrate import Plan, integrate
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives.randomness import Random

K = 50
HOLDERS = {**dict.fromkeys(PARTY_A, "p0"), **dict.fromkeys(PARTY_B, "p1")}
SINGLE_RUNS = 5
_BASE = 45222

Qids = list[list[str]]


def fresh(column: Column) -> Column:
    """The column with a tree that nothing has grown."""
    if isinstance(column, CategoricalColumn):
        return column
    assert isinstance(column, ContinuousColumn)
    return ContinuousColumn(column.name, column.codes, column.values, column.limits)


def load(folder: Path, records: int, names: tuple[str, ...]) -> tuple[dict[str, Column], Labels]:
    """Adult, or its blow-up; a column is the same whoever makes it."""
    adult = load_adult(folder)
    copies = -(-records // _BASE)
    columns: dict[str, Column] = {}
    for name in names:
        column = adult.column(name)
        if records > _BASE:
            rng = np.random.default_rng(NAMES.index(name))
            codes = np.tile(column.codes, copies)[:records]
            for start in range(_BASE, records, 1 << 20):
                part = codes[start : start + (1 << 20)]
                change = rng.random(len(part), np.float32) < 0.5
                drawn = rng.integers(0, column.size, len(part), np.uint32)
                part[change] = drawn[change].astype(codes.dtype)
            column.codes = codes
        columns[name] = column
    classes = np.tile(adult.classes.codes, copies)[:records]
    return columns, Labels(classes, adult.classes.values)


def requirements(qids: Qids) -> tuple[Requirement, ...]:
    return tuple(Requirement(tuple(qid), K) for qid in qids)


def random_qids(seed: int = 1, count: int = 30) -> list[Qids]:
    """§7.3: 3 to 7 QIDs, all of one length between 2 and 9; a repeated one is dropped."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        number, length = int(rng.integers(3, 8)), int(rng.integers(2, 10))
        drawn = {
            tuple(sorted(rng.choice(14, length, replace=False).tolist())) for _ in range(number)
        }
        found.append([[NAMES[i] for i in qid] for qid in sorted(drawn)])
    return found


# One party


def party(channel: Channel, names: list[str], task: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs each of the task's requirements, as often as it says, and tells what it took."""
    own = PARTY_A if channel.me == "p0" else PARTY_B
    warm_up()
    folder = Path(task["folder"])
    taxonomies = load_adult(folder).taxonomies
    columns, classes = load(folder, _BASE, own)
    load_adult.cache_clear()
    del columns, classes
    empty = _memory()["now"]  # of a process that has its libraries, and has read Adult
    columns, classes = load(folder, task["records"], own)
    limits = {name: task["limits"][name] for name in NAMES if name not in taxonomies}
    load_adult.cache_clear()
    metered = Metered(channel._transport)
    started: dict[str, float] = {}
    meter = Channel(metered, "bench", lambda step, done, total: _note(started, step))
    results = []
    for qids in task["qids"]:
        times = []
        for _ in range(task["runs"]):
            _reset_peak()
            metered.by_step.clear()
            mine = {name: fresh(columns[name]) for name in _used(qids) if name in columns}
            plan = _plan(names, qids, taxonomies, limits)
            started.clear()
            outcome = integrate(meter, plan, mine, {"class": classes}, len(classes.codes), Random())
            times.append(time.perf_counter() - started["specialize"])
        sent = sum(t.sent_bytes for s, t in metered.by_step.items() if "instruct" in s)
        received = sum(t.received_bytes for s, t in metered.by_step.items() if "instruct" in s)
        winners = outcome.table.winners
        results.append(
            {
                "seconds": statistics.median(times[1:] or times),
                "specializations": len(winners),
                "binary": sum(len(w.children) == 2 for w in winners),
                "bytes": sent + received,
                "winners": [(w.attribute, w.value, w.score) for w in winners],
                "memory": (_memory()["peak"] - empty) / task["records"],
            }
        )
    return results


def _note(started: dict[str, float], step: str) -> None:
    started.setdefault(step, time.perf_counter())


def _used(qids: Qids) -> list[str]:
    return [name for name in NAMES if any(name in qid for qid in qids)]


def _plan(names: list[str], qids: Qids, taxonomies: Any, limits: Any) -> Plan:
    from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree

    trees = {
        name: TaxonomyTree(taxonomies[name]) if name in taxonomies else IntervalTree(*limits[name])
        for name in _used(qids)
    }
    return Plan(
        tuple(names),
        trees,
        {name: HOLDERS[name] for name in trees},
        requirements(qids),
        tuple(names),
        "class",
        turns=True,
    )


def _memory() -> dict[str, int]:
    """Bytes of this process in memory, now and at most since `_reset_peak`."""
    text = Path("/proc/self/status").read_text()
    lines = {line.split(":")[0]: line.split()[1] for line in text.splitlines() if "kB" in line}
    return {"now": int(lines["VmRSS"]) << 10, "peak": int(lines["VmHWM"]) << 10}


def _reset_peak() -> None:
    # Where it cannot be reset, the peak is that of the whole process: larger, never smaller.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


# The measurements


def joint(folder: Path, records: int, qids: list[Qids], runs: int) -> list[dict[str, Any]]:
    from coterie.experiments.secure_data_integration.adult_data import CONTINUOUS

    task = {
        "folder": str(folder),
        "records": records,
        "qids": qids,
        "runs": runs,
        "limits": CONTINUOUS,
    }
    parties = _sessions.run("coterie.bench.integrate:party", [task, task])
    merged = []
    for one, other in zip(*parties, strict=True):
        assert one["winners"] == other["winners"]
        merged.append(
            {
                **one,
                "seconds": max(one["seconds"], other["seconds"]),
                "memory": max(one["memory"], other["memory"]),
            }
        )
    return merged


def single(columns: dict[str, Column], classes: Labels, qids: Qids, runs: int) -> Any:
    times = []
    for _ in range(runs):
        chosen = [fresh(columns[name]) for name in _used(qids)]
        start = time.perf_counter()
        result = specialize(chosen, classes, requirements(qids))
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:] or times), result


def learner(columns: dict[str, Column], classes: Labels, runs: int) -> float:
    from sklearn.tree import DecisionTreeClassifier

    table = np.column_stack([columns[name].codes for name in NAMES]).astype(np.float32)
    times = []
    for seed in range(runs):
        tree = DecisionTreeClassifier(criterion="entropy", random_state=seed)
        start = time.perf_counter()
        tree.fit(table, classes.codes)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:] or times)


def measure_adult(folder: Path, runs: int, many: int) -> dict[str, Any]:
    columns, classes = load(folder, _BASE, NAMES)
    whole: Qids = [list(NAMES)]
    requirements_ = [whole, *random_qids(count=many)]
    together = joint(folder, _BASE, requirements_, runs)
    alone = [single(columns, classes, qids, runs) for qids in requirements_]
    tree = learner(columns, classes, max(runs // 2, 2))
    for pair, result in zip(together, alone, strict=True):
        ours = [(w.attribute, w.value, w.score) for w in result[1].winners]
        assert pair["winners"] == ours, "the joint run is not that of the single table"

    def summary(joint_seconds: float, single_seconds: float) -> dict[str, Any]:
        return {
            "joint_seconds": round(joint_seconds, 4),
            "single_seconds": round(single_seconds, 4),
            "scikit_learn_seconds": round(tree, 4),
            "joint_over_scikit_learn": round(joint_seconds / tree, 3),
            "joint_over_single": round(joint_seconds / single_seconds, 3),
        }

    mean = statistics.fmean
    return {
        "adult": {
            "records": _BASE,
            "specializations": together[0]["specializations"],
            **summary(together[0]["seconds"], alone[0][0]),
        },
        "many": {
            "requirements": many,
            "specializations": round(mean(t["specializations"] for t in together[1:]), 1),
            **summary(mean(t["seconds"] for t in together[1:]), mean(a[0] for a in alone[1:])),
        },
    }


def measure_scale(folder: Path, sizes: list[int]) -> list[dict[str, Any]]:
    found = []
    for records in sizes:
        [result] = joint(folder, records, [[list(NAMES)]], 2)
        found.append(
            {
                "records": records,
                "specializations": result["specializations"],
                "seconds": round(result["seconds"], 3),
                "nanoseconds_per_record_and_specialization": round(
                    result["seconds"] / records / result["specializations"] * 1e9, 1
                ),
                "memory_bytes_per_record_and_party": round(result["memory"], 1),
                "bits_per_record_and_specialization": round(
                    result["bytes"] * 8 / records / result["specializations"], 3
                ),
            }
        )
        print(found[-1], file=sys.stderr)
    return found


def chart(scale: list[dict[str, Any]], dka: list[dict[str, Any]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "coterie", "svg.fonttype": "none"}
    from matplotlib import pyplot

    records = [entry["records"] for entry in scale]
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4))
    axes[0].loglog(records, [e["seconds"] for e in scale], "o-", label="Coterie, two parties")
    axes[0].loglog(
        [e["records"] for e in dka], [e["seconds"] for e in dka], "s--", label="DkA baseline"
    )
    axes[0].set_title("seconds", fontsize=10)
    axes[0].legend(frameon=False, loc="lower left", fontsize=8)
    axes[1].semilogx(records, [e["memory_bytes_per_record_and_party"] for e in scale], "o-")
    axes[1].axhline(200, color="grey", linestyle=":")
    axes[1].set_title("memory, bytes per record and party", fontsize=10)
    axes[2].semilogx(records, [e["bits_per_record_and_specialization"] for e in scale], "o-")
    axes[2].axhline(2, color="grey", linestyle=":")
    axes[2].set_title("traffic, bits per record and specialization", fontsize=10)
    for axis in axes:
        axis.set_xlabel("records")
        axis.set_ylim(bottom=None if axis is axes[0] else 0)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench integrate", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs, up to 200,000 records")
    parser.add_argument("--chart", type=Path, help="write the chart of the scale to this file")
    parser.add_argument("--only", choices=["adult", "scale"], help="one part only")
    add_data_option(parser)
    options = parser.parse_args(argv)
    folder = adult_folder(options.data)
    from coterie.bench.dka import growth

    result: dict[str, Any] = {}
    if options.only != "scale":
        result |= measure_adult(folder, 3 if options.quick else 9, 5 if options.quick else 30)
    if options.only != "adult":
        sizes = [200_000] if options.quick else [200_000, 2_000_000, 10_000_000]
        result["scale"] = measure_scale(folder, sizes)
        result["dka"] = growth([50, 100] if options.quick else [50, 100, 200, 400])
        if options.chart:
            chart(result["scale"], result["dka"], options.chart)
    result["peak_memory_of_this_process"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
