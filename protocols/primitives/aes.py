"""AES-128 under one fixed key as a public permutation, and the tweakable hash built on it.

The hash is TMMO of Guo, Katz, Wang and Yu, "Efficient and Secure Multiparty Computation from
Fixed-Key Block Ciphers" (IEEE S&P 2020, eprint 2019/074), their tweakable construction:

    H(x, i) = P(P(x) ^ i) ^ P(x)

for the permutation P = AES-128 under a public constant key. There it is proved tweakable circular
correlation robust when P is modelled as a random permutation: for a uniform secret D, the values
H(x ^ D, i) ^ b D look random to someone who chooses x, i and b, as long as no tweak i comes twice
with one x and both b. That is what half gates under free XOR need, and more than the extension of
oblivious transfer needs. The older constructions without the second call (P(x) ^ x ^ i and the
like) do not have the property and are not offered. The advantage of an adversary that makes p
calls of AES against q hashed blocks is of the order of (pq + q^2) / 2^128: with 2^40 blocks hashed
under one secret, about 88 bits remain. Every user gets tweaks of its own by a `domain`.

Two implementations give the same bytes: numba kernels with the AES instructions of x86 through
LLVM, and NumPy around the AES of `cryptography` (OpenSSL) where the processor or numba's target
lacks them. `accelerated()` says which is in use. Both run in constant time per block.

Blocks are arrays of shape (n, 2), uint64, little-endian: word 0 holds bytes 0 to 7.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from llvmlite import ir

from coterie.base.arrays import Array, Blocks, Words
from coterie.base.compiled import Instructions, compiled, processor_has

FIXED_KEY = hashlib.sha256(b"coterie: fixed key of the public permutation").digest()[:16]

# The domain is the second word of a tweak, so that no two uses share a tweak.
TRANSFER, GATE, OUTPUT = 1, 2, 3


def accelerated() -> bool:
    """Whether numba compiles for a processor with AES instructions."""
    return processor_has("aes")


def expand_key(key: bytes) -> Words:
    """The eleven round keys of AES-128 (FIPS 197, section 5.2), as 22 words. For public keys."""
    box = _substitution()
    words = [list(key[4 * i : 4 * i + 4]) for i in range(4)]
    constant = 1
    for i in range(4, 44):
        word = words[i - 1]
        if i % 4 == 0:
            word = [box[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _double(constant)
        words.append([a ^ b for a, b in zip(words[i - 4], word, strict=True)])
    return np.frombuffer(bytes(byte for word in words for byte in word), np.uint64).copy()


def _double(x: int) -> int:
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def _substitution() -> list[int]:
    """The S-box, from powers of the generator 3: 3^i and its inverse 3^(255-i)."""
    powers = [1]
    for _ in range(254):
        powers.append(powers[-1] ^ _double(powers[-1]))
    inverse = {0: 0} | {powers[i]: powers[-i % 255] for i in range(255)}

    def affine(x: int) -> int:
        spread = x ^ x << 1 ^ x << 2 ^ x << 3 ^ x << 4
        return (spread ^ spread >> 8) & 0xFF ^ 0x63

    return [affine(inverse[x]) for x in range(256)]


ROUND_KEYS = expand_key(FIXED_KEY)
_ECB = Cipher(algorithms.AES(FIXED_KEY), modes.ECB())  # noqa: S305 a public permutation, no cipher


def permute(blocks: Blocks) -> Blocks:
    """P of every block, by `cryptography`."""
    source = np.ascontiguousarray(blocks)
    out = np.empty(source.size + 2, np.uint64)
    _ECB.encryptor().update_into(source.reshape(-1).view(np.uint8).data, out.view(np.uint8).data)
    return out[: source.size].reshape(blocks.shape)


# The functions below write LLVM instructions for the kernels here and in half_gates.

BLOCK = ir.VectorType(ir.IntType(64), 2)


def block_at(builder: Any, address: Any, index: int = 0) -> Any:
    """Pointer to the index-th block after an address."""
    offset = ir.Constant(address.type, 16 * index)
    return builder.inttoptr(builder.add(address, offset), BLOCK.as_pointer())


def load(builder: Any, address: Any, index: int = 0) -> Any:
    value = builder.load(block_at(builder, address, index))
    value.align = 8
    return value


def store(builder: Any, value: Any, address: Any, index: int = 0) -> None:
    builder.store(value, block_at(builder, address, index)).align = 8


def block_of(builder: Any, low: Any, high: Any) -> Any:
    """A block from two words."""
    i32 = ir.IntType(32)
    value = builder.insert_element(ir.Constant(BLOCK, ir.Undefined), low, ir.Constant(i32, 0))
    return builder.insert_element(value, high, ir.Constant(i32, 1))


def encrypt_blocks(builder: Any, states: Sequence[Any], keys: Any) -> list[Any]:
    """AES-128 of several blocks side by side, which hides the latency of the instruction."""
    kind = ir.FunctionType(BLOCK, [BLOCK, BLOCK])

    def instruction(name: str) -> Any:
        known = builder.module.globals.get(name)
        return known if known is not None else ir.Function(builder.module, kind, name)

    middle = instruction("llvm.x86.aesni.aesenc")
    final = instruction("llvm.x86.aesni.aesenclast")
    key = load(builder, keys)
    states = [builder.xor(state, key) for state in states]
    for number in range(1, 11):
        key = load(builder, keys, number)
        step = middle if number < 10 else final
        states = [builder.call(step, [state, key]) for state in states]
    return states


def hash_blocks(builder: Any, blocks: Sequence[Any], tweaks: Sequence[Any], keys: Any) -> list[Any]:
    """TMMO of several blocks side by side."""
    once = encrypt_blocks(builder, blocks, keys)
    mixed = [builder.xor(a, tweak) for a, tweak in zip(once, tweaks, strict=True)]
    twice = encrypt_blocks(builder, mixed, keys)
    return [builder.xor(a, b) for a, b in zip(once, twice, strict=True)]


def _hash_instructions(width: int) -> Instructions:
    """hash(source, mask, target, keys, index, domain): `width` blocks, each xored with the mask."""

    def write(
        builder: Any, source: Any, mask: Any, target: Any, keys: Any, index: Any, domain: Any
    ) -> None:
        offset = load(builder, mask)
        blocks = [builder.xor(load(builder, source, i), offset) for i in range(width)]
        tweaks = [
            block_of(builder, builder.add(index, ir.Constant(index.type, i)), domain)
            for i in range(width)
        ]
        for i, value in enumerate(hash_blocks(builder, blocks, tweaks, keys)):
            store(builder, value, target, i)

    return Instructions("uintp uintp uintp uintp uint64 uint64", write)


hash_eight = _hash_instructions(8)
hash_one = _hash_instructions(1)


@compiled
def hash_loop(blocks: Any, mask: Any, out: Any, keys: Any, first: Any, domain: Any) -> None:
    """H(blocks[i] ^ mask, tweak) in a kernel; both arrays may be the same."""
    count = blocks.shape[0]
    source, target = np.uintp(blocks.ctypes.data), np.uintp(out.ctypes.data)
    offset, schedule = np.uintp(mask.ctypes.data), np.uintp(keys.ctypes.data)
    eight = count - count % 8
    for i in range(0, eight, 8):
        at = np.uintp(16 * i)
        hash_eight(
            np.uintp(source + at),
            offset,
            np.uintp(target + at),
            schedule,
            np.uint64(first + np.uint64(i)),
            domain,
        )
    for i in range(eight, count):
        at = np.uintp(16 * i)
        hash_one(
            np.uintp(source + at),
            offset,
            np.uintp(target + at),
            schedule,
            np.uint64(first + np.uint64(i)),
            domain,
        )


@compiled
def _hash_bits_kernel(blocks: Any, mask: Any, out: Any, keys: Any, first: Any, domain: Any) -> None:
    source = np.uintp(blocks.ctypes.data)
    offset, schedule = np.uintp(mask.ctypes.data), np.uintp(keys.ctypes.data)
    some = np.empty(16, np.uint64)
    target = np.uintp(some.ctypes.data)
    for i in range(out.shape[0]):
        hash_eight(
            np.uintp(source + np.uintp(128 * i)),
            offset,
            target,
            schedule,
            np.uint64(first + np.uint64(8 * i)),
            domain,
        )
        byte = np.uint64(0)
        for j in range(8):
            byte |= (some[2 * j] & np.uint64(1)) << np.uint64(j)
        out[i] = np.uint8(byte)


_NO_MASK = np.zeros(2, np.uint64)


def hashed(blocks: Blocks, first: int, domain: int, mask: Blocks | None = None) -> Blocks:
    """H(blocks[i] ^ mask, tweak) for the tweak (first + i, domain)."""
    blocks = np.ascontiguousarray(blocks)
    mask = _NO_MASK if mask is None else mask
    if accelerated():
        out = np.empty_like(blocks)
        hash_loop(
            blocks,
            mask,
            out,
            ROUND_KEYS,
            np.uint64(first),
            np.uint64(domain),
        )
        return out
    tweaks = np.arange(first, first + len(blocks), dtype=np.uint64)
    return portable_hash(blocks ^ mask, tweaks, domain)


def hashed_bits(blocks: Blocks, first: int, domain: int, mask: Blocks | None = None) -> Any:
    """The lowest bit of each `hashed` block, packed eight to a byte; a multiple of eight blocks."""
    blocks = np.ascontiguousarray(blocks)
    mask = _NO_MASK if mask is None else mask
    if len(blocks) % 8:
        raise ValueError("bits are hashed by multiples of eight blocks")
    if accelerated():
        out = np.empty(len(blocks) // 8, np.uint8)
        _hash_bits_kernel(blocks, mask, out, ROUND_KEYS, np.uint64(first), np.uint64(domain))
        return out
    tweaks = np.arange(first, first + len(blocks), dtype=np.uint64)
    low = portable_hash(blocks ^ mask, tweaks, domain)[:, 0]
    return np.packbits((low & np.uint64(1)).astype(np.uint8), bitorder="little")


def portable_hash(blocks: Blocks, tweaks: Array, domain: int) -> Blocks:
    """TMMO by NumPy and `cryptography`; `tweaks` broadcasts against the blocks' leading axes."""
    once = permute(blocks)
    mixed = once.copy()
    mixed[..., 0] ^= tweaks
    mixed[..., 1] ^= np.uint64(domain)
    mixed = permute(mixed)
    mixed ^= once
    return mixed
