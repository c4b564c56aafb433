"""Mutants of frequent sets, separation, unique cells."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_SETS = (
    "tests/protocols/patterns/test_frequent_sets.py::"
    "test_nobody_learns_infrequent_counts_nor_counts_within_a_class"
)
_PAIRS = "tests/protocols/patterns/test_separation.py"
_TOSS = "tests/protocols/multiparty/test_coin_toss.py"

MUTANTS = [
    # patterns
    mutant(
        "a party's part of a coin toss",
        "protocols/multiparty/coin_toss.py",
        "mine = rng.bytes(SIZE)",
        "mine = bytes(SIZE)",
        *(f"{_TOSS}::test_every_party_adds_to_the_seed[{name}]" for name in "abc"),
    ),
    mutant(
        "the commitments of a coin toss",
        "protocols/multiparty/coin_toss.py",
        'return hashlib.sha256(b"coterie commitment\\0" + name.encode() + b"\\0" + secret).digest()',
        "return secret",
        f"{_TOSS}::test_nobody_sees_a_string_before_it_has_committed_to_its_own",
    ),
    mutant(
        "the check of a shown string",
        "protocols/multiparty/coin_toss.py",
        "if _commitment(peer, shown[peer]) != committed[peer]:",
        "if False:",
        f"{_TOSS}::test_who_shows_another_string_is_named",
    ),
    mutant(
        "the check of commitments that others heard",
        "protocols/multiparty/coin_toss.py",
        "if theirs != heard:",
        "if False:",
        f"{_TOSS}::test_who_commits_to_different_strings_is_found_out",
    ),
    mutant(
        "the offset of alike pairs",
        "protocols/patterns/separation.py",
        "lambda: rng.bits(count * bits)",
        "lambda: np.zeros(count * bits, np.uint8)",
        *(f"{_PAIRS}::test_neither_server_knows_the_offset[{name}]" for name in ("ann", "bob")),
    ),
    mutant(
        "the numbers of branches that are drawn once",
        "jobs/kinds/statistics/tree.py",
        'number = channel.drawn(f"numbers of {name}", draw, lasting=True)',
        "number = draw()",
        "tests/jobs/run/test_resume.py::test_what_is_random_in_a_release_is_drawn_once[tree]",
    ),
    mutant(
        "the numbers of branches that last for the whole job",
        "jobs/kinds/statistics/tree.py",
        "draw, lasting=True)",
        "draw)",
        "tests/jobs/run/test_resume.py::"
        "test_the_hidden_branches_of_a_tree_keep_their_meaning_over_interruptions",
    ),
    mutant(
        "the token of an attempt",
        "protocols/messaging/kept.py",
        "if answers[at].token != token:",
        "if False:",
        "tests/protocols/messaging/test_kept.py::test_answers_of_different_attempts_are_never_mixed",
    ),
    mutant(
        "the distance of alike pairs from what a coalition knows",
        "protocols/patterns/separation_circuits.py",
        "count = builder.choose(builder.less(room, count), room, count)",
        "pass",
        f"{_PAIRS}::test_no_level_tells_that_all_or_none_of_the_pairs_a_coalition_knows_are_alike",
        *(
            f"{_PAIRS}::test_nobody_sees_whether_all_pairs_that_it_knows_are_alike[{name}]"
            for name in ("ann", "bob", "cat")
        ),
    ),
    mutant(
        "alike pairs in steps",
        "protocols/patterns/separation_circuits.py",
        'builder.output("level", raised[step : step + width])',
        'builder.output("level", count[: step + width])',
        f"{_PAIRS}::test_no_level_tells_that_all_or_none_of_the_pairs_a_coalition_knows_are_alike",
    ),
    mutant(
        "supports in classes",
        "protocols/patterns/frequency_circuits.py",
        'builder.output("class", builder.gate_word(builder.invert(first), count[step : step + width]))',
        'builder.output("class", count)',
        *(f"{_SETS}[{name}]" for name in ("ann", "bob", "cat")),
    ),
    mutant(
        "verdicts about sets in place of counts",
        "protocols/patterns/frequent_sets.py",
        'bits, _ = group.decided(large_circuit(False), count, {"rest": rows}, "large")',
        "bits = (group.added(rest, count) < 2**31).astype(np.uint8)[:, None]",
        *(f"{_SETS}[{name}]" for name in ("ann", "bob", "cat")),
    ),
    mutant(
        "the permission to count unique people",
        "jobs/kinds/identify/kind.py",
        "Groups(smallest=1 if job.uniques else None)",
        "Groups(smallest=None)",
        "tests/jobs/kinds/identify/test_kind.py::"
        "test_unique_people_are_counted_exactly_where_they_are_asked_for",
    ),
    mutant(
        "values that are not frequent",
        "jobs/kinds/rules/counting.py",
        "often = np.flatnonzero(counts >= least)",
        "often = np.flatnonzero(counts >= 0)",
        "tests/jobs/kinds/rules/test_kind.py::test_a_value_of_few_records_is_told_to_nobody",
    ),
]
