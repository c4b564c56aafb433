"""Mutants of what leaves a job besides its result: orders, sizes, sentences about data."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

MUTANTS = [
    mutant(
        "predicted classes that stay with the recipients",
        "jobs/kinds/predict/kind.py",
        "workspace.kept / PREDICTIONS",
        "workspace.released / PREDICTIONS",
        "tests/jobs/kinds/predict/test_kind.py::"
        "test_recipients_get_the_classes_of_the_joined_table",
    ),
    # the joint order of the records goes no further than the coordinator
    mutant(
        "the sorted rows of a release",
        "jobs/kinds/integrate/release_table.py",
        "rows = _sorted_rows(list(ordered.values()))",
        "rows = np.arange(len(next(iter(ordered.values())).codes))",
        "tests/jobs/kinds/integrate/test_received.py::"
        "test_what_a_recipient_is_given_does_not_say_whose_value_a_row_has",
    ),
    mutant(
        "all columns by which rows are sorted",
        "jobs/kinds/integrate/release_table.py",
        "rows = _sorted_rows(list(ordered.values()))",
        "rows = _sorted_rows(list(ordered.values())[:1])",
        "tests/onetable/test_row_order.py::test_every_door_gives_the_sorted_rows_of_the_file[mondrian]",
    ),
    mutant(
        "the sorted rows of a frame",
        "onetable/interface/frames.py",
        "        sorted_table(made.columns),\n        made.result,",
        "        pa.table({n: np.array(c.values)[c.codes] for n, c in made.columns.items()}),\n        made.result,",
        "tests/onetable/test_row_order.py::test_every_door_gives_the_sorted_rows_of_the_file[mondrian]",
        "tests/chosen_inputs/test_row_order.py::test_rows_of_a_sorted_frame_do_not_line_up[mondrian]",
    ),
    mutant(
        "the digest of a release for recipients alone",
        "party/receptions.py",
        "if peer not in recipients_of(self._job(record)):",
        "if False:",
        "tests/party/test_receptions.py::test_the_digest_is_told_to_recipients_alone",
    ),
    mutant(
        "values of the released columns that only other records have",
        "jobs/kinds/integrate/party_side.py",
        "    labels = labels.compact()\n",
        "",
        "tests/jobs/kinds/integrate/test_integrate.py::"
        "test_the_coordinator_is_given_no_value_that_only_other_records_have",
    ),
    # what is padded and what is told of data
    mutant(
        "the room of a padded set",
        "protocols/intersection/intersect.py",
        "identifiers.nbytes if pad_to is None else pad_to * PADDED_BYTES",
        "identifiers.nbytes",
        "tests/protocols/intersection/test_buckets.py::"
        "test_sets_padded_to_one_size_have_one_traffic[2-ring-intersection]",
    ),
    mutant(
        "the number of a run of base transfers",
        "protocols/transfer/base_transfer.py",
        'return head + instance.to_bytes(8, "big")',
        "return head",
        "tests/protocols/transfer/test_oblivious_transfer.py::"
        "test_no_two_runs_of_the_base_transfers_share_an_oracle",
    ),
    mutant(
        "the number of records of a padded set",
        "party/preflight.py",
        "if wanted.matching.pad_to is not None:",
        "if False:",
        "tests/party/test_told_data.py::"
        "test_the_number_of_records_of_a_padded_set_is_not_told_to_the_coordinator",
    ),
    mutant(
        "the number of rows that are dropped",
        "party/preflight.py",
        "table.num_rows - dropped.number",
        "table.num_rows",
        "tests/party/test_told_data.py::"
        "test_rows_that_are_dropped_are_not_counted_to_the_coordinator",
    ),
    mutant(
        "the rows of an error about data",
        "transport/error_messages.py",
        "outline = error.message(rows=False)",
        "outline = error.message(rows=True)",
        "tests/base/test_data_errors.py::"
        "test_the_coordinator_sees_neither_unless_the_policy_explains_rows",
    ),
    mutant(
        "how identifiers are written",
        "party/answers.py",
        'if explain != "rows":',
        "if False:",
        "tests/party/test_answers.py::"
        "test_without_permission_all_identifiers_get_one_answer[with white space]",
        "tests/party/test_describe.py::"
        "test_a_coordinator_hears_which_rule_would_help_if_the_policy_permits_it[columns]",
    ),
    mutant(
        "the number of identifiers of a padded set that a rule would change",
        "party/answers.py",
        "finding.line(counts)",
        "finding.line()",
        "tests/party/test_answers.py::test_no_number_of_a_padded_set_is_told",
    ),
    mutant(
        "what an error has inside, from the coordinator",
        "transport/error_messages.py",
        "return without_folders(_outside(error))",
        "return without_folders(describe(error))",
        "tests/transport/test_error_messages.py::"
        "test_what_an_error_has_inside_stays_in_the_own_log[columns]",
    ),
    mutant(
        "what an error has inside, from the peers",
        "transport/error_messages.py",
        "reason = without_folders(_outside(error))",
        "reason = without_folders(describe(error))",
        "tests/transport/test_error_messages.py::"
        "test_what_an_error_has_inside_stays_in_the_own_log[rows]",
    ),
    mutant(
        "how much a partner owes",
        "party/preflight.py",
        "and '{name}' owes more\" for name in debts]",
        'and {debts[name]}" for name in debts]',
        "tests/party/books/test_ledger.py::"
        "test_servers_keep_a_ledger_show_it_and_refuse_who_owes_too_much",
    ),
    mutant(
        "digests of what was told to all, in an error",
        "protocols/messaging/broadcast_check.py",
        "different things as {what} ",
        "different things as {what} {heard} ",
        "tests/protocols/messaging/test_broadcast_check.py::"
        "test_who_tells_two_stories_is_named_and_no_honest_party[0-spans-False]",
    ),
    mutant(
        "the value of an error about data",
        "base/errors.py",
        'if value else "…"',
        'if True else "…"',
        "tests/base/test_data_errors.py::test_the_partys_log_has_the_row_and_not_the_value",
    ),
    # jobs
    mutant(
        "the numbers of a tree's branches",
        "jobs/kinds/statistics/tree.py",
        "partial(rng.permutation, len(values))",
        "partial(np.arange, len(values))",
        "tests/jobs/test_views.py::test_the_numbers_of_branches_say_nothing_of_the_order_of_values",
    ),
]
