"""A spool gives back what was put in, in order, in bounded memory."""

import os
import resource
import threading
import tracemalloc
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.transport import spool as spool_module
from coterie.transport.spool import Spool


class Frames(Spool):
    """A spool whose frames are read as themselves, marked."""

    def __init__(self, folder, memory):
        super().__init__(folder, self.read, memory)

    @staticmethod
    def read(frame):
        return (frame,)

    def put(self, frame):
        super().put(frame, self.read(frame))

    def get(self):
        read = super().get()
        return None if read is None else read[0]


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.binary(max_size=300)), max_size=60), st.integers(0, 1000))
def test_frames_come_out_in_the_order_they_went_in(tmp_path_factory, actions, memory):
    spool, plain = Frames(tmp_path_factory.getbasetemp(), memory), deque()
    for action in actions:
        if action is not None:
            spool.put(action)
            plain.append(action)
        elif plain:
            assert spool.get() == plain.popleft()
    spool.wake()
    while plain:
        assert spool.get() == plain.popleft()
    assert [spool.get(), spool.get()] == [None, None]


@pytest.mark.parametrize("memory", [0, 3000, 1 << 20])
def test_two_threads_put_and_get_at_once(tmp_path, memory):
    spool = Frames(tmp_path, memory)
    frames = [bytes([number % 256]) * (number % 700) for number in range(5000)]

    def put():
        for frame in frames:
            spool.put(frame)
        spool.wake()

    thread = threading.Thread(target=put)
    thread.start()
    assert list(iter(spool.get, None)) == frames
    thread.join()


def open_files():
    return len(os.listdir("/proc/self/fd"))


def test_files_are_given_back_as_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(spool_module, "_SEGMENT", 1000)
    before = open_files()
    spool = Frames(tmp_path, 0)
    for number in range(50):
        spool.put(bytes([number]) * 400)
    many = open_files()
    assert many - before > 10
    assert os.listdir(tmp_path) == []  # the files have no name: nothing is left after a crash
    for number in range(25):
        assert spool.get() == bytes([number]) * 400
    assert open_files() < many - 5
    for number in range(25, 50):
        assert spool.get() == bytes([number]) * 400
    assert open_files() == before


def test_clearing_gives_everything_back(tmp_path):
    before = open_files()
    spool = Frames(tmp_path, 1000)
    for _ in range(20):
        spool.put(bytes(200))
    spool.clear()
    assert spool.get() is None
    assert open_files() == before


def test_memory_stays_bounded_however_much_waits(tmp_path):
    spool = Frames(tmp_path, 1 << 20)
    tracemalloc.start()
    try:
        for _ in range(100):
            spool.put(bytes(200_000))
        for _ in range(20_000):
            spool.put(b"tiny")
        assert tracemalloc.get_traced_memory()[0] < 1.3 * (1 << 20)
    finally:
        tracemalloc.stop()
    assert [len(spool.get()) for _ in range(100)] == [200_000] * 100
    assert [spool.get() for _ in range(20_000)] == [b"tiny"] * 20_000


def test_a_disk_that_takes_no_more_is_an_error(tmp_path):
    spool = Frames(tmp_path, 0)

    def fill():
        for _ in range(10):
            spool.put(bytes(30_000))

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert spool.get() == bytes(30_000)  # what was taken before is whole
