"""The part of `coterie bench questions` in which kept models classify new people.

Processes of this machine keep a model of some people, over mTLS, and then classify others by it. The
second job is measured, with its intersection, from columns of text on. No peer does this: the classes
are compared with those of a plain computation on the joined table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv

from coterie.base.arrays import Array, Codes, Floats
from coterie.bench import _sessions
from coterie.bench._spent import Meter, found_of, totals
from coterie.bench.peers import question_jobs

PARTIES = ("p0", "p1", "p2")
COLUMNS = {f"x{at}": 2 + at for at in range(6)}  # each with so many values
CLASSES = ("N", "Y")
CLOSE = 1e-4  # of the logarithms of two chances: rounded ones may then be in either order
# The kind and the keys of each model. In the last one the class depends on columns of two parties.
KEPT = {
    "tree": ("tree", "max_depth: 2\n"),
    "bayesnet": ("bayesnet", "structure: naive\n"),
    "net": ("bayesnet", "max_parents: 2\n"),
}


def predict_party(channel: Any, names: list[str], argument: Mapping[str, Any]) -> dict[str, Any]:
    """One party's part of both jobs; the first party is told the classes."""
    from coterie.jobs.data.workspace import Workspace
    from coterie.jobs.kinds.job_file import parse_job
    from coterie.jobs.kinds.kept_models import FILE, KeptModel, read_model
    from coterie.jobs.kinds.registry import KINDS
    from coterie.protocols.primitives.randomness import Random

    class Kept:
        """The model that the first job has left."""

        def __init__(self, model: KeptModel) -> None:
            self._model = model

        def find(self, name: str) -> KeptModel:
            return self._model

    meter = Meter(channel)
    keeps, predicts = (parse_job(argument[key], {}) for key in ("keeps", "predicts"))
    with tempfile.TemporaryDirectory(prefix="coterie-bench-") as folder:
        space = Workspace(Path(folder) / "kept")
        space.create()
        kind = KINDS[keeps.kind]
        prepared = kind.prepare(keeps, channel.me, argument["known"], "bench")
        kind.run(keeps, prepared, meter.channel, Random(), space)
        models = Kept(read_model((space.kept / FILE).read_bytes(), "bench"))

        def work(records: int | None = None) -> list[str]:
            kind = KINDS[predicts.kind]
            table = argument["new"].slice(0, records)
            prepared = kind.prepare(predicts, channel.me, table, "bench")
            prepared = kind.recall(predicts, channel.me, prepared, models)
            space = Workspace(Path(folder) / f"predicted {records}")
            space.create()
            kind.run(predicts, prepared, meter.channel, Random(), space)
            told = space.kept / "predictions.csv"
            return pacsv.read_csv(told)["predicted"].to_pylist() if told.exists() else []

        work(100)  # compiles
        found, spent = meter.measure(work)
    return meter.report(found, spent)


def predict(quick: bool) -> dict[str, Any]:
    """New people of three parties by a kept tree, by a naive net and by one that was searched for."""
    known, new = _people(1, 2_000 if quick else 20_000), _people(2, 2_000 if quick else 100_000)
    records = len(new["x0"])
    found: dict[str, Any] = {"parties": 3, "records": records, "columns": len(COLUMNS)}
    for model, (kind, keys) in KEPT.items():
        runs = _both_jobs(kind, keys, known, new)
        due = likely_classes(known, new) if model == "bayesnet" else known_classes(new)
        told = np.array([CLASSES.index(label) for label in found_of(runs)])
        if (told != due)[due >= 0].any() or np.mean(due < 0) > 0.01:
            raise SystemExit(f"the classes by the {model} are not those of the joined table")
        found[model] = totals(runs)
    return found


def _people(seed: int, records: int) -> dict[str, Codes]:
    draw = np.random.default_rng(seed)
    return {name: draw.integers(0, size, records) for name, size in COLUMNS.items()}


def known_classes(people: Mapping[str, Codes]) -> Codes:
    """What the class depends on: two columns of different parties.

    A tree of depth two tests them, and a net that is searched for has them as parents of the class.
    """
    found: Codes = ((people["x5"] >= 3) & (people["x1"] >= 1)).astype(np.int64)
    return found


def likely_classes(known: Mapping[str, Codes], new: Mapping[str, Codes]) -> Codes:
    """The class of greatest probability by the counts of those known; -1 where two are too close."""
    classes = known_classes(known)
    counts = np.bincount(classes, minlength=len(CLASSES))
    scores: Floats = np.tile(np.log(counts / counts.sum()), (len(new["x0"]), 1))
    for name, size in COLUMNS.items():
        both = np.zeros((size, len(CLASSES)))
        np.add.at(both, (known[name], classes), 1)
        scores += np.log((both + 1) / (counts + size))[new[name]]
    best = np.sort(scores, axis=1)
    found: Codes = np.where(best[:, -1] - best[:, -2] > CLOSE, scores.argmax(axis=1), -1)
    return found


def _both_jobs(
    kind: str, keys: str, known: Mapping[str, Codes], new: Mapping[str, Codes]
) -> Sequence[Any]:
    owners = {name: PARTIES[at % 3] for at, name in enumerate(COLUMNS)}
    places = ", ".join(f"{name}: {{party: {owner}}}" for name, owner in owners.items())
    head = f"id: ID\nattributes: {{{places}}}\n"
    keeps = question_jobs.job_text(kind, PARTIES, f"{head}class: Class\n{keys}keep: risk\n")
    predicts = question_jobs.job_text("predict", PARTIES, f"{head}model: risk\nrecipients: [p0]\n")
    labels = np.array(CLASSES)[known_classes(known)]
    arguments = []
    for party in PARTIES:
        own: dict[str, Array] = {n: known[n] for n, owner in owners.items() if owner == party}
        if party == PARTIES[0]:
            own["Class"] = labels
        others = {name: new[name] for name in own if name in new}
        arguments.append(
            {
                "keeps": keeps,
                "predicts": predicts,
                "known": question_jobs.as_text({"ID": np.arange(len(labels)), **own}),
                "new": question_jobs.as_text({"ID": np.arange(len(new["x0"])), **others}),
            }
        )
    return _sessions.run("coterie.bench.question_parts.predictions:predict_party", arguments)
