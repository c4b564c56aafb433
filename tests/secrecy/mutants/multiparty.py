"""Mutants of sums, maxima, unions and shares among several parties."""

from __future__ import annotations

from tests.secrecy.mutants.form import hiding, job, mutant, view

_UNION_ORDER = hiding("no_hop_of_a_union_keeps_the_order_of_the_hop_before")

MUTANTS = [
    # several parties
    mutant(
        "the seeds of a sum",
        "protocols/multiparty/secure_sum.py",
        "mine = {peer: rng.bytes(32) for peer in channel.peers}",
        "mine = {peer: bytes(32) for peer in channel.peers}",
        view("parts_of_a_sum", "ann"),
    ),
    mutant(
        "the masks of a sum",
        "protocols/multiparty/secure_sum.py",
        "return [(peer, uniform(s, count, modulus)) for peer, s in self._streams(modulus)]",
        "return [(p, 0 * uniform(s, count, modulus)) for p, s in self._streams(modulus)]",
        view("parts_of_a_sum", "bob"),
    ),
    mutant(
        "the masks of a sum of big numbers",
        "protocols/multiparty/secure_sum.py",
        'mask = int.from_bytes(piece, "little") % modulus',
        "mask = 0 * len(piece)",
        view("parts_of_a_sum", "cat"),
        *(job(f"regress {model}", "lender") for model in ("logistic", "svm", "cox")),
        job("cluster", "lender"),
    ),
    mutant(
        "a mask of its own for every sum",
        "protocols/multiparty/secure_sum.py",
        "self._count += 1\n",
        "self._count += 0\n",
        "tests/protocols/multiparty/test_secure_sum.py::test_many_sums_of_one_session_each_use_new_masks",
    ),
    mutant(
        "the masks of shared strings",
        "protocols/multiparty/gmw.py",
        "a = narrow(self._rng.array(count, product.dtype), product)",
        "a = np.zeros(count, product.dtype)",
        view("losing_scores", "cat"),
        view("losing_scores", "bob"),
    ),
    mutant(
        "the masks of shared bits",
        "protocols/multiparty/gmw.py",
        "b = self._rng.bits(count)",
        "b = np.zeros(count, np.uint8)",
        view("losing_scores", "cat"),
    ),
    mutant(
        "the correction of prepared products",
        "protocols/multiparty/gmw.py",
        "pack_words(both ^ share.a, product.width)",
        "pack_words(share.a, product.width)",
        "tests/protocols/multiparty/test_gmw.py::test_prepared_products_hold_and_no_single_party_can_tell_them",
    ),
    mutant(
        "the fakes of a union",
        "protocols/multiparty/set_union.py",
        "bytes([_FAKE]) + rng.bytes(16)",
        "bytes([_FAKE]) + bytes(16)",
        hiding("fakes_of_a_union_are_all_different"),
    ),
    mutant(
        "the key of a union",
        "protocols/multiparty/set_union.py",
        "key = (rng.below(2**251) << 3) + 2**254",
        "key = (5 << 3) + 2**254",
        hiding("two_unions_of_the_same_sets_have_no_point_in_common_before_the_last"),
        view("who_holds_an_element", "ann"),
    ),
    mutant(
        "all shuffles of a union",
        "protocols/multiparty/set_union.py",
        "rows[rng.permutation(len(rows))]",
        "rows",
        _UNION_ORDER,
    ),
    mutant(
        "the order of the own set in a union",
        "protocols/multiparty/set_union.py",
        "part = _shuffled(_times(key, own), rng)",
        "part = _times(key, own)",
        _UNION_ORDER,
    ),
    mutant(
        "the order of another's set in a union",
        "protocols/multiparty/set_union.py",
        "part = _shuffled(_received(channel, before, key, pieces), rng)",
        "part = _received(channel, before, key, pieces)",
        _UNION_ORDER,
    ),
    mutant(
        "the order of the merged sets",
        "protocols/multiparty/set_union.py",
        "channel.send(after, _shuffled(merged, rng))",
        "channel.send(after, merged)",
        _UNION_ORDER,
    ),
]
