"""Decoders answer any bytes with a value or an error of their own; `make fuzz` tries many more."""

import os
import random
import sys

import pytest

from tests.fuzz import fuzzing, run
from tests.fuzz.counts import count, counted
from tests.fuzz.decoder import Decoder, QuickPath
from tests.fuzz.decoders import DECODERS
from tests.fuzz.forms import json_document, json_lines, json_token, parsed
from tests.fuzz.fuzzing import BrokenDecoderError, answer, at_work, fuzz
from tests.fuzz.mutations import mutated


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_takes_its_corpus_and_some_new_inputs(name):
    assert fuzz(name, 300, 60.0, 0, False) >= 1


@pytest.mark.parametrize("name", DECODERS)
def test_what_a_decoder_is_begun_with_is_in_order(name, tmp_path):
    for seed in DECODERS[name].seeds():
        said = answer(DECODERS[name], seed, tmp_path)
        assert said.startswith("ok") or name == "frame"  # which comes after others


@pytest.fixture
def fragile(monkeypatch, tmp_path):
    """Fuzzes one decoder more, with a corpus of its own, by the given function."""
    monkeypatch.setattr(fuzzing, "CORPUS", tmp_path / "corpus")

    def fuzzed(decode, folder=None):
        monkeypatch.setitem(DECODERS, "fragile", Decoder(lambda: [b"12345678"], decode))
        return fuzz("fragile", 1000, 10.0, 0, False, folder)

    return fuzzed


def test_an_error_of_another_kind_is_found_and_its_input_kept(fragile, tmp_path):
    with pytest.raises(BrokenDecoderError, match="fragile: IndexError"):
        fragile(lambda data, folder: data[3], tmp_path)
    [kept] = fuzzing.corpus("fragile")
    assert len(kept) < 4
    assert at_work(tmp_path) == kept


def test_files_that_a_decoder_leaves_open_are_found(fragile, tmp_path):
    opened = []
    with pytest.raises(BrokenDecoderError, match=r"fragile: left [0-9]+ files open"):
        fragile(
            lambda data, folder: (
                opened.append(os.open(folder, os.O_RDONLY)) if len(opened) < 99 else None
            )
        )
    for number in opened:
        os.close(number)


def test_a_slow_decoder_is_found(fragile, monkeypatch):
    monkeypatch.setattr(fuzzing, "_SLOW", 0.0005)
    with pytest.raises(BrokenDecoderError, match=r"took 0\.0 s for [0-9]+ bytes"):
        fragile(lambda data, folder: sum(range(200_000)))


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os.abort()", "ended with -6; the input is "),
        ("time.sleep(60)", "did not come to an end; the input is "),
        ("os.kill(os.getpid(), 24)", "did not come to an end; the input is "),  # no more processor
        ("sys.exit(1)", "broken"),
        ("sys.exit(0)", None),
    ],
)
def test_a_decoder_that_takes_its_process_along_is_named_with_the_input(
    end, said, monkeypatch, tmp_path
):
    monkeypatch.setattr(fuzzing, "CORPUS", tmp_path)
    monkeypatch.setattr(run, "_STUCK", 0.5 if "sleep" in end else 60.0)
    note = "(3).to_bytes(8, 'little') + b'bad'"
    program = f"import os, sys, time; open(sys.argv[1] + '/at-work', 'wb').write({note}); {end}"
    wrong = run.turn("fragile", [sys.executable, "-S", "-c", program], 0.0)
    assert wrong.startswith(f"fragile: {said}") if said else wrong == ""
    assert fuzzing.corpus("fragile") == ([b"bad"] if "input" in wrong else [])


def test_the_turn_is_that_of_the_decoder_with_the_fewest_inputs_once_all_had_one():
    had = {"fast": 900, "new": 0, "slow": 10}
    time = [0.0]
    turns = run.Turns([*had], 1000, 100.0, lambda: had, lambda: time[0])
    order = []
    for _ in range(3):
        name, inputs, seconds = turns.take()
        assert (inputs, seconds) == (1000, 5.0)
        had[name] += 2
        order.append(name)
    assert order == ["new", "slow", "fast"]
    assert turns.take() is None  # all are at work
    for name in order:
        turns.give_back(name)
    assert turns.take() == ("new", 998, 60.0)
    had["new"] += 998
    turns.give_back("new")  # which has had all its inputs
    time[0] = 90.0
    assert turns.take() == ("slow", 998, 10.0)
    time[0] = 100.0
    assert turns.take() is None


def test_inputs_add_up(tmp_path):
    path = tmp_path / "inputs.json"
    assert counted(path) == {}
    assert count("wire", 5, path) == 5
    assert count("wire", 2, path) == 7
    assert count("job", 1, path) == 1
    assert counted(path) == {"job": 1, "wire": 7}
    assert [each.name for each in tmp_path.iterdir()] == ["inputs.json"]


@pytest.mark.parametrize("change", [json_token, json_lines, json_document])
def test_changed_json_is_other_json(change):
    chance = random.Random(1)
    seed = b'{"job": "ab", "to": ["bank"], "score": 7, "counts": {"bank": 1.5}, "open": false}'
    made = []
    for _ in range(200):
        data = bytearray(seed)
        change(data, [seed], chance)
        made.append(bytes(data))
    assert sum(isinstance(parsed(data), dict) for data in made) > 150
    assert len(set(made)) > 100


def test_the_lines_of_a_changed_audit_log_are_a_chain_again(tmp_path):
    decoder, chance = DECODERS["audit log"], random.Random(1)
    seeds = decoder.seeds()
    said = [
        answer(decoder, mutated(seed, seeds, chance, decoder.changes, decoder.mend), tmp_path)
        for seed in seeds * 30
    ]
    assert sum("chain" in one for one in said) < len(said) / 2
    broken = [
        answer(decoder, mutated(seed, seeds, chance, decoder.changes), tmp_path)
        for seed in seeds * 30
    ]
    assert sum("chain" in one for one in broken) > len(broken) / 2


def test_a_quick_path_is_that_of_the_same_file(tmp_path):
    folder = QuickPath(tmp_path)
    path = folder / "a" / "b"
    with pytest.raises(FileNotFoundError):
        path.read_bytes()
    (folder / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"1\n2" * 100_000)
    assert path.read_bytes() == path.open("rb").read() == b"1\n2" * 100_000
    assert path.with_name("c") == tmp_path / "a" / "c"
    assert (path.parent, path.parent.parent) == (tmp_path / "a", tmp_path)
    assert path.exists()
    assert not path.with_name("c").exists()


def test_the_same_random_numbers_give_the_same_inputs():
    seeds = [b"one two three", b"four"]
    first, second = (
        [mutated(seeds[0], seeds, random.Random(n)) for n in range(50)] for _ in range(2)
    )
    assert first == second
    assert len(set(first)) > 40
