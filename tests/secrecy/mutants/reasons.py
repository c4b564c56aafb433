"""Uses of randomness that have no mutant."""

from __future__ import annotations

# (file, function): why a use of randomness hides nothing that a test could miss.
REASONS = {
    ("protocols/primitives/randomness.py", "*"): "the generator itself: tests/protocols/primitives",
    ("protocols/circuits/garbling.py", "Garbler.run"): (
        "labels that the evaluator is to hold, told to it as a seed; the secret of the transfers "
        "hides the others"
    ),
    ("protocols/integration/bounds.py", "_good_groups"): "forks",
    ("protocols/integration/bounds.py", "_looked_up"): "a fork",
    ("protocols/integration/sensitive/joint_verdicts.py", "JointVerdicts.pair"): "a fork",
    ("protocols/integration/sensitive/joint_verdicts.py", "JointVerdicts.conjunction"): "a fork",
    ("protocols/integration/rounds.py", "Rounds.__init__"): "a fork",
    ("protocols/integration/mondrian/levels.py", "Levels.prepare"): "a fork",
    ("protocols/integration/mondrian/levels.py", "Levels._hidden_winners"): "a fork",
    ("protocols/integration/slack.py", "_together"): "a fork",
    ("protocols/integration/sensitive/holders.py", "Holders.judge_jointly"): "a fork",
    ("protocols/integration/dka.py", "*"): "a baseline to be measured; no kind of job uses it",
    ("protocols/intersection/binned_store.py", "encode"): "a public choice of hash functions",
    ("protocols/transfer/vole.py", "VoleReceiver.receive"): "a public choice of the code",
    ("protocols/statistics/shared_tables.py", "group_shares"): "a fork",
    ("protocols/aggregates/discrete_noise.py", "*"): (
        "the numbers themselves: tests/protocols/aggregates/test_discrete_noise.py"
    ),
    ("protocols/statistics/mixed_cells.py", "held_once"): "forks",
    (
        "protocols/statistics/shared_tables.py",
        "mixed_sums",
    ): "forks; roots are those of grouped_sums",
    ("protocols/statistics/shared_counts.py", "Transfers.sender"): "a fork: streams do not overlap",
    ("protocols/statistics/shared_counts.py", "Transfers.receiver"): "a fork",
    ("protocols/models/time_grid.py", "longest_power"): "a fork, beside what a mutant removes",
    ("protocols/models/joint_products.py", "joint_sums"): "forks",
    ("protocols/models/shared_logistic.py", "SharedLogistic.__init__"): "a fork",
    (
        "protocols/models/shared_logistic.py",
        "SharedLogistic.steps",
    ): "forks; the masks are those of scaling",
    ("protocols/models/shared_logistic.py", "SharedLogistic._within"): "a fork",
    ("protocols/models/shared_logistic.py", "SharedLogistic.slope"): (
        "a fork; the shares are share_out's"
    ),
    ("protocols/models/shared_logistic.py", "SharedLogistic.ranked"): "a fork",
    ("protocols/models/joint_concordance.py", "ranked_columns"): (
        "forks; the shares are those of share_out"
    ),
    ("protocols/models/server_products.py", "ServerProducts._at_servers"): (
        "a fork; the shares are those of share_out"
    ),
    ("protocols/models/concordance.py", "ranked"): "a fork; the shares are those of share_out",
    ("protocols/models/concordance.py", "ranked_shares"): "forks",
    ("protocols/statistics/hidden_scores.py", "HiddenScores.__init__"): "a fork",
    ("protocols/patterns/separation.py", "separation"): "forks",
    ("protocols/patterns/separation.py", "draw_pairs"): "a public choice from the joint seed",
}
