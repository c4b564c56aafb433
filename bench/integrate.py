"""Joint specialization beside the single-table algorithm and scikit-learn's decision tree.

    adult    Adult, 45,222 records, one QID of all 14 attributes, k = 50; two parties over mTLS
    many     30 random requirements of 3 to 7 QIDs (paper 1 §7.3), averaged
    scale  Adult enlarged to 200 thousand, 2 million and 10 million records (§7.3): seconds, bytes
             of memory per record and party, bits sent per record and specialization
    dka    the encryptions of the DkA baseline, which grow with the square of the records

Two parties are two processes with a certificate each, which communicate like party servers. All
three are timed in the same two ways, after a warm-up run: `seconds` from coded columns to the
result (for the joint run the phase `specialize`, from the first announcement to the last round),
`seconds_with_coding` from the columns of text as they were read. `cpu_seconds` are those of all
processes, `bytes` what both parties send. scikit-learn grows an entropy tree on the same columns
(codes of values and numbers, as float32, which is what it works on) with as many leaves as the
specialized table has groups. To enlarge the table, every further copy of a record gets a random
value, of those that occur, in about half of its attributes. `--chart FILE` draws the scale.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.specialization.specialize import Labels, specialize, warm_up
from coterie.anonymity.table.columns import Column
from coterie.bench import _sessions
from coterie.experiments.secure_data_integration.adult_data import (
    CONTINUOUS,
    NAMES,
    PARTY_A,
    PARTY_B,
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
)
from coterie.experiments.secure_data_integration.enlarged import (
    Qids,
    attributes_of,
    fresh,
    load,
    party_run,
    random_qids,
    requirements,
)
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wrappers import Metered

# One party


def party(channel: Channel, names: list[str], task: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs each of the task's requirements as often as the task says; returns the costs."""
    own = PARTY_A if channel.me == "p0" else PARTY_B
    warm_up()
    folder = Path(task["folder"])
    taxonomies = load_adult(folder).taxonomies
    coding = _coding(folder, own, task["runs"])
    load_adult.cache_clear()
    empty = _memory()["now"]  # memory of a process that has imported its libraries and read Adult
    columns, classes = load(folder, task["records"], own)
    limits = {name: task["limits"][name] for name in NAMES if name not in taxonomies}
    load_adult.cache_clear()
    metered = Metered(channel._transport)
    started: dict[str, float] = {}
    meter = Channel(metered, "bench", lambda step, done, total: _note(started, step))
    results = []
    for qids in task["qids"]:
        times, spent = [], []
        for _ in range(task["runs"]):
            _reset_peak()
            metered.by_step.clear()
            before = metered.total.sent_bytes
            begin = party_run(names, qids, columns, classes, taxonomies, limits)
            started.clear()
            used = time.process_time()
            outcome = begin(meter)
            times.append(time.perf_counter() - started["specialize"])
            spent.append(time.process_time() - used)
        sent = sum(t.sent_bytes for s, t in metered.by_step.items() if "instruct" in s)
        received = sum(t.received_bytes for s, t in metered.by_step.items() if "instruct" in s)
        winners = outcome.table.winners
        results.append(
            {
                "seconds": statistics.median(times[1:] or times),
                "coding_seconds": coding,
                "cpu_seconds": statistics.median(spent[1:] or spent),
                "sent_bytes": metered.total.sent_bytes - before,
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


def _memory() -> dict[str, int]:
    """The memory of this process in bytes, now and at its peak since `_reset_peak`."""
    text = Path("/proc/self/status").read_text()
    lines = {line.split(":")[0]: line.split()[1] for line in text.splitlines() if "kB" in line}
    return {"now": int(lines["VmRSS"]) << 10, "peak": int(lines["VmHWM"]) << 10}


def _reset_peak() -> None:
    # If the peak cannot be reset, it is that of the whole process: larger, never smaller.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


# The measurements


def joint(folder: Path, records: int, qids: list[Qids], runs: int) -> list[dict[str, Any]]:
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
                "coding_seconds": max(one["coding_seconds"], other["coding_seconds"]),
                "cpu_seconds": one["cpu_seconds"] + other["cpu_seconds"],
                "sent_bytes": one["sent_bytes"] + other["sent_bytes"],
                "memory": max(one["memory"], other["memory"]),
            }
        )
    return merged


def _timed(work: Callable[[], Any], runs: int) -> float:
    """The median time of some runs after a warm-up run."""
    times = []
    for _ in range(max(runs, 2)):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def _coding(folder: Path, names: Sequence[str], runs: int) -> float:
    """The seconds from columns of text to coded columns."""
    adult = load_adult(folder)
    return _timed(lambda: adult.columns(names), runs)


def single(columns: dict[str, Column], classes: Labels, qids: Qids, runs: int) -> Any:
    """Seconds, processor seconds and the result of the same algorithm on the joined table."""
    times, spent = [], []
    for _ in range(max(runs, 2)):
        chosen = [fresh(columns[name]) for name in attributes_of(qids)]
        start, used = time.perf_counter(), time.process_time()
        result = specialize(chosen, classes, requirements(qids))
        times.append(time.perf_counter() - start)
        spent.append(time.process_time() - used)
    return statistics.median(times[1:]), statistics.median(spent[1:]), result


