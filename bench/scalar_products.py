"""Scalar products of two parties' columns, by Paillier and by oblivious transfer, beside phe.

Two processes with gRPC and mTLS between them. One holds `products` columns of small integers over
`records` records, the other a column of zeros and ones; the sums stay below 2^24, and go to the
party with the many columns. Reported in seconds, processor seconds and sent bytes of both parties:
set-up, offline part (Paillier randomizers, whose helper processes' time is not counted) and online
part apart. phe used plainly (encrypt the one column number by number, multiply and add
for every product, decrypt) is extrapolated from a measured sample, in processor seconds of one
core; no wire is counted for it.

`measure` is for other benchmarks; every result is compared with NumPy's before it is reported.
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
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from coterie.bench._spent import Meter, added, combined, rounded

SUM_BITS = 24


def columns(records: int, products: int) -> tuple[Any, Any, int]:
    """Many columns, one column, and the largest value, so that sums are of 24 bits."""
    largest = max(1, ((1 << SUM_BITS) - 1) // records)
    largest = min(largest, 255)
    rng = np.random.default_rng(1)
    many = rng.integers(0, largest, (records, products), endpoint=True)
    return many, rng.integers(0, 2, (records, 1)), largest


def party(channel: Any, names: list[str], arguments: dict[str, Any]) -> dict[str, Any]:
    """One side; the first has the many columns."""
    from coterie.bench._paillier_products import PaillierProducts
    from coterie.protocols.numbers.paillier import generate
    from coterie.protocols.numbers.scalar_product import (
        Sizes,
        TransferProducts,
        scalar_products,
    )
    from coterie.protocols.primitives.randomness import Random

    first = channel.me == names[0]
    [peer] = channel.peers
    rng, records, products = Random(), arguments["records"], arguments["products"]
    many, one, largest = columns(records, products)
    sizes = Sizes(records, products, 1, (0, largest), (0, 1))
    mine = many if first else one
    expected = many.T @ one

    meter = Meter(channel)
    channel = meter.channel
    results: dict[str, Any] = {}
    for kind in arguments["kinds"]:
        key = generate(rng, arguments["key_bits"]) if first and kind == "paillier" else None

        def set_up(kind: str = kind, key: Any = key) -> Any:
            if kind == "paillier":
                return PaillierProducts(channel, peer, first, rng, arguments["key_bits"], key)
            return TransferProducts(channel, peer, first, rng)

        way, begun = meter.measure(set_up)
        if kind == "transfer":
            small = Sizes(8, 3, 1)  # compiles the kernels
            scalar_products(way, small, np.ones((8, 3 if first else 1), np.int64), rng)
        with _helpers(first and kind == "paillier") as helpers:
            _, offline = meter.measure(partial(_make_ahead, way, sizes, helpers))
        result, online = meter.measure(partial(scalar_products, way, sizes, mine, rng, "many"))
        if first and not (result == expected).all():
            raise RuntimeError(f"{kind}: wrong scalar products")
        results[kind] = {"set_up": begun, "offline": offline, "online": online}
    return results


def _make_ahead(way: Any, sizes: Any, helpers: Any) -> None:
    """Paillier's randomizers; transfers are a small part of the work, and not made ahead."""
    if hasattr(way, "prepare"):
        way.prepare(sizes, masked=False, executor=helpers)


def _helpers(wanted: bool) -> Any:
    """Processes that make randomizers; nothing where none are made."""
    if not wanted:
        return nullcontext()
    return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


def measure_phe(records: int, products: int, key_bits: int, sample: int = 20) -> dict[str, float]:
    """The seconds that phe would take on one core, extrapolated from `sample` of each operation."""
    import phe

    public, private = phe.generate_paillier_keypair(n_length=key_bits)
    _, _, largest = columns(records, products)
    scalars = [int(x) for x in np.random.default_rng(2).integers(0, largest, sample, endpoint=True)]

    def each(work: Callable[[], Any]) -> float:
        start = time.thread_time()
        work()
        return (time.thread_time() - start) / sample

    numbers = [public.encrypt(1) for _ in range(sample)]

    def product() -> Any:
        total = numbers[0] * scalars[0]
        for number, scalar in zip(numbers, scalars, strict=True):
            total = total + number * scalar
        return total

    seconds = {
        "encrypt": records * each(lambda: [public.encrypt(1) for _ in range(sample)]),
        "multiply_and_add": records * products * min(each(product) for _ in range(5)),
        "decrypt": products * each(lambda: [private.decrypt(number) for number in numbers]),
    }
    return {**seconds, "total": math.fsum(seconds.values())}


def measure(
    records: int = 100_000,
    products: int = 100,
    key_bits: int = 3072,
    kinds: tuple[str, ...] = ("transfer", "paillier"),
) -> dict[str, Any]:
    """What both implementations spend, what phe would, and the ratios."""
    from coterie.bench._sessions import run

    arguments = {
        "records": records,
        "products": products,
        "key_bits": key_bits,
        "kinds": list(kinds),
    }
    one, two = run("coterie.bench.scalar_products:party", [arguments] * 2)
    plain = measure_phe(records, products, key_bits)
    out: dict[str, Any] = {
        "records": records,
        "products": products,
        "key_bits": key_bits,
        "phe_plainly_seconds_extrapolated": plain,
    }
    for kind in kinds:
        parts = {part: combined([one[kind][part], two[kind][part]]) for part in one[kind]}
        whole = added(parts.values())
        out[kind] = {
            **parts,
            "whole": whole,
            "times_faster": plain["total"] / whole["seconds"],
            "times_faster_online": plain["total"] / parts["online"]["seconds"],
        }
    return out


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench scalar_products", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 records and a 2048-bit key")
    parser.add_argument("--records", type=int, default=100_000)
    options = parser.parse_args(argv)
    # 20 bits of slot suffice for fewer records, but 100 slots of 24 bits need 3072.
    report = measure(2000, 80, 2048) if options.quick else measure(options.records)
    head = {"bench": "scalar_products", "cores": os.cpu_count(), "machine": platform.machine()}
    print(json.dumps(rounded({**head, **report})))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
