"""AES on arrays is AES: against `cryptography` one block at a time, and against FIPS 197."""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.protocols.primitives.blocks import Stream, encrypted, spread
from coterie.protocols.primitives.randomness import Random


def test_the_example_of_fips_197_appendix_c():
    key = bytes(range(16))
    block = np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), np.uint64)
    assert encrypted(key, block.reshape(1, 2)).tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


def test_spread_is_the_permutation_with_the_block_added():
    key, blocks = Random("key").bytes(16), Random("blocks").array((9, 2))
    plain = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    expected = [plain.update(row.tobytes()) for row in blocks]
    assert encrypted(key, blocks).tobytes() == b"".join(expected)
    assert (spread(key, blocks) ^ blocks).tobytes() == b"".join(expected)


def test_a_stream_taken_in_pieces_is_the_stream_at_once():
    key = Random("key").bytes(16)
    whole = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(48))
    stream, out = Stream(key), np.zeros(32 + 15, np.uint8)
    stream.fill(out, bytes(16))
    assert out[:16].tobytes() == whole[:16]
    stream.fill(out, bytes(32))
    assert out[:32].tobytes() == whole[16:]
