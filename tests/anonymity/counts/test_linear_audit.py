"""Differences of counts: which small sets of people follow from several questions."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.counts.linear_audit import PRIME, _times, smallest_told


def people(*members, of=10):
    found = np.zeros(of, bool)
    found[[m - 1 for m in members]] = True
    return found


def test_sums_over_two_pairs_forbid_their_union_and_the_odd_cycle_but_not_a_path():
    asked = [people(1, 2), people(2, 3)]
    assert smallest_told(asked, people(1, 2, 3), 2) == 1
    assert smallest_told(asked, people(1, 3), 2) == 1
    assert smallest_told(asked, people(3, 4), 2) is None


def test_all_but_one_person_tells_that_person():
    everybody = people(*range(1, 11))
    assert smallest_told([everybody], people(*range(1, 10)), 2) == 1
    assert smallest_told([], people(*range(1, 10)), 2) is None


def test_few_people_are_told_by_one_question_alone():
    assert smallest_told([], people(1, 2, 3), 4) == 3
    assert smallest_told([], people(1, 2, 3), 3) is None


def test_the_same_question_again_tells_nothing_new():
    few = people(1, 2)
    assert smallest_told([few], few, 5) is None
    parts = [people(1, 2, 3, 4), people(5, 6, 7, 8)]
    assert smallest_told(parts, people(*range(1, 9)), 4) is None


def test_nobody_is_nobody():
    assert smallest_told([people(1, 2)], people(), 5) is None


def test_products_are_those_of_whole_numbers():
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, PRIME, 500, dtype=np.uint64) for _ in range(2))
    a[:3], b[:3] = [0, PRIME - 1, PRIME - 1], [PRIME - 1, PRIME - 1, 1]
    expected = [int(x) * int(y) % PRIME for x, y in zip(a, b, strict=True)]
    assert _times(a, b).tolist() == expected


def solves(questions, target):
    """Whether rational weights of the questions give the target, by plain elimination."""
    rows = [
        [Fraction(int(q[i])) for q in questions] + [Fraction(target[i])] for i in range(len(target))
    ]
    done = 0
    for column in range(len(questions)):
        at = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if at is None:
            continue
        rows[done], rows[at] = rows[at], rows[done]
        rows[done] = [value / rows[done][column] for value in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[done], strict=True)]
        done += 1
    return all(not row[-1] for row in rows[done:])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 63), min_size=1, max_size=4), st.integers(1, 63))
def test_a_single_person_is_found_exactly_if_rational_weights_give_it(earlier, asked):
    as_mask = [np.array([bool(q >> i & 1) for i in range(6)]) for q in [*earlier, asked]]
    before, now = as_mask[:-1], as_mask[-1]
    told = [
        person
        for person in range(6)
        if solves(as_mask, np.eye(6, dtype=int)[person].tolist())
        and not solves(before, np.eye(6, dtype=int)[person].tolist())
    ]
    assert (smallest_told(before, now, 2) == 1) == bool(told)


def test_what_is_refused_is_told_by_some_combination_of_the_questions():
    """Enumeration: small whole weights of random questions, and the people that they leave."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        questions = [rng.random(7) < 0.5 for _ in range(3)]
        found = smallest_told(questions[:2], questions[2], 3)
        ranks = [
            np.linalg.matrix_rank(np.array(part, float)) for part in (questions[:2], questions)
        ]
        if ranks[0] == ranks[1]:
            assert found is None
            continue
        sums = [
            sum(w * q.astype(int) for w, q in zip(weights, questions, strict=True))
            for weights in product(range(-2, 3), repeat=3)
            if weights[2]
        ]
        least = min((int((s != 0).sum()) for s in sums if s.any()), default=0)
        if found is not None:
            assert found >= least
        swapped = [int((questions[2] ^ one).sum()) for one in questions[:2]]
        alone = int(questions[2].sum())
        if few := [people for people in (*swapped, alone) if 0 < people < 3]:
            assert found is not None
            assert found <= min(few)


def test_one_who_left_and_one_who_came_are_told_together():
    assert smallest_told([people(1, 2, 3, 4, 5)], people(2, 3, 4, 5, 6), 3) == 2
    assert smallest_told([people(1, 2, 3, 4, 5)], people(2, 3, 4, 5, 6), 2) is None


def test_every_pair_of_nested_sets_is_compared():
    sets = [people(*range(1, n)) for n in (11, 8, 6)]
    for large, small in combinations(sets, 2):
        gap = int((large & ~small).sum())
        assert smallest_told([large], small, gap + 1) == gap
        assert smallest_told([large], small, gap) is None
