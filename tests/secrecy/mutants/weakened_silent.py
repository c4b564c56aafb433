"""Silent transfers: what is hidden or checked in them, weakened."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_POINTS = "tests/protocols/transfer/test_single_points.py::test_"

MUTANTS = [
    mutant(
        "roots of half-trees of 8 bits",
        "protocols/transfer/single_points.py",
        "roots = rng.array((len(q) // depth, 2))",
        "roots = rng.array((len(q) // depth, 2)) & np.uint64(15)",
        f"{_POINTS}roots_of_trees_are_drawn_with_all_their_bits",
    ),
    mutant(
        "half of the digest of half-trees",
        "protocols/transfer/single_points.py",
        "if digest != hashlib.sha256(total.tobytes()).digest():",
        "if digest[:16] != hashlib.sha256(total.tobytes()).digest()[:16]:",
        f"{_POINTS}every_byte_of_the_digest_is_compared",
    ),
    mutant(
        "factors of 8 bits of the check of half-trees",
        "protocols/transfer/single_points.py",
        "key = self._transcript.digest()[:16]",
        "key = self._transcript.digest()[:1] * 16",
        f"{_POINTS}factors_have_keys_of_all_bits",
    ),
]
