"""A store in memory and one in a folder keep one contract."""

import pytest

from coterie.jobs.matching.folder_store import FolderStore
from coterie.protocols.primitives.store import MemoryStore


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryStore()
    else:
        made = FolderStore(tmp_path / "deep" / "store")
        yield made
        made.close()


def test_what_is_appended_is_read_in_order(store):
    store.append("part", b"a")
    store.append("part", b"b")
    assert store.read("part") == b"ab"


def test_replacing_leaves_the_new_value_only(store):
    store.append("part-7", b"old")
    store.replace("part-7", b"new")
    assert store.read("part-7") == b"new"


def test_what_was_never_kept_or_was_removed_is_absent(store):
    assert store.read("part") is None
    store.replace("part", b"x")
    store.remove("part")
    store.remove("part")
    assert store.read("part") is None


def test_clearing_removes_everything(store):
    for name in ("one", "two"):
        store.replace(name, b"x")
    store.clear()
    assert store.read("one") is store.read("two") is None
