"""The secure logarithm between two processes of this machine, over gRPC with mTLS.

Both parties are processes with their own certificates; times are wall seconds from both ready to
both done, the best of a few; processor seconds and sent bytes of both are beside them (those of the
helper processes that make randomizers are not counted). Reported apart: the set-up of a session
(base transfers, exchange of the Paillier key), the making of the key, the offline part (Paillier
randomizers, those of a batch made by two processes of the key's owner, while the other party waits)
and the online part, for one logarithm and for a batch, each opened afterwards and compared with
math.log. Gates are beside those of paper 2, third article, §7, whose circuits ran in 5 seconds.

In the same run: phe for each operation of Paillier, and MPyC. MPyC 0.11 has no logarithm; the same
method (top bit, normalisation, the scaled Taylor polynomial) is written here with its operations on
arrays, for three parties, as its honest majority needs, over bare TCP.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from coterie.bench._spent import Meter, Spent, combined, least, rounded
from coterie.bench.peers import mpyc_parties as _mpyc

REPEATS = 3
BITS, TERMS = 17, 3
PAPER = [(17, 3, 1497, 5.0, 0.0112), (13, 4, 1386, 4.9, 0.0044), (10, 5, 1314, 4.8, 0.0018)]


def numbers(count: int) -> list[int]:
    drawn = np.random.default_rng(1).integers(1, 1 << BITS, count)
    return [int(x) for x in drawn]


def begin(seconds: float) -> None:
    """Starts a process of a pool: it imports its modules, and waits until all have done so."""
    import coterie.protocols.numbers.randomizers  # noqa: F401

    time.sleep(seconds)


def party(channel: Any, names: list[str], arguments: dict[str, Any]) -> dict[str, Any]:
    """One side. The first garbles, the second owns the Paillier key."""
    from coterie.protocols.numbers.logarithm import Session, Settings, logarithms, quick_logarithms
    from coterie.protocols.numbers.paillier import generate
    from coterie.protocols.numbers.shares import open_shares, split
    from coterie.protocols.primitives.randomness import Random

    first = channel.me == names[0]
    [peer] = channel.peers
    rng, settings, key_bits = Random(), Settings(BITS, TERMS), arguments["key_bits"]
    meter = Meter(channel)
    channel = meter.channel
    results: dict[str, Any] = {}
    key, results["key"] = meter.measure(lambda: None if first else generate(rng, key_bits))
    pool = None if first else ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))
    if pool is not None:
        list(pool.map(begin, [0.5, 0.5]))
    for evaluation in ("transfer", "paillier"):
        session, set_up = meter.measure(
            partial(Session, channel, peer, first, rng, evaluation, key_bits, key)
        )
        report: dict[str, Any] = {"set_up": set_up}
        for label, count in (("warm", 9), ("one", 1), ("batch", arguments["count"])):
            xs = numbers(count)
            share = split(settings.input_ring, xs, Random("shares"))[0 if first else 1]
            offline, online = [], []
            # A batch with Paillier takes seconds, so that noise averages out.
            for _ in range(1 if label == "batch" and evaluation == "paillier" else REPEATS):
                helpers = pool if label == "batch" else None
                offline.append(
                    meter.measure(partial(_prepared, session, settings, count, helpers))[1]
                )
                result, spent = meter.measure(partial(logarithms, session, settings, share, rng))
                online.append(spent)
            opened = open_shares(channel, peer, result.ring, result.share)
            error = float(np.abs(result.values(opened) - np.log(xs)).max())
            if error > result.error_bound + 1e-12:  # the rounding of floating point
                raise RuntimeError(f"an error of {error} beyond the bound {result.error_bound}")
            report[label] = {
                "offline": least(offline),
                "online": least(online),
                "largest_error": error,
                "error_bound": result.error_bound,
            }
        results[evaluation] = report
    if pool is not None:
        pool.shutdown()
    xs = numbers(arguments["count"])
    share = split(settings.input_ring, xs, Random("shares"))[0 if first else 1]
    _, results["quick"] = meter.measure(
        lambda: quick_logarithms(session, settings, share, rng), repeat=REPEATS
    )
    return results


def _prepared(session: Any, settings: Any, count: int, pool: Any) -> None:
    """Makes what can be made ahead. The helper processes' work is not this process's own time."""
    session.prepare(settings, count, pool)


def measure_grpc(count: int, key_bits: int) -> dict[str, Any]:
    """What both parties spent; each thing for the whole batch, and as milliseconds for each."""
    from coterie.bench._sessions import run

    one, two = run("coterie.bench.logarithm:party", [{"count": count, "key_bits": key_bits}] * 2)
    quick = combined([one["quick"], two["quick"]])
    out: dict[str, Any] = {
        "key": two["key"],
        "quick_base_2": {"count": count, "online": quick, **_each(count, [quick])},
    }
    for evaluation in ("transfer", "paillier"):
        a, b = one[evaluation], two[evaluation]
        out[evaluation] = {
            "set_up": combined([a["set_up"], b["set_up"]]),
            "largest_error": a["batch"]["largest_error"],
            "error_bound": a["batch"]["error_bound"],
        }
        for label, n in (("one", 1), ("batch", count)):
            offline, online = (
                combined([a[label][part], b[label][part]]) for part in ("offline", "online")
            )
            out[evaluation][label] = {
                "count": n,
                "offline": offline,
                "online": online,
                **_each(n, [offline, online]),
            }
    return out


def _each(count: int, parts: list[Spent]) -> dict[str, float]:
    return {
        "online_ms_each": 1e3 * parts[-1]["seconds"] / count,
        "online_cpu_ms_each": 1e3 * parts[-1]["cpu_seconds"] / count,
        "whole_ms_each": 1e3 * sum(part["seconds"] for part in parts) / count,
        "sent_bytes_each": sum(part["sent_bytes"] for part in parts) / count,
    }


def measure_gates() -> list[dict[str, Any]]:
    """The gates of our circuits for the paper's settings, with shares of 64 bits or its own size."""
    from coterie.protocols.numbers.logarithm_circuits import phase_one, quick
    from coterie.protocols.numbers.logarithm_settings import Settings
    from coterie.protocols.numbers.scaling import carry_circuit

    rows = []
    for bits, terms, gates, seconds, error in PAPER:
        settings = Settings(bits, terms)
        needed = math.ceil(bits * terms + 2 * terms + math.log2(bits))
        small = phase_one(1 << 60, bits, 60, False)
        word = phase_one(settings.input_modulus, bits, settings.ring.bits, False)
        down = carry_circuit(settings.ring.modulus, settings.output_ring.modulus, 3)
        base2 = quick(settings.input_modulus, bits, 32, False, 4)
        rows.append(
            {
                "bits": bits,
                "terms": terms,
                "paper": {"gates": gates, "seconds": seconds, "error": error, "modulus_bits": 60},
                "with_60_bit_shares": {"and": small.ands, "xor": small.xors, "not": small.nots},
                "as_used": {"and": word.ands, "xor": word.xors, "not": word.nots},
                "exact_scaling": {"and": down.ands, "xor": down.xors, "not": down.nots},
                "quick_base_2": {"and": base2.ands, "xor": base2.xors, "not": base2.nots},
                "ring_bits_needed_and_used": [needed, settings.ring.bits],
                "error_bound": settings.error_bound,
            }
        )
    return rows


