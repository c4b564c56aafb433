"""What keeps several jobs from telling together what none tells alone."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

VERDICT = "tests/party/history/test_views.py::test_the_verdict_is_all_that_others_see_of_a_history"

CHOSEN = "tests/chosen_inputs"
JUDGED = "tests/party/history/test_judgement.py"
DESCRIBED = "tests/party/history/test_descriptions.py"
BISECTED = f"{CHOSEN}/test_bisecting_answers.py"

_FORGED = "tests/chosen_inputs/test_forged_books.py::"
_SEAL = "tests/party/store/test_seal.py::"
_HEADS = "tests/party/books/test_heads.py::"
_ATTEMPTS = "tests/chosen_inputs/test_attempts.py::"
_REPLAYS = "tests/chosen_inputs/test_replays.py::"
_TELLING = "tests/protocols/integration/test_telling.py::"

MUTANTS = [
    mutant(
        "the comparison of inputs between attempts",
        "protocols/messaging/kept.py",
        "        if changed:\n            return changed\n",
        "",
        f"{_ATTEMPTS}test_a_peer_with_another_column_ends_the_job_although_it_kept_nothing",
        f"{_ATTEMPTS}test_a_column_that_is_left_out_or_added_is_another_input",
    ),
    mutant(
        "columns that only one attempt has",
        "protocols/messaging/kept.py",
        "for column in sorted({*first.get(name, {}), *inputs.get(name, {})})",
        "for column in sorted({*first.get(name, {})} & {*inputs.get(name, {})})",
        f"{_ATTEMPTS}test_a_column_that_is_left_out_or_added_is_another_input",
    ),
    mutant(
        "noise of an earlier attempt",
        "protocols/messaging/kept.py",
        "return None if what in self._stale and not lasting else self._drawn.get(what)",
        "return self._drawn.get(what)",
        f"{_ATTEMPTS}test_noise_that_a_peer_may_have_seen_is_not_used_for_other_data",
    ),
    mutant(
        "the price of noise that is drawn anew",
        "protocols/messaging/kept.py",
        "            if not self._charged:\n",
        "            if self._charged:\n",
        f"{_ATTEMPTS}test_a_budget_that_does_not_pay_for_new_noise_ends_the_attempt_before_it_is_drawn",
    ),
    mutant(
        "what an attempt tells that an earlier one has not told",
        "protocols/messaging/kept.py",
        "            return not whole and earlier.startswith(told)\n",
        "            return True\n",
        f"{_REPLAYS}test_replays_with_other_columns_tell_no_more_than_the_first_attempt",
        f"{_REPLAYS}test_the_lender_tells_one_thing_at_each_place_wherever_the_bank_breaks_off",
    ),
    mutant(
        "what was told when a peer broke off before the answer was complete",
        "protocols/messaging/kept.py",
        "                self._store.append(noted)\n",
        "                pass\n",
        "tests/protocols/messaging/test_kept.py::"
        "test_what_an_attempt_was_about_to_tell_counts_as_told",
    ),
    mutant(
        "what a dropped answer has told",
        "protocols/messaging/kept.py",
        "                if answer.told:\n",
        "                if not answer.told:\n",
        f"{_REPLAYS}test_replays_with_other_columns_tell_no_more_than_the_first_attempt",
    ),
    mutant(
        "an own instruction, before it is told",
        "protocols/integration/rounds.py",
        "        if instruction is not None:\n            self._compare(instruction)\n",
        "",
        f"{_REPLAYS}test_the_lender_tells_one_thing_at_each_place_wherever_the_bank_breaks_off"
        "[1-confirmed]",
    ),
    mutant(
        "the instructions of a turn, before they are told",
        "protocols/integration/rounds.py",
        "                    self._compare(instruction)\n                    self._exchange.give",
        "                    self._exchange.give",
        f"{_REPLAYS}test_the_lender_tells_one_thing_at_each_place_wherever_the_bank_breaks_off"
        "[1-turns]",
    ),
    mutant(
        "who wins which groups of a level, before cuts are told",
        "protocols/integration/mondrian/levels.py",
        "        channel.compare(told)\n        codes",
        "        told = bytes(32)\n        codes",
        f"{_REPLAYS}test_the_lender_tells_one_thing_at_each_place_wherever_the_bank_breaks_off"
        "[0-levels]",
    ),
    mutant(
        "who is in which group, beside how many are",
        "protocols/integration/telling.py",
        "0 if codes is None else codes[self._order]",
        "0 if codes is None else np.bincount(codes)",
        f"{_TELLING}test_two_people_in_each_other_s_place_are_told_from_the_same_people",
    ),
    mutant(
        "which records take part in what is told",
        "protocols/integration/telling.py",
        "digest_of(rows[self._order])",
        "digest_of(len(rows))",
        f"{_TELLING}test_other_people_with_the_same_codes_are_told_from_the_same_people",
    ),
    mutant(
        "half of the bytes of what is told",
        "protocols/messaging/kept.py",
        "if earlier is not None and not told.startswith(earlier):",
        "if earlier is not None and told[::64] != earlier[::64]:",
        "tests/protocols/messaging/test_kept.py::test_every_part_of_what_is_told_is_compared",
    ),
    mutant(
        "noise that is charged anew without end",
        "party/books/charges.py",
        "if before > 1:",
        "if before > 100:",
        "tests/party/books/test_charges.py::"
        "test_noise_that_is_drawn_anew_is_charged_once_more_and_no_more",
    ),
    mutant(
        "debts of a job that is taken up again and again",
        "party/preflight.py",
        "and (not resumed or attempts > 1)",
        "and (not resumed or attempts > 2)",
        "tests/party/test_take_and_run.py::"
        "test_who_takes_and_runs_owes_is_refused_and_pays_by_finishing[keys1]",
    ),
    mutant(
        "attempts without end",
        "party/worker.py",
        "if attempts > repeat.attempts:",
        "if attempts > repeat.attempts * 2:",
        f"{_ATTEMPTS}test_a_job_is_taken_up_again_so_often_and_no_more[21-False]",
    ),
    mutant(
        "an attempt about other groups",
        "party/history/gate.py",
        "if not _same(people, shown, *self._history.released(self._record.job_id)):",
        "if len(people) != len(self._history.released(self._record.job_id)[0]):",
        f"{_ATTEMPTS}test_an_attempt_about_other_people_or_groups_is_refused_whatever_the_policy",
    ),
    mutant(
        "an attempt about other people",
        "party/history/gate.py",
        "        if known is not None:\n            raise",
        "        if known is not None and known.people > entry.people + 1:\n            raise",
        f"{_ATTEMPTS}test_an_attempt_about_other_people_or_groups_is_refused_whatever_the_policy",
    ),
    mutant(
        "other data of a partner in the same question",
        "party/history/gate.py",
        "if self._needs.answers.exact:",
        "if not self._needs.answers.exact:",
        f"{_ATTEMPTS}test_the_same_question_about_other_data_of_a_partner_is_another_question",
    ),
    mutant(
        "the key of a commitment",
        "jobs/data/table_digest.py",
        "            key,\n",
        '            b"key",\n',
        "tests/jobs/data/test_table_digest.py::"
        "test_the_digest_of_a_column_depends_on_the_key_and_on_no_other_column",
        "tests/jobs/run/test_commitment_views.py::test_a_commitment_tells_nothing_of_the_values",
    ),
    mutant(
        "who has which value of a committed column",
        "jobs/data/table_digest.py",
        "return wide.take(order)",
        "return wide.take(pc.sort_indices(wide))",
        "tests/jobs/data/test_table_digest.py::"
        "test_two_people_who_have_changed_places_have_another_digest",
    ),
    mutant(
        "the order of the rows to which kept answers belong",
        "party/preflight.py",
        'b"".join(inputs.values()) + rows',
        'b"".join(inputs.values())',
        f"{_ATTEMPTS}test_another_order_of_rows_is_no_change_but_answers_of_before_are_not_used_for_it",
    ),
    mutant(
        "what the key of a commitment is made from",
        "party/books/people.py",
        'hmac.digest(_key(folder / _KEY), b"coterie commitment',
        'hmac.digest(_key(folder / _KEY)[:4], b"coterie commitment',
        "tests/jobs/run/test_commitment_views.py::"
        "test_the_key_of_a_commitment_depends_on_every_byte_of_the_partys_key",
    ),
    mutant(
        "the same words whatever was found",
        "party/history/gate.py",
        "error = RefusedError(REFUSAL)",
        "error = RefusedError(words)",
        f"{VERDICT}[refuses_people]",
        f"{VERDICT}[refuses_groups]",
    ),
    mutant(
        "what was found, kept inside",
        "transport/error_messages.py",
        "        reason = without_folders(_outside(error))\n",
        "        reason = without_folders(describe(error))\n",
        f"{VERDICT}[refuses_people]",
        f"{VERDICT}[refuses_groups]",
    ),
    mutant(
        "the judgement of counts by earlier jobs",
        "party/history/gate.py",
        "found += judge_people(self._history, self._repeat, entry, people)",
        "pass",
        "tests/party/history/test_gate.py::"
        "test_what_is_refused_is_not_remembered_and_says_nothing_of_what_was_found",
    ),
    mutant(
        "the judgement of groups by earlier releases",
        "party/history/gate.py",
        "return judge_groups(self._history, self._repeat, self._entry, people, groups)",
        "return []",
        "tests/party/history/test_gate.py::test_groups_are_judged_before_anything_leaves",
    ),
    mutant(
        "the history before a release leaves",
        "party/history/gate.py",
        "        self._history.add(entry, people)\n",
        "",
        "tests/party/history/test_gate.py::"
        "test_people_and_groups_are_on_the_disk_when_they_have_passed",
    ),
    mutant(
        "the groups in the history before a release leaves",
        "party/history/gate.py",
        "        self._history.add_groups(self._record.job_id, people, groups)\n",
        "",
        "tests/party/history/test_gate.py::"
        "test_people_and_groups_are_on_the_disk_when_they_have_passed",
    ),
    mutant(
        "the window of earlier jobs",
        "party/history/judgement.py",
        "since = history.clock() - repeat.window",
        "since = history.clock()",
        "tests/party/history/test_judgement.py::"
        "test_only_questions_about_the_same_attribute_within_the_window_count",
    ),
    mutant(
        "the steward's look at the output",
        "party/history/gate.py",
        "        if self.asks:\n            self._ask_output(result)\n",
        "        pass\n",
        "tests/party/test_output_served.py::test_the_steward_sees_the_columns_and_lets_them_out",
    ),
    mutant(
        "how many people a damaged list has",
        "party/books/people.py",
        "            raise self._damaged(how)\n",
        "            raise self._damaged(f'{how}: {len(known)}')\n",
        "tests/party/books/test_people.py::"
        "test_a_file_that_lost_its_end_is_named_and_nobody_is_forgotten",
    ),
    mutant(
        "which list of people is lost",
        "party/books/audit.py",
        "{self.path.with_name(FILE)}: the history is not what",
        "{damaged_lists(self.path.parent)}: the history is not what",
        "tests/party/operator/test_forget_history.py::"
        "test_a_list_that_is_gone_with_its_head_ends_jobs_until_the_history_begins_anew",
    ),
    mutant(
        "the thresholds of earlier jobs",
        "party/history/judgement.py",
        ", *_other_thresholds(entry, known, sets)]",
        "]",
        f"{CHOSEN}/test_thresholds.py::test_another_kind_is_no_second_ruler",
        f"{JUDGED}::test_the_same_question_has_the_same_thresholds",
    ),
    mutant(
        "all thresholds of earlier jobs, and not the first alone",
        "party/history/judgement.py",
        "for key, value in now.items() if earlier.get(key, value) != value",
        "for key, value in list(now.items())[:1] if earlier.get(key, value) != value",
        f"{JUDGED}::test_the_same_question_has_the_same_thresholds",
    ),
    mutant(
        "the thresholds of a job in the history",
        "party/history/gate.py",
        "            thresholds=dict(self._needs.answers.thresholds),\n",
        "",
        f"{CHOSEN}/test_thresholds.py::test_another_kind_is_no_second_ruler",
    ),
    mutant(
        "the numbers of every entry of a requirement",
        "jobs/kinds/integrate/requirements.py",
        "for key, node in keys.items()\n",
        "for key, node in list(keys.items())[1:]\n",
        f"{CHOSEN}/test_thresholds.py::test_numbers_of_two_entries_cannot_be_exchanged",
    ),
    mutant(
        "what other tables have spent of the budget",
        "party/books/charges.py",
        "            if when >= oldest:\n",
        '            if when >= oldest and charge.table == "one":\n',
        f"{CHOSEN}/test_budgets.py::"
        "test_what_answers_about_a_person_cost_together_stays_within_the_budget",
    ),
    mutant(
        "how often a kept model is used",
        "party/books/charges.py",
        "    if uses < most:\n",
        "    if uses >= 0:\n",
        f"{CHOSEN}/test_kept_models.py::"
        "test_a_common_person_is_asked_about_so_often_whatever_the_asker_invents",
    ),
    mutant(
        "the use of a kept model before a job begins",
        "party/books/charges.py",
        "            self._file.append(Use(job_id, model, made_by, self._now()))\n",
        "",
        f"{CHOSEN}/test_kept_models.py::"
        "test_a_common_person_is_asked_about_so_often_whatever_the_asker_invents",
    ),
    mutant(
        "checks of the data for all names of an analyst",
        "party/callers/examinations.py",
        "for name in same_analyst(policy, coordinator)",
        "for name in [coordinator]",
        "tests/party/callers/test_examinations.py::test_names_of_one_analyst_are_counted_together",
    ),
    mutant(
        "descriptions of a column for all names of an analyst",
        "party/proposals.py",
        "analyst = same_analyst(self._config.any_policy, caller.name)",
        "analyst = frozenset({caller.name})",
        f"{BISECTED}::test_two_names_of_one_analyst_share_what_they_may_ask",
    ),
    mutant(
        "descriptions of a column that doctor asks about",
        "party/proposals.py",
        "                self._count_descriptions(caller, job[0])\n",
        "",
        f"{BISECTED}::test_the_highest_salary_is_not_found_by_ranges[doctor]",
    ),
    mutant(
        "descriptions of a column of a proposed job",
        "party/proposals.py",
        "            self._count_descriptions(caller, job)\n",
        "",
        f"{BISECTED}::test_the_highest_salary_is_not_found_by_ranges[proposal]",
    ),
    mutant(
        "descriptions of a column for longer than a day",
        "party/history/descriptions.py",
        "_WINDOW = 365",
        "_WINDOW = 1",
        f"{DESCRIBED}::test_a_year_later_there_is_room_again_and_retention_forgets",
    ),
    mutant(
        "everything that describes a column",
        "party/history/descriptions.py",
        "sorted(keys), job.files)",
        "sorted(keys)[:1], job.files)",
        f"{DESCRIBED}::test_what_describes_a_column[cuts: [30]-cuts: [30], missing: value-columns1]",
    ),
    mutant(
        "which values do not fit a job",
        "party/preflight.py",
        "            error.of_columns = True\n",
        "",
        "tests/party/test_told_data.py::"
        "test_the_coordinator_is_told_of_no_value_where_and_why_it_does_not_fit[outside the range]",
    ),
    mutant(
        "hidden scores by default",
        "jobs/kinds/integrate/job.py",
        'section.read("hide_scores", Node.boolean, True)',
        'section.read("hide_scores", Node.boolean, False)',
        f"{CHOSEN}/test_scores.py::test_a_class_that_a_partner_writes_reads_no_losing_column[]",
    ),
    mutant(
        "the permission to show scores",
        "party/policy.py",
        'policy.scores == "shown",',
        "True,",
        "tests/party/test_policy.py::test_scores_of_what_is_not_carried_out_need_a_permission",
    ),
    mutant(
        "the key of the books",
        "party/store/seal.py",
        "key=self._key, digest_size=32",
        "digest_size=32",
        f"{_FORGED}test_a_skilled_forger_without_the_key_is_noticed",
        f"{_SEAL}test_each_digest_depends_on_every_byte_of_the_key",
    ),
    mutant(
        "a seal that only its key opens",
        "party/store/seal.py",
        "if not hmac.compare_digest(self.mac(text), mac):",
        "if not mac:",
        f"{_FORGED}test_a_seal_cannot_be_made_by_a_party_file_without_the_key",
        f"{_SEAL}test_a_seal_is_opened_with_its_key_alone",
    ),
    mutant(
        "rows that do not fit the seal",
        "party/store/database.py",
        "            return Checked(seal, wrong, links)",
        "            return Checked(seal, [], links)",
        f"{_FORGED}test_a_clumsy_forger_is_noticed_with_and_without_a_key[without a key-appended]",
        f"{_HEADS}test_rows_that_somebody_changed_are_noticed_before_and_after_the_next_start",
    ),
    mutant(
        "the head of the log in the seal",
        "party/books/audit_check.py",
        "    if not found_sealed:",
        "    if found_sealed is None:",
        f"{_HEADS}test_a_log_that_is_cut_off_with_its_head_is_noticed_by_the_books",
    ),
    mutant(
        "the head of the log in the seal, at the start",
        "party/books/audit.py",
        "[h for h in (expected, sealed) if h is not None]",
        "[h for h in (expected,) if h is not None]",
        f"{_HEADS}test_a_log_that_is_cut_off_with_its_head_is_noticed_by_the_books",
    ),
    mutant(
        "the links of the books in the log",
        "party/books/heads.py",
        "if any(checked.links[book].get(n) != link for n, link in self.links[book].items())",
        "if not self.links",
        f"{_FORGED}test_without_a_key_the_log_shows_what_a_skilled_forger_changes_and_not_what_it_adds",
    ),
    mutant(
        "a key of the books outside the state folder",
        "party/settings.py",
        "if path.resolve().is_relative_to(state.resolve()):",
        "if path == state:",
        f"{_FORGED}test_a_key_that_helps_against_nobody_is_refused",
    ),
]
