"""Decoders answer any bytes with a value or an error of their own; `make fuzz` tries many more."""

import random

import pytest

from tests.fuzz.decoders import DECODERS, Decoder
from tests.fuzz.mutations import mutated
from tests.fuzz.run import BrokenDecoderError, answer, corpus, fuzz


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_takes_its_corpus_and_some_new_inputs(name):
    assert fuzz(name, 300, 60.0, 0, keep=False) >= 1


@pytest.mark.parametrize("name", DECODERS)
def test_what_a_decoder_is_begun_with_is_in_order(name, tmp_path):
    for seed in DECODERS[name].seeds():
        said = answer(DECODERS[name], seed, tmp_path)
        assert said == "ok" or name.startswith("frame")  # which come after others


def test_an_error_of_another_kind_is_found():
    fragile = Decoder(lambda: [b"12345678"], lambda data, folder: data[3], (ValueError,))
    DECODERS["fragile"] = fragile
    try:
        with pytest.raises(BrokenDecoderError, match="fragile: IndexError"):
            fuzz("fragile", 1000, 10.0, 0, keep=False)
    finally:
        del DECODERS["fragile"]
        for data in corpus("fragile"):
            assert len(data) < 4
        _forget("fragile")


def _forget(name):
    import shutil

    from tests.fuzz.run import CORPUS

    shutil.rmtree(CORPUS / name, ignore_errors=True)


def test_the_same_random_numbers_give_the_same_inputs():
    seeds = [b"one two three", b"four"]
    first, second = (
        [mutated(seeds[0], seeds, random.Random(n)) for n in range(50)] for _ in range(2)
    )
    assert first == second
    assert len(set(first)) > 40
