"""Silent transfers: what is hidden or checked in them, weakened."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_VOLE = "tests/protocols/transfer/test_vole.py::test_"
_POINTS = "tests/protocols/transfer/test_single_points.py::test_"
_SILENT = "tests/protocols/transfer/test_silent.py::test_"
_SILENT_FILE = "protocols/transfer/silent.py"

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
        "if digest != due:",
        "if digest[:16] != due[:16]:",
        f"{_POINTS}every_byte_of_the_digest_is_compared",
    ),
    mutant(
        "factors of 8 bits of the check of half-trees",
        "protocols/transfer/single_points.py",
        "key = algorithms.AES(self.transcript[:16])",
        "key = algorithms.AES(self.transcript[:1] * 16)",
        f"{_POINTS}factors_have_keys_of_all_bits",
    ),
    mutant(
        "a check of all rounds of vectors but the last",
        "protocols/transfer/vole.py",
        "self._points.settle(due)",
        "self._points.settle(due) if due is not self._due[-1] else self._channel.recv(self._peer)",
        f"{_VOLE}a_false_tree_of_any_round_is_named",
    ),
    mutant(
        "a mask of a vector's check that is a tree's value, too",
        "protocols/transfer/vole.py",
        "return size.secret + size.trees + 1",
        "return size.secret + size.trees",
        f"{_VOLE}no_product_serves_twice",
    ),
    mutant(
        "a seed of 8 bits of the code of silent transfers",
        _SILENT_FILE,
        "seed = self._rng.bytes(_SEED)",
        "seed = self._rng.bytes(1) * _SEED",
        f"{_SILENT}the_seed_is_drawn_after_the_first_blocks_and_has_all_its_bits",
    ),
    mutant(
        "a code of silent transfers that the holder knows before its blocks",
        _SILENT_FILE,
        "self._seed = hashlib.sha256(_LABEL + self._points.transcript + seed).digest()",
        "self._seed = hashlib.sha256(_LABEL + self._points.transcript).digest()",
        f"{_SILENT}the_code_depends_on_the_session_on_the_blocks_and_on_the_seed",
    ),
    mutant(
        "rows of the code that come again in every round",
        _SILENT_FILE,
        "self._first = code.skip(len(leaves))",
        "self._first = 0",
        f"{_SILENT}no_row_of_the_code_serves_twice",
    ),
    mutant(
        "a check of silent transfers that hides itself by what opened trees",
        _SILENT_FILE,
        "        leaves = self._leaves(size, opening, hiding)\n",
        "        leaves = self._leaves(size, opening, opening[:_HIDING])\n",
        f"{_SILENT}no_transfer_serves_twice",
    ),
]
