"""Mutants of counts, trees, nets, and cells of few records."""

from __future__ import annotations

from tests.secrecy.mutants.form import hiding, job, mutant, view

_CELLS = "tests/protocols/statistics/test_visible_cells.py"

MUTANTS = [
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
        "protocols/aggregates/grouped_sums.py",
        "roots = rng.array((len(rows), 2))",
        "roots = np.zeros((len(rows), 2), np.uint64)",
        view("sums_by_group", "bob"),
    ),
    mutant(
        "the pads of sealed vectors",
        "protocols/aggregates/grouped_sums.py",
        "channel.send(grouper.name, sealed)",
        "channel.send(grouper.name, rows + 0 * sealed)",
        view("sums_by_group", "bob"),
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
        view("sums_of_cells_that_lie_anywhere", "ann"),
        *(job(f"{kind}, mixed", "bank") for kind in ("tree", "bayesnet", "aggregate")),
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
        "protocols/statistics/tree.py",
        "mask: Ring = rng.array(count, np.uint32)",
        "mask: Ring = np.zeros(count, np.uint32)",
        hiding("the_receiver_of_predictions_sees_nothing_but_their_sum"),
    ),
    mutant(
        "zero shares added to the prediction",
        "protocols/statistics/tree.py",
        "mine += _zero_share(channel, involved, records, rng)",
        "_zero_share(channel, involved, records, rng)",
        hiding("the_receiver_of_predictions_sees_nothing_but_their_sum"),
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
        'whole = servers.shared(whole_circuit(size), slices, {"large": bits})["whole"]',
        "whole = None if bits is None else bits[:, :1]",
        f"{_CELLS}::test_tables_of_one_job_do_not_give_each_other_away",
    ),
    mutant(
        "connected tables that are all large",
        "protocols/statistics/visible_cells.py",
        "if not component.whole and _all_large(servers, component, large):",
        "if not component.whole:",
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
        "large = servers.large(share, cells, minimum, zeros)",
        "large = servers.large(share, cells, minimum, True)",
        f"{_CELLS}::test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty",
    ),
]