def measure_paillier(key_bits: int, quick: bool) -> dict[str, Any]:
    """Operations per second of one core, phe's and ours, and their ratios."""
    from coterie.protocols.numbers.paillier import generate
    from coterie.protocols.numbers.randomizers import Randomizers
    from coterie.protocols.primitives.randomness import Random

    rng = Random()
    key = generate(rng, key_bits)

    def rate(work: Callable[[], Any], count: int) -> float:
        best = math.inf
        for _ in range(REPEATS):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
        return count / best

    few, many = (3, 200) if quick else (10, 1000)
    numbers_of_phe = [key.phe.encrypt(x) for x in range(few)]
    out: dict[str, Any] = {"key_bits": key_bits}
    peer = {
        "encrypt": rate(lambda: [key.phe.encrypt(7) for _ in range(few)], few),
        "add": rate(lambda: [x + y for x in numbers_of_phe for y in numbers_of_phe], few * few),
    }
    out["phe_a_second"] = dict(peer)
    for owner, where in ((False, "public"), (True, "owner")):
        for method in ("exact", "full", "half", "short"):
            if owner and method in ("half", "short"):
                continue  # the owner's full-length exponents are faster than half-length ones
            pool = Randomizers(key if owner else key.public, rng, method)
            count = few if method == "exact" else many
            start = time.process_time()
            pool.take(count)
            with_table = count / (time.process_time() - start)

            def encrypt(pool: Randomizers = pool, count: int = count) -> object:
                return key.encrypt([7] * count, pool.take(count))

            made = rate(encrypt, count)
            out[f"encrypt_{where}_{method}"] = {
                "a_second": made,
                "times_phe": made / peer["encrypt"],
                "first_batch_with_table_a_second": with_table,
                "batch": count,
            }
    pool = Randomizers(key, rng, "full")
    ready = pool.take(many)
    prepared = rate(lambda: key.encrypt([7] * many, ready), many)
    out["encrypt_with_prepared_randomizers"] = {
        "a_second": prepared,
        "times_phe": prepared / peer["encrypt"],
    }
    ciphertexts = key.encrypt([7] * 40, ready[:40])
    decrypt = rate(lambda: [key.phe_private.raw_decrypt(int(c)) for c in ciphertexts], 40)
    ours = rate(lambda: key.decrypt(ciphertexts), 40)
    out["decrypt_on_two_threads"] = {"a_second_and_core": ours, "times_phe": ours / decrypt}
    ours = rate(lambda: key.add(ciphertexts, ciphertexts), 40)
    out["add"] = {"a_second": ours, "times_phe": ours / peer["add"]}
    return out


