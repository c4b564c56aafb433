"""People are known again by a number, from one table to the next."""

import stat

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.people import People
from coterie.party.store.database import Database
from tests.strength import assert_different


@pytest.fixture
def tmp_path(tmp_path):
    """The folder of a history; the books are beside it."""
    return tmp_path / "history"


def numbers(folder, ids, columns=("ID",)):
    people = People(folder, columns)
    return people.numbers(people.digests(pa.table(ids), columns)).tolist()


def test_a_person_keeps_the_number_and_a_new_one_gets_another(tmp_path):
    first = numbers(tmp_path, {"ID": ["a", "b", "c"]})
    assert sorted(first) == [0, 1, 2]
    again = numbers(tmp_path, {"ID": ["c", "d", "a", "d"]})
    assert again == [first[2], 3, first[0], 3]
    assert numbers(tmp_path, {"ID": []}) == []


def test_several_columns_are_told_apart_however_they_are_cut(tmp_path):
    one = numbers(tmp_path, {"A": ["ab", "a"], "B": ["c", "bc"]}, ("A", "B"))
    assert len(set(one)) == 2
    assert len(set(numbers(tmp_path, {"A": ["1:a", "1"], "B": ["b", "a1:b"]}, ("A", "B")))) == 2
    assert len(set(numbers(tmp_path, {"A": ["a:b", "a"], "B": ["c", "b:c"]}, ("A", "B")))) == 2


def test_a_number_is_the_same_for_numbers_and_texts_and_chunks(tmp_path):
    ids = {"ID": pa.chunked_array([["1"], ["2", "3"]])}
    assert numbers(tmp_path, ids) == numbers(tmp_path, {"ID": [1, 2, 3]})


def test_what_a_crash_left_of_a_write_is_written_over(tmp_path):
    first = numbers(tmp_path, {"ID": ["a", "b"]})
    [path] = tmp_path.glob("people-*")
    path.write_bytes(path.read_bytes() + b"torn")
    assert numbers(tmp_path, {"ID": ["a", "b", "c"]}) == [*first, 2]
    assert path.stat().st_size == 24
    assert (
        stat.S_IMODE(path.stat().st_mode)
        == stat.S_IMODE((tmp_path / "key").stat().st_mode)
        == 0o600
    )


def test_who_is_known_is_found_without_making_anybody_known(tmp_path):
    first = numbers(tmp_path, {"ID": ["a", "b", "c"]})
    people = People(tmp_path, ("ID",))
    found = people.known(people.digests(pa.table({"ID": ["x", "c", "c"]}), ("ID",)))
    assert found.tolist() == [first[2]]
    assert people.known(np.zeros(0, np.uint64)).tolist() == []


def test_without_the_key_a_digest_tells_nothing_and_a_broken_key_is_named(tmp_path):
    first, second = (
        People(tmp_path / name, ("ID",)).digests(pa.table({"ID": ["a"]}), ("ID",)).tolist()
        for name in "ab"
    )
    assert first != second
    (tmp_path / "a" / "key").write_bytes(b"short")
    with pytest.raises(EnvironmentFaultError, match="key: not the key of a history"):
        People(tmp_path / "a", ("ID",))


def test_a_key_that_is_lost_is_named_since_nobody_would_be_known_again(tmp_path):
    People(tmp_path, ["ID"]).numbers(np.arange(3, dtype=np.uint64))
    (tmp_path / "key").unlink()
    with pytest.raises(EnvironmentFaultError, match="key: is missing"):
        People(tmp_path, ["ID"])


@pytest.mark.parametrize("left", [0, 8, 15, 16, 23])
def test_a_file_that_lost_its_end_is_named_and_nobody_is_forgotten(tmp_path, left):
    numbers(tmp_path, {"ID": ["a", "b", "c"]})
    [path] = tmp_path.glob("people-*")
    path.write_bytes(path.read_bytes()[:left])
    for ids in (["a"], ["x"]):
        with pytest.raises(EnvironmentFaultError, match=r"damaged \(has fewer people") as told:
            numbers(tmp_path, {"ID": ids})
        words = str(told.value).removeprefix(str(tmp_path))  # coordinators read them
        assert path.name not in words
        assert not any(map(str.isdigit, words))
    people = People(tmp_path, ("ID",))
    with pytest.raises(EnvironmentFaultError, match="restore the folder from a backup"):
        people.known(people.digests(pa.table({"ID": ["a"]}), ("ID",)))
    assert path.stat().st_size == left  # it is as it was, for whoever looks into it


def test_a_file_that_is_missing_or_changed_is_named(tmp_path):
    numbers(tmp_path, {"ID": ["a", "b", "c"]})
    [path] = tmp_path.glob("people-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:8] + bytes(8) + whole[16:])
    with pytest.raises(EnvironmentFaultError, match="has other people than were written"):
        numbers(tmp_path, {"ID": ["a"]})
    path.unlink()
    with pytest.raises(EnvironmentFaultError, match="is missing"):
        numbers(tmp_path, {"ID": ["a"]})


def test_a_crash_before_the_head_is_written_leaves_who_was_known_before(tmp_path, monkeypatch):
    first = numbers(tmp_path, {"ID": ["a", "b"]})

    def crash(*row):
        raise EnvironmentFaultError("No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(Database, "put", crash)
        with pytest.raises(EnvironmentFaultError, match="No space left"):
            numbers(tmp_path, {"ID": ["c", "d"]})
    assert numbers(tmp_path, {"ID": ["d", "a", "b"]}) == [2, *first]


def test_the_key_has_all_its_bits_and_a_digest_depends_on_each_byte(tmp_path):
    """A short key would be tried until some digest is that of a known person."""
    table, keys, digests = pa.table({"ID": ["a"]}), [], []
    for at in range(80):
        People(tmp_path / f"{at}", ("ID",))
        keys.append(int.from_bytes((tmp_path / f"{at}" / "key").read_bytes(), "little"))
    assert_different(keys)
    for at in range(33):
        folder = tmp_path / f"changed {at}"
        folder.mkdir(parents=True)
        (folder / "key").write_bytes(bytes(int(place == at) for place in range(32)))
        digests += People(folder, ("ID",)).digests(table, ("ID",)).tolist()
    assert len(set(digests)) == 33


@pytest.mark.parametrize("at", range(5))
def test_a_list_in_which_any_person_is_another_is_damaged(tmp_path, at):
    numbers(tmp_path, {"ID": ["a", "b", "c", "d", "e"]})
    [path] = tmp_path.glob("people-*")
    people = bytearray(path.read_bytes())
    people[8 * at + 7] ^= 1
    path.write_bytes(people)
    with pytest.raises(EnvironmentFaultError, match="has other people than were written"):
        numbers(tmp_path, {"ID": ["a"]})
