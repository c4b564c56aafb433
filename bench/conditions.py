"""Conditions on a sensitive column, decided on shares: seconds for a proposal, on Adult, by model.

Two parties in one process hold the attributes of the Adult table, as paper 1 divides them: the first
also holds the sensitive column, `occupation`, the second the class. A proposal of the second party is
timed from its first message to the verdict. The first proposal of a run also sets up the transfers;
it is reported apart. Verdicts are those of the exact comparison: the release is compared with that of
the single table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.specialization.specialize import Labels, Requirement, specialize
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree, encode_text
from coterie.experiments.secure_data_integration.adult_data import (
    CONTINUOUS,
    NAMES,
    PARTY_A,
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
)
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random

SENSITIVE, K = "occupation", 50
MODELS: dict[str, Mapping[str, Any]] = {
    "distinct diversity, l = 5": {"l": 5},
    "alpha = 0.5": {"alpha": 0.5},
    "confidence of one value, 0.3": {"confidence": {"Prof-specialty": 0.3}},
    "recursive diversity, l = 3, c = 2": {"l": 3, "diversity": "recursive", "c": 2},
    "t-closeness, 0.4": {"t": 0.4},
}
PROPOSE = "specialize/propose"


class Proposals:
    """Times the proposals that concern another party's column, by the steps that a party enters."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._began: float | None = None
        self._asked = False

    def listen(self, step: str, done: int, total: int) -> None:
        now = time.perf_counter()
        if step == PROPOSE:
            self._began, self._asked = now, False
        elif step.startswith(PROPOSE):
            self._asked = True  # without messages the holder itself proposes
        elif self._began is not None:
            if self._asked:
                self.seconds.append(now - self._began)
            self._began = None


def measure(adult: Adult, options: Mapping[str, Any], qid: tuple[str, ...]) -> dict[str, Any]:
    codes, values = encode_text(SENSITIVE, adult.table[SENSITIVE], "adult")
    labels = Labels(np.asarray(codes), tuple(values))
    requirement = Requirement(qid, K, SENSITIVE, model_from_options(options))
    single = specialize(
        adult.columns(qid), adult.classes, (requirement,), sensitive={SENSITIVE: labels}
    )
    holders = {name: "a" if name in PARTY_A else "b" for name in qid}
    trees = {
        name: TaxonomyTree(adult.taxonomies[name])
        if name in adult.taxonomies
        else IntervalTree(*CONTINUOUS[name])
        for name in qid
    }
    plan = Plan(("a", "b"), trees, holders, (requirement,), ("b",), "class", {SENSITIVE: "a"})

    def party(me: str) -> Any:
        own = {name: adult.column(name) for name in qid if holders[name] == me}
        held = {"class": adult.classes} if me == "b" else {SENSITIVE: labels}
        return lambda channel: integrate(channel, plan, own, held, len(adult.target), Random(me))

    watch = Proposals()
    used = time.process_time()
    found = run_parties(
        {me: party(me) for me in ("a", "b")},
        on_progress=lambda name: watch.listen if name == "b" else None,
    )
    used = time.process_time() - used
    if any(outcome.table.winners != single.winners for outcome in found.values()):
        raise AssertionError("the verdicts on shares differ from the exact comparison")
    first, *rest = watch.seconds
    return {
        "specializations": len(single.winners),
        "proposals": len(watch.seconds),
        "first_seconds": round(first, 3),
        "median_seconds": round(statistics.median(rest or [first]), 3),
        "largest_seconds": round(max(rest or [first]), 3),
        "cpu_seconds": round(used, 3),
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench conditions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="five attributes only")
    add_data_option(parser)
    options = parser.parse_args(argv)
    adult = load_adult(adult_folder(options.data))
    names = [name for name in NAMES if name != SENSITIVE]
    qid = tuple(names[5:10] if options.quick else names)
    models = [{"model": name, **measure(adult, keys, qid)} for name, keys in MODELS.items()]
    report = {"benchmark": "conditions", "records": len(adult.target), "k": K, "models": models}
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
