"""`coterie experiment lattices`: the counts of a search of every node."""

from tests.experiments.made import made, needs_adult

pytestmark = needs_adult


def test_the_counts_are_those_of_the_reference(tmp_path):
    found = made(tmp_path, "lattices")["lattices"]
    assert len(found) == 4
    assert all(entry["as_the_reference"] for entry in found)