def mpyc_party(count: int) -> None:
    """One of MPyC's parties: shares of the same scaled logarithm from shares of x."""
    from mpyc.runtime import mpc

    from coterie.protocols.numbers.logarithm_settings import Settings

    settings = Settings(BITS, TERMS, "none")
    coefficients = settings.coefficients()
    integer = mpc.SecInt(64)

    def logarithm(x: Any) -> Any:
        """x: an array of shared integers; the result is scaled by sigma."""
        bits = mpc.np_to_bits(x, BITS)  # lowest first
        seen = bits  # seen[i]: some bit from i upwards is one; doubling steps
        span = 1
        while span < BITS:
            upper = mpc.np_concatenate((seen[:, span:], seen[:, :span] * 0), axis=1)
            seen = seen + upper - seen * upper
            span *= 2
        top = seen - mpc.np_concatenate((seen[:, 1:], seen[:, :1] * 0), axis=1)
        lift = mpc.np_matmul(top, np.array([1 << (BITS - 1 - i) for i in range(BITS)]))
        position = mpc.np_matmul(top, np.arange(BITS))
        below = mpc.np_concatenate((bits[:, :1] * 0, bits[:, :-1]), axis=1)
        upper_half = mpc.np_sum(top * below, axis=1)
        normal = x * lift
        eps = normal * (2 - upper_half) - (1 << BITS)
        n = position + upper_half
        value = eps * coefficients[-1]
        for c in reversed(coefficients[1:-1]):
            value = (value + c) * eps
        return value + n * settings.main_factor + settings.centre

    async def main() -> None:
        await mpc.start()
        xs = numbers(count)
        shared = mpc.input([integer(x) for x in xs], 0)
        await mpc.gather(shared)

        async def best(size: int) -> Spent:
            async def work() -> Any:
                result = logarithm(mpc.np_fromlist(shared[:size]))
                await mpc.gather(result)
                return result

            result, spent = await _mpyc.measure(mpc, work, REPEATS)
            opened = await mpc.output(result)
            values = [int(v) / settings.sigma for v in opened]
            if np.abs(np.array(values) - np.log(xs[:size])).max() > settings.error_bound + 1e-12:
                raise RuntimeError("MPyC: wrong logarithms")
            return spent

        _mpyc.tell({"one": await best(1), "batch": await best(count)})
        await mpc.shutdown()

    mpc.run(main())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench logarithm", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer logarithms and a 2048-bit key")
    options = parser.parse_args(argv)
    count, key_bits = (100, 2048) if options.quick else (1000, 3072)
    ours = measure_grpc(count, key_bits)
    theirs = _mpyc.run("coterie.bench.logarithm", 3, count)
    if theirs is None:
        raise RuntimeError("MPyC took too long")
    report = {
        "bench": "logarithm",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "bits": BITS,
        "terms": TERMS,
        "key_bits": key_bits,
        "gates": measure_gates(),
        "coterie": ours,
        "mpyc": {
            "one": {"count": 1, **_each(1, [theirs["one"]])},
            "batch": {"count": count, **_each(count, [theirs["batch"]])},
        },
        "paillier": measure_paillier(key_bits, options.quick),
        "times_faster_than_mpyc": {
            f"{label}_by_{way}": theirs[label]["seconds"] / ours[way][label]["online"]["seconds"]
            for label, way in (("one", "transfer"), ("batch", "transfer"), ("batch", "paillier"))
        },
        "times_faster_than_the_paper": 5.0 / ours["transfer"]["one"]["online"]["seconds"],
    }
    print(json.dumps(rounded(report)))
    return 0


if __name__ == "__main__":
    if (instances := _mpyc.asked()) is not None:
        mpyc_party(instances)
    else:
        raise SystemExit(main())
