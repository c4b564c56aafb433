"""`coterie simulate JOB --deviate …`: runs the job twice, once with all parties honest.

DIR has the result of the run with deviating parties, if there is one, DIR/honest that of the honest
run, and DIR/deviation.json what each party gave and received in both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import PeerFaultError, UsageError
from coterie.coordinator.simulate.deviation.deviations import (
    Deviation,
    Watch,
    read_deviations,
    received,
)
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.integrate.kind import Integrate
from coterie.jobs.kinds.kind import registered
from coterie.jobs.results.folder import result_folder

FILE = "deviation.json"


def compare(
    job: Job, folder: Path, out: Path, texts: Sequence[str], seed: str | None, force: bool
) -> dict[str, Any]:
    """Runs both and returns the content of `deviation.json`."""
    if not isinstance(job, IntegrateJob):
        raise UsageError(f"--deviate is for integrate jobs; this one is of kind '{job.kind}'")
    deviations = read_deviations(texts, job.record_holders)
    with result_folder(out, force):
        result = _compare(job, folder, out, deviations, seed)
        (out / FILE).write_text(json.dumps(result, indent=2) + "\n")
    return result


def _compare(
    job: IntegrateJob,
    folder: Path,
    out: Path,
    deviations: Mapping[str, Deviation],
    seed: str | None,
) -> dict[str, Any]:
    (out / "honest").mkdir()
    honest, deviating = Watch({}), Watch(deviations)
    simulate(job, folder, out / "honest", seed, kind=registered(Integrate(honest.behaviour)))
    caught: dict[str, str] | None = None
    try:
        simulate(job, folder, out, seed, kind=registered(Integrate(deviating.behaviour)))
    except PeerFaultError as error:
        if error.peer not in deviations:
            raise
        caught = {"party": error.peer, "error": str(error)}
    given = {
        run: {name: mu / SCALE for name, mu in watch.contributions(job.record_holders).items()}
        for run, watch in {"honest": honest, "deviating": deviating}.items()
    }
    taken = {run: received(mu) for run, mu in given.items()}
    return {
        "adversary": job.adversary,
        "epsilon": job.epsilon,
        "deviations": {party: way.name for party, way in deviations.items()},
        "caught": caught,
        "parties": {
            name: {run: {"mu": given[run][name], "phi": taken[run][name]} for run in given}
            for name in job.record_holders
        },
    }


def lines(result: dict[str, Any], out: Path) -> list[str]:
    """Lines for a person: mu and phi of every party in both runs."""
    head = (
        f"{'party':<16} {'deviates':<14} {'gives (mu)':>22} {'receives (phi)':>24} {'change':>10}"
    )
    rows = [head]
    for name, both in result["parties"].items():
        old, new = both["honest"], both["deviating"]
        gives = f"{old['mu']:.6f} -> {new['mu']:.6f}"
        takes = f"{old['phi']:.6f} -> {new['phi']:.6f}"
        rows.append(
            f"{name:<16} {result['deviations'].get(name, ''):<14} {gives:>22} {takes:>24} "
            f"{new['phi'] - old['phi']:>+10.6f}"
        )
    rows.append(
        f"caught: {result['caught']['error']}"
        if result["caught"]
        else "nobody was caught: the job came to its end"
    )
    rows.append(f"adversary: {result['adversary']}, epsilon {result['epsilon']:g}; {out / FILE}")
    return rows
