"""A store in a folder: private, named safely, and apart from a second run of the same job."""

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.jobs.matching.folder_store import FolderStore


def test_a_folder_of_the_store_is_its_owners_only(tmp_path):
    store = FolderStore(tmp_path / "store")
    store.append("part", b"x")
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    store.close()


def test_a_name_cannot_leave_the_folder(tmp_path):
    store = FolderStore(tmp_path / "store")
    for name in ("../x", "/x", "new file", "", "part-7/x"):
        with pytest.raises(ValueError, match="is not a name of the store"):
            store.append(name, b"x")
    store.close()


def test_a_second_store_of_a_folder_in_use_leaves_nothing(tmp_path):
    first, second = FolderStore(tmp_path / "store"), FolderStore(tmp_path / "store", "again")
    first.append("part", b"first")
    second.append("part", b"second")
    assert (first.read("part"), second.read("part")) == (b"first", b"second")
    second.close()
    first.close()
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    again = FolderStore(tmp_path / "store")
    assert again.read("part") == b"first"
    again.clear()
    again.close()
    assert not (tmp_path / "store").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    store = FolderStore(tmp_path / "file" / "store")
    with pytest.raises(EnvironmentFaultError, match="file/store"):
        store.append("part", b"x")
    store.close()
