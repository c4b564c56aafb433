"""Garbled circuits and oblivious transfer between two processes of this machine.

Both parties are processes with gRPC servers and mTLS between them. Every measurement has the
seconds from both parties ready to both done, the processor seconds and the sent bytes of both
together, the least of a few repetitions; the base transfers come before and are reported apart.
Beside it in the same run: MPyC comparing as many pairs of 32-bit numbers (three parties, as it
needs), and the AES of OpenSSL, whose speed divided by the eight blocks that a garbled AND gate
costs is an upper bound for any fixed-key garbling here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from coterie.base.arrays import Array
from coterie.bench._spent import Meter, Spent, combined, rounded
from coterie.bench.peers import mpyc_parties as _mpyc

REPEATS = 3


def comparison_circuit(width: int = 32) -> Any:
    from coterie.protocols.circuits.arithmetic import Builder

    builder = Builder()
    x, y = builder.input("x", width), builder.input("y", width)
    builder.output("less", [builder.less(x, y)])
    return builder.build()


def product_circuit(width: int = 32) -> Any:
    """A circuit of mostly AND gates, to measure the gates."""
    from coterie.protocols.circuits.arithmetic import Builder

    builder = Builder()
    x, y = builder.input("x", width), builder.input("y", width)
    builder.output("product", builder.multiply(x, y, 2 * width))
    return builder.build()


def pairs(count: int) -> tuple[Array, Array]:
    """Numbers to compare; 31 bits, because MPyC's 32-bit integers are signed."""
    x, y = np.random.default_rng(1).integers(0, 1 << 31, (2, count), dtype=np.uint64)
    return x, y


def party(channel: Any, names: list[str], sizes: dict[str, int]) -> dict[str, Spent]:
    """One side: the first party garbles and sends, the second evaluates and receives."""
    from coterie.protocols.circuits.arithmetic import from_bits, to_bits
    from coterie.protocols.circuits.garbling import Evaluator, Garbler
    from coterie.protocols.numbers.multiplication import receive_products, send_products
    from coterie.protocols.primitives.randomness import Random
    from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

    first = channel.me == names[0]
    [peer] = channel.peers
    rng, meter = Random(), Meter(channel)
    results: dict[str, Spent] = {}
    role: Any
    role, results["base transfers"] = meter.measure(
        lambda: (Garbler if first else Evaluator)(meter.channel, peer, rng)
    )
    session: Any = (Sender if first else Receiver)(meter.channel, peer, rng)

    values = pairs(max(sizes["instances"], sizes["comparisons"], sizes["products"]))
    own = values[0] if first else values[1]
    name = "x" if first else "y"

    def run(circuit: Any, count: int, output: str, expected: Any) -> Spent:
        bits = {name: to_bits(own[:count], 32)}
        role.run(circuit, {name: bits[name][:9]}, "both")  # compiles the kernels
        _, spent = meter.measure(
            lambda: role.run(circuit, bits, "both"),
            lambda result: bool((from_bits(result[output]) == expected).all()),
            REPEATS,
        )
        return dict(spent)

    x, y = values
    for label, count in (("instances", sizes["instances"]), ("instance", 1)):
        results[label] = run(product_circuit(), count, "product", x[:count] * y[:count])
    for label, count in (("comparisons", sizes["comparisons"]), ("comparison", 1)):
        results[label] = run(comparison_circuit(), count, "less", x[:count] < y[:count])

    count = sizes["transfers"]
    choices = rng.bits(count)
    packed = np.packbits(choices, bitorder="little")
    works: list[tuple[str, Callable[[], object]]] = [
        ("correlated transfers", lambda: session.correlated(count if first else choices)),
        ("random transfers", lambda: session.random(count if first else choices)),
        (
            "bit transfers",
            lambda: session.random_bits(count) if first else session.random_bits(packed, count),
        ),
    ]
    for kind, work in works:
        work()
        _, results[kind] = meter.measure(work, repeat=REPEATS)
    count = sizes["products"]
    multiply: Any = send_products if first else receive_products
    multiply(session, own[:9], 1 << 64, 64)
    _, results["products"] = meter.measure(
        lambda: multiply(session, own[:count], 1 << 64, 64), repeat=REPEATS
    )
    return results


