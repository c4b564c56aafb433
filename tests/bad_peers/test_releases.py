"""A party whose release misbehaves: the coordinator names it, and no file leaves the folder."""

import pytest

from coterie.base.errors import PeerFaultError
from tests.coordinator.run.test_client import chunk, network

__all__ = ["network"]

CASES = {
    "a path that leads out": [chunk("../out.txt")],
    "an absolute path": [chunk("/etc/out.txt")],
    "a path that leads in and out": [chunk("a/../../out.txt")],
    "no path": [chunk("")],
    "a path with a zero": [chunk("a\0b")],
    "a path that steers a terminal": [chunk("a\x1b[2J")],
    "a file twice": [chunk("a"), chunk("a")],
    "a file that is a folder afterwards": [chunk("a"), chunk("a/b")],
    "a folder that is a file afterwards": [chunk("a/b"), chunk("a")],
    "two files at once": [chunk("a", last=False), chunk("b")],
    "a file without an end": [chunk("a", last=False)],
}


@pytest.mark.parametrize("name", CASES)
def test_a_release_that_misbehaves_is_its_partys_fault(network, tmp_path, name):
    folder = tmp_path / "in"
    folder.mkdir()
    network.party.chunks = CASES[name]
    with pytest.raises(PeerFaultError) as caught:
        network.client.fetch("0" * 32, folder)
    assert (caught.value.peer, caught.value.step) == ("bank", "fetch")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
