"""Pages of mapped files leave the process and keep what was written; other arrays are left alone."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie.base.memory import give_back, let_go, read_part


def mapped_kilobytes() -> int:
    told = Path("/proc/self/status").read_text()
    found = re.search(r"RssFile:\s*(\d+) kB", told)
    assert found is not None
    return int(found[1])


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells mapped pages on Linux only")
def test_pages_that_are_let_go_leave_the_process_and_not_the_file(tmp_path):
    array = np.memmap(tmp_path / "numbers", np.int64, "w+", shape=(1 << 21,))  # 16 MiB
    array[:] = 7
    before = mapped_kilobytes()
    let_go(array)
    assert mapped_kilobytes() < before - 8 * 1024
    assert read_part(array, slice(5, 8)).tolist() == [7, 7, 7]
    assert int(array.sum()) == 7 << 21


def test_a_part_is_a_copy(tmp_path):
    array = np.memmap(tmp_path / "numbers", np.int64, "w+", shape=(4,))
    part = read_part(array, np.array([3, 0]))
    array[:] = 1
    assert part.tolist() == [0, 0]


def test_an_array_in_memory_is_left_as_it_is():
    array = np.arange(4)
    let_go(array)
    give_back()
    assert read_part(array, slice(1, 3)).tolist() == [1, 2]
