"""Names fit into certificates, file names and terminals."""

import pytest

from coterie.base.names import is_job_id, is_name


@pytest.mark.parametrize("name", ["bank", "Bank-2", "a.b_c", "7", "x" * 64])
def test_a_short_word_is_a_name(name):
    assert is_name(name)


@pytest.mark.parametrize("name", ["", ".", "-a", "a b", "a/b", "a\n", "é", "x" * 65])
def test_what_could_be_a_path_an_option_or_a_line_is_none(name):
    assert not is_name(name)


def test_the_number_of_a_job_is_32_hex_digits():
    assert is_job_id("0af1" * 8)
    assert not is_job_id("0AF1" * 8)
    assert not is_job_id("0af1" * 8 + "\n")
