"""Mutants of what a witness and the slack of a specialization must not tell."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant, view

MUTANTS = [
    mutant(
        "steps of columns that the population does not have",
        "protocols/integration/witness.py",
        "            return _nothing()\n",
        "            return [_NO_COLUMN, 0, np.array([instruction.split or 0.0])]\n",
        view("steps_of_a_column_that_the_population_lacks", "registry"),
    ),
    mutant(
        "candidates that a sensitive column has refused",
        "protocols/integration/rounds.py",
        "            if accepted:\n"
        "                accepted = self.asking.permits(winner, instruction)\n"
        "            else:\n"
        "                self.asking.refused()\n",
        "            accepted = self.asking.permits(winner, instruction) and accepted\n",
        view("candidates_that_a_sensitive_column_refuses", "registry"),
    ),
    mutant(
        "numbers that few people of the population have",
        "anonymity/specialization/universe.py",
        "found: Array = column.values[people >= k]",
        "found: Array = column.values[people >= 1]",
        "tests/anonymity/specialization/test_universe.py::"
        "test_intervals_are_split_at_values_that_k_people_have_alone",
        "tests/anonymity/specialization/test_universe.py::"
        "test_a_value_that_one_person_has_ends_no_interval_of_a_release",
    ),
    mutant(
        "a slack below half of the entry's k",
        "anonymity/specialization/slack.py",
        "return (k + 1) // 2",
        "return 1",
        "tests/anonymity/specialization/test_slack.py::test_a_group_below_half_of_k_is_not_told",
    ),
]
