"""The limits of a party file: sizes with units, and nothing below what a server needs."""

import pytest

from coterie.base.errors import UsageError
from coterie.jobs.file.document import read_document
from coterie.party.limits import Limits, read_limits, read_size


def read(text, reader):
    return reader(read_document(f"key: {text}\n", "party.yaml").required("key"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MB", 512 * 10**6), ("4 gb", 4 * 10**9), ("1T", 10**12), ("20000000", 2 * 10**7)],
)
def test_a_size_has_a_unit_or_is_in_bytes(text, size):
    assert read(text, read_size) == size


@pytest.mark.parametrize("text", ["4 parsecs", "-1GB", "1MB", "1.5GB"])
def test_other_sizes_are_refused_with_their_line(text):
    with pytest.raises(UsageError, match=r"party\.yaml:1: "):
        read(text, read_size)


def test_a_limit_that_is_left_out_keeps_its_default():
    assert read("{rate: 5, bytes: 20MB}", read_limits) == Limits(rate=5, bytes=20 * 10**6)


def test_an_unknown_limit_is_refused():
    with pytest.raises(UsageError, match="speed"):
        read("{speed: 5}", read_limits)
