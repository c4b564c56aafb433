"""Mutants of joint Mondrian: of what losing and refused cuts must not tell, and of its rule."""

from __future__ import annotations

from tests.secrecy.mutants.form import job, mutant, view

MUTANTS = [
    mutant(
        "scores of cuts that lose, although they are hidden",
        "protocols/integration/mondrian/winner_exchange.py",
        "        open_keys = part and self._hidden is None\n",
        "        open_keys = part\n",
        view("cuts_that_lose_a_level", "ann"),
    ),
    mutant(
        "how many people have each value of a column that nobody cuts",
        "protocols/integration/mondrian/levels.py",
        "        self._judged = [any(plan.requirements[j].model for j in js) for js in places]\n",
        "        self._judged = [any(plan.requirements[j].model for j in js) for js in places]\n"
        "        counts = [int(column.codes.sum()) for column in self._columns.values()] * 40\n"
        "        channel.broadcast(counts)\n"
        "        channel.gather()\n",
        job("integrate by open cuts", "bank"),
        job("integrate by cuts", "bank"),
        job("integrate by cuts with a strategy", "bank"),
    ),
    mutant(
        "scores of cuts that a model refuses",
        "protocols/integration/mondrian/winners.py",
        "self._session.argmax(keys, reveal_maximum=not hidden)",
        "self._session.argmax(keys, reveal_maximum=True)",
        view("cuts_that_a_model_refuses", "ann"),
    ),
    mutant(
        "values below a start value",
        "protocols/integration/mondrian/start.py",
        "codes = start_codes(column.taxonomy, cut, column.codes)",
        "codes = column.codes % len(cut)",
        view("values_below_a_start_value", "alice"),
    ),
    mutant(
        "cuts are shown to parties whose columns they do not concern",
        "protocols/integration/mondrian/shown_cuts.py",
        "name: [group for group in won if name in self._holders[group[0]]]",
        "name: list(won)",
        view("cuts_that_a_holder_refuses", "ann"),
    ),
    mutant(
        "a second phase of columns with open scores",
        "protocols/integration/integrate.py",
        "                run.refine()\n                run.all_rounds(find_winner, takes_part, confirm)\n",
        "                run.refine()\n                run.all_rounds(announce_scores, takes_part, confirm)\n",
        view("steps_of_a_second_phase_that_lose", "ann"),
    ),
    mutant(
        "a second phase of groups with open scores",
        "protocols/integration/mondrian/cut_together.py",
        "            starts, strategy, telling,\n        )  # fmt: skip\n        return _outcome(levels, hide_scores, book)\n",
        "            starts, strategy, telling,\n        )  # fmt: skip\n        return _outcome(levels, False, book)\n",
        view("cuts_of_a_second_phase_that_lose", "ann"),
    ),
    mutant(
        "the later of two equal children joins a rest",
        "anonymity/cuts/candidates.py",
        "key=lambda at: (sizes[at], -at)",
        "key=lambda at: (sizes[at], at)",
        "tests/anonymity/cuts/test_width.py::test_two_small_children_and_one_that_goes_off",
    ),
    mutant(
        "of two cuts that are equally even the one at the smaller number",
        "anonymity/cuts/candidates.py",
        "np.abs(2 * before - sizes) <= np.abs(2 * after - sizes)",
        "np.abs(2 * before - sizes) < np.abs(2 * after - sizes)",
        "tests/anonymity/cuts/test_width.py::test_of_two_equally_even_cuts_the_smaller_number_is_taken",
    ),
    mutant(
        "a group is not final while somebody stays away",
        "protocols/integration/mondrian/levels.py",
        "return None if all(level.present.values()) else STAYS",
        "return None",
        "tests/protocols/integration/mondrian/test_cut_together.py::"
        "test_a_party_that_is_ahead_stays_away_and_cuts_what_is_left_later",
    ),
]
