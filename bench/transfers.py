"""Oblivious transfers, checked and silent: estimates of their code, time and bytes, bytes of jobs. Prints JSON.

code    what two attacks on the code of silent transfers would cost, by our own computation, for our
        sizes and for those of others (`bench/_lpn_estimates.py`)
speed   processor time of a side and bytes of sessions of so many transfers, made in both ways by
        two parties in this process
jobs    bytes that all parties of a job of every kind send, without and with silent transfers; with
        `--before FILE` also those of an earlier version, of which FILE has this part
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PEOPLE = 10_000
NAMES = ("a", "b", "c")
_HELD = "id: ID\nattributes:\n"
_CODES = """\
id: ID
class: Class
attributes:
  Sex: {party: a}
  Job: {party: b, values: [u, v, w, x, y, z]}
  Age: {party: c, cuts: [25, 35, 45, 55, 65]}
"""
_TWO = "  Rent: {party: b, range: [0, 100]}\n  Age: {party: c, range: [0, 100]}\n"
_NUMBERS = f"  Pay: {{party: a, range: [0, 100]}}\n{_TWO}"
_MATCHING = "kind: intersect\nid: ID\n"
JOBS = {
    "integrate": (
        "kind: integrate\nid: ID\nclass: Class\nattributes:\n"
        "  Pay: {party: a, range: [0, 100]}\n  Age: {party: c, range: [0, 100]}\n"
        "requirement:\n  - {qid: [Pay, Age], k: 200}\nhide_scores: true\n"
    ),
    "count": f"kind: count\n{_CODES}tables: [[Sex, Job, Age]]\nminimum: 5\n",
    "aggregate": (
        f"kind: aggregate\n{_HELD}  Job: {{party: b, values: [u, v, w, x, y, z]}}\n"
        "  Age: {party: c, range: [0, 100]}\nby: [Job]\nmeasures: [{count: true}, {mean: Age}]\n"
    ),
    "tree": f"kind: tree\n{_CODES}max_depth: 2\nminimum: 5\n",
    "bayesnet": f"kind: bayesnet\n{_CODES}minimum: 5\n",
    "rules": f"kind: rules\n{_CODES.replace('class: Class', '')}support: 0.05\nconfidence: 0.6\n",
    "identify": (
        f"kind: identify\n{_HELD}  Sex: {{party: a}}\n  Job: {{party: b}}\n  Age: {{party: c}}\n"
    ),
    "regress, ridge": (
        f"kind: regress\n{_HELD}{_NUMBERS}model: ridge\noutcome: Pay\nfeatures: [Rent, Age]\nminimum: 5\n"
    ),
    "regress, logistic": (
        f"kind: regress\n{_HELD}  Class: {{party: a, values: [N, Y]}}\n{_TWO}model: logistic\n"
        "outcome: Class\nfeatures: [Rent, Age]\npenalty: 1\niterations: 5\nminimum: 5\n"
    ),
    "cluster": f"kind: cluster\n{_HELD}{_NUMBERS}clusters: 4\niterations: 5\nminimum: 5\n",
    "predict": (
        "kind: predict\nid: ID\nmodel: risk\nrecipients: [a, c]\n"
        "attributes: {Sex: {party: a}, Job: {party: b}, Age: {party: c}}\n"
    ),
}
KEPT = f"kind: bayesnet\n{_CODES}structure: naive\nkeep: risk\nparameters: true\nminimum: 5\n"
SIZES = (60_000, 131_072, 200_000, 400_000, 1_000_000, 4_000_000)


def code() -> list[dict[str, Any]]:
    from coterie.bench._lpn_estimates import SETS, estimates

    return [{"set": name, **estimates(*numbers)} for name, numbers in SETS.items()]


def speed(sizes: tuple[int, ...], tries: int) -> list[dict[str, Any]]:
    """The best of some tries; one before them loads the compiled loops."""
    _session(sizes[0], True)
    found = []
    for size in sizes:
        entry: dict[str, Any] = {"transfers": size}
        for way, silent in (("checked", False), ("silent", True)):
            runs = [_session(size, silent) for _ in range(tries)]
            spent = min(run["cpu_seconds"] for run in runs)
            entry[f"{way}_nanoseconds"] = round(spent / size / 2 * 1e9, 1)
            entry[f"{way}_bytes"] = round(runs[0]["sent_bytes"] / size, 2)
        found.append(entry)
    return found


def _session(size: int, silent: bool) -> dict[str, float]:
    """What both sides spend together, without base transfers."""
    from coterie.bench._spent import Meter
    from coterie.protocols.messaging.channel import Channel
    from coterie.protocols.messaging.memory import run_parties
    from coterie.protocols.primitives.randomness import Random
    from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

    choices = Random("choices").bits(size)

    def party(role: type[Sender] | type[Receiver], argument: Any) -> Callable[[Channel], Any]:
        def run(channel: Channel) -> Any:
            meter = Meter(channel)
            meter.channel.silent = silent
            session = role(meter.channel, channel.peers[0], Random(channel.me))
            session._source._fewest = 1
            return meter.measure(lambda: session.correlated(argument))[1]

        return run

    spent = run_parties({"a": party(Sender, size), "b": party(Receiver, choices)})
    return {
        "cpu_seconds": max(one["cpu_seconds"] for one in spent.values()),  # of the whole process
        "sent_bytes": sum(one["sent_bytes"] for one in spent.values()),
    }


def jobs(people: int) -> list[dict[str, Any]]:
    """Bytes that all parties send after the intersection, of every job in every way that this version has."""
    found: list[dict[str, Any]] = [{"job": name} for name in JOBS]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_people(folder, people)
        for way in _ways():
            kept = _run(folder, "kept", KEPT, None)
            matching = _sent(_run(folder, "matching", _MATCHING, None))
            for entry, text in zip(found, JOBS.values(), strict=True):
                entry[f"{way}_bytes"] = _sent(_run(folder, "job", text, kept)) - matching
    return found


def _ways() -> Iterator[str]:
    """Makes the transfers of this process in one way after the other."""
    try:
        from coterie.protocols.transfer import silent
    except ImportError:  # a version without them
        yield "before"
        return
    fewest = silent.FEWEST
    for way, silent.FEWEST in (("checked", 1 << 62), ("silent", fewest)):
        yield way


def _write_people(folder: Path, people: int) -> None:
    rng = np.random.default_rng(7)
    common = {
        "ID": np.arange(people),
        "Sex": rng.choice(["F", "M"], people),
        "Job": rng.choice(list("uvwxyz"), people),
        "Age": rng.integers(18, 90, people),
        "Pay": rng.integers(0, 100, people),
        "Rent": rng.integers(0, 100, people),
    }
    common["Class"] = np.where(common["Age"] + rng.integers(0, 60, people) > 80, "Y", "N")
    held = {"a": ["Sex", "Pay", "Class"], "b": ["Job", "Rent"], "c": ["Age"]}
    for name, columns in held.items():
        rows = zip(*(common[column].tolist() for column in ("ID", *columns)), strict=True)
        lines = [",".join(("ID", *columns)), *(",".join(map(str, row)) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def _run(folder: Path, name: str, text: str, models: Path | None) -> Path:
    """The result folder of a job that all parties compute in this process."""
    from coterie.coordinator.simulate.simulation import simulate
    from coterie.jobs.kinds.job_file import load_job

    parties = "".join(f"  {party}: {{data: {party}.csv}}\n" for party in NAMES)
    path, out = folder / "job.yaml", Path(tempfile.mkdtemp(dir=folder, prefix=name))
    path.write_text(f"name: transfers\nparties:\n{parties}{text}")
    simulate(load_job(path), folder, out, seed="transfers", models=models)
    return out


def _sent(folder: Path) -> int:
    result = json.loads((folder / "result.json").read_text())
    return sum(int(party["sent_bytes"]) for party in result["parties"].values())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench transfers", description=__doc__)
    parser.add_argument("parts", nargs="*", help="code, speed, jobs; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--before", type=Path, help="`jobs` of an earlier version, as JSON")
    options = parser.parse_args(argv)
    wanted = options.parts or ["code", "speed", "jobs"]
    if unknown := set(wanted) - {"code", "speed", "jobs"}:
        parser.error(f"'{min(unknown)}' is no part; there are code, speed, jobs")
    result: dict[str, Any] = {"benchmark": "transfers"}
    if "code" in wanted:
        result["code"] = code()
    if "speed" in wanted:
        result["speed"] = speed(SIZES[:2] if options.quick else SIZES, 1 if options.quick else 5)
    if "jobs" in wanted:
        result["people"] = 300 if options.quick else PEOPLE
        result["jobs"] = jobs(result["people"])
        if options.before:
            earlier = {e["job"]: e for e in json.loads(options.before.read_text())["jobs"]}
            for entry in result["jobs"]:
                entry["before_bytes"] = earlier[entry["job"]]["before_bytes"]
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
