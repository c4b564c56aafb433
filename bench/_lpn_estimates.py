"""What two attacks on LPN with regular noise under a local code would cost: our own computation.

A code has n rows of ten places in a secret of k bits, and t wrong bits, one in each piece of n / t rows.

    hybrid      guess places without errors, then solve what is left of the quadratic equations (two
                places of a piece are not both wrong) by linearisation: Briaud and Oygarden (EUROCRYPT
                2023), in the form of eprint 2025/1284
    sub-code    our own observation: some s = k (1.02 k / n)^(1/9) places of the secret contain s rows
                wholly, so that only s rows must be free of errors; 30 s^2 operations to solve them

In bits: the logarithm of the number of operations. An estimate is no proof: neither says that there is no
better attack, and those of Liu, Wang, Yang and Yu (eprint 2022/712), of Esser and Santini (2023/1568) and
the second algebraic one (2025/1476) are not computed here.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from coterie.protocols.primitives.local_code import LOCALITY, SIZES

# n, k, t
SETS = {f"ours, depth {d}": (s.outputs, s.secret, s.trees) for d, s in SIZES.items()} | {
    "Ferret (2020), main": (10_805_248, 589_760, 1319),
    "emp-ot 0.2, b13": (10_485_760, 452_000, 1280),
    "emp-ot 0.2, b11": (10_180_608, 124_000, 4971),
    "emp-ot 1.0, b11": (1170 << 11, 1 << 17, 1170),
    "emp-ot 1.0, b10": (850 << 10, 1 << 16, 850),
}


def estimates(n: int, k: int, t: int) -> dict[str, float]:
    return {
        "n": n,
        "k": k,
        "t": t,
        "hybrid_bits": round(hybrid(n, k, t), 1),
        "sub_code_bits": round(sub_code(n, k, t), 1),
    }


def sub_code(n: int, k: int, t: int) -> float:
    """Whoever picks a share x of the places finds n x^10 rows inside, and needs k x of them."""
    places = k * (1.02 * k / n) ** (1 / (LOCALITY - 1))
    return -t * math.log2(1 - places / n) + math.log2(30 * places**2)


def hybrid(n: int, k: int, t: int) -> float:
    """The least over how many places u of each piece, and how many whole pieces q, are guessed."""
    piece = n // t
    step = max(1, piece // 64)
    least = min((_at(n, k, t, u, q), u) for u, q in product(range(0, piece - 3, step), range(9)))
    near = range(max(0, least[1] - step), min(piece - 3, least[1] + step))
    return min(least[0], *(_at(n, k, t, u, q) for u, q in product(near, range(12))))


def _at(n: int, k: int, t: int, u: int, q: int) -> float:
    """u places guessed in each piece but q, u + 1 in f of them: the least over f."""
    piece = n // t
    checks = n - k
    n = piece * t
    k = n - checks
    f = np.arange(0, t - q, max(1, (t - q) // 400), dtype=np.float64)
    more = math.log2(1 - u / piece) if u else 0.0
    chance = math.log2(1 - (u + 1) / piece) * f + more * (t - q - f)
    eliminated = checks // (piece - 1)
    left = k - t - (u + 1) * f - (t - f - q) * u
    rest = checks - eliminated * (piece - u - 2)
    first = np.maximum(rest * checks * (rest + np.maximum(left, 0)), 1.0)
    equations = (t - f - q) * (piece - u - 2) * (piece - u - 1) / 2
    equations += f * (piece - u - 2) * (piece - u - 3) / 2
    whole = (piece - 1) * q
    unknown = left - whole
    solvable = (left <= 0) | ((unknown >= 0) & (unknown <= np.sqrt(2 * equations) - 2))
    v = np.maximum(unknown, 0.0)
    second = v**4 * np.maximum(left, 1) ** 2 / 8 / np.log2(np.maximum(v**2 / 2, 2))
    third = 1.25 * (2 * v * v * whole + v * whole * whole)
    third += (2.5 * v) ** 3 / np.log2(np.maximum(2.5 * v, 2))
    tries = 2.0 ** min(900.0, q * math.log2(piece))
    work = first + np.maximum(second, 1) + np.maximum(third, 1) * tries
    cost = np.where(left <= 0, np.log2(first), np.log2(work)) - chance
    return float(np.where(solvable, cost, np.inf).min())
