"""What keeps several jobs from telling together what none tells alone."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

VERDICT = "tests/party/history/test_views.py::test_the_verdict_is_all_that_others_see_of_a_history"

MUTANTS = [
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
        "party/history/people.py",
        'self._damaged("has fewer people than were written")',
        'self._damaged(f"has {count} people")',
        "tests/party/history/test_people.py::"
        "test_a_file_that_lost_its_end_is_named_and_nobody_is_forgotten",
    ),
    mutant(
        "which list of people is lost",
        "party/books/audit.py",
        "{self.path.with_name(HISTORY)}: is not what",
        "{self._lost}: is not what",
        "tests/party/operator/test_forget_history.py::"
        "test_a_list_that_is_gone_with_its_head_ends_jobs_until_the_history_begins_anew",
    ),
]
