"""Weakened pads: used twice, and counters that restart."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_ONCE = "tests/protocols/test_pads_once.py::test_"

MUTANTS = [
    mutant(
        "one pad for all words of a transfer",
        "protocols/transfer/oblivious_transfer.py",
        "hashed(rows, self._tweak + block * count, TRANSFER, mask)",
        "hashed(rows, self._tweak, TRANSFER, mask)",
        f"{_ONCE}no_pad_of_a_session_of_transfers_comes_again",
        f"{_ONCE}all_hashes_of_a_session_of_transfers_have_different_tweaks",
    ),
    mutant(
        "tweaks of transfers that restart",
        "protocols/transfer/oblivious_transfer.py",
        "self._tweak += blocks * count",
        "self._tweak += 0",
        f"{_ONCE}all_hashes_of_a_session_of_transfers_have_different_tweaks",
    ),
    mutant(
        "tweaks of transferred bits that restart",
        "protocols/transfer/oblivious_transfer.py",
        "self._tweak += len(rows)",
        "self._tweak += 0",
        f"{_ONCE}all_hashes_of_a_session_of_transfers_have_different_tweaks",
    ),
    mutant(
        "one pad for both messages of a transfer",
        "protocols/transfer/oblivious_transfer.py",
        "pads = self._hash(self._rows(size), (width + 7) // 8, (None, self.delta))",
        "pads = self._hash(self._rows(size), (width + 7) // 8, (None, None))",
        "tests/protocols/transfer/test_oblivious_transfer.py",
    ),
    mutant(
        "columns of transfers that restart",
        "protocols/transfer/oblivious_transfer.py",
        "stream.update_into(zeros, out[",
        "stream.reset_nonce(bytes(16)) or stream.update_into(zeros, out[",
        f"{_ONCE}rows_of_two_calls_and_of_two_chunks_are_different",
    ),
    mutant(
        "a stream that restarts with every piece",
        "protocols/primitives/blocks.py",
        "self._encryptor.update_into(zeros, out.data)",
        "self._encryptor.reset_nonce(bytes(16)); self._encryptor.update_into(zeros, out.data)",
        f"{_ONCE}a_stream_goes_on",
    ),
    mutant(
        "a generator that restarts with every array",
        "protocols/primitives/randomness.py",
        "self._stream.update_into(bytes(count",
        "self._stream.reset_nonce(bytes(16)); self._stream.update_into(bytes(count",
        "tests/protocols/primitives/test_randomness.py::test_the_stream_is_aes_in_counter_mode_however_it_is_asked_for",
    ),
    mutant(
        "one transfer's pad in all products of a record",
        "protocols/statistics/shared_counts.py",
        "correction = mine - one + rows[:, None, :]",
        "correction = mine[:, :1] - one[:, :1] + rows[:, None, :]",
        f"{_ONCE}every_product_of_a_record_has_a_pad_of_its_own",
    ),
    mutant(
        "prepared products that are used twice",
        "protocols/multiparty/gmw.py",
        "own, self._pool[product] = self._pool[product].split(count)",
        "own, _ = self._pool[product].split(count)",
        f"{_ONCE}prepared_products_are_used_once",
    ),
    mutant(
        "randomizers that are used twice",
        "protocols/numbers/randomizers.py",
        "        del self._pool[cut:]\n",
        "",
        "tests/protocols/numbers/test_randomizers.py::test_no_randomizer_is_handed_out_twice",
    ),
    mutant(
        "gates of circuits that restart",
        "protocols/circuits/half_gates.py",
        "        circuit = self.circuit\n        if len(labels) > 1 and",
        "        tweak, circuit = 0, self.circuit\n        if len(labels) > 1 and",
        f"{_ONCE}all_gates_and_outputs_of_a_session_have_different_tweaks",
    ),
    mutant(
        "tweaks of trees that overlap",
        "protocols/primitives/punctured_trees.py",
        "_SHIFT = np.uint64(17)",
        "_SHIFT = np.uint64(0)",
        f"{_ONCE}records_and_nodes_of_a_level_have_tweaks_of_their_own",
    ),
    mutant(
        "both children of a node the same",
        "protocols/primitives/punctured_trees.py",
        "LEFT, RIGHT, PAD = 4, 5, 6",
        "LEFT, RIGHT, PAD = 4, 4, 6",
        f"{_ONCE}all_pads_of_trees_are_different",
    ),
    mutant(
        "pads of leaves that are inner nodes",
        "protocols/primitives/punctured_trees.py",
        "LEFT, RIGHT, PAD = 4, 5, 6",
        "LEFT, RIGHT, PAD = 4, 5, 4",
        f"{_ONCE}inner_nodes_of_trees_are_no_pads",
    ),
    mutant(
        "one pad for all blocks of a leaf",
        "protocols/primitives/punctured_trees.py",
        "np.uint64(PAD) + (np.uint64(block) << np.uint64(8))",
        "np.uint64(PAD)",
        f"{_ONCE}all_pads_of_trees_are_different[5-False]",
    ),
    mutant(
        "records of trees that are numbered anew in every chunk",
        "protocols/aggregates/grouped_sums.py",
        "mine = offer(transfers, grouper, mine, part.start, each, rng)",
        "mine = offer(transfers, grouper, mine, 0, each, rng)",
        f"{_ONCE}records_are_numbered_on_from_chunk_to_chunk",
    ),
    mutant(
        "sums numbered by their moduli",
        "protocols/multiparty/secure_sum.py",
        'f"sum {number} modulo {modulus}"',
        'f"sum modulo {modulus}"',
        "tests/protocols/multiparty/test_secure_sum.py::test_many_sums_of_one_session_each_use_new_masks",
    ),
    mutant(
        "one stream for the masks of all turns",
        "protocols/models/server_products.py",
        'fork = self._rng.fork(f"moved {self._turns}")',
        'fork = self._rng.fork("moved")',
        f"{_ONCE}what_moves_to_the_servers_has_another_mask_in_every_turn",
    ),
]
