"""A state folder is copied while its server serves, and served again from the copy."""

import io
import stat
import tarfile

import pytest

from coterie.base.errors import UsageError
from coterie.party.books.append_file import read_entries
from coterie.party.books.audit_check import verify
from coterie.party.steward.backup import back_up, restore
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie
from tests.party.served import COMMON, common


def finished(houses):
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.queue(job_id)
    assert {coordinator.end(job_id, name).state for name in houses.names} == {pb.FINISHED}
    return coordinator, job_id


def test_a_backup_while_serving_restores_jobs_results_and_an_unbroken_audit_log(houses, tmp_path):
    houses.serve_all()
    coordinator, before = finished(houses)
    waiting, _ = coordinator.propose(houses.job("waits"))
    copy = tmp_path / "bank.tar"
    done = coterie("party", "backup", copy, "--config", houses.path("bank"))
    assert done.code == 0, done.err
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    _, after = finished(houses)
    houses.servers.pop("bank").stop()
    houses.state("bank").rename(tmp_path / "lost")
    done = coterie("party", "restore", copy, "--config", houses.path("bank"), "--json")
    assert done.code == 0, done.err
    server = houses.serve("bank")
    assert common(houses, "bank", before) == COMMON
    assert server._book.get(waiting).state == pb.ACCEPTED
    assert server._book.get(after) is None
    assert verify(houses.state("bank") / "audit.log").entries > 3
    events = [e["event"] for e in read_entries(houses.state("bank") / "audit.log")]
    assert events.count("state restored") == 1
    again = houses.coordinator()
    again.queue(waiting)
    assert {again.end(waiting, name).state for name in houses.names} == {pb.FINISHED}


def test_a_backup_that_races_with_writing_is_mended_like_after_a_crash(houses, tmp_path):
    houses.serve("bank")
    back_up(houses.state("bank"), "bank", tmp_path / "bank.tar")
    with (
        tarfile.open(tmp_path / "bank.tar") as whole,
        tarfile.open(tmp_path / "torn.tar", "w") as torn,
    ):
        for member in whole:
            data = whole.extractfile(member).read()
            if member.name == "audit.log":
                data += b'{"time":"20'
                member.size = len(data)
            torn.addfile(member, io.BytesIO(data))
    houses.servers.pop("bank").stop()
    houses.state("bank").rename(tmp_path / "lost")
    restore(tmp_path / "torn.tar", "bank", houses.state("bank"))
    houses.serve("bank")
    found = verify(houses.state("bank") / "audit.log")
    assert (found.mended, found.torn) == (1, False)


def test_a_backup_is_not_overwritten_and_a_state_folder_neither(houses, tmp_path):
    houses.serve("bank")
    copy = tmp_path / "bank.tar"
    back_up(houses.state("bank"), "bank", copy)
    with pytest.raises(UsageError, match="never overwritten"):
        back_up(houses.state("bank"), "bank", copy)
    with pytest.raises(UsageError, match="is not empty; move it away first"):
        restore(copy, "bank", houses.state("bank"))
    with pytest.raises(UsageError, match="of 'bank', not of 'card'"):
        restore(copy, "card", tmp_path / "state")


def test_what_is_no_backup_is_refused_and_no_file_leaves_the_folder(tmp_path):
    (tmp_path / "text.tar").write_text("nothing")
    with pytest.raises(UsageError, match="not a backup"):
        restore(tmp_path / "text.tar", "bank", tmp_path / "state")
    note = b'{"party": "bank", "date": "today"}'
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    for entry in (tarfile.TarInfo("../outside"), tarfile.TarInfo("/outside"), link):
        with tarfile.open(tmp_path / "bad.tar", "w") as archive:
            first = tarfile.TarInfo("restored.json")
            first.size = len(note)
            archive.addfile(first, io.BytesIO(note))
            archive.addfile(entry, io.BytesIO(b""))
        with pytest.raises(UsageError, match=f"not a backup: it holds '{entry.name}'"):
            restore(tmp_path / "bad.tar", "bank", tmp_path / "state")
    assert not (tmp_path / "state").exists()
    assert not (tmp_path / "outside").exists()
