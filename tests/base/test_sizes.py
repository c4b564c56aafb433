"""Numbers of bytes as people write them."""

import pytest

from coterie.base.sizes import half_of_the_memory, read_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [("16000000", 16 * 10**6), ("512MB", 512 * 10**6), ("4 gb", 4 * 10**9), ("1T", 10**12)],
)
def test_a_size_is_read_in_any_unit(text, size):
    assert read_bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "1.5GB", "12 apples", "9" * 5000])
def test_what_is_no_size_is_told(text):
    with pytest.raises(ValueError, match=r"must be a size such as 512MB or 4GB"):
        read_bytes(text)


def test_too_little_memory_is_refused():
    with pytest.raises(ValueError, match="at least 16MB"):
        read_bytes("15MB")


def test_the_budget_of_this_machine_is_positive():
    assert half_of_the_memory() > 0
