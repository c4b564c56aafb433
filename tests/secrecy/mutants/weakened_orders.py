"""Weakened orders: by short keys, of a part, or the same every time."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_KEYS = "tests/protocols/test_whole_keys.py::test_"

MUTANTS = [
    mutant(
        "a permutation sorted by 8 bits",
        "protocols/primitives/randomness.py",
        "keys = self.array((2, count))",
        "keys = self.array((1, count), np.uint8).repeat(2, axis=0)",
        f"{_KEYS}an_order_of_many_keeps_nothing_of_the_order_before",
    ),
    mutant(
        "a permutation sorted by 64 bits",
        "protocols/primitives/randomness.py",
        "np.lexsort((keys[0], keys[1]))",
        'np.argsort(keys[0], kind="stable")',
        f"{_KEYS}an_order_is_sorted_by_every_bit_of_128[127]",
    ),
    mutant(
        "a shuffle by 8 bits",
        "protocols/primitives/shuffle.py",
        "_shuffle(order, rng.array(count))",
        "_shuffle(order, rng.array(count, np.uint8).astype(np.uint64) << np.uint64(56))",
        f"{_KEYS}a_shuffle_reaches_every_place",
    ),
    mutant(
        "a shuffle by 16 bits",
        "protocols/primitives/shuffle.py",
        "_shuffle(order, rng.array(count))",
        "_shuffle(order, rng.array(count, np.uint16).astype(np.uint64) << np.uint64(48))",
        f"{_KEYS}a_shuffle_reaches_every_place",
    ),
    mutant(
        "a shuffle of half of a set",
        "protocols/primitives/shuffle.py",
        "range(order.shape[0] - 1, 0, -1)",
        "range(order.shape[0] - 1, order.shape[0] // 2, -1)",
        f"{_KEYS}an_order_of_many_keeps_nothing_of_the_order_before",
    ),
    mutant(
        "one order for all shuffles of a union",
        "protocols/multiparty/set_union.py",
        "rows[rng.permutation(len(rows))]",
        'rows[Random(b"").permutation(len(rows))]',
        f"{_KEYS}sets_of_a_union_are_sent_in_another_order_every_time",
    ),
    mutant(
        "one order for all returned points of the class",
        "protocols/integration/class_labels.py",
        "key, points)[rng.permutation(count)]",
        'key, points)[Random(b"").permutation(count)]',
        f"{_KEYS}points_of_the_class_come_back_in_another_order_every_time",
    ),
    mutant(
        "one order for all own points of the class",
        "protocols/integration/class_labels.py",
        "cipher.hash_and_encrypt(key, rows)[rng.permutation(count)]",
        'cipher.hash_and_encrypt(key, rows)[Random(b"").permutation(count)]',
        f"{_KEYS}points_of_the_class_come_back_in_another_order_every_time",
    ),
    mutant(
        "the order of returned points for own points of the class",
        "protocols/integration/class_labels.py",
        "    twice = _again(channel, first, key, points)[rng.permutation(count)]\n    channel.send(first, twice, cipher.hash_and_encrypt(key, rows)[rng.permutation(count)])",
        "    order = rng.permutation(count)\n    twice = _again(channel, first, key, points)[order]\n    channel.send(first, twice, cipher.hash_and_encrypt(key, rows)[order])",
        f"{_KEYS}points_of_the_class_come_back_in_another_order_every_time",
    ),
    mutant(
        "one order for all intersections",
        "protocols/intersection/intersect.py",
        "order = shuffled(sizes[channel.me], rng)",
        'order = shuffled(sizes[channel.me], Random(b""))',
        f"{_KEYS}a_set_is_sent_in_another_order_every_time",
    ),
    mutant(
        "padding after the set",
        "protocols/intersection/intersect.py",
        "values = np.concatenate([digests, padding])[order]",
        "order = np.r_[order[order < len(digests)], order[order >= len(digests)]]\n    values = np.concatenate([digests, padding])[order]",
        f"{_KEYS}padding_looks_like_digests_and_stands_among_them",
    ),
    mutant(
        "rows of a release sorted by their first column",
        "jobs/kinds/integrate/release_table.py",
        "rows = _sorted_rows(list(ordered.values()))",
        "rows = _sorted_rows(list(ordered.values())[:1])",
        "tests/jobs/kinds/integrate/test_received.py::test_what_a_recipient_is_given_does_not_say_whose_value_a_row_has",
    ),
    mutant(
        "one numbering of branches for all trees",
        "jobs/kinds/statistics/tree.py",
        "partial(rng.permutation, len(values))",
        'partial(Random(b"").permutation, len(values))',
        "tests/jobs/test_views.py::test_the_numbers_of_branches_say_nothing_of_the_order_of_values",
    ),
    mutant(
        "columns of the ring compared in the order of the set",
        "protocols/intersection/ring.py",
        "order = np.lexsort((own[:, 1], own[:, 0]))",
        "order = np.lexsort((own[:, 1] * np.uint64(0), own[:, 0] >> np.uint64(56)))",
        f"{_KEYS}encrypted_sets_are_compared_in_the_order_of_their_points",
    ),
    mutant(
        "common records in the order of the set",
        "protocols/intersection/confirm.py",
        "rows = in_tag_order(tags, rows)\n    channel.broadcast(len(rows))",
        "channel.broadcast(len(rows))",
        "tests/protocols/test_views.py::test_nobody_can_tell_the_others_secrets_apart[intersection_of_3_sets_by_oprf_with_the_smallest-bob]",
    ),
]
