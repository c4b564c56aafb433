"""Mutants of oblivious transfer and garbled circuits."""

from __future__ import annotations

from tests.secrecy.mutants.form import hiding, mutant, view

MUTANTS = [
    # transfers
    mutant(
        "the secret of the transfers",
        "protocols/transfer/oblivious_transfer.py",
        "bits = rng.bits(WIDTH)",
        "bits = np.zeros(WIDTH, np.uint8)",
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
        "the mask of the choices",
        "protocols/transfer/oblivious_transfer.py",
        "columns ^= kept\n",
        "columns = np.zeros_like(kept)\n",
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
