"""Digests of what an attempt tells: equal for equal data in any joint order, and for no other data."""

import numpy as np

from coterie.protocols.integration.telling import Telling

ROWS = np.array([7, 3, 9, 0, 4])
CODES = np.array([1, 0, 2, 2, 0], np.uint8)
ORDERS = [[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [1, 0, 4, 3, 2]]


def whole(rows, codes):
    return Telling(rows).digest("head", codes=codes)


def parts(rows, codes):
    places = np.flatnonzero(rows != 4)[::-1]  # of some records, in another order
    return Telling(rows).of_parts("head", [(places, codes[places])])


def test_the_joint_order_changes_nothing():
    for digest in (whole, parts):
        assert len({digest(ROWS[order], CODES[order]) for order in ORDERS}) == 1


def test_two_people_in_each_other_s_place_are_told_from_the_same_people():
    swapped = CODES[[1, 0, 2, 3, 4]]
    for digest in (whole, parts):
        assert digest(ROWS, CODES) != digest(ROWS, swapped)


def test_other_people_with_the_same_codes_are_told_from_the_same_people():
    others = np.where(ROWS == 9, 8, ROWS)
    for digest in (whole, parts):
        assert digest(ROWS, CODES) != digest(others, CODES)


def test_a_record_with_the_first_code_is_told_from_one_that_is_not_concerned():
    telling = Telling(ROWS)
    first, none = np.zeros(1, np.uint8), np.zeros(0, np.uint8)
    assert telling.of_parts("", [(np.array([1]), first)]) != telling.of_parts("", [(none, none)])
