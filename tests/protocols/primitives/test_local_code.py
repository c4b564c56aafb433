"""The local code: every output is the sum of the ten places that the seed's stream names."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.protocols.primitives import local_code
from coterie.protocols.primitives.local_code import SIZES, LocalCode
from coterie.protocols.primitives.randomness import Random

SEED = bytes(range(16))


@pytest.fixture(params=["compiled", "portable"])
def implementation(request, monkeypatch):
    if request.param == "portable":
        monkeypatch.setattr(local_code, "portable", lambda: True)


def plain(secret, outputs, first):
    """One row after the other, in Python's integers."""
    stream = Cipher(algorithms.AES(SEED), modes.CTR(bytes(16))).encryptor()
    stream.update(bytes(40 * first))
    found = []
    for output in outputs:
        low, high = (int(word) for word in output)
        row = stream.update(bytes(40))
        for j in range(10):
            word = int.from_bytes(row[4 * j : 4 * j + 4], "little")
            place = word * len(secret) // 2**32
            low, high = low ^ int(secret[place, 0]), high ^ int(secret[place, 1])
        found.append((low, high))
    return np.array(found, np.uint64)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("size", [1, 7, 1000, 49_152])
def test_outputs_are_those_of_a_plain_computation(size, monkeypatch):
    monkeypatch.setattr(local_code, "_CHUNK", 128)
    rng = Random(f"{size}")
    secrets, code = [rng.array((size, 2)) for _ in range(2)], LocalCode(SEED, size)
    for first, count in ((0, 300), (300, 77)):
        outputs = [rng.array((count, 2)) for _ in range(2)]
        expected = [plain(s, o, first) for s, o in zip(secrets, outputs, strict=True)]
        code.add(secrets, outputs)
        for found, due in zip(outputs, expected, strict=True):
            assert (found == due).all()


def test_a_correlation_stays_one():
    """The code is linear: if noise and secret are correlated under delta, so are the outputs."""
    rng = Random("linear")
    delta, q, v = rng.array(2), rng.array((96, 2)), rng.array((500, 2))
    r, e = rng.bits(96).astype(np.uint64)[:, None], np.zeros((500, 1), np.uint64)
    e[::50] = 1
    t, w = q ^ r * delta, v ^ e * delta
    LocalCode(SEED, 96).add([q], [v])
    LocalCode(SEED, 96).add([t], [w])
    bits = np.stack([e, np.zeros_like(e)], axis=1)[..., 0].copy()
    secret = np.stack([r, np.zeros_like(r)], axis=1)[..., 0].copy()
    LocalCode(SEED, 96).add([secret], [bits])
    assert (w == v ^ bits[:, :1] * delta).all()


def test_every_place_is_taken_equally_often():
    """Of 64 places each is in as many of 1,280 rows as chance has it, within seven deviations."""
    out = np.zeros((1280, 2), np.uint64)
    counted = np.zeros(64, np.int64)
    for place in range(64):
        secret = np.zeros((64, 2), np.uint64)
        secret[place] = 1
        LocalCode(SEED, 64).add([secret], [out])
        counted[place] = int(np.count_nonzero(out[:, 0] & np.uint64(1)))
        out[:] = 0
    # One place is in a row an odd number of times with probability (1 - (1 - 2/64)^10) / 2.
    due = 1280 * (1 - (1 - 2 / 64) ** 10) / 2
    assert (abs(counted - due) < 7 * due**0.5).all()


def test_sizes_are_those_of_the_specification():
    found = {d: (s.outputs, s.secret, s.trees, s.points) for d, s in SIZES.items()}
    assert found == {
        8: (81_920, 24_576, 320, 2_560),
        9: (286_720, 49_152, 560, 5_040),
        10: (870_400, 98_304, 850, 8_500),
        11: (2_396_160, 196_608, 1170, 12_870),
    }


def test_secrets_of_another_size_are_refused():
    code = LocalCode(SEED, 64)
    with pytest.raises(ValueError, match="secrets of 64 blocks"):
        code.add([np.zeros((63, 2), np.uint64)], [np.zeros((5, 2), np.uint64)])
