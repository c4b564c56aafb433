"""The fixed permutation and its hash, against FIPS 197, OpenSSL and the definition."""

import os
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.protocols.primitives import aes
from tests import ROOT


def reference_hash(block: bytes, index: int, domain: int) -> bytes:
    """H(x, i) = P(P(x) ^ i) ^ P(x), one block at a time."""

    def p(data: bytes) -> bytes:
        return Cipher(algorithms.AES(aes.FIXED_KEY), modes.ECB()).encryptor().update(data)

    def xor(a: bytes, b: bytes) -> bytes:
        return bytes(x ^ y for x, y in zip(a, b, strict=True))

    tweak = index.to_bytes(8, "little") + domain.to_bytes(8, "little")
    return xor(p(xor(p(block), tweak)), p(block))


def some_blocks(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 2**64, (count, 2), np.uint64)


def test_the_key_schedule_is_that_of_fips_197_appendix_a1():
    words = aes.expand_key(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")).tobytes()
    assert words[16:32].hex() == "a0fafe1788542cb123a339392a6c7605"
    assert words[160:].hex() == "d014f9a8c9ee2589e13f0cc8b6630ca6"


def test_both_implementations_encrypt_the_vector_of_fips_197_appendix_c1(monkeypatch):
    key = bytes(range(16))
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    cipher = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
    ecb = Cipher(algorithms.AES(key), modes.ECB())
    monkeypatch.setattr(aes, "_ECB", ecb)
    blocks = np.frombuffer(plain, np.uint64).reshape(1, 2)
    assert aes.permute(blocks).tobytes() == cipher
    if aes.accelerated():
        # With the tweak that turns P(x) into the vector's plaintext, the kernel's hash shows P.
        monkeypatch.setattr(aes, "ROUND_KEYS", aes.expand_key(key))
        once = ecb.encryptor().update(bytes(16))
        tweak = np.frombuffer(plain, np.uint64) ^ np.frombuffer(once, np.uint64)
        found = aes.hashed(np.zeros((1, 2), np.uint64), int(tweak[0]), int(tweak[1]))
        assert (found[0] ^ np.frombuffer(once, np.uint64)).tobytes() == cipher


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000])
def test_the_hash_is_its_definition_in_both_implementations(count, monkeypatch):
    blocks, mask = some_blocks(count), some_blocks(1)[0]
    expected = [
        reference_hash((block ^ mask).tobytes(), 77 + i, 5) for i, block in enumerate(blocks)
    ]
    for accelerated in {aes.accelerated(), False}:
        monkeypatch.setattr(aes, "accelerated", lambda value=accelerated: value)
        assert aes.hashed(blocks, 77, 5, mask).tobytes() == b"".join(expected)
        whole = count - count % 8
        bits = aes.hashed_bits(blocks[:whole], 77, 5, mask)
        lowest = [value[0] & 1 for value in expected[:whole]]
        assert np.unpackbits(bits, bitorder="little").tolist() == lowest


def test_a_known_answer_of_the_hash():
    blocks = np.arange(4, dtype=np.uint64).reshape(2, 2)
    assert aes.FIXED_KEY.hex() == "bf7c939ab85aaeafa62a406b60212188"
    assert aes.hashed(blocks, 1, aes.GATE).tobytes().hex() == (
        "314dee0fec0b6caec5f650ed53472fbba4669b3ae7fc083439be651a11a2c750"
    )


def test_tweaks_and_domains_give_different_hashes():
    blocks = np.zeros((1, 2), np.uint64)
    values = {aes.hashed(blocks, i, d).tobytes() for i in range(8) for d in (1, 2, 3)}
    assert len(values) == 24


@pytest.mark.parametrize(
    "settings",
    [{"NUMBA_CPU_NAME": "generic"}, {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_FEATURES": "+sse2"}],
    ids=lambda settings: next(iter(settings)),
)
def test_without_aes_instructions_the_portable_hash_takes_over(settings):
    code = (
        "import numpy as np; from coterie.protocols.primitives import aes; assert not aes.accelerated();"
        "print(aes.hashed(np.arange(4, dtype=np.uint64).reshape(2, 2), 1, 2).tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | settings,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    blocks = np.arange(4, dtype=np.uint64).reshape(2, 2)
    assert done.stdout.strip() == aes.hashed(blocks, 1, 2).tobytes().hex()
