"""Mutants of oblivious transfer and garbled circuits."""

from __future__ import annotations

from tests.secrecy.mutants.form import hiding, mutant, view

_TREES = "tests/protocols/transfer/test_punctured_leaves.py::test_"
_ROWS = "tests/protocols/transfer/test_small_field.py::test_"

MUTANTS = [
    # transfers
    mutant(
        "the secret of the transfers",
        "protocols/transfer/small_field.py",
        "bits = rng.bits(SECRET_BITS)",
        "bits = np.zeros(SECRET_BITS, np.uint8)",
        hiding("the_secret_of_transfers_is_drawn_anew"),
    ),
    mutant(
        "the point beside the chosen one",
        "protocols/transfer/base_transfer.py",
        "from_hash(rng.bytes(64))",
        "from_hash(bytes(64))",
        hiding("the_point_beside_the_chosen_one_is_drawn_anew"),
    ),
    mutant(
        "the order of the two points",
        "protocols/transfer/base_transfer.py",
        "pairs.append(other + bytes(own) if choice else bytes(own) + other)",
        "pairs.append((other + bytes(own) if choice else bytes(own) + other)[:63] + bytes([choice]))",
        view("choices_of_base_transfers", "alice"),
    ),
    mutant(
        "the keys of the streams that mask the choices",
        "protocols/transfer/punctured_leaves.py",
        "return both[..., :KEY_BYTES].copy(), both",
        "return both[..., :KEY_BYTES] * np.uint8(0), both",
        view("transferred_messages", "alice"),
    ),
    mutant(
        "the pad of the message that is not chosen",
        "protocols/transfer/oblivious_transfer.py",
        "pad = np.ascontiguousarray(pads[index][:size]).view(np.uint8)[:, :width]",
        "pad = np.ascontiguousarray(pads[index][:size]).view(np.uint8)[:, :width] * np.uint8(1 - index)",
        view("transferred_messages", "bob"),
    ),
    mutant(
        "the mask of products of bits",
        "protocols/transfer/oblivious_transfer.py",
        "one ^= zero\n",
        "one[:] = 0\n",
        view("products_of_bits", "bob"),
    ),
    mutant(
        "the keys over the sums of small trees",
        "protocols/transfer/punctured_leaves.py",
        "return sums ^ keys",
        "return sums.copy()",
        f"{_TREES}every_sum_is_under_a_key_of_its_own",
    ),
    mutant(
        "the check of small trees",
        "protocols/transfer/punctured_leaves.py",
        "if hashlib.sha256(material.tobytes()).digest() != digest:",
        "if False:",
        f"{_TREES}false_sums_in_all_trees_are_found",
        f"{_TREES}a_false_sum_is_found_where_the_holder_opens_it",
    ),
    mutant(
        "the check of corrections of transfers",
        "protocols/transfer/small_field.py",
        "if (found != check[1:] ^ (check[0] & self._words)).any():",
        "if False:",
        f"{_ROWS}the_attack_that_reads_delta_from_false_corrections_is_found",
        f"{_ROWS}every_batch_is_checked",
    ),
    mutant(
        "the rows that hide the check of transfers",
        "protocols/transfer/small_field.py",
        "found[-1] = 1, 0",
        "found[-1] = 0, 0",
        f"{_ROWS}check_values_are_hidden_by_rows_that_nobody_uses",
    ),
    mutant(
        "factors that the chooser knows before its corrections",
        "protocols/transfer/small_field.py",
        "self._transcript.update(corrections.data)",
        "self._transcript.update(bytes(corrections.nbytes))",
        f"{_ROWS}factors_are_drawn_from_all_corrections_of_the_session",
    ),
    # circuits
    mutant(
        "the order of check values by colours",
        "protocols/circuits/garbling.py",
        "return np.where(swapped, pair[:, ::-1], pair).reshape(zeros.shape)",
        "return pair.reshape(zeros.shape)",
        view("positions_of_the_least", "bob"),
    ),
    mutant(
        "the masks of a shared minimum",
        "protocols/circuits/minindex.py",
        "return rng.array(rows) & np.uint64(modulus - 1)",
        "return np.zeros(rows, np.uint64)",
        view("shares_of_the_least_modulo_65536", "bob"),
    ),
    mutant(
        "the masks of a shared minimum, any modulus",
        "protocols/circuits/minindex.py",
        "_numbers(rng.integers(modulus, rows), modulus)",
        "_numbers([0] * rows, modulus)",
        view("shares_of_the_least_modulo_1009", "bob"),
    ),
]
