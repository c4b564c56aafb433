"""Mutants of intersections."""

from __future__ import annotations

from tests.secrecy.mutants.form import hiding, job, mutant, view

_NO_WORD = hiding("two_intersections_of_the_same_digests_have_no_word_in_common")
_SET_ORDER = hiding("a_set_is_sent_in_an_order_that_says_nothing_of_its_table")
_ZERO = hiding("shares_of_zero_hide_what_a_party_holds")
_PARTS = "tests/protocols/test_whole_keys.py::test_parts_of_a_joint_number_have_all_their_bits"
_FUNCTION = "tests/protocols/intersection/test_vole_function.py::test_"
_FAULTS = "tests/protocols/intersection/test_intersect_faults.py::test_"
_STORE = "tests/protocols/intersection/test_binned_store.py"
_SALT = hiding("every_party_adds_to_the_salt_of_an_intersection")

MUTANTS = [
    # intersections
    mutant(
        "keys of the ring",
        "protocols/primitives/cipher.py",
        "return rng.bytes(POINT_BYTES)",
        'return b"k" * POINT_BYTES',
        f"{_NO_WORD}[names0-ring]",
        view("intersection_of_2_sets_by_ring", "bob"),
        view("pairwise_of_3_sets_by_ring", "cat"),
        view("where_two_holders_of_the_class_differ", "ann"),
    ),
    mutant(
        "scalars of the group",
        "protocols/primitives/group.py",
        "scalar_reduce(rng.bytes(64))",
        'scalar_reduce(b"k" * 64)',
        f"{_NO_WORD}[names1-ring]",
        view("intersection_of_3_sets_by_ring", "bob"),
    ),
    mutant(
        "identifiers that are not common",
        "protocols/intersection/intersect.py",
        "        plan = _agree(channel, names, identifiers, rng, pad_to, memory, store)\n",
        "        plan = _agree(channel, names, identifiers, rng, pad_to, memory, store)\n"
        "        channel.broadcast(identifiers.digests(bytes(32)))\n"
        "        channel.gather()\n",
        *(
            job(name, "bank")
            for name in (
                "intersect",
                "integrate",
                "integrate with hidden scores",
                "integrate with its slack",
                "integrate with recipients",
                "integrate with a strategy",
                "integrate with a second phase of columns",
                "integrate with a second phase of groups",
                "integrate with a condition at its holder",
                "count, vertical",
                "count as shares",
                "tree, vertical",
                "tree with predictions",
                "bayesnet, vertical",
                "naive bayesnet",
                "predict by a tree",
                "predict by a naive net",
                "predict by a net",
                "identify",
                "aggregate, vertical",
                "aggregate with noise",
            )
        ),
    ),
    mutant(
        "the salt of the digests",
        "protocols/intersection/intersect.py",
        "share = rng.bytes(32)",
        "share = bytes(32)",
        _SALT,
    ),
    mutant(
        "the shuffle before the intersection",
        "protocols/intersection/intersect.py",
        "order = shuffled(sizes[channel.me], rng)",
        "order = np.arange(sizes[channel.me])",
        _SET_ORDER,
    ),
    mutant(
        "the words of the shuffle",
        "protocols/primitives/shuffle.py",
        "_shuffle(order, rng.array(count))",
        "_shuffle(order, np.arange(count).astype(np.uint64))",
        hiding("a_shuffle_depends_on_the_generator_alone"),
    ),
    mutant(
        "the padding of sets",
        "protocols/intersection/intersect.py",
        "padding = rng.array((sizes[channel.me] - len(digests), 16), np.uint8)",
        "padding = np.zeros((sizes[channel.me] - len(digests), 16), np.uint8)",
        "tests/protocols/intersection/test_intersect_messages.py::test_padding_hides_the_sizes",
    ),
    mutant(
        "keys of the shares of zero among the hints",
        "protocols/intersection/multiparty_intersect.py",
        "keys[peer] = rng.bytes(16)",
        "keys[peer] = bytes(16)",
        _ZERO,
        view("intersection_of_3_sets_by_ring_with_the_smallest", "ann"),
    ),
    mutant(
        "the shares of zero among the hints",
        "protocols/intersection/multiparty_intersect.py",
        "total ^= encrypted(key, tags)",
        "total ^= encrypted(key, tags) & np.uint64(0)",
        _ZERO,
        view("intersection_of_3_sets_by_oprf_with_the_smallest", "bob"),
    ),
    mutant(
        "the seed of a store",
        "protocols/intersection/binned_store.py",
        "places = Places(shape, rng.bytes(SEED_BYTES), keys)",
        "places = Places(shape, np.bitwise_xor.reduce(keys, axis=0).tobytes(), keys)",
        view("intersection_of_2_sets_by_oprf", "alice"),
        view("intersection_of_2_sets_by_oprf", "bob"),
        view("intersection_of_3_sets_by_oprf", "ann"),
        view("intersection_of_3_sets_by_oprf", "bob"),
        view("intersection_of_3_sets_by_oprf", "cat"),
    ),
    mutant(
        "words of a store in bins that no key needs",
        "protocols/intersection/binned_store.py",
        "words = rng.array((self.shape.words, 2))",
        "words = np.zeros((self.shape.words, 2), np.uint64)",
        f"{_STORE}::test_words_of_random_values_are_balanced_and_differ_with_the_generator",
    ),
    mutant(
        "the mask of the store",
        "protocols/intersection/vole_function.py",
        "self._channel.send(self._peer, words[part] ^ a[part])",
        "self._channel.send(self._peer, words[part])",
        f"{_FUNCTION}the_words_that_a_sender_receives_say_nothing_of_the_tags",
    ),
    mutant(
        "the function of values that are not common",
        "protocols/intersection/vole_intersect.py",
        "channel.send(peer, np.ascontiguousarray(piece[:, :2]))",
        "channel.send(peer, tags[done : done + len(piece)])",
        view("intersection_of_2_sets_by_oprf_with_the_smallest", "alice"),
    ),
    mutant(
        "the proof of a receiver's matches",
        "protocols/intersection/vole_intersect.py",
        "if _proof(_chosen(outputs, rows)) != proof:",
        "if not proof:",
        f"{_FAULTS}transfers[bits too many]",
        f"{_FAULTS}transfers[a proof of nothing]",
    ),
    mutant(
        "a proof of a receiver's matches that its sender's own message shows",
        "protocols/intersection/vole_intersect.py",
        "outputs[:, 2:]).data",
        "outputs[:, :2]).data",
        f"{_FAULTS}a_receiver_cannot_prove_a_match_by_what_the_sender_sent",
    ),
    mutant(
        "values of a sender that come twice",
        "protocols/intersection/vole_intersect.py",
        "if len(np.unique(held)) < len(held):",
        "if False:",
        f"{_FAULTS}transfers[a value twice]",
    ),
    mutant(
        "the commitment of the sender's part of a joint number",
        "protocols/intersection/vole_function.py",
        "if hashlib.sha256(share).digest() != self._commitment:",
        "if False:",
        f"{_FAULTS}transfers[another part]",
        f"{_FAULTS}transfers[another commitment]",
    ),
    mutant(
        "the joint number in the function",
        "protocols/intersection/vole_function.py",
        "_finished(self._places.decode(self._c) ^ _joint(share, self._share), tags)",
        "_finished(self._places.decode(self._c), tags)",
        f"{_FUNCTION}all_outputs_depend_on_the_joint_number_at_either_side",
    ),
    mutant(
        "the check of the products before the function",
        "protocols/intersection/vole_function.py",
        "self._vole.check()",
        "self._vole.check",
        f"{_FUNCTION}false_products_of_a_sender_are_named",
    ),
    mutant(
        "the part of a sender's joint number",
        "protocols/intersection/vole_function.py",
        "self._share = self._rng.bytes(_SHARE)",
        "self._share = bytes(_SHARE)",
        f"{_PARTS}[True]",
    ),
    mutant(
        "the part of a receiver's joint number",
        "protocols/intersection/vole_function.py",
        "places, self._rng.bytes(_SHARE)",
        "places, bytes(_SHARE)",
        f"{_PARTS}[False]",
    ),
]