def measure_grpc(sizes: dict[str, int]) -> dict[str, Spent]:
    from coterie.bench._sessions import run

    results = run("coterie.bench.garbling:party", [sizes, sizes])
    return {key: combined(r[key] for r in results) for key in results[0]}


def aes_blocks_a_second(quick: bool) -> float:
    """The rate of OpenSSL's AES-128 on one core, with blocks that fit into the cache."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    data, out = bytes(1 << 16), bytearray((1 << 16) + 16)
    cipher = Cipher(algorithms.AES(bytes(16)), modes.ECB()).encryptor()
    rounds = 200 if quick else 2000
    best = 0.0
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(rounds):
            cipher.update_into(data, out)
        best = max(best, rounds * len(data) / 16 / (time.perf_counter() - start))
    return best


def mpyc_party(count: int) -> None:
    """One of MPyC's parties: comparisons of shared numbers, concurrently and as arrays."""
    from mpyc.runtime import mpc

    integer = mpc.SecInt(32)
    x, y = pairs(count)
    expected = [int(v) for v in x < y]

    async def main() -> None:
        await mpc.start()
        a = mpc.input([integer(int(v)) for v in x], 0)
        b = mpc.input([integer(int(v)) for v in y], 1)
        await mpc.gather([a, b])

        async def best(work: Any, check: list[int]) -> Spent:
            async def opened() -> list[int]:
                return [int(v) for v in await mpc.output(work())]

            result, spent = await _mpyc.measure(mpc, opened, REPEATS)
            if result != check:
                raise RuntimeError("MPyC: wrong comparisons")
            return spent

        found = {
            "lists": await best(lambda: [p < q for p, q in zip(a, b, strict=True)], expected),
            "arrays": await best(lambda: mpc.np_fromlist(a) < mpc.np_fromlist(b), expected),
            "single": await best(lambda: [a[0] < b[0]], expected[:1]),
        }
        _mpyc.tell(found)
        await mpc.shutdown()

    mpc.run(main())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench garbling", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    options = parser.parse_args(argv)
    scale = 1 if options.quick else 10
    sizes = {
        "instances": 500 * scale,
        "comparisons": 100 * scale,
        "transfers": 100_000 * scale,
        "products": 1000 * scale,
    }
    ours = measure_grpc(sizes)
    theirs = _mpyc.run("coterie.bench.garbling", 3, sizes["comparisons"])
    if theirs is None:
        raise RuntimeError("MPyC took too long")
    aes = aes_blocks_a_second(options.quick)
    circuit = product_circuit()
    gates = sizes["instances"] * circuit.ands
    fastest = min(theirs["lists"], theirs["arrays"], key=lambda spent: spent["seconds"])
    counts = {
        "instances": gates,
        "comparisons": sizes["comparisons"],
        "correlated transfers": sizes["transfers"],
        "random transfers": sizes["transfers"],
        "bit transfers": sizes["transfers"],
        "products": sizes["products"],
    }
    report = {
        "bench": "garbling",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "sizes": sizes,
        "circuit": {"and": circuit.ands, "xor": circuit.xors, "depth": circuit.depth},
        "coterie": ours,
        "mpyc": {**theirs, "comparisons": fastest},
        "a_second": {name: count / ours[name]["seconds"] for name, count in counts.items()},
        "aes_blocks_a_second": aes,
        "share_of_what_aes_allows": gates / ours["instances"]["seconds"] / (aes / 8),
        "times_faster": {
            "comparisons": fastest["seconds"] / ours["comparisons"]["seconds"],
            "comparison": theirs["single"]["seconds"] / ours["comparison"]["seconds"],
        },
    }
    print(json.dumps(rounded(report)))
    return 0


if __name__ == "__main__":
    if (instances := _mpyc.asked()) is not None:
        mpyc_party(instances)
    else:
        raise SystemExit(main())
