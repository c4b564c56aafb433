"""Mutants of counts, trees, nets, and cells of few records."""

from __future__ import annotations

from tests.secrecy.mutants.form import hiding, job, mutant, view

_CELLS = "tests/protocols/statistics/test_visible_cells.py"
_TWO = "tests/chosen_inputs/test_two_tables.py::test_no_whole_combination_of_opened_counts_is_about_a_few"
_APART = (
    "tests/chosen_inputs/test_unrelated_tables.py::"
    "test_no_sum_over_tables_of_related_columns_is_about_a_few"
)
_PURE = "tests/chosen_inputs/test_pure_leaves.py"

MUTANTS = [
    mutant(
        "tables that share no attribute",
        "protocols/statistics/visible_cells.py",
        "    _hide_compared(servers, components, tables, visible, minimum)\n",
        "",
        *(f"{_APART}[{related}-hidden]" for related in ("nearly_one_column", "equal_in_a_class")),
        *(
            f"tests/chosen_inputs/test_unrelated_tables.py::{test}[[[Sex, G1], [Gender, G2]]]"
            for test in (
                "test_columns_that_differ_in_one_person_where_every_party_has_its_own_people",
                "test_columns_that_differ_in_one_person_where_any_party_has_a_cell",
            )
        ),
    ),
    mutant(
        "three tables that share no attribute (weakened: two by two)",
        "protocols/statistics/visible_cells.py",
        "trials = [(*shown, at)] if together and shown else [(other, at) for other in shown]",
        "trials = [(other, at) for other in shown]",
        f"{_APART}[three_own_that_follow_from_each_other-hidden]",
    ),
    mutant(
        "tables of a net by the class (weakened: of its first value)",
        "anonymity/counts/compared_tables.py",
        "for value in range(int(which.max()) + 1):",
        "for value in range(1):",
        "tests/chosen_inputs/test_unrelated_tables.py::"
        "test_families_of_a_net_whose_columns_differ_in_a_few_people[1]",
    ),
    mutant(
        "links of a few people (weakened: where there are some)",
        "protocols/statistics/visibility_circuits.py",
        "builder.invert(builder.less(total, builder.constant(minimum, width)))",
        "builder.any(total)",
        f"{_APART}[nearly_one_column-hidden]",
        f"{_APART}[single_columns-hidden]",
    ),
    mutant(
        "how many people link two nodes (weakened: half of the minimum)",
        "protocols/statistics/visibility_circuits.py",
        "builder.less(total, builder.constant(minimum, width))",
        "builder.less(total, builder.constant(minimum // 2, width))",
        "tests/chosen_inputs/test_unrelated_tables.py::"
        "test_whatever_people_share_no_sum_is_about_a_few",
    ),
    mutant(
        "a few people in hidden cells",
        "protocols/statistics/visibility_circuits.py",
        "if (own := hidden[at]) is not None:",
        "if (own := None) is not None:",
        "tests/chosen_inputs/test_unrelated_tables.py::test_a_rare_class_is_not_what_two_tables_differ_in",
    ),
    mutant(
        "which sets of people are reached",
        "protocols/statistics/visible_cells.py",
        'bits = servers.shared(circuit, len(starts), inputs)["reached"]',
        'bits = servers.revealed(circuit, len(starts), inputs, "reached")',
        f"{_CELLS}::test_of_tables_that_are_compared_one_bit_is_opened",
    ),
    mutant(
        "how many people are in nodes together",
        "protocols/statistics/visible_cells.py",
        'few = servers.shared(few_circuit(minimum), size, {"count": few})["few"]',
        'few = servers.revealed(few_circuit(minimum), size, {"count": few}, "few")',
        *(view("tables_that_are_compared", watched) for watched in ("ann", "bob", "cat")),
    ),
    mutant(
        "how often the values of a column occur once (weakened: to the record)",
        "jobs/kinds/identify/kind.py",
        "    share = _share_told(column.once, prepared.records)\n",
        "    share = column.once / max(prepared.records, 1)\n",
        "tests/chosen_inputs/test_populations.py::"
        "test_no_series_of_populations_tells_how_many_records_a_column_of_many_values_has",
    ),
    # statistics
    mutant(
        "the split of shares to the servers",
        "protocols/statistics/shared_counts.py",
        "first = rng.array(count, dtype)",
        "first = np.zeros(count, dtype)",
        view("what_a_server_gets_of_one_holder", "bob"),
        view("a_shared_table_of_divided_records", "bob"),
        view("pairs_that_are_ranked", "bob"),
        view("sums_by_group_of_divided_records", "bob"),
        view("classes_by_costs", "bob"),
        *(
            job(f"{kind}, horizontal", "bank")
            for kind in ("count", "tree", "bayesnet", "aggregate", "rules")
        ),
    ),
    mutant(
        "shares of what is large",
        "protocols/statistics/hidden_counts.py",
        'self._named(inputs), "shares", count)',
        'self._named(inputs), "both", count)',
        view("shares_of_what_is_large", "ann"),
        "tests/protocols/patterns/test_unique_cells.py::"
        "test_nobody_learns_where_the_unique_people_are[bob]",
    ),
    mutant(
        "a line with one large cell",
        "protocols/statistics/visibility_circuits.py",
        "builder.gate_word(_two(builder, large), large)",
        "large",
        view("lines_that_are_hidden_whole", "cat"),
    ),
    mutant(
        "the roots of the trees of pads",
        "protocols/statistics/grouped_sums.py",
        "roots = rng.array((len(rows), 2))",
        "roots = np.zeros((len(rows), 2), np.uint64)",
        view("sums_by_group", "bob"),
        view("sums_of_cells_that_lie_anywhere", "bob"),
        view("sums_of_cells_that_lie_anywhere", "ann"),
        *(job(f"{kind}, mixed", "bank") for kind in ("count", "bayesnet", "aggregate")),
    ),
    mutant(
        "the pads of sealed vectors",
        "protocols/statistics/grouped_sums.py",
        "channel.send(grouper.name, sealed)",
        "channel.send(grouper.name, rows + 0 * sealed)",
        view("sums_by_group", "bob"),
        view("sums_of_cells_that_lie_anywhere", "bob"),
        view("sums_of_cells_that_lie_anywhere", "ann"),
    ),
    mutant(
        "the parts of a sum of squares",
        "protocols/aggregates/aggregates.py",
        'self.group.decided(square_circuit(half), count, inputs, "square")',
        'self.group.decided(square_circuit(half), count, inputs, "square")\n'
        '        self.sums(parts["low"], count)',
        view("sums_of_squares", "cat"),
    ),
    mutant(
        "rounding on shares",
        "protocols/aggregates/aggregates.py",
        'bits, _ = self.group.decided(multiple_circuit(base), count, inputs, "multiple")',
        'bits, _ = self.group.decided(multiple_circuit(base), count, inputs, "multiple")\n'
        "        self.sums(share, count)",
        view("numbers_that_are_rounded", "cat"),
    ),
    mutant(
        "the records on both sides of a quantile",
        "protocols/aggregates/aggregates.py",
        "open_ = np.flatnonzero(self.channel.open(PLACES, bits)[:, 0])",
        "open_ = np.flatnonzero(self.channel.open(PLACES, bits)[:, 0])\n"
        "            self.channel.open(PLACES, self.group.added(records, count))",
        view("buckets_of_quantiles", "cat"),
    ),
    mutant(
        "who dominates a group",
        "protocols/aggregates/aggregates.py",
        'safe = self.group.shared(circuit, cells, inputs)["safe"]',
        'safe = self.group.decided(circuit, cells, inputs, "safe")[0]',
        view("groups_that_somebody_dominates", "ann"),
    ),
    mutant(
        "a line with one large group",
        "protocols/aggregates/aggregates.py",
        "visible = visible_cells(self, components, share, cells, least)",
        "visible = self.records(counts, cells) >= minimum",
        view("groups_that_are_hidden_whole", "cat"),
    ),
    mutant(
        "the pads of masked rows",
        "protocols/statistics/shared_counts.py",
        "correction = mine - one + rows[:, None, :]",
        "correction = 0 * mine + rows[:, None, :]",
        view("a_shared_table", "ann"),
        view("a_tree_and_its_predictions", "ann"),
        view("cells_of_a_shared_table", "bob"),
        view("cells_of_a_shared_table_that_lie_anywhere", "bob"),
        job("predict by a tree", "bank"),
        job("predict by a tree, mixed", "bank"),
        job("predict by a net, mixed", "bank"),
        job("tree, mixed", "bank"),
        "tests/protocols/patterns/test_joint_counts.py::"
        "test_nobody_sees_which_records_satisfy_another_party[bob]",
        view("a_net", "ann"),
        job("rules, vertical", "lender"),
    ),
    mutant(
        "the classes of a tree's nodes that are divided",
        "protocols/statistics/count_circuits.py",
        'builder.output("label", builder.gate_word(leaf, own))',
        'builder.output("label", own)',
        view("nodes_that_are_divided", "cat"),
    ),
    mutant(
        "the classes that a tree's nodes inherit",
        "protocols/statistics/hidden_counts.py",
        'modes[kept] = "shares"',
        'modes[kept] = "both"',
        view("nodes_that_are_divided", "ann"),
        view("nodes_that_are_divided", "bob"),
    ),
    mutant(
        "the joint table of tables that share an attribute",
        "anonymity/counts/hidden_cells.py",
        "        if len(finest) == 1:\n            return Slices(cells)\n",
        "        if finest:\n            return Slices(cells)\n",
        f"{_TWO}[sg+sh-flipped]",
        "tests/chosen_inputs/test_two_tables.py::"
        "test_columns_of_colluding_partners_are_one_partners_columns",
    ),
    mutant(
        "links between half of the cells of a table (weakened)",
        "protocols/statistics/visibility_circuits.py",
        "[builder.all(reached)]",
        "[builder.all(reached[: (cells + 1) // 2])]",
        _CELLS,
        f"{_TWO}[sg+sh-one inside the other]",
    ),
    mutant(
        "links between the cells of one table only (weakened)",
        "protocols/statistics/visible_cells.py",
        "for at, cells in enumerate(tables):",
        "for at, cells in enumerate(tables[:1]):",
        f"{_TWO}[sg+sh-three values]",
    ),
    mutant(
        "atoms of tables that no rule fits (weakened: their cells)",
        "protocols/statistics/visible_cells.py",
        "_all_large(servers, component.atoms, large)",
        "_all_large(servers, component.cells, large)",
        f"{_TWO}[sg+sh+hw-flipped]",
    ),
    mutant(
        "which cells large atoms link",
        "protocols/statistics/visible_cells.py",
        'linked = servers.shared(circuit, len(turned), {"large": rows})["linked"]',
        'linked = servers.revealed(circuit, len(turned), {"large": rows}, "linked")',
        f"{_CELLS}::test_tables_that_share_an_attribute_are_shown_where_large_atoms_link_them",
    ),
    mutant(
        "empty atoms that link nothing",
        "protocols/statistics/visible_cells.py",
        "if zeros or len(tables) == 1:",
        "if len(tables) == 1:",
        "tests/chosen_inputs/test_two_tables.py::"
        "test_with_zeros_shown_no_combination_is_about_a_few_either",
    ),
    mutant(
        "a leaf that may have a few others",
        "protocols/statistics/count_circuits.py",
        "leaf = builder.less(others, builder.constant(minimum, WIDTH))",
        "leaf = builder.less(others, builder.constant(1, WIDTH))",
        view("a_tree_whose_leaves_above_the_last_level_are_pure_or_not", "cat"),
        _PURE,
    ),
    mutant(
        "a leaf that may have a few others (weakened: half as many)",
        "protocols/statistics/count_circuits.py",
        "leaf = builder.less(others, builder.constant(minimum, WIDTH))",
        "leaf = builder.less(others, builder.constant((minimum + 1) // 2, WIDTH))",
        view("a_tree_whose_leaves_above_the_last_level_are_pure_or_not", "cat"),
        "tests/protocols/statistics/test_count_circuits.py::test_leaves_and_their_classes",
    ),
    mutant(
        "the check of opened numbers before they are told on",
        "jobs/run/party_run.py",
        "        check_opened(running, job, channel, result, workspace)\n",
        "",
        "tests/bad_peers/test_shares.py",
    ),
    mutant(
        "the number in the error about an opened number",
        "jobs/run/party_run.py",
        'or at odds with another; each party has it in {EXCLUDED}",',
        'or at odds with another; each party has it in {EXCLUDED}: {error}",',
        "tests/bad_peers/test_shares.py::"
        "test_a_false_share_ends_the_job_before_anything_is_told_on[count, more than all records]",
    ),
    mutant(
        "the class of a leaf of few records",
        "protocols/statistics/count_circuits.py",
        "own = builder.choose(few, inherited, builder.extend(label, width))",
        "own = builder.extend(label, width)",
        view("leaves_of_the_last_level", "cat"),
        "tests/protocols/statistics/test_count_circuits.py::test_leaves_and_their_classes",
    ),
    mutant(
        "which parts of a tree's leaves are small",
        "protocols/statistics/leaf_counts.py",
        'bits, _ = group.decided(whole_circuit(sum(counts)), 1, {"large": row}, "whole")',
        'bits, _ = group.decided(whole_circuit(sum(counts)), 1, {"large": row}, "whole")\n'
        "    group.open(whole, sum(counts))",
        view("leaves_whose_differences_are_small", "cat"),
    ),
    mutant(
        "right predictions of a few",
        "protocols/statistics/leaf_counts.py",
        "if _all_large(group, every, share, minimum):",
        "if _all_large(group, every, share, minimum) or True:",
        view("right_predictions_that_stay_hidden", "ann"),
        view("right_predictions_that_stay_hidden", "cat"),
    ),
    mutant(
        "the leaves of a tree's last level",
        "protocols/statistics/count_circuits.py",
        "    if last:\n",
        "    if last and minimum < 1:\n",
        view("leaves_of_the_last_level", "cat"),
        view("a_tree_whose_leaves_are_pure_or_not", "cat"),
    ),
    mutant(
        "leaves divided by what a coalition knows",
        "protocols/statistics/leaf_counts.py",
        "np.where(plain[leaf_of], 0, own)",
        "0 * own",
        view("leaves_whose_differences_are_small", "ann"),
        view("leaves_whose_differences_are_small", "cat"),
    ),
    mutant(
        "parts of leaves divided by the class",
        "protocols/statistics/leaf_counts.py",
        "* classes + np.tile(np.arange(classes), len(part))",
        "* classes + 0 * np.tile(np.arange(classes), len(part))",
        view("right_predictions_that_stay_hidden", "ann"),
        view("right_predictions_that_stay_hidden", "cat"),
    ),
    mutant(
        "whether leaves may be shown",
        "protocols/statistics/leaf_counts.py",
        "            return Shown(None, None)\n",
        "            pass\n",
        view("leaves_whose_differences_are_small", "ann"),
        view("leaves_whose_differences_are_small", "cat"),
    ),
    mutant(
        "zero shares in the tree's prediction",
        "protocols/statistics/tree_predictions.py",
        "mask: Ring = rng.array(count, np.uint32)",
        "mask: Ring = np.zeros(count, np.uint32)",
        hiding("the_receiver_of_predictions_sees_nothing_but_their_sum"),
    ),
    mutant(
        "zero shares added to the prediction",
        "protocols/statistics/tree_predictions.py",
        "mine += _zero_share(channel, involved, records, rng)",
        "_zero_share(channel, involved, records, rng)",
        hiding("the_receiver_of_predictions_sees_nothing_but_their_sum"),
    ),
    mutant(
        "the counts of families across parties",
        "protocols/statistics/family_costs.py",
        "        found = logarithms(scores.session, settings, numbers, rng)\n",
        "        scores.channel.send(scores.other_server, numbers)\n"
        "        scores.channel.recv(scores.other_server)\n"
        "        found = logarithms(scores.session, settings, numbers, rng)\n",
        view("probabilities_of_a_family_across_parties", "ann"),
        view("probabilities_of_a_family_across_parties", "bob"),
    ),
    mutant(
        "classes as shares of the servers",
        "protocols/statistics/predictions.py",
        'places = minindex(garbling, share[part] & low, 1 << bits, reveal="shares")',
        'places = minindex(garbling, share[part] & low, 1 << bits, reveal="both")',
        view("classes_by_costs", "ann"),
        view("classes_by_costs", "bob"),
    ),
    # cells of few records
    mutant(
        "one more hidden cell of a line",
        "anonymity/counts/hidden_cells.py",
        "visible[mixed, shown[mixed].argmax(axis=1)] = False",
        "pass",
        f"{_CELLS}::test_a_table_of_one_holder_is_hidden_from_the_others",
    ),
    mutant(
        "one more hidden cell of a row",
        "anonymity/counts/hidden_cells.py",
        "visible[row, chosen] = columns[chosen] = False",
        "pass",
        f"{_CELLS}::test_in_larger_tables_something_is_shown_beside_small_cells",
    ),
    mutant(
        "one more hidden cell of a column",
        "anonymity/counts/hidden_cells.py",
        "visible[int(shown[:, column].argmax()), column] = False",
        "pass",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    mutant(
        "one more hidden slice",
        "anonymity/counts/hidden_cells.py",
        "slices = _lines_protected(shown[:, 0].reshape(1, -1))",
        "slices = shown[:, 0].reshape(1, -1)",
        f"{_CELLS}::test_slices_are_shown_where_all_their_cells_are_large",
    ),
    mutant(
        "lines with one large cell",
        "protocols/statistics/visibility_circuits.py",
        "builder.gate_word(_two(builder, large), large)",
        "large",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    mutant(
        "columns by what the rows leave",
        "protocols/statistics/visible_cells.py",
        "shown = _good_lines(servers, by_column, blocks * columns, rows)",
        "shown = servers.revealed(whole_circuit(1), by_column.size, "
        '{"large": by_column.reshape(-1, 1)}, "whole").astype(bool).reshape(by_column.shape)',
        f"{_CELLS}::test_of_all_tables_with_the_same_sums_one_looks_the_same_and_has_the_cell_empty",
    ),
    mutant(
        "rows before columns",
        "protocols/statistics/visible_cells.py",
        'left = servers.shared(line_circuit(columns), blocks * rows, {"large": by_row})["shown"]',
        "left = by_row",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    mutant(
        "two good slices at least",
        "protocols/statistics/visible_cells.py",
        "good = _good_lines(servers, None if whole is None else whole.reshape(1, slices), 1, slices)",
        "good = _good_lines(servers, "
        "None if whole is None else np.repeat(whole.reshape(slices, 1), 2, axis=1), slices, 2)[:, 0]",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    mutant(
        "slices that are large as a whole",
        "protocols/statistics/visible_cells.py",
        'whole = servers.shared(circuit, slices, {"large": bits})["whole"]',
        "whole = None if bits is None else bits[:, :1]",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    mutant(
        "connected tables that are all large",
        "protocols/statistics/visible_cells.py",
        "if component.atoms is not None and _all_large(servers, component.atoms, large):",
        "if component.atoms is not None:",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    mutant(
        "hidden tables that shown ones would give away",
        "anonymity/counts/hidden_cells.py",
        "if not sliced and not free:",
        "if not (sliced or True) and not free:",
        f"{_CELLS}::test_of_three_tables_in_a_ring_two_that_are_shown_would_give_the_third_away",
    ),
    mutant(
        "margins of sliced tables only",
        "anonymity/counts/hidden_cells.py",
        "and any(set(table.names) <= set(tables[other].names) for other in group)",
        "and any(set(table.names) & set(tables[other].names) for other in group)",
        f"{_CELLS}::test_of_three_tables_in_a_ring_two_that_are_shown_would_give_the_third_away",
    ),
    mutant(
        "free attributes that no shown table has",
        "anonymity/counts/hidden_cells.py",
        "if name not in own | seen])",
        "if name not in own])",
        f"{_CELLS}::test_of_three_tables_in_a_ring_two_that_are_shown_would_give_the_third_away",
    ),
    mutant(
        "free attributes that the attacker does not know",
        "anonymity/counts/hidden_cells.py",
        "if name not in own | seen])",
        "if name not in seen])",
        f"{_CELLS}::test_who_knows_the_free_attribute_of_a_hidden_table_is_not_deceived_by_it",
    ),
    mutant(
        "blocks of what all know",
        "anonymity/counts/hidden_cells.py",
        "table.grouped(_in(table, both), _in(table, one - both), _in(table, other - both)) + start",
        "table.grouped([], _in(table, one), _in(table, other - both)) + start",
        f"{_CELLS}::test_lines_of_two_classes_do_not_protect_each_other",
    ),
    mutant(
        "lines of what all know",
        "anonymity/counts/hidden_cells.py",
        "return Lines(table.grouped(_in(table, both), _out(table, both)) + start)",
        "return Lines(table.grouped([], table.names) + start)",
        f"{_CELLS}::test_a_table_of_one_holder_is_hidden_from_the_others",
    ),
    mutant(
        "what a coalition knows together",
        "anonymity/counts/hidden_cells.py",
        "frozenset(table.names) - {name for name in names if self.owner[name] == party}",
        "frozenset(n for n in table.names if n in self.known or "
        "(len(owners) > 1 and self.owner[n] == party))",
        f"{_CELLS}::test_coalitions_without_one_of_the_servers_learn_no_more",
    ),
    mutant(
        "tables of one job that share attributes",
        "anonymity/counts/hidden_cells.py",
        "touching = [group for group in groups if group[0] & names]",
        "touching: list[tuple[set[str], list[int]]] = []",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    mutant(
        "coalitions without a server",
        "anonymity/counts/hidden_cells.py",
        "missing = self.servers if set(self.servers) <= set(owners) else owners",
        "missing = owners[:1]",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
    mutant(
        "tables that cannot be hidden",
        "anonymity/counts/hidden_cells.py",
        "if table.size(rest) < 2:",
        "if table.size(rest) < 1:",
        f"{_CELLS}::test_where_nothing_could_be_hidden_the_table_is_refused",
    ),
    mutant(
        "empty cells like small ones",
        "protocols/statistics/visible_cells.py",
        "share[:judged], judged, minimum, zeros)",
        "share[:judged], judged, minimum, True)",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
]
