"""Secure argmax of 32-bit scores beside MPyC's, in one run: processes on this machine.

Coterie's parties talk over gRPC with mTLS and resist all parties but one colluding; MPyC's talk
over plain TCP and resist fewer than half. MPyC's setup (sharing seeds) and the sharing of its
inputs are not timed; Coterie's base transfers are reported separately, and everything else that a
batch needs, products included, is timed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
from functools import partial
from typing import Any

import numpy as np

from coterie.base.arrays import Words
from coterie.bench._spent import Meter, Spent, added, combined, least, rounded
from coterie.bench.peers import mpyc_parties as _mpyc

PARTIES = (2, 3, 5, 10)
REPEATS = 3


def scores(parties: int, count: int) -> Words:
    """The same numbers for both; 31 bits, because MPyC's 32-bit integers are signed."""
    draw = np.random.default_rng(parties)
    return draw.integers(0, 1 << 31, (parties, count), dtype=np.uint64)


def coterie_party(channel: Any, names: list[str], count: int) -> dict[str, Spent]:
    """One party: what setting up, preparing and playing one batch, and single maxima cost it."""
    from coterie.protocols.multiparty.secure_maximum import SecureMaximum
    from coterie.protocols.primitives.randomness import Random

    table = scores(len(names), count)
    own = table[names.index(channel.me)]
    expected = table.argmax(axis=0)
    meter = Meter(channel)
    session, setup = meter.measure(lambda: SecureMaximum(meter.channel, names, Random()))
    session.prepare(8)  # compiles the kernels
    session.argmax(own[:8])

    def single() -> None:
        for i in range(10):
            session.argmax(own[i : i + 1])

    ahead, batch, total, singles = [], [], [], []
    for _ in range(REPEATS):
        ahead.append(meter.measure(lambda: session.prepare(count))[1])
        winners, played = meter.measure(lambda: session.argmax(own).indices)
        if (winners != expected).any():
            raise RuntimeError("wrong winners")
        batch.append(played)
        total.append(added([ahead[-1], played]))
        session.prepare(10)
        ten = meter.measure(single)[1]
        singles.append({key: value / 10 for key, value in ten.items()})
    return {
        "setup": setup,
        "ahead": least(ahead),
        "batch": least(batch),
        "total": least(total),
        "single": least(singles),
    }


def hidden_party(channel: Any, names: list[str], rounds: int) -> dict[str, Spent]:
    """Seconds of all rounds of a job with `hide_scores`, beside the same with open scores."""
    from coterie.protocols.integration.hidden_winner import HiddenWinner
    from coterie.protocols.integration.scores import announce_scores, key_of
    from coterie.protocols.primitives.randomness import Random

    draw = np.random.default_rng(names.index(channel.me))
    keys = [
        key_of(int(score), names.index(channel.me)) for score in draw.integers(0, 1 << 30, rounds)
    ]
    hidden, meter = HiddenWinner(Random(), 14), Meter(channel)
    channel = meter.channel
    with channel.step("warm"):
        _, first = meter.measure(lambda: hidden(channel, names, keys[0]))
    found, winners = [], []
    for find in (hidden, announce_scores):
        with channel.step("rounds"):
            won, spent = meter.measure(partial(_rounds, find, channel, names, keys))
            winners.append([entry[:2] for entry in won if entry])
            found.append({key: value / rounds for key, value in spent.items()})
    if winners[0] != winners[1]:
        raise RuntimeError("hidden scores gave other winners")
    return {"first_round": first, "hidden_round": found[0], "open_round": found[1]}


def _rounds(find: Any, channel: Any, names: list[str], keys: list[int]) -> list[Any]:
    return [find(channel, names, key) for key in keys]


def measure(place: str, parties: int, count: int) -> dict[str, Spent]:
    from coterie.bench._sessions import run

    results = run(f"coterie.bench.fair:{place}", [count] * parties)
    return {key: combined(result[key] for result in results) for key in results[0]}


