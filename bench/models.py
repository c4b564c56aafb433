"""A Bayes net of the paper's size, and ID3 on Adult. Prints JSON.

Paper 2, third article, reports 2.5 hours for a Bayes net over 100,000 records of six fields between
two parties, dominated by scalar products. Parties here are processes on this machine over mTLS.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from coterie.bench import _sessions
from coterie.bench._spent import Meter, found_of, totals
from coterie.bench.peers.question_jobs import CATEGORICAL
from coterie.experiments.secure_data_integration.adult_data import (
    VARIABLE,
    add_data_option,
    adult_folder,
)

PAPER_SECONDS = 2.5 * 3600


def net_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of the Bayes net."""
    from coterie.protocols.statistics.bayesnet import search
    from coterie.protocols.statistics.hidden_scores import HiddenScores
    from coterie.protocols.statistics.shared_counts import Transfers
    from coterie.protocols.statistics.shared_tables import Axis, JointTable, table_shares

    return _measured(
        channel,
        lambda metered, rng: _net(
            metered,
            rng,
            names,
            argument,
            (search, Axis, JointTable, table_shares, HiddenScores, Transfers),
        ),
    )


def _net(channel: Any, rng: Any, names: list[str], argument: dict[str, Any], tools: Any) -> Any:
    search, axis, table, table_shares, hidden_scores, transfers_type = tools
    servers = (names[0], names[1])
    axes = [axis(name, owner, size) for name, owner, size in argument["axes"]]
    scores = hidden_scores(channel, names, servers, argument["records"] + 8, rng.fork("scores"))
    transfers = transfers_type(channel, rng.fork("transfers"))

    def count(some: Any) -> Any:
        of = table(names, servers, some, argument["codes"], argument["records"])
        return table_shares(transfers, of, rng)

    return search(channel, axes, 2, count, scores)


def tree_party(channel: Any, names: list[str], argument: dict[str, Any]) -> dict[str, Any]:
    """One party's part of ID3."""
    from coterie.protocols.statistics.hidden_scores import HiddenScores
    from coterie.protocols.statistics.shared_counts import Transfers
    from coterie.protocols.statistics.shared_tables import Axis
    from coterie.protocols.statistics.tree import TreePlan, grow

    def work(metered: Any, rng: Any) -> Any:
        servers = (names[0], names[1])
        axes = tuple(Axis(name, owner, size) for name, owner, size in argument["axes"])
        plan = TreePlan(
            tuple(names), servers, axes, 2, argument["records"], argument["depth"],
            argument["minimum"],
        )  # fmt: skip
        scores = HiddenScores(metered, names, servers, argument["records"], rng.fork("scores"))
        transfers = Transfers(metered, rng.fork("transfers"))
        tree = grow(transfers, plan, argument["codes"], argument["classes"], scores, rng)
        return _nodes(tree)

    return _measured(channel, work)


def _nodes(tree: Any) -> int:
    return 1 + sum(map(_nodes, tree.branches))


def _measured(channel: Any, work: Any) -> dict[str, Any]:
    from coterie.protocols.primitives.randomness import Random

    meter = Meter(channel)
    found, spent = meter.measure(lambda: work(meter.channel, Random()))
    return meter.report(found, spent)


def bayes_net(records: int) -> dict[str, Any]:
    """Six fields of three values, each depending on an earlier one, three at each of two parties."""
    rng = np.random.default_rng(1)
    codes = {"f0": rng.integers(0, 3, records)}
    for i in range(1, 6):
        noise = rng.integers(0, 3, records)
        codes[f"f{i}"] = np.where(rng.random(records) < 0.5, codes[f"f{(i - 1) // 2}"], noise)
    owners = {f"f{i}": f"p{i % 2}" for i in range(6)}
    axes = [(name, owners[name], 3) for name in codes]
    arguments = [
        {
            "records": records,
            "axes": axes,
            "codes": {n: c for n, c in codes.items() if owners[n] == f"p{at}"},
        }
        for at in range(2)
    ]
    runs = _sessions.run("coterie.bench.models:net_party", arguments)
    return {
        "records": records,
        "edges": [list(edge) for edge in found_of(runs)],
        **totals(runs),
        "times_faster_than_the_paper": PAPER_SECONDS / max(r["seconds"] for r in runs),
    }


def adult_tree(
    folder: Path, parties: int, records: int | None, depth: int, minimum: int
) -> dict[str, Any]:
    rows: list[dict[str, str]] = []
    for part in ("train", "test"):
        with (folder / f"adult.{part}.csv").open(newline="") as file:
            rows += [row for row in csv.DictReader(file) if "?" not in row.values()]
    rows = rows[:records]
    label = list(rows[0])[-1]
    codes, axes = {}, []
    for at, name in enumerate(CATEGORICAL):
        values = sorted({row[name] for row in rows})
        codes[name] = np.array([values.index(row[name]) for row in rows])
        axes.append((name, f"p{at % parties}", len(values)))
    classes = np.array([">" in row[label] for row in rows]).astype(int)
    arguments = [
        {
            "records": len(rows), "axes": axes, "classes": classes, "depth": depth,
            "minimum": minimum,
            "codes": {name: codes[name] for name, owner, _ in axes if owner == f"p{at}"},
        }
        for at in range(parties)
    ]  # fmt: skip
    runs = _sessions.run("coterie.bench.models:tree_party", arguments)
    return {"parties": parties, "records": len(rows), "depth": depth, "minimum": minimum,
            "nodes": found_of(runs), **totals(runs)}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench models", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables")
    add_data_option(parser)
    options = parser.parse_args(argv)
    quick, adult = options.quick, options.data or os.environ.get(VARIABLE)
    report: dict[str, Any] = {
        "bench": "models",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "bayes_net": bayes_net(2000 if quick else 100_000),
    }
    if adult:
        report["adult_tree"] = [
            adult_tree(
                adult_folder(options.data),
                parties,
                2000 if quick else None,
                2 if quick else 3,
                100 if quick else 500,
            )
            for parties in (2, 3)
        ]
    print(json.dumps(report, indent=2))
    return 0
