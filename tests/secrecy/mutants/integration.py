"""Mutants of the rounds of an integration, conditions on sensitive columns, bounds."""

from __future__ import annotations

from tests.secrecy.mutants.form import hiding, job, mutant, view

_CLASS = hiding("points_of_the_class_come_back_in_a_secret_order")
_FREQUENCIES = "tests/protocols/integration/sensitive/test_joint_frequencies.py"

MUTANTS = [
    # integration
    mutant(
        "keys of the losers",
        "protocols/integration/hidden_winner.py",
        "own = np.array([self._compressed(channel, key)], np.uint64)\n",
        "own = np.array([self._compressed(channel, key)], np.uint64)\n"
        "        channel.broadcast(own)\n"
        "        channel.gather()\n",
        view("keys_of_the_losers", "cat"),
    ),
    mutant(
        "the key of a winner that may be rejected",
        "protocols/integration/hidden_winner.py",
        "reveal_maximum=not self._rejectable",
        "reveal_maximum=True",
        view("keys_of_winners_that_may_be_rejected", "cat"),
    ),
    mutant(
        "how far the others' slack is",
        "protocols/integration/slack.py",
        '    with channel.step("maximum"):\n',
        '    channel.broadcast(mine)\n    channel.gather()\n    with channel.step("maximum"):\n',
        view("slack_of_the_losers", "cat"),
    ),
    mutant(
        "the score of the step that a smaller k permits",
        "protocols/integration/slack.py",
        "session.argmax(orders)",
        "session.argmax(orders, reveal_maximum=True)",
        view("slack_of_the_losers", "cat"),
    ),
    mutant(
        "values below the cut",
        "protocols/integration/integrate.py",
        "        run = Rounds(channel, plan, table, book, rng, telling)\n",
        "        run = Rounds(channel, plan, table, book, rng, telling)\n"
        "        channel.broadcast(*[np.asarray(getattr(c, 'codes', np.zeros(records)), np.int64)"
        " for c in columns.values()], 0)\n"
        "        channel.gather()\n",
        view("specialization", "ann"),
        view("specialization_with_a_strategy", "ann"),
    ),
    mutant(
        "the shuffle of returned points of the class",
        "protocols/integration/class_labels.py",
        "twice = _again(channel, first, key, points)[rng.permutation(count)]",
        "twice = _again(channel, first, key, points)",
        _CLASS,
    ),
    mutant(
        "the shuffle of own points of the class",
        "protocols/integration/class_labels.py",
        "cipher.hash_and_encrypt(key, rows)[rng.permutation(count)]",
        "cipher.hash_and_encrypt(key, rows)",
        _CLASS,
    ),
    mutant(
        "classes that only other records have",
        "protocols/integration/class_labels.py",
        "occurring = distinct(labels.codes)",
        "occurring = np.arange(len(labels.values))",
        view("what_all_are_told_before_the_first_round", "bob"),
        view("what_all_are_told_before_the_first_round", "cat"),
    ),
    mutant(
        "numbers within a span",
        "protocols/integration/spans.py",
        "spans.append([column.tree.low[0], column.tree.high[0]])",
        "spans.append([column.tree.low[0], column.values[1]])",
        view("what_all_are_told_before_the_first_round", "ann"),
    ),
    mutant(
        "the key of a baseline's subsets",
        "protocols/integration/dka.py",
        "key = random_scalar(rng)",
        "key = random_scalar(Random(b'one key for all'))",
        view("subsets_of_a_baseline", "alice"),
        view("subsets_of_a_baseline", "bob"),
    ),
    # a witness
    mutant(
        "numbers of people behind yes and no",
        "protocols/integration/witness.py",
        "*(candidate if permitted else _nothing())",
        "*(candidate if permitted else [_NO_COLUMN, universe._table.records, np.empty(0)])",
        view("numbers_of_people_behind_yes_and_no", "ann"),
        view("numbers_of_people_behind_yes_and_no", "bob"),
        job("integrate with a witness", "lender"),
        job("integrate with a witness", "bank"),
    ),
    mutant(
        "a candidate that the witness refuses",
        "protocols/integration/witness.py",
        "*(candidate if permitted else _nothing())",
        "*candidate",
        view("a_candidate_that_the_witness_refuses", "ann"),
    ),
    mutant(
        "records of a combination",
        "protocols/integration/witness.py",
        "groups = [combinations(table, entry.qid) for entry in entries]",
        "groups = [np.repeat(combinations(table, e.qid), table.records // 34, 0) for e in entries]",
        view("records_of_a_table_with_a_witness", "registry"),
        job("integrate with a witness", "card"),
    ),
    mutant(
        "numbers between those that many people have",
        "protocols/integration/witness.py",
        "name: rounded(column, points[name]) if name in points else column",
        "name: column",
        view("numbers_between_those_that_many_people_have", "registry"),
    ),
    # conditions on sensitive columns
    mutant(
        "the pads of the sensitive numbers",
        "protocols/integration/sensitive/proposer_and_holder.py",
        "correction = pads - elements_of(one, columns, dtype) + numbers[places]",
        "correction = pads - pads + numbers[places]",
        view("conditions_on_shares", "ann"),
        view("sensitive_values_behind_a_verdict", "bob"),
        job("integrate with a condition on shares", "lender"),
        job("integrate by cuts with a model", "lender"),
        "tests/protocols/integration/sensitive/test_conditions.py::"
        "test_a_rejected_proposal_tells_nothing_but_that_it_was_rejected[ann-names0]",
    ),
    mutant(
        "the slots of a proposal",
        "protocols/integration/sensitive/joint_verdicts.py",
        "        return pair.run(circuit, words, bits)\n",
        "        if pair.proposes:\n            pair.channel.send(pair.peer, slots)\n"
        "        else:\n            pair.channel.recv(pair.peer)\n"
        "        return pair.run(circuit, words, bits)\n",
        view("conditions_on_shares", "bob"),
        view("cuts_that_a_model_refuses", "bob"),
        "tests/protocols/integration/sensitive/test_conditions.py::"
        "test_a_rejected_proposal_tells_nothing_but_that_it_was_rejected[bob-names0]",
    ),
    mutant(
        "the verdict on each part of a group",
        "protocols/integration/sensitive/proposer_and_holder.py",
        'return self._garbled(circuit, mine, "shares")',
        'return self._garbled(circuit, mine, "both")',
        "tests/protocols/integration/sensitive/test_conditions.py::"
        "test_proposals_are_rejected_and_accepted_by_one_holder_and_by_several",
    ),
    mutant(
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
    mutant(
        "the groups in which frequencies do not suffice",
        "protocols/integration/sensitive/joint_frequencies.py",
        "shares = self._pair.run(_below_circuit(least, bits), filled, bits)",
        "rows = np.unpackbits(filled.view(np.uint8), axis=1, bitorder='little')\n"
        "        mine = rows.reshape(-1, least, 64)[:, :, :bits].reshape(len(rows), -1)\n"
        "        told = self._pair._garbled(_below_circuit(least, bits), mine, 'both')\n"
        "        shares = told * np.uint8(self._pair.proposes)",
        f"{_FREQUENCIES}::test_a_holder_does_not_learn_which_group_is_not_diverse",
    ),
    mutant(
        "the frequencies of the other's column",
        "protocols/integration/sensitive/joint_frequencies.py",
        "filled = sums[sizes > 0].astype(np.uint64)",
        "filled = sums[sizes > 0].astype(np.uint64)\n"
        "        self.channel.send(self._pair.peer, filled)\n"
        "        self.channel.recv(self._pair.peer)",
        f"{_FREQUENCIES}::test_a_holder_learns_nothing_of_the_others_column_but_the_verdict",
    ),
    mutant(
        "the mask of a small factorial",
        "protocols/statistics/small_factorials.py",
        "mask: Words = rng.array(len(shares), np.uint64)",
        "mask: Words = np.zeros(len(shares), np.uint64)",
        view("corrections_of_small_factorials", "bob"),
    ),
    # bounds on generalization
    mutant(
        "the groups of bounds that cost too much",
        "protocols/integration/bounds.py",
        'builder.output("told", [fits, *builder.gate_word(fits, stays)])',
        'builder.output("told", [fits, *stays])',
        "tests/protocols/integration/test_bounds.py::"
        "test_nothing_is_told_of_records_that_go[too many-demands1-5-bob]",
    ),
    mutant(
        "the start values of a record that goes",
        "protocols/integration/bounds.py",
        "share = table[mine[part]]",
        "channel.broadcast(mine[part])\n            share = table[mine[part]]",
        "tests/protocols/integration/test_bounds.py::"
        "test_nothing_is_told_of_records_that_go[who goes-demands0-10-bob]",
    ),
    mutant(
        "the check of groups within the bounds",
        "protocols/integration/bounds.py",
        "channel, owners, axes, codes, demands, _may_stay(axes, codes, good, records), most\n",
        "channel, owners, axes, codes, demands, np.ones(records, np.bool_), most\n",
        "tests/bad_peers/test_start_groups.py::"
        "test_nobody_with_a_value_that_would_have_to_stay_is_looked_up",
    ),
    mutant(
        "the check of a value's own groups, of the number left out alone",
        "protocols/integration/bounds.py",
        " or (plainly_within(axes, codes, own, stays) != stays).any()",
        "",
        "tests/bad_peers/test_start_groups.py::"
        "test_groups_that_a_party_s_own_column_excludes_end_the_job",
    ),
    mutant(
        "a step of the bounds that makes a small group",
        "anonymity/specialization/starting.py",
        "if kernels.smallest_positive(after) < self.requirements[j].k:",
        "if False:",
        "tests/bad_peers/test_start_groups.py::test_a_step_that_makes_a_small_group_is_not_told",
    ),
    mutant(
        "the check that a proposer keeps to a holder's verdict",
        "protocols/integration/sensitive/holders.py",
        "if accepted and not permitted:",
        "if False:",
        "tests/bad_peers/test_verdicts.py",
    ),
]
