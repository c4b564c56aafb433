"""Every step whose purpose is to hide something, removed: one mutant each.

A mutant names the file, a snippet that stands in it once, what to put in its place, and the tests
that fail then. `REASONS` lists the uses of randomness that have none, by file and function.
Keep snippets short; `python -m tests.secrecy.run NAME` tries one.
"""

from __future__ import annotations

from dataclasses import dataclass

HIDING = "tests/protocols/test_hiding.py"
JOBS = "tests/jobs/test_views.py"
VIEWS = "tests/protocols/test_views.py"


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def _view(scene: str, watched: str) -> str:
    return f"{VIEWS}::test_nobody_can_tell_the_others_secrets_apart[{scene}-{watched}]"


def _job(name: str, watched: str) -> str:
    return f"{JOBS}::test_a_job_does_not_show_the_others_records[{watched}-{name}]"


def _hiding(test: str) -> str:
    return f"{HIDING}::test_{test}"


def _mutant(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(name, file, old, new, tests)


_NO_WORD = _hiding("two_intersections_of_the_same_digests_have_no_word_in_common")
_CLASS = _hiding("points_of_the_class_come_back_in_a_secret_order")
_SET_ORDER = _hiding("a_set_is_sent_in_an_order_that_says_nothing_of_its_table")
_UNION_ORDER = _hiding("no_hop_of_a_union_keeps_the_order_of_the_hop_before")
_ZERO = _hiding("shares_of_zero_hide_what_a_party_holds")
_SALT = _hiding("every_party_adds_to_the_salt_of_an_intersection")
_PAILLIER_KEYS = _hiding("paillier_keys_and_bases_are_drawn_anew")

_FREQUENCIES = "tests/protocols/integration/sensitive/test_joint_frequencies.py"
_CELLS = "tests/protocols/statistics/test_visible_cells.py"
_SETS = (
    "tests/protocols/patterns/test_frequent_sets.py::"
    "test_nobody_learns_infrequent_counts_nor_counts_within_a_class"
)
_PAIRS = "tests/protocols/patterns/test_separation.py"
_TOSS = "tests/protocols/multiparty/test_coin_toss.py"

MUTANTS = [
    # the joint order of the records goes no further than the coordinator
    _mutant(
        "the sorted rows of a release",
        "jobs/kinds/integrate/release_table.py",
        "rows = _sorted_rows(list(ordered.values()))",
        "rows = np.arange(len(next(iter(ordered.values())).codes))",
        "tests/jobs/kinds/integrate/test_received.py::"
        "test_what_a_recipient_is_given_does_not_say_whose_value_a_row_has",
    ),
    _mutant(
        "the digest of a release for recipients alone",
        "party/receptions.py",
        "if peer not in recipients_of(self._job(record)):",
        "if False:",
        "tests/party/test_receptions.py::test_the_digest_is_told_to_recipients_alone",
    ),
    _mutant(
        "values of the released columns that only other records have",
        "jobs/kinds/integrate/party_side.py",
        "    labels = labels.compact()\n",
        "",
        "tests/jobs/kinds/integrate/test_integrate.py::"
        "test_the_coordinator_is_given_no_value_that_only_other_records_have",
    ),
    # what is padded and what is told of data
    _mutant(
        "the room of a padded set",
        "protocols/intersection/intersect.py",
        "identifiers.nbytes if pad_to is None else pad_to * PADDED_BYTES",
        "identifiers.nbytes",
        "tests/protocols/intersection/test_buckets.py::"
        "test_sets_padded_to_one_size_have_one_traffic[2-ring-intersection]",
    ),
    _mutant(
        "the number of a run of base transfers",
        "protocols/transfer/base_transfer.py",
        'return head + instance.to_bytes(8, "big")',
        "return head",
        "tests/protocols/transfer/test_oblivious_transfer.py::"
        "test_no_two_runs_of_the_base_transfers_share_an_oracle",
    ),
    _mutant(
        "the number of records of a padded set",
        "party/preflight.py",
        "if wanted.pad_to is not None:",
        "if False:",
        "tests/party/test_told_data.py::"
        "test_the_number_of_records_of_a_padded_set_is_not_told_to_the_coordinator",
    ),
    _mutant(
        "the number of rows that are dropped",
        "party/preflight.py",
        "table.num_rows - dropped",
        "table.num_rows",
        "tests/party/test_told_data.py::"
        "test_rows_that_are_dropped_are_not_counted_to_the_coordinator",
    ),
    _mutant(
        "the rows of an error about data",
        "transport/error_messages.py",
        "outline = error.message(rows=False)",
        "outline = error.message(rows=True)",
        "tests/base/test_data_errors.py::"
        "test_the_coordinator_sees_neither_unless_the_policy_explains_rows",
    ),
    _mutant(
        "how identifiers are written",
        "party/answers.py",
        'if explain != "rows":',
        "if False:",
        "tests/party/test_answers.py::"
        "test_without_permission_all_identifiers_get_one_answer[with white space]",
        "tests/party/test_describe.py::"
        "test_a_coordinator_hears_which_rule_would_help_if_the_policy_permits_it[columns]",
    ),
    _mutant(
        "the number of identifiers of a padded set that a rule would change",
        "party/answers.py",
        "finding.line(counts)",
        "finding.line()",
        "tests/party/test_answers.py::test_no_number_of_a_padded_set_is_told",
    ),
    _mutant(
        "what an error has inside, from the coordinator",
        "transport/error_messages.py",
        "return without_folders(_outside(error))",
        "return without_folders(describe(error))",
        "tests/transport/test_error_messages.py::"
        "test_what_an_error_has_inside_stays_in_the_own_log[columns]",
    ),
    _mutant(
        "what an error has inside, from the peers",
        "transport/error_messages.py",
        "reason = without_folders(_outside(error))",
        "reason = without_folders(describe(error))",
        "tests/transport/test_error_messages.py::"
        "test_what_an_error_has_inside_stays_in_the_own_log[rows]",
    ),
    _mutant(
        "how much a partner owes",
        "party/preflight.py",
        "and '{name}' owes more\" for name in debts]",
        'and {debts[name]}" for name in debts]',
        "tests/party/books/test_ledger.py::"
        "test_servers_keep_a_ledger_show_it_and_refuse_who_owes_too_much",
    ),
    _mutant(
        "digests of what was told to all, in an error",
        "protocols/messaging/broadcast_check.py",
        "different things as {what} ",
        "different things as {what} {heard} ",
        "tests/protocols/messaging/test_broadcast_check.py::"
        "test_who_tells_two_stories_is_named_and_no_honest_party[0-spans-False]",
    ),
    _mutant(
        "the value of an error about data",
        "base/errors.py",
        'if value else "…"',
        'if True else "…"',
        "tests/base/test_data_errors.py::test_the_partys_log_has_the_row_and_not_the_value",
    ),
    # transfers
    _mutant(
        "the secret of the transfers",
        "protocols/transfer/oblivious_transfer.py",
        "bits = rng.bits(WIDTH)",
        "bits = np.zeros(WIDTH, np.uint8)",
        _hiding("the_secret_of_transfers_is_drawn_anew"),
    ),
    _mutant(
        "the point beside the chosen one",
        "protocols/transfer/base_transfer.py",
        "from_hash(rng.bytes(64))",
        "from_hash(bytes(64))",
        _hiding("the_point_beside_the_chosen_one_is_drawn_anew"),
    ),
    _mutant(
        "the order of the two points",
        "protocols/transfer/base_transfer.py",
        "pairs.append(other + bytes(own) if choice else bytes(own) + other)",
        "pairs.append((other + bytes(own) if choice else bytes(own) + other)[:63] + bytes([choice]))",
        _view("choices_of_base_transfers", "alice"),
    ),
    _mutant(
        "the mask of the choices",
        "protocols/transfer/oblivious_transfer.py",
        "columns ^= kept\n",
        "columns = np.zeros_like(kept)\n",
        _view("transferred_messages", "alice"),
    ),
    _mutant(
        "the pad of the message that is not chosen",
        "protocols/transfer/oblivious_transfer.py",
        "pad = np.ascontiguousarray(pads[index][:size]).view(np.uint8)[:, :width]",
        "pad = np.ascontiguousarray(pads[index][:size]).view(np.uint8)[:, :width] * np.uint8(1 - index)",
        _view("transferred_messages", "bob"),
    ),
    _mutant(
        "the mask of products of bits",
        "protocols/transfer/oblivious_transfer.py",
        "one ^= zero\n",
        "one[:] = 0\n",
        _view("products_of_bits", "bob"),
    ),
    # circuits
    _mutant(
        "the order of check values by colours",
        "protocols/circuits/garbling.py",
        "return np.where(swapped, pair[:, ::-1], pair).reshape(zeros.shape)",
        "return pair.reshape(zeros.shape)",
        _view("positions_of_the_least", "bob"),
    ),
    _mutant(
        "the masks of a shared minimum",
        "protocols/circuits/minindex.py",
        "return rng.array(rows) & np.uint64(modulus - 1)",
        "return np.zeros(rows, np.uint64)",
        _view("shares_of_the_least_modulo_65536", "bob"),
    ),
    _mutant(
        "the masks of a shared minimum, any modulus",
        "protocols/circuits/minindex.py",
        "_numbers(rng.integers(modulus, rows), modulus)",
        "_numbers([0] * rows, modulus)",
        _view("shares_of_the_least_modulo_1009", "bob"),
    ),
    # several parties
    _mutant(
        "the seeds of a sum",
        "protocols/multiparty/secure_sum.py",
        "mine = {peer: rng.bytes(32) for peer in channel.peers}",
        "mine = {peer: bytes(32) for peer in channel.peers}",
        _view("parts_of_a_sum", "ann"),
    ),
    _mutant(
        "the masks of a sum",
        "protocols/multiparty/secure_sum.py",
        "return [(peer, uniform(s, count, modulus)) for peer, s in self._streams(modulus)]",
        "return [(p, 0 * uniform(s, count, modulus)) for p, s in self._streams(modulus)]",
        _view("parts_of_a_sum", "bob"),
    ),
    _mutant(
        "the masks of a sum of big numbers",
        "protocols/multiparty/secure_sum.py",
        'mask = int.from_bytes(piece, "little") % modulus',
        "mask = 0 * len(piece)",
        _view("parts_of_a_sum", "cat"),
        *(_job(f"regress {model}", "lender") for model in ("logistic", "svm", "cox")),
        _job("cluster", "lender"),
    ),
    _mutant(
        "a mask of its own for every sum",
        "protocols/multiparty/secure_sum.py",
        "self._count += 1\n",
        "self._count += 0\n",
        "tests/protocols/multiparty/test_secure_sum.py::test_many_sums_of_one_session_each_use_new_masks",
    ),
    _mutant(
        "the masks of shared strings",
        "protocols/multiparty/gmw.py",
        "a = narrow(self._rng.array(count, product.dtype), product)",
        "a = np.zeros(count, product.dtype)",
        _view("losing_scores", "cat"),
        _view("losing_scores", "bob"),
    ),
    _mutant(
        "the masks of shared bits",
        "protocols/multiparty/gmw.py",
        "b = self._rng.bits(count)",
        "b = np.zeros(count, np.uint8)",
        _view("losing_scores", "cat"),
    ),
    _mutant(
        "the correction of prepared products",
        "protocols/multiparty/gmw.py",
        "pack_words(both ^ share.a, product.width)",
        "pack_words(share.a, product.width)",
        "tests/protocols/multiparty/test_gmw.py::test_prepared_products_hold_and_no_single_party_can_tell_them",
    ),
    _mutant(
        "the fakes of a union",
        "protocols/multiparty/set_union.py",
        "bytes([_FAKE]) + rng.bytes(16)",
        "bytes([_FAKE]) + bytes(16)",
        _hiding("fakes_of_a_union_are_all_different"),
    ),
    _mutant(
        "the key of a union",
        "protocols/multiparty/set_union.py",
        "key = (rng.below(2**251) << 3) + 2**254",
        "key = (5 << 3) + 2**254",
        _hiding("two_unions_of_the_same_sets_have_no_point_in_common_before_the_last"),
        _view("who_holds_an_element", "ann"),
    ),
    _mutant(
        "all shuffles of a union",
        "protocols/multiparty/set_union.py",
        "rows[rng.permutation(len(rows))]",
        "rows",
        _UNION_ORDER,
    ),
    _mutant(
        "the order of the own set in a union",
        "protocols/multiparty/set_union.py",
        "part = _shuffled(_times(key, own), rng)",
        "part = _times(key, own)",
        _UNION_ORDER,
    ),
    _mutant(
        "the order of another's set in a union",
        "protocols/multiparty/set_union.py",
        "part = _shuffled(_received(channel, before, key, pieces), rng)",
        "part = _received(channel, before, key, pieces)",
        _UNION_ORDER,
    ),
    _mutant(
        "the order of the merged sets",
        "protocols/multiparty/set_union.py",
        "channel.send(after, _shuffled(merged, rng))",
        "channel.send(after, merged)",
        _UNION_ORDER,
    ),
    # intersections
    _mutant(
        "keys of the ring",
        "protocols/primitives/cipher.py",
        "return rng.bytes(POINT_BYTES)",
        'return b"k" * POINT_BYTES',
        f"{_NO_WORD}[names0-ring]",
        _view("intersection_of_2_sets_by_ring", "bob"),
        _view("pairwise_of_3_sets_by_ring", "cat"),
        _view("where_two_holders_of_the_class_differ", "ann"),
    ),
    _mutant(
        "scalars of the group",
        "protocols/primitives/group.py",
        "scalar_reduce(rng.bytes(64))",
        'scalar_reduce(b"k" * 64)',
        f"{_NO_WORD}[names1-ring]",
        _view("intersection_of_3_sets_by_ring", "bob"),
    ),
    _mutant(
        "identifiers that are not common",
        "protocols/intersection/intersect.py",
        "        plan = _agree(channel, names, identifiers, rng, pad_to, memory, store)\n",
        "        plan = _agree(channel, names, identifiers, rng, pad_to, memory, store)\n"
        "        channel.broadcast(identifiers.digests(bytes(32)))\n"
        "        channel.gather()\n",
        *(
            _job(name, "bank")
            for name in (
                "intersect",
                "integrate",
                "integrate with hidden scores",
                "integrate with recipients",
                "integrate with a strategy",
                "integrate with a condition at its holder",
                "count, vertical",
                "count as shares",
                "tree, vertical",
                "tree with predictions",
                "bayesnet, vertical",
                "identify",
                "aggregate, vertical",
            )
        ),
    ),
    _mutant(
        "the salt of the digests",
        "protocols/intersection/intersect.py",
        "share = rng.bytes(32)",
        "share = bytes(32)",
        _SALT,
    ),
    _mutant(
        "the shuffle before the intersection",
        "protocols/intersection/intersect.py",
        "order = shuffled(sizes[channel.me], rng)",
        "order = np.arange(sizes[channel.me])",
        _SET_ORDER,
    ),
    _mutant(
        "the words of the shuffle",
        "protocols/primitives/shuffle.py",
        "_shuffle(order, rng.array(count))",
        "_shuffle(order, np.arange(count).astype(np.uint64))",
        _hiding("a_shuffle_depends_on_the_generator_alone"),
    ),
    _mutant(
        "the padding of sets",
        "protocols/intersection/intersect.py",
        "padding = rng.array((sizes[channel.me] - len(digests), 16), np.uint8)",
        "padding = np.zeros((sizes[channel.me] - len(digests), 16), np.uint8)",
        "tests/protocols/intersection/test_intersect_messages.py::test_padding_hides_the_sizes",
    ),
    _mutant(
        "keys of the shares of zero among the hints",
        "protocols/intersection/multiparty_intersect.py",
        "keys[peer] = rng.bytes(16)",
        "keys[peer] = bytes(16)",
        _ZERO,
        _view("intersection_of_3_sets_by_ring_with_the_smallest", "ann"),
    ),
    _mutant(
        "the shares of zero among the hints",
        "protocols/intersection/multiparty_intersect.py",
        "total ^= encrypted(key, tags)[:, 0]",
        "total ^= encrypted(key, tags)[:, 0] & np.uint64(0)",
        _ZERO,
        _view("intersection_of_3_sets_by_oprf_with_the_smallest", "bob"),
    ),
    _mutant(
        "words of a hint that no key needs",
        "protocols/intersection/okvs.py",
        "table, dense = rng.array(size), rng.array(DENSE)",
        "table, dense = np.zeros(size, np.uint64), np.zeros(DENSE, np.uint64)",
        _hiding("words_of_a_hint_that_no_key_needs_are_random"),
    ),
    _mutant(
        "the mask of the columns of the oblivious function",
        "protocols/intersection/oprf.py",
        "matrix ^= _next(self._streams[1], matrix.shape[1])",
        "matrix ^= first",
        "tests/protocols/intersection/test_oprf.py",
        _view("intersection_of_2_sets_by_oprf", "alice"),
        _view("intersection_of_3_sets_by_oprf", "bob"),
    ),
    _mutant(
        "the function of values that are not common",
        "protocols/intersection/oprf_intersect.py",
        "channel.send(peer, outputs)",
        "channel.send(peer, tags[done % len(tags) :][: len(outputs)])",
        _view("intersection_of_2_sets_by_oprf_with_the_smallest", "alice"),
        _view("intersection_of_2_sets_by_oprf_with_the_smallest", "bob"),
    ),
    _mutant(
        "the secret of the oblivious function",
        "protocols/intersection/oprf.py",
        "choices = self._rng.bits(self._width)",
        "choices = np.zeros(self._width, np.uint8)",
        "tests/protocols/intersection/test_oprf.py",
    ),
    # integration
    _mutant(
        "keys of the losers",
        "protocols/integration/hidden_winner.py",
        "own = np.array([self._compressed(channel, key)], np.uint64)\n",
        "own = np.array([self._compressed(channel, key)], np.uint64)\n"
        "        channel.broadcast(own)\n"
        "        channel.gather()\n",
        _view("keys_of_the_losers", "cat"),
    ),
    _mutant(
        "the key of a winner that may be rejected",
        "protocols/integration/hidden_winner.py",
        "reveal_maximum=not self._rejectable",
        "reveal_maximum=True",
        _view("keys_of_winners_that_may_be_rejected", "cat"),
    ),
    _mutant(
        "values below the cut",
        "protocols/integration/integrate.py",
        "        run = Rounds(channel, plan, table, book, rng)\n",
        "        run = Rounds(channel, plan, table, book, rng)\n"
        "        channel.broadcast(*[np.asarray(getattr(c, 'codes', np.zeros(records)), np.int64)"
        " for c in columns.values()], 0)\n"
        "        channel.gather()\n",
        _view("specialization", "ann"),
        _view("specialization_with_a_strategy", "ann"),
    ),
    _mutant(
        "the shuffle of returned points of the class",
        "protocols/integration/class_labels.py",
        "twice = _again(channel, first, key, points)[rng.permutation(count)]",
        "twice = _again(channel, first, key, points)",
        _CLASS,
    ),
    _mutant(
        "the shuffle of own points of the class",
        "protocols/integration/class_labels.py",
        "cipher.hash_and_encrypt(key, rows)[rng.permutation(count)]",
        "cipher.hash_and_encrypt(key, rows)",
        _CLASS,
    ),
    _mutant(
        "classes that only other records have",
        "protocols/integration/class_labels.py",
        "occurring = np.unique(labels.codes)",
        "occurring = np.arange(len(labels.values))",
        _view("what_all_are_told_before_the_first_round", "bob"),
        _view("what_all_are_told_before_the_first_round", "cat"),
    ),
    _mutant(
        "numbers within a span",
        "protocols/integration/spans.py",
        "spans.append([column.tree.low[0], column.tree.high[0]])",
        "spans.append([column.tree.low[0], column.values[1]])",
        _view("what_all_are_told_before_the_first_round", "ann"),
    ),
    _mutant(
        "the key of a baseline's subsets",
        "protocols/integration/dka.py",
        "key = random_scalar(rng)",
        "key = random_scalar(Random(b'one key for all'))",
        _view("subsets_of_a_baseline", "alice"),
        _view("subsets_of_a_baseline", "bob"),
    ),
    # numbers
    _mutant(
        "the pads of products",
        "protocols/numbers/multiplication.py",
        "e = d2 + x[w]",
        "e = x[w]",
        _view("products_of_shares", "bob"),
        _view("inner_by_transfer", "bob"),
        _view("shared_product_by_transfer", "bob"),
        _view("polynomial_by_transfer", "bob"),
    ),
    _mutant(
        "the pads of scalar products",
        "protocols/numbers/scalar_product.py",
        "self.channel.send(self.peer, zero - one + rows[:, None, :])",
        "self.channel.send(self.peer, 0 * zero + rows[:, None, :])",
        _view("scalars_by_transfer", "bob"),
    ),
    # At both ends, so that the answers stay right and only the views tell.
    _mutant(
        "the pads of transfers",
        "protocols/transfer/oblivious_transfer.py",
        "out[:, block] = hashed(rows, self._tweak + block * count, TRANSFER, mask)",
        "out[:, block] = 0",
        _view("scalars_by_transfer", "bob"),
        _job("regress linear", "bank"),
    ),
    _mutant(
        "uniform shares",
        "protocols/numbers/shares.py",
        "return self._reduce(rng.array(shape))",
        "return self.zeros(shape)",
        _view("values_shared_and_opened_modulo_18446744073709551616", "bob"),
    ),
    _mutant(
        "uniform shares, any modulus",
        "protocols/numbers/shares.py",
        "return self.array(rng.integers(self.modulus, count)).reshape(shape)",
        "return self.array([0] * count).reshape(shape)",
        _view("values_shared_and_opened_modulo_1009", "alice"),
    ),
    _mutant(
        "the masks of exact scaling",
        "protocols/numbers/scaling.py",
        "mine = target.random(share.shape, rng)",
        "mine = target.zeros(share.shape)",
        _view("exact_scaling", "bob"),
    ),
    _mutant(
        "the masks of autonomous scaling",
        "protocols/numbers/scaling.py",
        "drawn = rng.integers(source.modulus - 1 - largest, len(share))",
        "drawn = [0] * len(share)",
        _view("autonomous_scaling", "bob"),
    ),
    _mutant(
        "the masks of the logarithm's first phase",
        "protocols/numbers/logarithm.py",
        "drawn = {name: ring.random(len(bits), rng) for name in names}",
        "drawn = {name: ring.zeros(len(bits)) for name in names}",
        _view("shares_of_logarithms", "bob"),
        _view("chosen_splits_and_families", "bob"),
    ),
    _mutant(
        "the masks of inner products",
        "protocols/numbers/inner_product.py",
        "used[:, :size] = rng.array((rows, size), np.uint8)",
        "used[:, :size] = 0",
        _view("inner_by_paillier", "bob"),
        _view("shared_product_by_paillier", "bob"),
        _view("polynomial_by_paillier", "bob"),
    ),
    _mutant(
        "the randomizers of answers of inner products",
        "protocols/numbers/inner_product.py",
        "hidden = key.encrypt(noise, self.randomizers.take(stop - start))",
        "hidden = key.encrypt(noise, [1] * (stop - start))",
        _hiding("answers_of_inner_products_are_randomized_anew"),
    ),
    _mutant(
        "the randomizers of offers of inner products",
        "protocols/numbers/inner_product.py",
        "key.encrypt(plain, self.randomizers.take(rows * columns))",
        "key.encrypt(plain, [1] * (rows * columns))",
        _view("inner_by_paillier", "alice"),
    ),
    _mutant(
        "the masks of scalar products",
        "protocols/numbers/scalar_product.py",
        "masks[:, : sizes.many, :size] = rng.array((sizes.few, sizes.many, size), np.uint8)",
        "masks[:, : sizes.many, :size] = 0",
        _view("scalars_by_paillier", "alice"),
    ),
    _mutant(
        "the randomizers of answers of scalar products",
        "protocols/numbers/scalar_product.py",
        "hidden = key.encrypt(masks, self.randomizers.take(len(masks)))",
        "hidden = key.encrypt(masks, [1] * len(masks))",
        _hiding("answers_of_scalar_products_are_randomized_anew"),
    ),
    _mutant(
        "the randomizers of columns of scalar products",
        "protocols/numbers/scalar_product.py",
        "encrypted = key.encrypt(plain, self.randomizers.take(len(plain)))",
        "encrypted = key.encrypt(plain, [1] * len(plain))",
        _view("scalars_by_paillier", "bob"),
    ),
    _mutant(
        "primes of a Paillier key",
        "protocols/numbers/paillier.py",
        "start = rng.below(1 << (bits - 2)) | 3 << (bits - 2)",
        "start = rng.below(8) * 1009 | 3 << (bits - 2)",
        _PAILLIER_KEYS,
    ),
    _mutant(
        "the base of a Paillier key",
        "protocols/numbers/paillier.py",
        "x := rng.below(n)",
        "x := 12345677",
        _PAILLIER_KEYS,
    ),
    _mutant(
        "exponents of randomizers",
        "protocols/numbers/randomizers.py",
        "exponents = from_bytes(rng.array((count, size), np.uint8))",
        "exponents = from_bytes(np.ones((count, size), np.uint8))",
        "tests/protocols/numbers/test_randomizers.py::test_powers_are_drawn_anew_in_every_call",
    ),
    _mutant(
        "digits of randomizers",
        "protocols/numbers/randomizers.py",
        "digits = rng.array((count, len(self._rows)), np.uint16) & ((1 << self.window) - 1)",
        "digits = np.ones((count, len(self._rows)), np.uint16)",
        "tests/protocols/numbers/test_randomizers.py::test_powers_are_drawn_anew_in_every_call",
    ),
    _mutant(
        "the stream of a pool of randomizers",
        "protocols/numbers/randomizers.py",
        "self._rng = Random(rng.bytes(32))",
        "self._rng = Random(bytes(32))",
        "tests/protocols/numbers/test_randomizers.py::test_two_pools_from_one_generator_share_nothing",
    ),
    _mutant(
        "seeds of randomizers made elsewhere",
        "protocols/numbers/randomizers.py",
        "seed = self._rng.bytes(32)",
        "seed = bytes(32)",
        "tests/protocols/numbers/test_randomizers.py::test_what_is_made_elsewhere_is_drawn_anew",
    ),
    _mutant(
        "uniform residues of the owner",
        "protocols/numbers/randomizers.py",
        "mpz(x) + 1 for x in self._rng.integers(int(p) - 1, count)",
        "mpz(x) + 1 for x in range(count)",
        "tests/protocols/numbers/test_randomizers.py::test_pools_of_different_generators_share_nothing",
    ),
    _mutant(
        "the coset of the owner's randomizers",
        "protocols/numbers/randomizers.py",
        "agreed = self._rng.integers(int(self._common), count)",
        "agreed = [0] * count",
        "tests/protocols/numbers/test_randomizers.py::test_all_of_the_bases_group_is_reached_and_nothing_else",
    ),
    _mutant(
        "units of randomizers",
        "protocols/numbers/randomizers.py",
        "r := mpz(self._rng.below(int(self.key.n)))",
        "r := mpz(7)",
        "tests/protocols/numbers/test_randomizers.py::test_pools_of_different_generators_share_nothing",
    ),
    # patterns
    _mutant(
        "a party's part of a coin toss",
        "protocols/multiparty/coin_toss.py",
        "mine = rng.bytes(SIZE)",
        "mine = bytes(SIZE)",
        *(f"{_TOSS}::test_every_party_adds_to_the_seed[{name}]" for name in "abc"),
    ),
    _mutant(
        "the commitments of a coin toss",
        "protocols/multiparty/coin_toss.py",
        'return hashlib.sha256(b"coterie commitment\\0" + name.encode() + b"\\0" + secret).digest()',
        "return secret",
        f"{_TOSS}::test_nobody_sees_a_string_before_it_has_committed_to_its_own",
    ),
    _mutant(
        "the check of a shown string",
        "protocols/multiparty/coin_toss.py",
        "if _commitment(peer, shown[peer]) != committed[peer]:",
        "if False:",
        f"{_TOSS}::test_who_shows_another_string_is_named",
    ),
    _mutant(
        "the check of commitments that others heard",
        "protocols/multiparty/coin_toss.py",
        "if theirs != heard:",
        "if False:",
        f"{_TOSS}::test_who_commits_to_different_strings_is_found_out",
    ),
    _mutant(
        "the offset of alike pairs",
        "protocols/patterns/separation.py",
        "lambda: rng.bits(count * bits)",
        "lambda: np.zeros(count * bits, np.uint8)",
        *(f"{_PAIRS}::test_neither_server_knows_the_offset[{name}]" for name in ("ann", "bob")),
    ),
    _mutant(
        "the numbers of branches that are drawn once",
        "jobs/kinds/statistics/tree.py",
        'number = channel.drawn(f"numbers of {name}", partial(rng.permutation, len(values)))',
        "number = rng.permutation(len(values))",
        "tests/jobs/run/test_resume.py::test_what_is_random_in_a_release_is_drawn_once[tree]",
    ),
    _mutant(
        "the token of an attempt",
        "protocols/messaging/kept.py",
        "if answers[at].token != token:",
        "if False:",
        "tests/protocols/messaging/test_kept.py::test_answers_of_different_attempts_are_never_mixed",
    ),
    _mutant(
        "the distance of alike pairs from what a coalition knows",
        "protocols/patterns/separation_circuits.py",
        "count = builder.choose(builder.less(room, count), room, count)",
        "pass",
        f"{_PAIRS}::test_no_level_tells_that_all_or_none_of_the_pairs_a_coalition_knows_are_alike",
        *(
            f"{_PAIRS}::test_nobody_sees_whether_all_pairs_that_it_knows_are_alike[{name}]"
            for name in ("ann", "bob", "cat")
        ),
    ),
    _mutant(
        "alike pairs in steps",
        "protocols/patterns/separation_circuits.py",
        'builder.output("level", raised[step : step + width])',
        'builder.output("level", count[: step + width])',
        f"{_PAIRS}::test_no_level_tells_that_all_or_none_of_the_pairs_a_coalition_knows_are_alike",
    ),
    _mutant(
        "supports in classes",
        "protocols/patterns/frequency_circuits.py",
        'builder.output("class", builder.gate_word(builder.invert(first), count[step : step + width]))',
        'builder.output("class", count)',
        *(f"{_SETS}[{name}]" for name in ("ann", "bob", "cat")),
    ),
    _mutant(
        "verdicts about sets in place of counts",
        "protocols/patterns/frequent_sets.py",
        'bits, _ = group.decided(large_circuit(False), count, {"rest": rows}, "large")',
        "bits = (group.added(rest, count) < 2**31).astype(np.uint8)[:, None]",
        *(f"{_SETS}[{name}]" for name in ("ann", "bob", "cat")),
    ),
    _mutant(
        "the permission to count unique people",
        "jobs/kinds/identify/kind.py",
        "smallest_group=1 if job.uniques else None,",
        "smallest_group=None,",
        "tests/jobs/kinds/identify/test_kind.py::"
        "test_unique_people_are_counted_exactly_where_they_are_asked_for",
    ),
    _mutant(
        "values that are not frequent",
        "jobs/kinds/rules/kind.py",
        "often = np.flatnonzero(counts >= least)",
        "often = np.flatnonzero(counts >= 0)",
        "tests/jobs/kinds/rules/test_kind.py::test_a_value_of_few_records_is_told_to_nobody",
    ),
    # statistics
    _mutant(
        "the split of shares to the servers",
        "protocols/statistics/shared_counts.py",
        "first = rng.array(count, dtype)",
        "first = np.zeros(count, dtype)",
        _view("what_a_server_gets_of_one_holder", "bob"),
        _view("a_shared_table_of_divided_records", "bob"),
        _view("pairs_that_are_ranked", "bob"),
        _view("sums_by_group_of_divided_records", "bob"),
        *(
            _job(f"{kind}, horizontal", "bank")
            for kind in ("count", "tree", "bayesnet", "aggregate", "rules")
        ),
    ),
    _mutant(
        "shares of what is large",
        "protocols/statistics/hidden_counts.py",
        'self._named(inputs), "shares", count)',
        'self._named(inputs), "both", count)',
        _view("shares_of_what_is_large", "ann"),
        "tests/protocols/patterns/test_unique_cells.py::"
        "test_nobody_learns_where_the_unique_people_are[bob]",
    ),
    _mutant(
        "a line with one large cell",
        "protocols/statistics/visibility_circuits.py",
        "builder.gate_word(_two(builder, large), large)",
        "large",
        _view("lines_that_are_hidden_whole", "cat"),
    ),
    _mutant(
        "the roots of the trees of pads",
        "protocols/aggregates/grouped_sums.py",
        "roots = rng.array((len(rows), 2))",
        "roots = np.zeros((len(rows), 2), np.uint64)",
        _view("sums_by_group", "bob"),
    ),
    _mutant(
        "the pads of sealed vectors",
        "protocols/aggregates/grouped_sums.py",
        "channel.send(grouper.name, sealed)",
        "channel.send(grouper.name, rows + 0 * sealed)",
        _view("sums_by_group", "bob"),
    ),
    _mutant(
        "the parts of a sum of squares",
        "protocols/aggregates/aggregates.py",
        'self.group.decided(square_circuit(half), count, inputs, "square")',
        'self.group.decided(square_circuit(half), count, inputs, "square")\n'
        '        self.sums(parts["low"], count)',
        _view("sums_of_squares", "cat"),
    ),
    _mutant(
        "rounding on shares",
        "protocols/aggregates/aggregates.py",
        'bits, _ = self.group.decided(multiple_circuit(base), count, inputs, "multiple")',
        'bits, _ = self.group.decided(multiple_circuit(base), count, inputs, "multiple")\n'
        "        self.sums(share, count)",
        _view("numbers_that_are_rounded", "cat"),
    ),
    _mutant(
        "the records on both sides of a quantile",
        "protocols/aggregates/aggregates.py",
        "open_ = np.flatnonzero(self.channel.open(PLACES, bits)[:, 0])",
        "open_ = np.flatnonzero(self.channel.open(PLACES, bits)[:, 0])\n"
        "            self.channel.open(PLACES, self.group.added(records, count))",
        _view("buckets_of_quantiles", "cat"),
    ),
    _mutant(
        "who dominates a group",
        "protocols/aggregates/aggregates.py",
        'safe = self.group.shared(circuit, cells, inputs)["safe"]',
        'safe = self.group.decided(circuit, cells, inputs, "safe")[0]',
        _view("groups_that_somebody_dominates", "ann"),
    ),
    _mutant(
        "a line with one large group",
        "protocols/aggregates/aggregates.py",
        "visible = visible_cells(self, components, share, cells, least)",
        "visible = self.records(counts, cells) >= minimum",
        _view("groups_that_are_hidden_whole", "cat"),
    ),
    _mutant(
        "the pads of masked rows",
        "protocols/statistics/shared_counts.py",
        "correction = mine - _elements(one, width).reshape(records, size, width) + rows[:, None, :]",
        "correction = 0 * mine + rows[:, None, :]",
        _view("a_shared_table", "ann"),
        _view("a_tree_and_its_predictions", "ann"),
        "tests/protocols/patterns/test_joint_counts.py::"
        "test_nobody_sees_which_records_satisfy_another_party[bob]",
        _view("a_net", "ann"),
        _job("rules, vertical", "lender"),
    ),
    _mutant(
        "the classes of a tree's nodes that are divided",
        "protocols/statistics/count_circuits.py",
        'builder.output("label", builder.gate_word(leaf, own))',
        'builder.output("label", own)',
        _view("nodes_that_are_divided", "cat"),
    ),
    _mutant(
        "the leaves of a tree's last level",
        "protocols/statistics/count_circuits.py",
        "    if last:\n",
        "    if last and minimum < 1:\n",
        _view("leaves_of_the_last_level", "cat"),
        _view("a_tree_whose_leaves_are_pure_or_not", "cat"),
    ),
    _mutant(
        "leaves divided by what a coalition knows",
        "protocols/statistics/leaf_counts.py",
        "np.where(plain[leaf_of], 0, own)",
        "0 * own",
        _view("leaves_whose_differences_are_small", "ann"),
        _view("leaves_whose_differences_are_small", "cat"),
    ),
    _mutant(
        "parts of leaves divided by the class",
        "protocols/statistics/leaf_counts.py",
        "* classes + np.tile(np.arange(classes), len(part))",
        "* classes + 0 * np.tile(np.arange(classes), len(part))",
        _view("right_predictions_that_stay_hidden", "ann"),
        _view("right_predictions_that_stay_hidden", "cat"),
    ),
    _mutant(
        "whether leaves may be shown",
        "protocols/statistics/leaf_counts.py",
        "            return Shown(None, None)\n",
        "            pass\n",
        _view("leaves_whose_differences_are_small", "ann"),
        _view("leaves_whose_differences_are_small", "cat"),
    ),
    _mutant(
        "zero shares in the tree's prediction",
        "protocols/statistics/tree.py",
        "mask: Ring = rng.array(count, np.uint32)",
        "mask: Ring = np.zeros(count, np.uint32)",
        _hiding("the_receiver_of_predictions_sees_nothing_but_their_sum"),
    ),
    _mutant(
        "zero shares added to the prediction",
        "protocols/statistics/tree.py",
        "mine += _zero_share(channel, involved, records, rng)",
        "_zero_share(channel, involved, records, rng)",
        _hiding("the_receiver_of_predictions_sees_nothing_but_their_sum"),
    ),
    # conditions on sensitive columns
    _mutant(
        "the pads of the sensitive numbers",
        "protocols/integration/sensitive/proposer_and_holder.py",
        "correction = pads - _elements(one, columns, dtype) + numbers[places]",
        "correction = pads - pads + numbers[places]",
        _view("conditions_on_shares", "ann"),
        _job("integrate with a condition on shares", "bank"),
        "tests/protocols/integration/sensitive/test_conditions.py::"
        "test_a_rejected_proposal_tells_nothing_but_that_it_was_rejected[ann-names0]",
    ),
    _mutant(
        "the slots of a proposal",
        "protocols/integration/sensitive/proposer_and_holder.py",
        "pads = self._receiver.random(choices, _words_for(columns, dtype))",
        "self.channel.send(self.peer, choices)\n                "
        "pads = self._receiver.random(choices, _words_for(columns, dtype))",
        "tests/protocols/integration/sensitive/test_conditions.py::"
        "test_a_rejected_proposal_tells_nothing_but_that_it_was_rejected[bob-names0]",
    ),
    _mutant(
        "the verdict on each part of a group",
        "protocols/integration/sensitive/proposer_and_holder.py",
        'return self._garbled(circuit, mine, "shares")',
        'return self._garbled(circuit, mine, "both")',
        "tests/protocols/integration/sensitive/test_conditions.py::"
        "test_proposals_are_rejected_and_accepted_by_one_holder_and_by_several",
    ),
    _mutant(
        "the attribute of a proposal whose score is hidden",
        "protocols/integration/rounds.py",
        "accepted = self._shared.decide(winner, candidates, instruction)",
        "channel.broadcast(instruction.attribute) if instruction else None\n"
        "                    told = instruction.attribute if instruction else channel.recv(winner)\n"
        "                    channel.open(INSTRUCTION, told)\n"
        "                    accepted = self._shared.decide(winner, candidates, instruction)",
        "tests/protocols/integration/sensitive/test_conditions.py::"
        "test_a_holder_that_rejects_everything_learns_how_often_and_nothing_else",
    ),
    _mutant(
        "the groups in which frequencies do not suffice",
        "protocols/integration/sensitive/joint_frequencies.py",
        "shares = self._pair.run(_below_circuit(least, bits), filled, bits)",
        "rows = np.unpackbits(filled.view(np.uint8), axis=1, bitorder='little')\n"
        "        mine = rows.reshape(-1, least, 64)[:, :, :bits].reshape(len(rows), -1)\n"
        "        told = self._pair._garbled(_below_circuit(least, bits), mine, 'both')\n"
        "        shares = told * np.uint8(self._pair.proposes)",
        f"{_FREQUENCIES}::test_a_holder_does_not_learn_which_group_is_not_diverse",
    ),
    _mutant(
        "the frequencies of the other's column",
        "protocols/integration/sensitive/joint_frequencies.py",
        "filled = sums[sizes > 0].astype(np.uint64)",
        "filled = sums[sizes > 0].astype(np.uint64)\n"
        "        self.channel.send(self._pair.peer, filled)\n"
        "        self.channel.recv(self._pair.peer)",
        f"{_FREQUENCIES}::test_a_holder_learns_nothing_of_the_others_column_but_the_verdict",
    ),
    _mutant(
        "the mask of a small factorial",
        "protocols/statistics/small_factorials.py",
        "mask: Words = rng.array(len(shares), np.uint64)",
        "mask: Words = np.zeros(len(shares), np.uint64)",
        _view("corrections_of_small_factorials", "bob"),
    ),
    # cells of few records
    _mutant(
        "one more hidden cell of a line",
        "anonymity/counts/hidden_cells.py",
        "visible[mixed, shown[mixed].argmax(axis=1)] = False",
        "pass",
        f"{_CELLS}::test_a_table_of_one_holder_is_hidden_from_the_others",
    ),
    _mutant(
        "one more hidden cell of a row",
        "anonymity/counts/hidden_cells.py",
        "visible[row, chosen] = columns[chosen] = False",
        "pass",
        f"{_CELLS}::test_in_larger_tables_something_is_shown_beside_small_cells",
    ),
    _mutant(
        "one more hidden cell of a column",
        "anonymity/counts/hidden_cells.py",
        "visible[int(shown[:, column].argmax()), column] = False",
        "pass",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    _mutant(
        "one more hidden slice",
        "anonymity/counts/hidden_cells.py",
        "slices = _lines_protected(shown[:, 0].reshape(1, -1))",
        "slices = shown[:, 0].reshape(1, -1)",
        f"{_CELLS}::test_slices_are_shown_where_all_their_cells_are_large",
    ),
    _mutant(
        "lines with one large cell",
        "protocols/statistics/visibility_circuits.py",
        "builder.gate_word(_two(builder, large), large)",
        "large",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    _mutant(
        "columns by what the rows leave",
        "protocols/statistics/visible_cells.py",
        "shown = _good_lines(servers, by_column, blocks * columns, rows)",
        "shown = servers.revealed(whole_circuit(1), by_column.size, "
        '{"large": by_column.reshape(-1, 1)}, "whole").astype(bool).reshape(by_column.shape)',
        f"{_CELLS}::test_of_all_tables_with_the_same_sums_one_looks_the_same_and_has_the_cell_empty",
    ),
    _mutant(
        "rows before columns",
        "protocols/statistics/visible_cells.py",
        'left = servers.shared(line_circuit(columns), blocks * rows, {"large": by_row})["shown"]',
        "left = by_row",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    _mutant(
        "two good slices at least",
        "protocols/statistics/visible_cells.py",
        "good = _good_lines(servers, None if whole is None else whole.reshape(1, slices), 1, slices)",
        "good = _good_lines(servers, "
        "None if whole is None else np.repeat(whole.reshape(slices, 1), 2, axis=1), slices, 2)[:, 0]",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    _mutant(
        "slices that are large as a whole",
        "protocols/statistics/visible_cells.py",
        'whole = servers.shared(whole_circuit(size), slices, {"large": bits})["whole"]',
        "whole = None if bits is None else bits[:, :1]",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    _mutant(
        "connected tables that are all large",
        "protocols/statistics/visible_cells.py",
        "if not component.whole and _all_large(servers, component, large):",
        "if not component.whole:",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    _mutant(
        "hidden tables that shown ones would give away",
        "anonymity/counts/hidden_cells.py",
        "if not sliced and not free:",
        "if not (sliced or True) and not free:",
        f"{_CELLS}::test_of_three_tables_in_a_ring_two_that_are_shown_would_give_the_third_away",
    ),
    _mutant(
        "margins of sliced tables only",
        "anonymity/counts/hidden_cells.py",
        "and any(set(table.names) <= set(tables[other].names) for other in group)",
        "and any(set(table.names) & set(tables[other].names) for other in group)",
        f"{_CELLS}::test_of_three_tables_in_a_ring_two_that_are_shown_would_give_the_third_away",
    ),
    _mutant(
        "free attributes that no shown table has",
        "anonymity/counts/hidden_cells.py",
        "if name not in own | seen])",
        "if name not in own])",
        f"{_CELLS}::test_of_three_tables_in_a_ring_two_that_are_shown_would_give_the_third_away",
    ),
    _mutant(
        "free attributes that the attacker does not know",
        "anonymity/counts/hidden_cells.py",
        "if name not in own | seen])",
        "if name not in seen])",
        f"{_CELLS}::test_who_knows_the_free_attribute_of_a_hidden_table_is_not_deceived_by_it",
    ),
    _mutant(
        "blocks of what all know",
        "anonymity/counts/hidden_cells.py",
        "table.grouped(_in(table, both), _in(table, one - both), _in(table, other - both)) + start",
        "table.grouped([], _in(table, one), _in(table, other - both)) + start",
        f"{_CELLS}::test_lines_of_two_classes_do_not_protect_each_other",
    ),
    _mutant(
        "lines of what all know",
        "anonymity/counts/hidden_cells.py",
        "return Lines(table.grouped(_in(table, both), _out(table, both)) + start)",
        "return Lines(table.grouped([], table.names) + start)",
        f"{_CELLS}::test_a_table_of_one_holder_is_hidden_from_the_others",
    ),
    _mutant(
        "what a coalition knows together",
        "anonymity/counts/hidden_cells.py",
        "frozenset(table.names) - {name for name in names if self.owner[name] == party}",
        "frozenset(n for n in table.names if n in self.known or "
        "(len(owners) > 1 and self.owner[n] == party))",
        f"{_CELLS}::test_coalitions_without_one_of_the_servers_learn_no_more",
    ),
    _mutant(
        "tables of one job that share attributes",
        "anonymity/counts/hidden_cells.py",
        "touching = [group for group in groups if group[0] & names]",
        "touching: list[tuple[set[str], list[int]]] = []",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    _mutant(
        "coalitions without a server",
        "anonymity/counts/hidden_cells.py",
        "missing = self.servers if set(self.servers) <= set(owners) else owners",
        "missing = owners[:1]",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    _mutant(
        "tables that cannot be hidden",
        "anonymity/counts/hidden_cells.py",
        "if table.size(rest) < 2:",
        "if table.size(rest) < 1:",
        f"{_CELLS}::test_where_nothing_could_be_hidden_the_table_is_refused",
    ),
    _mutant(
        "empty cells like small ones",
        "protocols/statistics/visible_cells.py",
        "large = servers.large(share, cells, minimum, zeros)",
        "large = servers.large(share, cells, minimum, True)",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    # bounds on generalization
    _mutant(
        "the groups of bounds that cost too much",
        "protocols/integration/bounds.py",
        'builder.output("told", [fits, *builder.gate_word(fits, stays)])',
        'builder.output("told", [fits, *stays])',
        "tests/protocols/integration/test_bounds.py::"
        "test_nothing_is_told_of_records_that_go[too many-demands1-5-bob]",
    ),
    _mutant(
        "the start values of a record that goes",
        "protocols/integration/bounds.py",
        "share = table[mine[part]]",
        "channel.broadcast(mine[part])\n            share = table[mine[part]]",
        "tests/protocols/integration/test_bounds.py::"
        "test_nothing_is_told_of_records_that_go[who goes-demands0-10-bob]",
    ),
    # models from sums
    _mutant(
        "whether sums of products would be over a few people",
        "jobs/kinds/models/regress.py",
        "    if not large(support_counts(np.concatenate([features, outcome], axis=1))):\n",
        "    if False:\n",
        "tests/jobs/kinds/models/test_regress.py::"
        "test_a_model_that_would_tell_of_a_few_people_ends_before_any_sum",
    ),
    _mutant(
        "records that alone change sides between two sums",
        "protocols/models/regression.py",
        "return not changed or unlike(np.array(changed, np.uint32))",
        "return True",
        "tests/protocols/models/test_regression.py::"
        "test_a_support_vector_machine_opens_no_second_sum_over_nearly_the_same_records",
    ),
    _mutant(
        "the sizes of a sum that is zero only where all are",
        "protocols/models/time_grid.py",
        "drawn = np.array([1 + number for number in rng.integers(PRIME - 1, POWERS)], np.uint64)",
        "drawn = np.ones(POWERS, np.uint64)",
        "tests/protocols/models/test_time_grid.py::"
        "test_the_sums_behind_the_power_say_nothing_of_how_many_have_it",
    ),
    _mutant(
        "times that are joined until none is about a few",
        "protocols/models/time_grid.py",
        "least = builder.constant(minimum, WIDTH)",
        "least = builder.constant(1, WIDTH)",
        "tests/protocols/models/test_time_grid.py::"
        "test_every_joined_cell_has_enough_events_and_no_cell_could_end_earlier",
    ),
    _mutant(
        "every two columns of a sum of products",
        "protocols/models/small_support.py",
        "counts[np.tril_indices(width)]",
        "np.diag(counts)",
        "tests/protocols/models/test_small_support.py::test_the_decision_is_that_of_a_plain_count",
    ),
    _mutant(
        "whether sums of products of two parties' columns would be over a few",
        "protocols/models/joint_products.py",
        "if not large(_folded(counts)):",
        "if False:",
        "tests/protocols/models/test_joint_products.py::"
        "test_no_sum_is_opened_where_one_would_be_over_a_few_records",
    ),
    _mutant(
        "clusters of a few records",
        "protocols/models/kmeans.py",
        "if not all(stay):",
        "if False:",
        "tests/protocols/models/test_kmeans.py::"
        "test_a_small_cluster_goes_and_its_records_go_to_the_next_nearest_centre",
    ),
    _mutant(
        "records that alone move between two sums of clusters",
        "protocols/models/kmeans.py",
        "if homes and not unlike(_moves(homes, home)):",
        "if False:",
        "tests/protocols/models/test_kmeans.py::"
        "test_sums_that_differ_by_a_few_records_are_not_opened",
    ),
    # jobs
    _mutant(
        "the numbers of a tree's branches",
        "jobs/kinds/statistics/tree.py",
        "partial(rng.permutation, len(values))",
        "partial(np.arange, len(values))",
        "tests/jobs/test_views.py::test_the_numbers_of_branches_say_nothing_of_the_order_of_values",
    ),
]

# (file, function): why a use of randomness hides nothing that a test could miss.
REASONS = {
    ("protocols/primitives/randomness.py", "*"): "the generator itself: tests/protocols/primitives",
    ("protocols/circuits/garbling.py", "Garbler.run"): (
        "labels that the evaluator is to hold, told to it as a seed; the secret of the transfers "
        "hides the others"
    ),
    ("protocols/integration/bounds.py", "_good_groups"): "forks",
    ("protocols/integration/bounds.py", "_looked_up"): "a fork",
    ("protocols/integration/sensitive/conditions.py", "SharedConditions._between"): "a fork",
    ("protocols/integration/sensitive/conditions.py", "SharedConditions._conjunction"): "a fork",
    ("protocols/integration/rounds.py", "Rounds.__init__"): "a fork",
    ("protocols/integration/sensitive/holders.py", "Holders.judge_jointly"): "a fork",
    ("protocols/integration/dka.py", "*"): "a baseline to be measured; no kind of job uses it",
    ("protocols/intersection/cuckoo.py", "build"): (
        "a public choice of hash functions, and the order of moves, which nobody sees"
    ),
    ("protocols/intersection/okvs.py", "encode"): "a public choice of hash functions",
    ("protocols/intersection/oprf.py", "OprfReceiver.extend"): (
        "inputs of empty bins, which the transfers hide like all others"
    ),
    ("protocols/intersection/oprf.py", "OprfSender.set_up"): "a public choice of the code",
    ("protocols/aggregates/group_tables.py", "group_shares"): "a fork",
    ("protocols/aggregates/group_tables.py", "horizontal_group_shares"): "a fork",
    ("protocols/statistics/shared_counts.py", "Transfers.sender"): "a fork: streams do not overlap",
    ("protocols/statistics/shared_counts.py", "Transfers.receiver"): "a fork",
    ("protocols/models/time_grid.py", "longest_power"): "a fork, beside what a mutant removes",
    ("protocols/models/joint_products.py", "joint_sums"): "forks",
    ("protocols/models/concordance.py", "ranked"): "forks; the shares are those of share_out",
    ("protocols/statistics/hidden_scores.py", "HiddenScores.__init__"): "a fork",
    ("protocols/patterns/separation.py", "separation"): "forks",
    ("protocols/patterns/separation.py", "draw_pairs"): "a public choice from the joint seed",
}
