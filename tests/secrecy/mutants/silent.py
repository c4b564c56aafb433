"""Silent transfers: what is hidden or checked in them, removed."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant, view

_VOLE = "tests/protocols/transfer/test_vole.py::test_"
_POINTS = "tests/protocols/transfer/test_single_points.py::test_"
_SILENT = "tests/protocols/transfer/test_silent.py::test_"
_SILENT_FILE = "protocols/transfer/silent.py"

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
    mutant(
        "the seed of the code of silent transfers",
        _SILENT_FILE,
        "seed = self._rng.bytes(_SEED)",
        "seed = bytes(_SEED)",
        f"{_SILENT}the_seed_is_drawn_after_the_first_blocks_and_has_all_its_bits",
    ),
    mutant(
        "the check of later rounds of silent transfers",
        _SILENT_FILE,
        "        self._points.check(leaves, place_mask, packed(hiding[None])[0])\n",
        "        due = self._points.ask(leaves, place_mask, packed(hiding[None])[0])\n"
        "        if self._stock:\n"
        "            self._channel.recv(self._peer)\n"
        "        else:\n"
        "            self._points.settle(due)\n",
        f"{_SILENT}a_holder_that_lies_in_any_round_is_named_and_gets_nothing[blocks-2]",
        f"{_SILENT}a_holder_that_lies_in_any_round_is_named_and_gets_nothing[digest-4]",
    ),
    mutant(
        "silent transfers that open the next round and are given out",
        _SILENT_FILE,
        "        leaves = self._leaves(size, opening, hiding)\n",
        "        if self._stock:\n"
        "            self._stock[-1]._drawn -= count\n"
        "        leaves = self._leaves(size, opening, hiding)\n",
        f"{_SILENT}no_transfer_serves_twice",
    ),
    mutant(
        "the permission of silent transfers",
        _SILENT_FILE,
        "return self._channel.silent and (bool",
        "return (bool",
        f"{_SILENT}where_silent_transfers_are_forbidden_there_are_none",
    ),
    mutant(
        "a party that forbids silent transfers",
        "jobs/run/party_run.py",
        "0, 1, what)) and silent",
        "0, 1, what)) or silent",
        "tests/jobs/run/test_party_run.py::test_transfers_are_silent_if_every_party_permits_it[forbids1]",
    ),
    mutant(
        "the code of silent transfers",
        _SILENT_FILE,
        "            self._code.add([self._secret], [new], self._first + self._coded)\n",
        "",
        view("silently_transferred_messages", "alice"),
    ),
    mutant(
        "what a policy says of silent transfers",
        "party/worker.py",
        "                silent=of_table.policy.silent,\n",
        "",
        "tests/party/test_silent_served.py::test_one_party_that_forbids_silent_transfers_forbids_them_to_all[True]",
    ),
]
