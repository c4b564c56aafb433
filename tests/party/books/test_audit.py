"""The audit log: chained, mended after a crash, and held against heads that are kept elsewhere."""

import json
import shutil

import pytest

from coterie.base.errors import EnvironmentFaultError, UsageError, VerificationError
from coterie.party.books.append_file import read_entries
from coterie.party.books.audit import CONTINUED, LOST, MENDED, AuditLog, link_of
from coterie.party.books.audit_check import heads_of, verify
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie
from tests.party.disk import room_for


def audit(path, *events):
    log = AuditLog(path, clock=lambda: 0.0)
    for event in events:
        log.note(event, by="a")
    log.close()
    return log.head


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audit.log"


def test_an_audit_log_is_a_chain(path):
    audit(path, "one", "two")
    head = audit(path, "three")  # after a restart the chain goes on
    found = verify(path)
    assert (found.entries, found.head, found.mended, found.torn) == (3, head, 0, False)
    first, second, third = read_entries(path)
    assert first["previous"] == "0" * 64
    assert (second["previous"], third["previous"]) == (first["chain"], second["chain"])
    assert first["time"] == "1970-01-01T00:00:00Z"
    assert oct(path.stat().st_mode)[-3:] == "600"


TAMPERED = {
    "a changed word": (lambda a, b, c: [a, b.replace("two", "too"), c], 2),
    "a line taken out": (lambda a, b, c: [a, c], 2),
    "lines swapped": (lambda a, b, c: [a, c, b], 2),
    "a line that is no JSON": (lambda a, b, c: [a, "rubbish", c], 2),
    "the beginning taken out": (lambda a, b, c: [b, c], 1),
    "a last line that is cut, with a newline": (lambda a, b, c: [a, b, c[:30]], 3),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_changed_audit_log_is_found_out_with_its_line(path, name):
    audit(path, "one", "two", "three")
    change, line = TAMPERED[name]
    path.write_text("\n".join(change(*path.read_text().splitlines())) + "\n")
    with pytest.raises(VerificationError, match=rf"audit\.log:{line}: the chain"):
        verify(path)


def test_a_changed_line_with_a_new_digest_breaks_the_next_line(path, tmp_path):
    audit(path, "one", "two", "three")
    lines = path.read_text().splitlines()
    forged = tmp_path / "forged" / "audit.log"
    forged.parent.mkdir()
    audit(forged, "one", "too")
    lines[1] = forged.read_text().splitlines()[1]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(VerificationError, match=r"audit\.log:3"):
        verify(path)


def test_a_line_that_names_no_line_before_it_breaks_the_chain(path):
    audit(path, "one")
    entry = {"event": "two"}
    with path.open("a") as file:
        file.write(json.dumps({**entry, "chain": link_of(entry)}) + "\n")
    with pytest.raises(VerificationError, match=r"audit\.log:2: the chain of the audit log breaks"):
        verify(path)


@pytest.mark.parametrize("entries", [-1, 10**19, 10**4299])
def test_a_server_starts_with_a_log_whose_number_of_earlier_lines_is_none(path, entries):
    path.write_text(json.dumps({"event": CONTINUED, "entries": entries}) + "\n")
    audit(path, "one")
    assert (
        path.with_name("audit.head").read_text().split()[0] == "3"
    )  # one says that it was missing


def test_a_line_that_a_full_disk_tears_is_not_noted_and_the_chain_holds(path):
    log = AuditLog(path)
    log.note("one")
    for room in range(0, 200, 7):
        with room_for(path, room), pytest.raises(EnvironmentFaultError):
            log.note("two", text="x" * 200)
    log.note("three")
    log.close()
    assert [entry["event"] for entry in read_entries(path)] == ["one", "three"]
    assert verify(path).entries == 2


def test_a_line_that_a_crash_tore_is_no_tampering_and_its_repair_is_in_the_chain(path):
    audit(path, "one", "two")
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"time": "1970-')
    assert verify(path).torn
    audit(path, "three")
    found = verify(path)
    assert (found.entries, found.mended, found.torn) == (4, 1, False)
    events = read_entries(path)
    assert [entry["event"] for entry in events] == ["one", "two", MENDED, "three"]
    assert events[2]["bytes"] == 15
    assert path.read_bytes().startswith(whole)


def cut(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def emptied(path):
    path.write_text("")


def recomputed(path):
    path.unlink()
    kept = path.with_name("audit.head").rename(path.with_name("kept"))
    audit(path, "one", "too", "three")
    kept.rename(path.with_name("audit.head"))


def deleted(path):
    path.unlink()


@pytest.mark.parametrize("harm", [cut, emptied, recomputed, deleted])
def test_a_log_that_is_shorter_or_other_than_its_head_file_says_is_found_out(path, harm):
    audit(path, "one", "two", "three")
    harm(path)
    if path.exists():
        with pytest.raises(VerificationError, match="cut off or written anew"):
            verify(path)
    audit(path, "four")  # the server notices it when it starts, and says so in the log for good
    assert LOST in [entry["event"] for entry in read_entries(path)]
    with pytest.raises(VerificationError, match=r"server found here"):
        verify(path)


DAMAGED = {
    "nested too deep": b'{"chain":' + b"[" * 100_000,
    "a digest that is none": b'{"chain":"\\ud800"}',
    "half of a character": b'{"event":"\\ud800","chain":"0"}',
    "books that are none": b'{"event":"ended","books":{"journal":5,"ledger":{},"diary":{"bytes":1}}}',
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_server_starts_with_a_damaged_line_which_is_found_out(path, name):
    audit(path, "one")
    with path.open("ab") as file:
        file.write(DAMAGED[name] + b"\n")
    with pytest.raises(VerificationError, match=r"audit\.log:2: the chain of the audit log breaks"):
        verify(path)
    audit(path, "two")
    with pytest.raises(VerificationError, match=r"audit\.log:2: the chain of the audit log breaks"):
        verify(path)


def test_a_head_file_that_is_older_than_the_log_is_right(path, tmp_path):
    audit(path, "one")
    old = shutil.copy(path.with_name("audit.head"), tmp_path / "old")
    audit(path, "two", "three")
    assert verify(path, old).entries == 3
    shutil.copy(old, path.with_name("audit.head"))  # as after a crash of the machine
    audit(path, "four")
    assert verify(path).entries == 4


@pytest.mark.parametrize("text", ["rubbish", "3", "3 abc", "x " + "0" * 64])
def test_a_head_file_that_is_none_is_named(path, text):
    audit(path, "one")
    path.with_name("audit.head").write_text(text)
    with pytest.raises(VerificationError, match=r"audit\.head: not the head"):
        verify(path)


def test_a_head_file_that_a_power_cut_has_left_empty_or_as_zeros_is_written_anew(path):
    for left in (b"", bytes(128)):
        audit(path, "one")
        path.with_name("audit.head").write_bytes(left)
        head = audit(path, "two")
        assert verify(path).head == head


def test_whoever_rewrites_log_and_head_file_is_found_out_by_results_and_peers(path, tmp_path):
    given = audit(path, "one", "two")
    result = tmp_path / "result"
    result.mkdir()
    (result / "result.json").write_text(json.dumps({"parties": {"bank": {"audit": given}}}))
    peer = tmp_path / "peer" / "audit.log"
    peer.parent.mkdir()
    log = AuditLog(peer)
    log.note("agreed", job="0" * 32, heads={"bank": given})
    log.close()
    audit(path, "three")
    anchors = [head for source in (result, peer) for head in heads_of("bank", source)]
    assert anchors == [given, given]
    assert verify(path, anchors=anchors).anchors == 1
    path.unlink()
    path.with_name("audit.head").unlink()
    path.with_name("books.db").unlink()
    audit(path, "one", "too", "three")
    assert verify(path).entries == 3
    with pytest.raises(VerificationError, match=f"no line has the head {given}"):
        verify(path, anchors=anchors)


def test_a_source_without_heads_is_named(tmp_path):
    with pytest.raises(UsageError, match="holds no head of the audit log of 'bank'"):
        heads_of("bank", tmp_path)
    (tmp_path / "result.json").write_text("[" * 100_000)
    with pytest.raises(UsageError, match="holds no head of the audit log of 'bank'"):
        heads_of("bank", tmp_path)
    with pytest.raises(EnvironmentFaultError, match="No such file"):
        verify(tmp_path / "missing")


def test_the_heads_of_a_job_are_kept_by_its_peers_and_in_what_it_releases(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    for name in houses.names:
        assert coordinator.end(job_id, name).state == pb.FINISHED
    told = json.loads(coordinator.fetch(job_id, "bank")["summary.json"])["audit"]
    chain = [entry["chain"] for entry in read_entries(houses.state("bank") / "audit.log")]
    assert told in chain
    for peer in ("lender", "card"):
        [head] = heads_of("bank", houses.state(peer) / "audit.log")
        assert head in chain
        done = coterie("party", "audit", "--config", houses.path("bank"), "--json",
                       "--against", houses.state(peer) / "audit.log")  # fmt: skip
        assert (done.code, done.json["anchors"]) == (0, 1)
    log = houses.state("bank") / "audit.log"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:2]))
    done = coterie("party", "audit", "--config", houses.path("bank"))
    assert done.code == 8
    assert "cut off or written anew" in done.error


@pytest.mark.parametrize("harm", [lambda head: head.unlink(), lambda head: head.write_bytes(b"")])
def test_a_log_whose_head_file_is_gone_or_emptied_may_have_been_cut(path, harm):
    audit(path, "one", "two", "three")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    harm(path.with_name("audit.head"))
    with pytest.raises(VerificationError, match=r"the books were sealed when it had 3 lines"):
        verify(path)
    audit(path, "four")  # a server that starts notes it for good
    with pytest.raises(VerificationError, match="the server found here that lines before were cut"):
        verify(path)


@pytest.mark.parametrize("harm", [lambda head: head.unlink(), lambda head: head.write_bytes(b"")])
def test_a_head_file_that_is_gone_or_emptied_is_noticed_and_noted(path, harm):
    audit(path, "one", "two", "three")
    harm(path.with_name("audit.head"))
    with pytest.raises(VerificationError, match=r"audit\.head: is missing or empty, so that lines"):
        verify(path)
    audit(path, "four")
    assert verify(path).headless == 1
