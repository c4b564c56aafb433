"""Mutants of models from sums."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant, view

_CHOSEN = "tests/chosen_inputs"
_COLUMNS = f"{_CHOSEN}/test_regress_columns.py"
_SUPPORT = "tests/protocols/models/test_small_support.py"
_CLUSTERS = "tests/jobs/kinds/models/test_cluster.py"
_NOISY = "tests/jobs/kinds/models/test_noisy.py"
_KMEANS = "tests/protocols/aggregates/test_noisy_kmeans.py"

MUTANTS = [
    # models from sums
    mutant(
        "whether sums of products would be over a few people",
        "jobs/kinds/models/regress.py",
        "    if not large(support_counts(whole)):\n",
        "    if False:\n",
        "tests/jobs/kinds/models/test_regress.py::"
        "test_a_model_that_would_tell_of_a_few_people_ends_before_any_sum",
    ),
    mutant(
        "records that alone change sides between two sums",
        "protocols/models/regression.py",
        "return not changed or unlike(np.array(changed, np.uint32))",
        "return True",
        "tests/protocols/models/test_regression.py::"
        "test_a_support_vector_machine_opens_no_second_sum_over_nearly_the_same_records",
    ),
    mutant(
        "the sizes of a sum that is zero only where all are",
        "protocols/models/time_grid.py",
        "drawn = np.array([1 + number for number in rng.integers(PRIME - 1, POWERS)], np.uint64)",
        "drawn = np.ones(POWERS, np.uint64)",
        "tests/protocols/models/test_time_grid.py::"
        "test_the_sums_behind_the_power_say_nothing_of_how_many_have_it",
    ),
    mutant(
        "times that are joined until none is about a few",
        "protocols/models/time_grid.py",
        "least = builder.constant(minimum, WIDTH)",
        "least = builder.constant(1, WIDTH)",
        "tests/protocols/models/test_time_grid.py::"
        "test_every_joined_cell_has_enough_events_and_no_cell_could_end_earlier",
    ),
    mutant(
        "every two columns of a sum of products",
        "protocols/models/small_support.py",
        "apart[np.tril_indices(width)]",
        "np.diag(apart)",
        "tests/protocols/models/test_small_support.py::test_the_decision_is_that_of_a_plain_count",
    ),
    mutant(
        "whether sums of products of two parties' columns would be over a few",
        "protocols/models/joint_products.py",
        "if large is not None and not large(np.concatenate(counts)):",
        "if False:",
        "tests/protocols/models/test_joint_products.py::"
        "test_no_sum_is_opened_where_one_would_be_over_a_few_records",
    ),
    # Both servers learn the class of each record, and its outcome; the answers stay right.
    mutant(
        "the classes that scores are in",
        "protocols/models/joint_concordance.py",
        'bits = hidden.shared(class_circuit(), some.stop - some.start, inputs)["class"]',
        'bits, _ = hidden.decided(class_circuit(), some.stop - some.start, inputs, "class")\n'
        "        bits = bits * np.uint8(hidden.first)",
        view("pairs_ranked_by_scores_in_parts", "ann"),
        view("pairs_ranked_by_scores_in_parts", "bob"),
        view("pairs_ranked_by_scores_in_parts", "cat"),
        view("logistic_model_of_columns", "ann"),
    ),
    mutant(
        "clusters of a few records, of divided columns",
        "protocols/models/joint_kmeans.py",
        "if stay.all():",
        "if True:",
        "tests/protocols/models/test_joint_kmeans.py::"
        "test_clusters_are_those_of_plain_whole_numbers_and_small_ones_go",
    ),
    mutant(
        "clusters of a few records",
        "protocols/models/kmeans.py",
        "if not small:",
        "if True:",
        "tests/protocols/models/test_kmeans.py::"
        "test_a_small_cluster_goes_and_its_records_go_to_the_next_nearest_centre",
    ),
    mutant(
        "records that alone move between two sums of clusters",
        "protocols/models/kmeans.py",
        "if homes and not unlike(_moves(homes, home, begun)):",
        "if False:",
        "tests/protocols/models/test_kmeans.py::"
        "test_sums_that_differ_by_a_few_records_are_not_opened",
    ),
    mutant(
        "the values of the second half of the columns",
        "protocols/models/small_support.py",
        "    for at in range(width):\n",
        "    for at in range((width + 1) // 2):\n",
        "tests/protocols/models/test_joint_products.py::"
        "test_the_decision_is_that_of_a_plain_count_whatever_the_coding",
    ),
    mutant(
        "values that are neither 0 nor 1",
        "protocols/models/small_support.py",
        "if len(values) <= PAIRED:",
        "if len(values) <= PAIRED and np.isin(columns[:, at], (0, 1)).all():",
        f"{_COLUMNS}::test_two_columns_that_differ_in_one_person_are_refused[values0]",
        f"{_SUPPORT}::test_two_values_are_counted_alike_in_any_coding",
    ),
    mutant(
        "columns of three and more values",
        "protocols/models/small_support.py",
        "if len(values) <= FEW",
        "if len(values) <= 2",
        f"{_SUPPORT}::test_each_value_of_a_column_of_few_is_counted_and_of_many_what_is_not_common",
    ),
    mutant(
        "what is not the common value of a column",
        "protocols/models/small_support.py",
        "steps[:, at] != common[0] if len(common) else columns[:, at] != 0",
        "1",
        f"{_SUPPORT}::test_each_value_of_a_column_of_few_is_counted_and_of_many_what_is_not_common",
    ),
    mutant(
        "values of one party's two columns",
        "protocols/models/joint_products.py",
        "least_count(blocks[i, :, j])",
        "0",
        f"{_COLUMNS}::test_two_columns_that_differ_in_one_person_are_refused[values0]",
    ),
    mutant(
        "rare values of a divided column of clusters",
        "jobs/kinds/models/vertical_cluster.py",
        "if not all_large(hidden, job.party_names, counts, job.minimum, fork):",
        "if False:",
        f"{_CLUSTERS}::test_a_rare_value_of_a_divided_column_ends_the_job_before_any_number_is_opened",
    ),
    mutant(
        "rare values within a cluster",
        "jobs/kinds/models/vertical_cluster.py",
        "if job.minimum > 1 and not all_shares_large(hidden, share, size, job.minimum):",
        "if False:",
        f"{_CLUSTERS}::test_a_rare_value_of_a_divided_column_ends_the_job_before_any_number_is_opened",
        f"{_CHOSEN}/test_cluster_columns.py::"
        "test_how_many_of_chosen_people_are_ill_is_not_told_where_it_is_a_few",
    ),
    mutant(
        "rare values within the first half of the clusters alone",
        "protocols/models/joint_kmeans.py",
        "table[:, 1 + work.columns :].astype(np.uint32)",
        "(table[:, 1 + work.columns :] * (np.arange(len(table)) < 1)[:, None].astype(np.uint64)).astype(np.uint32)",
        f"{_CHOSEN}/test_cluster_columns.py::"
        "test_how_many_of_chosen_people_are_ill_is_not_told_where_it_is_a_few",
    ),
    mutant(
        "that exact answers of models need a word of the policy",
        "jobs/kinds/models/common.py",
        "exact=noise is None,",
        "exact=False,",
        f"{_COLUMNS}::test_a_far_value_is_refused_and_behind_noise_left_to_the_policy",
    ),
    # models with noise
    mutant(
        "the noise of sums of products",
        "protocols/models/joint_products.py",
        "part += added",
        "part += 0 * added",
        f"{_NOISY}::test_sums_of_products_have_both_draws_and_one_server_faces_a_whole_one[laplace]",
        view("products_with_noise", "cat"),
    ),
    mutant(
        "the noise of products of the second server",
        "jobs/kinds/models/noisy.py",
        "if not group.is_server:",
        "if not group.first:",
        f"{_NOISY}::test_sums_of_products_have_both_draws_and_one_server_faces_a_whole_one[laplace]",
    ),
    mutant(
        "half of the scale of noise of products",
        "jobs/kinds/models/noisy.py",
        "self._scales = noise.scales(asked, 1)",
        "self._scales = [Scale(s.top, 2 * s.bottom) for s in noise.scales(asked, 1)]",
        f"{_NOISY}::test_sums_of_products_have_both_draws_and_one_server_faces_a_whole_one[laplace]",
        f"{_NOISY}::test_the_whole_promise_is_spent_over_all_sums_and_no_more[laplace]",
    ),
    mutant(
        "noise for products that change their sign",
        "jobs/kinds/models/noisy.py",
        "[Query(-(REACH**2), REACH**2)] * i",
        "[Query(0, REACH**2)] * i",
        f"{_NOISY}::test_no_neighbours_differ_by_more_than_the_queries_say_and_some_by_as_much",
    ),
    mutant(
        "that with noise no bit about small counts is told",
        "jobs/kinds/models/vertical_regress.py",
        "None if noise else large,",
        "large,",
        f"{_NOISY}::test_a_rare_value_does_not_end_a_noisy_job_since_that_would_tell_of_it",
    ),
    mutant(
        "the noise of clusters",
        "protocols/aggregates/noisy_kmeans.py",
        "share if noise is None else share + noise",
        "share",
        f"{_KMEANS}::test_opened_numbers_are_the_sums_with_the_noise_of_both_servers",
        view("clusters_with_noise", "cat"),
    ),
    mutant(
        "the noise of clusters of the second server",
        "protocols/aggregates/noisy_kmeans.py",
        "if not work.hidden.is_server:",
        "if not work.hidden.first:",
        f"{_KMEANS}::test_opened_numbers_are_the_sums_with_the_noise_of_both_servers",
    ),
    mutant(
        "the epsilon that all iterations share",
        "jobs/kinds/models/noisy.py",
        "noise.scales(queries * iterations, clusters)",
        "noise.scales(queries, clusters)",
        f"{_NOISY}::test_the_promise_of_clusters_is_spent_over_all_iterations_and_no_more[laplace]",
    ),
    mutant(
        "that with noise no mean and deviation of a column is told",
        "jobs/kinds/models/vertical_cluster.py",
        "    if job.noise:\n        scale = _public_scale(limits)\n",
        "    if False:\n        scale = _public_scale(limits)\n",
        f"{_NOISY}::test_noisy_clusters_are_near_the_middles_and_say_that_they_have_noise",
    ),
]