def by_unit(ours: str, found: dict[str, Spent]) -> dict[str, dict[str, float]]:
    """The same figures, first by their unit: {"ours_seconds": {what: number}, ...}."""
    return {
        f"{ours}_{unit}": {what: spent[unit] for what, spent in found.items()}
        for unit in ("seconds", "cpu_seconds", "sent_bytes")
    }


def mpyc_party(count: int) -> None:
    """One of MPyC's parties: MPyC's own argmax, singly and for a whole batch concurrently."""
    from mpyc.runtime import mpc

    integer = mpc.SecInt(32)
    parties = len(mpc.parties)
    table = scores(parties, count)

    async def main() -> None:
        await mpc.start()
        own = [int(x) for x in table[mpc.pid]]
        shared = mpc.input([integer(x) for x in own])
        await mpc.gather(shared)
        expected = table.argmax(axis=0)

        def one(i: int) -> Any:
            return mpc.argmax([column[i] for column in shared])[0]

        def arrays() -> Any:
            """The same with MPyC's arrays: a tournament of vectorised comparisons."""
            items = [(i, mpc.np_fromlist(column)) for i, column in enumerate(shared)]
            level = [(integer.array(np.full(count, i)), values) for i, values in items]
            while len(level) > 1:
                following = []
                for (i, x), (j, y) in zip(level[::2], level[1::2], strict=False):
                    less = x < y
                    following.append((i + less * (j - i), x + less * (y - x)))
                level = following + level[len(level) - len(level) % 2 :]
            return level[0][0]

        async def best(work: Any, check: Any, times: int) -> Spent:
            async def opened() -> list[int]:
                return [int(x) for x in await mpc.output(work())]

            result, spent = await _mpyc.measure(mpc, opened, times)
            if result != check:
                raise RuntimeError("MPyC: wrong winners")
            return spent

        whole = [int(x) for x in expected]
        found = {
            "single": await best(lambda: [one(0)], [int(expected[0])], 3),
            "arrays": await best(arrays, whole, REPEATS if parties < 5 else 1),
        }
        if parties < 5:  # slower than arrays, and very slow with more parties
            found["lists"] = await best(lambda: [one(i) for i in range(count)], whole, 1)
        _mpyc.tell(found)
        await mpc.shutdown()

    mpc.run(main())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench fair", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 and 3 parties, batches of 100")
    options = parser.parse_args(argv)
    count = 100 if options.quick else 1000
    hidden = measure("hidden_party", 3, 130)
    print(json.dumps(hidden), file=sys.stderr, flush=True)
    rows = []
    for parties in PARTIES[:2] if options.quick else PARTIES:
        ours = measure("coterie_party", parties, count)
        theirs = _mpyc.run("coterie.bench.fair", parties, count)
        # If MPyC takes too long, the time limit and "gave_up" are reported.
        there = by_unit("mpyc", theirs) if theirs else {
            "mpyc_seconds": {"arrays": float(_mpyc.PATIENCE), "gave_up": 1.0}
        }  # fmt: skip
        seconds = there["mpyc_seconds"]
        fastest = min(seconds["arrays"], seconds.get("lists", math.inf))
        rows.append(
            {
                "parties": parties,
                "batch": count,
                **by_unit("coterie", ours),
                **there,
                "times_faster_batch": round(fastest / ours["total"]["seconds"], 2),
                "times_faster_batch_online": round(fastest / ours["batch"]["seconds"], 2),
                "times_faster_single": (
                    round(seconds["single"] / ours["single"]["seconds"], 2) if theirs else None
                ),
                "mpyc_tolerates": (parties - 1) // 2,  # colluding parties; ours: all but one
            }
        )
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    report = {
        "bench": "fair",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "hide_scores_3_parties": {what: spent["seconds"] for what, spent in hidden.items()},
        "hide_scores_3_parties_spent": hidden,
        "rows": rows,
    }
    print(json.dumps(rounded(report)))
    return 0


if __name__ == "__main__":
    if (instances := _mpyc.asked()) is not None:
        mpyc_party(instances)
    else:
        raise SystemExit(main())
