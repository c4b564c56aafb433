"""Silent transfers: what is hidden or checked in them, removed."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_VOLE = "tests/protocols/transfer/test_vole.py::test_"
_POINTS = "tests/protocols/transfer/test_single_points.py::test_"

MUTANTS = [
    mutant(
        "the roots of half-trees",
        "protocols/transfer/single_points.py",
        "roots = rng.array((len(q) // depth, 2))",
        "roots = np.zeros((len(q) // depth, 2), np.uint64)",
        f"{_POINTS}roots_of_trees_are_drawn_with_all_their_bits",
    ),
    mutant(
        "the check of half-trees",
        "protocols/transfer/single_points.py",
        "if digest != due:",
        "if not digest:",
        f"{_POINTS}a_false_block_is_found",
        f"{_POINTS}a_false_product_is_found",
    ),
    mutant(
        "factors that the owner of half-trees knows before",
        "protocols/transfer/single_points.py",
        "self._transcript.update(sent.tobytes())",
        "self._transcript.update(bytes(sent.nbytes))",
        f"{_POINTS}factors_depend_on_every_block_that_was_sent_and_on_the_session",
    ),
    mutant(
        "the check of vectors",
        "protocols/transfer/vole.py",
        "self._points.settle(due)",
        "self._channel.recv(self._peer)",
        f"{_VOLE}a_false_tree_of_any_round_is_named",
        f"{_VOLE}a_false_value_of_a_tree_is_named",
    ),
]
