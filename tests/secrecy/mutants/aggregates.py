"""Mutants of noise of differential privacy, rounded variances, and cells that lie at any party."""

from __future__ import annotations

from tests.secrecy.mutants.form import job, mutant, view

_NOISE = "tests/protocols/aggregates/test_noise.py"

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
        "the means before they are rounded",
        "protocols/aggregates/aggregates.py",
        'bits, _ = self.group.decided(quotient_circuit(), count, inputs, "quotient")',
        'bits, _ = self.group.decided(quotient_circuit(), count, inputs, "quotient")\n'
        "        self.sums(sums, count)",
        view("numbers_that_are_rounded", "cat"),
    ),
    mutant(
        "quantiles with too few records beside them",
        "protocols/aggregates/aggregates.py",
        "open_ = np.flatnonzero(self.channel.open(PLACES, bits)[:, 0])",
        "open_ = np.arange(len(self.channel.open(PLACES, bits)))",
        view("buckets_of_quantiles", "cat"),
        "tests/jobs/kinds/aggregate/test_kind.py::"
        "test_a_quantile_with_too_few_records_beyond_it_is_hidden",
    ),
    mutant(
        "quantiles beside each other",
        "protocols/aggregates/aggregates.py",
        "least = max(least, math.ceil((minimum + start - end) / (high - low)))",
        "least = max(least, math.ceil((minimum + start - end) // 2 / (high - low)))",
        "tests/chosen_inputs/test_places.py::test_no_row_of_quantiles_counts_a_few_people",
    ),
    mutant(
        "whether one group is both large and of nobody",
        "protocols/aggregates/aggregates.py",
        'both = self.group.shared(both_circuit(), count, inputs)["both"]',
        'both = self.group.decided(both_circuit(), count, inputs, "both")[0]',
        view("one_group_that_nobody_dominates_and_that_is_large", "ann"),
    ),
    mutant(
        "groups that somebody dominates, with a minimum of 1",
        "protocols/aggregates/aggregates.py",
        "least = max(minimum, 2) if self._safe else minimum",
        "least = minimum",
        "tests/jobs/kinds/aggregate/test_kind.py::"
        "test_a_group_that_one_record_dominates_is_hidden[0.5-True]",
    ),
    mutant(
        "noise for a record that changes its group",
        "protocols/aggregates/noise.py",
        "return max(self.high - self.low, 2 * self._most if groups > 1 else 0)",
        "return self.high - self.low",
        f"{_NOISE}::test_changes_are_the_largest_between_any_two_neighbours",
    ),
    mutant(
        "Gaussian noise for a record that changes its group",
        "protocols/aggregates/noise.py",
        "return max((self.high - self.low) ** 2, 2 * self._most**2 if groups > 1 else 0)",
        "return (self.high - self.low) ** 2",
        f"{_NOISE}::test_changes_are_the_largest_between_any_two_neighbours",
        f"{_NOISE}::test_gaussian_noise_keeps_delta_by_the_definition",
    ),
    mutant(
        "the epsilon that all queries share",
        "protocols/aggregates/noise.py",
        "scale_of(number * query.change(groups) / self.epsilon)",
        "scale_of(query.change(groups) / self.epsilon)",
        f"{_NOISE}::test_laplace_ratios_of_all_queries_together_stay_within_epsilon",
    ),
    mutant(
        "the rho that all queries share",
        "protocols/aggregates/noise.py",
        "root_scale_of(number * query.squared_change(groups) / (2 * self.rho))",
        "root_scale_of(query.squared_change(groups) / (2 * self.rho))",
        f"{_NOISE}::test_gaussian_queries_together_have_the_rho_of_the_promise",
    ),
    mutant(
        "scales that are rounded up",
        "protocols/aggregates/discrete_noise.py",
        "Scale(math.ceil(least * bottom), bottom)",
        "Scale(math.floor(least * bottom), bottom)",
        "tests/protocols/aggregates/test_discrete_noise.py::test_scales_are_rounded_up_and_hardly",
    ),
    mutant(
        "Gaussian scales that are rounded up",
        "protocols/aggregates/discrete_noise.py",
        "top if top * top == whole else top + 1",
        "top",
        "tests/protocols/aggregates/test_discrete_noise.py::test_scales_are_rounded_up_and_hardly",
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
