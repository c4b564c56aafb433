"""How the DkA baseline grows: encryptions, seconds and bytes by number of records.

`growth` is what `bench/integrate` shows beside the specialization, which encrypts nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.anonymity.table.columns import continuous_column
from coterie.anonymity.table.levels import Ladder, ladder
from coterie.bench._spent import Meter
from coterie.protocols.integration.dka import Outcome, dka
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random


def growth(sizes: Sequence[int], k: int = 10, seed: int = 1) -> list[dict[str, Any]]:
    """Runs two parties with two columns of numbers each in this process; one entry per size."""
    found = []
    for size in sizes:
        rng = np.random.default_rng(seed)
        tables = {name: [_column(rng, size) for _ in range(2)] for name in ("a", "b")}

        sent: dict[str, int] = {}

        def party(name: str, table: list[Ladder], sent: dict[str, int] = sent) -> Any:
            def run(channel: Channel) -> Outcome:
                meter = Meter(channel)
                outcome = dka(meter.channel, "a", table, k, Random(f"{seed} {name}"))
                sent[name] = meter.wire.total.sent_bytes
                return outcome

            return run

        start, used = time.perf_counter(), time.process_time()
        outcomes: dict[str, Outcome] = run_parties(
            {name: party(name, table) for name, table in tables.items()}
        )
        seconds, used = time.perf_counter() - start, time.process_time() - used
        total = sum(outcome.encryptions for outcome in outcomes.values())
        rounds = outcomes["a"].rounds
        found.append(
            {
                "records": size,
                "rounds": rounds,
                "encryptions": total,
                "encryptions_per_round": total // rounds,
                "seconds": round(seconds, 3),
                "cpu_seconds": round(used, 3),
                "sent_bytes": sum(sent.values()),
            }
        )
    return found


def _column(rng: np.random.Generator, size: int) -> Ladder:
    return ladder(continuous_column("number", [str(n) for n in rng.integers(0, 64, size)]))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench dka", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables only")
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args(argv)
    sizes = (50, 100, 200) if options.quick else (100, 200, 400, 800)
    entries = growth(sizes, options.k)
    per_round = [entry["encryptions_per_round"] for entry in entries]
    exponent = np.polyfit(np.log(sizes), np.log(per_round), 1)[0]
    print(
        json.dumps(
            {
                "benchmark": "dka",
                "k": options.k,
                "growth": entries,
                "exponent_of_encryptions_per_round": round(float(exponent), 3),
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
