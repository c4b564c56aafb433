"""Secure argmax of 32-bit scores beside MPyC's, in one run: processes on this machine.

Coterie's parties talk over gRPC with mTLS and resist all parties but one colluding; MPyC's talk over
plain TCP and resist fewer than half. MPyC's setup (sharing seeds) and its inputs' sharing are not
timed; of ours, base transfers are reported apart, and everything that a batch needs beyond them,
products included, is timed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import time
from typing import Any

import numpy as np

from coterie.base.arrays import Words
from coterie.bench import _mpyc

PARTIES = (2, 3, 5, 10)
REPEATS = 3


def scores(parties: int, count: int) -> Words:
    """The same numbers for both; 31 bits, because MPyC's 32-bit integers are signed."""
    draw = np.random.default_rng(parties)
    return draw.integers(0, 1 << 31, (parties, count), dtype=np.uint64)


def coterie_party(channel: Any, names: list[str], count: int) -> dict[str, float]:
    """One party: seconds of setup, of preparing and playing one batch, and of single maxima."""
    from coterie.protocols.multiparty.secure_maximum import SecureMaximum
    from coterie.protocols.primitives.randomness import Random

    table = scores(len(names), count)
    own = table[names.index(channel.me)]
    expected = table.argmax(axis=0)

    start = time.perf_counter()
    session = SecureMaximum(channel, names, Random())
    setup = time.perf_counter() - start
    session.prepare(8)  # compiles what numba has not yet compiled
    session.argmax(own[:8])

    def together() -> float:
        with channel.step("together"):
            channel.broadcast(0)
            channel.gather()
        return time.perf_counter()

    ahead, batch, single = [], [], []
    for _ in range(REPEATS):
        start = together()
        session.prepare(count)
        ahead.append(time.perf_counter() - start)
        start = together()
        winners = session.argmax(own).indices
        batch.append(time.perf_counter() - start)
        if (winners != expected).any():
            raise RuntimeError("wrong winners")
        session.prepare(10)
        start = together()
        for i in range(10):
            session.argmax(own[i : i + 1])
        single.append((time.perf_counter() - start) / 10)
    return {
        "setup": setup,
        "ahead": min(ahead),
        "batch": min(batch),
        "total": min(a + b for a, b in zip(ahead, batch, strict=True)),
        "single": min(single),
    }


def hidden_party(channel: Any, names: list[str], rounds: int) -> dict[str, float]:
    """The rounds of a job with `hide_scores`, beside the same with open scores; all included."""
    from coterie.protocols.integration.hidden_winner import HiddenWinner
    from coterie.protocols.integration.integrate import announce_scores, key_of
    from coterie.protocols.primitives.randomness import Random

    draw = np.random.default_rng(names.index(channel.me))
    keys = [
        key_of(int(score), names.index(channel.me)) for score in draw.integers(0, 1 << 30, rounds)
    ]
    hidden = HiddenWinner(Random(), 14)
    with channel.step("warm"):
        start = time.perf_counter()
        hidden(channel, names, keys[0])
        first = time.perf_counter() - start
    seconds, winners = [], []
    for find in (hidden, announce_scores):
        with channel.step("rounds"):
            start = time.perf_counter()
            found = [find(channel, names, key) for key in keys]
            winners.append([entry[:2] for entry in found if entry])
            seconds.append((time.perf_counter() - start) / rounds)
    if winners[0] != winners[1]:
        raise RuntimeError("hidden scores gave other winners")
    return {"first_round": first, "hidden_round": seconds[0], "open_round": seconds[1]}


def measure_hidden(parties: int, rounds: int) -> dict[str, float]:
    from coterie.bench._sessions import run

    results = run("coterie.bench.fair:hidden_party", [rounds] * parties)
    return {key: max(result[key] for result in results) for key in results[0]}


def measure_coterie(parties: int, count: int) -> dict[str, float]:
    from coterie.bench._sessions import run

    results = run("coterie.bench.fair:coterie_party", [count] * parties)
    return {key: max(result[key] for result in results) for key in results[0]}


def mpyc_party(count: int) -> None:
    """One of MPyC's parties: its own argmax, single and all of a batch in flight at once."""
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
            """The same by MPyC's arrays: a tournament of vectorised comparisons."""
            items = [(i, mpc.np_fromlist(column)) for i, column in enumerate(shared)]
            level = [(integer.array(np.full(count, i)), values) for i, values in items]
            while len(level) > 1:
                following = []
                for (i, x), (j, y) in zip(level[::2], level[1::2], strict=False):
                    less = x < y
                    following.append((i + less * (j - i), x + less * (y - x)))
                level = following + level[len(level) - len(level) % 2 :]
            return level[0][0]

        async def best(work: Any, check: Any, times: int) -> float:
            seconds = []
            for _ in range(times):
                await mpc.transfer(b"")
                start = time.perf_counter()
                result = [int(x) for x in await mpc.output(work())]
                seconds.append(time.perf_counter() - start)
                if result != check:
                    raise RuntimeError("MPyC: wrong winners")
            return min(seconds)

        single = await best(lambda: [one(0)], [int(expected[0])], 3)
        whole = [int(x) for x in expected]
        result = {
            "single": single,
            "arrays": await best(arrays, whole, REPEATS if parties < 5 else 1),
        }
        if parties < 5:  # slower than arrays, and with more parties very slow
            result["lists"] = await best(lambda: [one(i) for i in range(count)], whole, 1)
        if mpc.pid == 0:
            print(json.dumps(result), flush=True)
        await mpc.shutdown()

    mpc.run(main())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench fair", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 and 3 parties, batches of 100")
    options = parser.parse_args(argv)
    count = 100 if options.quick else 1000
    hidden = measure_hidden(3, 130)
    print(json.dumps(hidden), file=sys.stderr, flush=True)
    rows = []
    for parties in PARTIES[:2] if options.quick else PARTIES:
        ours = measure_coterie(parties, count)
        # What takes MPyC too long is reported as the time it had, and "gave_up".
        theirs = _mpyc.run("coterie.bench.fair", parties, count) or {
            "arrays": float(_mpyc.PATIENCE),
            "gave_up": 1.0,
        }
        fastest = min(theirs["arrays"], theirs.get("lists", math.inf))
        rows.append(
            {
                "parties": parties,
                "batch": count,
                "coterie_seconds": ours,
                "mpyc_seconds": theirs,
                "times_faster_batch": round(fastest / ours["total"], 2),
                "times_faster_batch_online": round(fastest / ours["batch"], 2),
                "times_faster_single": (
                    None if "gave_up" in theirs else round(theirs["single"] / ours["single"], 2)
                ),
                "mpyc_tolerates": (parties - 1) // 2,  # colluding parties; ours: all but one
            }
        )
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print(
        json.dumps(
            {
                "bench": "fair",
                "cores": os.cpu_count(),
                "machine": platform.machine(),
                "hide_scores_3_parties": hidden,
                "rows": rows,
            }
        )
    )
    return 0


if __name__ == "__main__":
    if (instances := _mpyc.asked()) is not None:
        mpyc_party(instances)
    else:
        raise SystemExit(main())
