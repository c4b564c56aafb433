"""Steps that may be weakened in this way without harm, each with the reason.

They are tried by nobody: no test can notice what harms nobody. `make secrecy` and
tests/secrecy/test_mutants.py make sure that each snippet still stands in its file, so that a reason is
read again when its step changes.
"""

from __future__ import annotations

from tests.secrecy.mutants.form import Harmless

HARMLESS = [
    Harmless(
        "a seed of 8 bits for the labels of the garbler's inputs",
        "protocols/circuits/garbling.py",
        "seed = self._rng.bytes(_SEED)",
        "seed = self._rng.bytes(1) * _SEED",
        "the evaluator is told the seed; the other label of each wire is hidden by the secret of the "
        "transfers, and no gate of a session has the tweak of another",
    ),
    Harmless(
        "sums of a session whose masks do not depend on the modulus",
        "protocols/multiparty/secure_sum.py",
        'f"sum {number} modulo {modulus}"',
        'f"sum {number}"',
        "the number alone is new for every sum; the modulus is in the label so that parties who sum "
        "modulo different numbers get no number that looks like a sum",
    ),
    Harmless(
        "a seed of 8 bits for the places of a store in bins",
        "protocols/intersection/binned_store.py",
        "rng.bytes(SEED_BYTES)",
        "rng.bytes(1) * SEED_BYTES",
        "a public choice of hash functions, sent to the peer by the party whose keys they place",
    ),
    Harmless(
        "pads of leaves in the domain of left children",
        "protocols/primitives/punctured_trees.py",
        "LEFT, RIGHT, PAD = 4, 5, 6",
        "LEFT, RIGHT, PAD = 4, 5, 4",
        "a leaf has no children, so that no block is hashed both as a node and for a pad",
    ),
    Harmless(
        "half of the points of base transfers",
        "protocols/transfer/base_transfer.py",
        "if not sodium().crypto_core_ristretto255_is_valid_point(own):",
        "if side and not sodium().crypto_core_ristretto255_is_valid_point(own):",
        "the library refuses to add a point that is none, with the same error; "
        "tests/protocols/test_whole_checks.py tries every place",
    ),
]
