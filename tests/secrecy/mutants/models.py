"""Mutants of models from sums."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant, view

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
        "if not large(_folded(counts)):",
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
]