def groups(result: Any, qids: Qids) -> int:
    """The number of different rows of the specialized table: the leaves of its tree."""
    codes = np.column_stack([result.generalized(name)[0] for name in attributes_of(qids)])
    return len(np.unique(codes, axis=0))


def learner_table(adult: Adult, names: list[str]) -> Any:
    """The columns of text in scikit-learn's form: one matrix of float32."""
    columns = [
        pc.cast(adult.table[name], pa.float32()).to_numpy()
        if name in CONTINUOUS
        else adult.table[name].combine_chunks().dictionary_encode().indices.to_numpy()
        for name in names
    ]
    return np.column_stack(columns).astype(np.float32)


def learner(adult: Adult, qids: Qids, leaves: int, runs: int) -> dict[str, float]:
    """scikit-learn's tree with at most as many leaves, on the same columns."""
    from sklearn.tree import DecisionTreeClassifier

    names, target = attributes_of(qids), adult.classes.codes
    table = learner_table(adult, names)

    def fit() -> Any:
        tree = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=max(leaves, 2))
        return tree.fit(table, target)

    used = time.process_time()
    seconds = _timed(fit, runs)
    spent = (time.process_time() - used) / max(runs, 2)
    return {
        "seconds": seconds,
        "coding_seconds": _timed(lambda: learner_table(adult, names), runs),
        "cpu_seconds": spent,
        "leaves": int(fit().get_n_leaves()),
    }


def measure_adult(folder: Path, runs: int, many: int) -> dict[str, Any]:
    adult = load_adult(folder)
    records = len(adult.target)
    columns, classes = load(folder, records, NAMES)
    every = [[list(NAMES)], *random_qids(count=many)]
    together = joint(folder, records, every, runs)
    entries = []
    for qids, pair in zip(every, together, strict=True):
        seconds, spent, result = single(columns, classes, qids, runs)
        ours = [(w.attribute, w.value, w.score) for w in result.winners]
        assert pair["winners"] == ours, "the joint run is not that of the single table"
        alone = {
            "seconds": seconds,
            "coding_seconds": _coding(folder, attributes_of(qids), runs),
            "cpu_seconds": spent,
        }
        leaves = groups(result, qids)
        tree = learner(adult, qids, leaves, runs)
        entries.append({"joint": pair, "single": alone, "scikit_learn": tree, "leaves": leaves})
    return {
        "adult": {"records": records, **summary(entries[:1])},
        "many": {"requirements": many, **summary(entries[1:])} if many else {},
    }


def summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over requirements for each way of computing, and the ratios to the joint run."""

    def mean(way: str, what: str) -> float:
        return statistics.fmean(entry[way][what] for entry in entries)

    found: dict[str, Any] = {
        "specializations": round(mean("joint", "specializations"), 1),
        "leaves": round(statistics.fmean(entry["leaves"] for entry in entries), 1),
        "scikit_learn_leaves": round(mean("scikit_learn", "leaves"), 1),
        "joint_bytes": round(mean("joint", "sent_bytes")),
    }
    for way in ("joint", "single", "scikit_learn"):
        seconds, coding = mean(way, "seconds"), mean(way, "coding_seconds")
        found[f"{way}_seconds"] = round(seconds, 5)
        found[f"{way}_seconds_with_coding"] = round(seconds + coding, 5)
        found[f"{way}_cpu_seconds"] = round(mean(way, "cpu_seconds"), 5)
    for way in ("single", "scikit_learn"):
        for what in ("seconds", "seconds_with_coding", "cpu_seconds"):
            ratio = found[f"joint_{what}"] / max(found[f"{way}_{what}"], 1e-9)
            found[f"joint_over_{way}_{what}"] = round(ratio, 3)
    return found


def measure_scale(folder: Path, sizes: list[int]) -> list[dict[str, Any]]:
    found = []
    for records in sizes:
        [result] = joint(folder, records, [[list(NAMES)]], 2)
        found.append(
            {
                "records": records,
                "specializations": result["specializations"],
                "seconds": round(result["seconds"], 3),
                "cpu_seconds": round(result["cpu_seconds"], 3),
                "bytes": result["sent_bytes"],
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
    parser.add_argument("--sizes", type=int, nargs="+", help="records of the scale")
    parser.add_argument("--many", type=int, help="how many random requirements")
    parser.add_argument("--repeat", type=int, help="repetitions within a run; the median counts")
    parser.add_argument("--only", choices=["adult", "scale"], help="one part only")
    add_data_option(parser)
    options = parser.parse_args(argv)
    folder = adult_folder(options.data)
    from coterie.bench.dka import growth

    result: dict[str, Any] = {}
    if options.only != "scale":
        repeat = options.repeat or (3 if options.quick else 9)
        many = (5 if options.quick else 30) if options.many is None else options.many
        result |= measure_adult(folder, repeat, many)
    if options.only != "adult":
        sizes = options.sizes or [200_000]
        if not options.quick and not options.sizes:
            sizes = [200_000, 2_000_000, 10_000_000]
        result["scale"] = measure_scale(folder, sizes)
        result["dka"] = growth([50, 100] if options.quick else [50, 100, 200, 400])
        if options.chart:
            chart(result["scale"], result["dka"], options.chart)
    result["peak_memory_of_this_process"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
