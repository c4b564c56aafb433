"""An outside truth for the whole chain: SHA-256 as a circuit, garbled, against hashlib."""

import hashlib
from functools import lru_cache, reduce
from math import isqrt

import numpy as np
import pytest

from coterie.protocols.circuits import table_messages
from coterie.protocols.circuits.arithmetic import Builder, evaluate
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random


def primes(count):
    found = []
    number = 2
    while len(found) < count:
        if all(number % p for p in found):
            found.append(number)
        number += 1
    return found


def cube_root(number):
    root = 1 << -(-number.bit_length() // 3)
    while root**3 > number:
        root = (2 * root + number // root**2) // 3
    return root


# FIPS 180-4: the first 32 bits of the fractional parts of square and cube roots of primes.
START = [isqrt(p << 64) & 0xFFFFFFFF for p in primes(8)]
ROUNDS = [cube_root(p << 96) & 0xFFFFFFFF for p in primes(64)]


@lru_cache
def sha256_circuit():
    """One block: the first half of its words from one party, the second half from the other."""
    builder = Builder()

    def rotate(x, by):
        return x[by:] + x[:by]

    def shift(x, by):
        return builder.extend(x[by:], 32)

    def xor(*words):
        return reduce(builder.xor_words, words)

    def add(*words):
        return reduce(lambda x, y: builder.add(x, y, 32), words)

    block = builder.input("first", 256) + builder.input("second", 256)
    w = [block[32 * i : 32 * i + 32] for i in range(16)]
    for t in range(16, 64):
        low = xor(rotate(w[t - 15], 7), rotate(w[t - 15], 18), shift(w[t - 15], 3))
        high = xor(rotate(w[t - 2], 17), rotate(w[t - 2], 19), shift(w[t - 2], 10))
        w.append(add(high, w[t - 7], low, w[t - 16]))
    start = [builder.constant(value, 32) for value in START]
    a, b, c, d, e, f, g, h = start
    for t in range(64):
        choice = [builder.choose(k, [x], [y])[0] for k, x, y in zip(e, f, g, strict=True)]
        majority = [
            builder.xor(z, builder.conjoin(builder.xor(x, z), builder.xor(y, z)))
            for x, y, z in zip(a, b, c, strict=True)
        ]
        one = add(
            h,
            xor(rotate(e, 6), rotate(e, 11), rotate(e, 25)),
            choice,
            builder.constant(ROUNDS[t], 32),
            w[t],
        )
        two = add(xor(rotate(a, 2), rotate(a, 13), rotate(a, 22)), majority)
        a, b, c, d, e, f, g, h = add(one, two), a, b, c, add(d, one), e, f, g
    state = zip(start, (a, b, c, d, e, f, g, h), strict=True)
    builder.output("digest", [bit for old, new in state for bit in add(old, new)])
    return builder.build()


def words_to_bits(blocks):
    """Big-endian words as the circuit takes them, lowest bit first."""
    words = np.frombuffer(b"".join(blocks), ">u4").astype("<u4").reshape(len(blocks), -1)
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def bits_to_digests(bits):
    words = np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(">u4")
    return [row.tobytes() for row in words]


def messages(count):
    """Short random messages, padded to one block as FIPS 180-4 says."""
    rng = Random("messages")
    plain = [rng.bytes(i % 56) for i in range(count)]
    padded = [m + b"\x80" + bytes(55 - len(m)) + (8 * len(m)).to_bytes(8, "big") for m in plain]
    return padded, [hashlib.sha256(m).digest() for m in plain]


def test_the_constants_are_those_of_the_standard():
    assert START[0] == 0x6A09E667
    assert (ROUNDS[0], ROUNDS[63]) == (0x428A2F98, 0xC67178F2)


def test_the_plain_circuit_hashes_like_hashlib():
    circuit = sha256_circuit()
    padded, expected = messages(60)
    bits = words_to_bits(padded)
    found = evaluate(circuit, {"first": bits[:, :256], "second": bits[:, 256:]})
    assert bits_to_digests(found["digest"]) == expected
    assert circuit.ands < 23_000  # hand-made ones of the literature have about as many


@pytest.mark.parametrize("chunk", [1 << 15, 5000], ids=["whole", "cut between gates"])
def test_the_garbled_circuit_hashes_like_hashlib(chunk, monkeypatch):
    monkeypatch.setattr(table_messages, "CHUNK_ANDS", chunk)
    circuit = sha256_circuit()
    padded, expected = messages(5)
    bits = words_to_bits(padded)
    result = run_parties(
        {
            "anna": lambda channel: Garbler(channel, "bela", Random(1)).run(
                circuit, {"first": bits[:, :256]}, "both"
            ),
            "bela": lambda channel: Evaluator(channel, "anna", Random(2)).run(
                circuit, {"second": bits[:, 256:]}, "both"
            ),
        }
    )
    for outputs in result.values():
        assert bits_to_digests(outputs["digest"]) == expected
