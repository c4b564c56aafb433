"""Mutants of noise of differential privacy, rounded variances, and cells that lie at any party."""

from __future__ import annotations

from tests.secrecy.mutants.form import job, mutant, view

MUTANTS = [
    mutant(
        "the variances before they are rounded",
        "protocols/aggregates/aggregates.py",
        'bits, _ = self.group.decided(circuit, count, inputs, "variance")',
        'bits, _ = self.group.decided(circuit, count, inputs, "variance")\n'
        '        self.sums(parts["low"], count)',
        view("variances_that_are_rounded", "cat"),
    ),
    mutant(
        "noise",
        "protocols/aggregates/noisy_sums.py",
        "columns = [None if c is None else c + n for c, n in zip(shares, mine, strict=True)]",
        "columns = [None if c is None else c + 0 * n for c, n in zip(shares, mine, strict=True)]",
        view("sums_with_noise", "cat"),
        view("sums_with_noise", "ann"),
        "tests/protocols/aggregates/test_noisy_sums.py::"
        "test_opened_numbers_have_both_draws_and_one_server_faces_a_whole_one[laplace]",
    ),
    mutant(
        "the noise of the second server",
        "protocols/aggregates/noisy_sums.py",
        "if group.is_server:",
        "if group.first:",
        view("sums_with_noise", "ann"),
        "tests/protocols/aggregates/test_noisy_sums.py::"
        "test_opened_numbers_have_both_draws_and_one_server_faces_a_whole_one[laplace]",
    ),
    mutant(
        "the noisy numbers of hidden groups",
        "protocols/aggregates/noisy_sums.py",
        "return np.flatnonzero(group.channel.open(GROUPS, bits)[:, 0]).astype(np.int64)",
        "return np.arange(len(group.channel.open(GROUPS, bits)))",
        "tests/protocols/aggregates/test_noisy_sums.py::"
        "test_groups_are_shown_by_their_noisy_numbers_and_the_rest_is_not_opened",
    ),
    mutant(
        "noise that is drawn once",
        "protocols/aggregates/noisy_sums.py",
        'group.channel.drawn("noise", draw)',
        "draw()",
        "tests/jobs/run/test_resume.py::"
        "test_what_is_random_in_a_release_is_drawn_once[aggregate with noise]",
    ),
    mutant(
        "the charge to the budget",
        "party/worker.py",
        "if facts := charge(config, record.job_id, job):",
        "if facts := {}:",
        "tests/party/test_budget.py::test_a_job_with_noise_is_charged_before_it_runs",
    ),
    mutant(
        "numbers beyond the range, with noise",
        "jobs/data/measured.py",
        "np.rint(np.clip(numbers.values, self.low, self.high) * self.unit)",
        "np.rint(numbers.values * self.unit)",
        "tests/jobs/data/test_measured.py::test_with_noise_numbers_are_moved_into_the_range",
    ),
    mutant(
        "what is wrong about a column's cells",
        "protocols/statistics/mixed_cells.py",
        'bits, _ = group.decided(zero_circuit(), len(held), inputs, "zero")',
        'bits, _ = group.decided(zero_circuit(), len(held), inputs, "zero")\n'
        "        group.channel.open(HELD, group.added(rest, len(held), np.uint64))",
        view("columns_with_a_wrong_cell", "cat"),
    ),
    mutant(
        "which cells are another party's",
        "protocols/statistics/mixed_cells.py",
        "rest = share_out(",
        "channel.broadcast(np.packbits(held[0]))\n        channel.gather()\n        rest = share_out(",
        view("columns_with_a_wrong_cell", "cat"),
        *(job(f"{kind}, mixed", "bank") for kind in ("count", "bayesnet", "aggregate")),
    ),
]
