"""Bulk work comes back in order, a few pieces ahead and no more."""

import threading
from concurrent.futures import Future

import pytest

from coterie.protocols.primitives.executor import LocalPool, in_order


def test_results_stand_in_the_order_of_the_pieces():
    work = LocalPool(3).map(lambda key, piece: piece * 2, b"", range(50))
    assert list(work) == [2 * i for i in range(50)]


def test_an_error_is_that_of_its_piece_and_comes_at_its_place():
    def work(key, piece):
        if piece == 2:
            raise ValueError("piece two")
        return piece

    results = LocalPool(2).map(work, b"", range(4))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="piece two"):
        next(results)


def test_no_more_pieces_are_drawn_than_may_be_under_way():
    drawn = []
    waiting: list[Future] = []

    def pieces():
        for i in range(10):
            drawn.append(i)
            yield i

    def submit(piece):
        waiting.append(Future())
        return waiting[-1]

    results = in_order(submit, pieces(), 3)
    timer = threading.Timer(0.05, lambda: waiting[0].set_result("first"))
    timer.start()
    assert next(results) == "first"
    assert len(drawn) <= 3
    results.close()
    assert all(future.cancelled() for future in waiting[1:])
