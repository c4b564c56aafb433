"""Every party's part of a job, and the result that the coordinator puts together from them."""

import json

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import PeerFaultError, PeerLostError, VerificationError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.party_run import FINISH, SUMMARY, WIRE, agree, assemble, run_party
from coterie.protocols.messaging.memory import MemoryNetwork, run_parties
from coterie.protocols.primitives.randomness import Random

TEXT = "kind: intersect\nname: pilot\nparties: {a: {}, b: {}}\nid: ID\n"
TABLES = {"a": ["1", "2", "3"], "b": ["3", "2", "9"]}


@pytest.fixture
def released(tmp_path):
    """Runs the job in memory and returns each party's released folder."""
    folders, steps = {}, []

    def party(name):
        job = parse_job(TEXT, {})
        table = pa.table({"ID": TABLES[name]})
        prepared = KINDS["intersect"].prepare(job, name, table, f"{name}.csv")
        space = Workspace(tmp_path / name)
        space.create()
        folders[name] = space.released
        # The runner makes its own channel on the transport.
        return lambda channel: run_party(
            job, prepared, channel._transport, "s", Random(name), space, steps.append
        )

    run_parties({name: party(name) for name in TABLES})
    assert steps[-1].step == FINISH
    return folders


def test_the_result_is_what_the_parties_agree_on(released, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    result = assemble(parse_job(TEXT, {}), released, out)
    assert result["records"] == 2
    assert result == json.loads((out / "result.json").read_text())
    assert result["parties"]["a"]["sent_bytes"] == result["parties"]["b"]["received_bytes"] > 0
    assert {"prepare", "agree"} <= set(result["seconds"])


def test_parties_that_report_different_results_are_both_named(released, tmp_path):
    path = released["b"] / SUMMARY
    summary = json.loads(path.read_text())
    summary["result"]["records"] += 1
    path.write_text(json.dumps(summary))
    with pytest.raises(VerificationError, match="a and b report different results"):
        assemble(parse_job(TEXT, {}), released, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "{}",
        '{"traffic": {}, "seconds": {}, "result": {}}',
        '{"traffic": {"sent_bytes": "1", "received_bytes": 1}, "seconds": {}, "result": {}}',
        '{"traffic": {"sent_bytes": 1, "received_bytes": 1}, "seconds": {"x": "y"}, "result": {}}',
        '{"traffic": {"sent_bytes": 1, "received_bytes": 1}, "seconds": {"x": NaN}, "result": {}}',
        '{"traffic": {"sent_bytes": 1, "received_bytes": 1}, "seconds": {}, "result": 5}',
        None,
    ],
)
def test_a_summary_that_cannot_be_read_is_its_partys_fault(released, tmp_path, text):
    path = released["b"] / SUMMARY
    path.write_text(text) if text is not None else path.unlink()
    with pytest.raises(PeerFaultError, match="b: released no summary"):
        assemble(parse_job(TEXT, {}), released, tmp_path)


def test_an_array_in_place_of_a_jobs_digest_is_the_peers_fault():
    job = parse_job(TEXT, {})

    def cheat(channel):
        with channel.step("agree"):
            channel.send("a", np.arange(3))

    with pytest.raises(PeerFaultError, match="b: was given another job"):
        run_parties({"a": lambda channel: agree(channel, job), "b": cheat})


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (["the digest, as version 1 sends it"], 1),
        ([2, "digest", "head"], 2),
        ([3, "digest", "head", b"nonce", []], 3),
        ([4, "digest", "head", b"nonce", [], []], 4),
        ([WIRE + 1, "later", "x", "y"], WIRE + 1),
    ],
)
def test_a_peer_of_another_wire_version_is_named_with_both_versions(message, version):
    job = parse_job(TEXT, {})

    def other(channel):
        with channel.step("agree"):
            channel.send("a", *message)

    with pytest.raises(PeerLostError, match=f"b: speaks version {version} .* version {WIRE}"):
        run_parties({"a": lambda channel: agree(channel, job), "b": other})


def test_parties_give_each_other_the_heads_of_their_audit_logs():
    job = parse_job(TEXT, {})
    heads = {name: name * 64 for name in "ab"}
    found = run_parties(
        {n: lambda channel, head=head: agree(channel, job, head) for n, head in heads.items()}
    )
    told = {name: heads for name, (heads, _) in found.items()}
    assert told == {"a": {"b": heads["b"]}, "b": {"a": heads["a"]}}


@pytest.mark.parametrize("forbids", [(), ("a",), ("a", "b"), ("a", "b", "c")])
def test_transfers_are_silent_if_every_party_permits_it(forbids):
    job = parse_job(TEXT.replace("{a: {}, b: {}", "{a: {}, b: {}, c: {}"), {})

    def party(channel):
        agree(channel, job, silent=channel.me not in forbids)
        return channel.silent

    found = run_parties(dict.fromkeys(job.party_names, party))
    assert set(found.values()) == {not set(forbids) & set(job.party_names)}


@pytest.mark.parametrize("told", [2, -1, "yes", None])
def test_another_word_about_silent_transfers_is_the_peers_fault(told):
    job = parse_job(TEXT, {})

    def other(channel):
        honest = channel.broadcast
        channel.broadcast = lambda *values: honest(
            *(values if len(values) < 7 else (*values[:6], [] if told is None else told))
        )
        agree(channel, job)

    with pytest.raises(PeerFaultError, match="b: sent no word whether it permits silent"):
        run_parties({"a": lambda channel: agree(channel, job), "b": other})


def test_something_else_than_a_head_is_the_peers_fault():
    job = parse_job(TEXT, {})
    with pytest.raises(PeerFaultError, match="something else than the head"):
        run_parties({n: lambda c, h=h: agree(c, job, h) for n, h in {"a": "", "b": "x\n"}.items()})


def test_parties_that_were_given_different_jobs_do_not_begin(tmp_path):
    def party(name, text):
        space = Workspace(tmp_path / name)
        space.create()
        return lambda channel: run_party(
            parse_job(text, {}), None, channel._transport, "s", Random(name), space
        )

    with pytest.raises(PeerFaultError, match="was given another job than this party") as caught:
        run_parties({"a": party("a", TEXT), "b": party("b", TEXT + "# other\n")})
    assert caught.value.step == "agree"


def test_a_lost_peer_is_named_with_the_step(tmp_path):
    network = MemoryNetwork(["a", "b"])
    network.leave("b", "is gone")
    space = Workspace(tmp_path / "a")
    space.create()
    with pytest.raises(PeerLostError) as caught:
        run_party(parse_job(TEXT, {}), None, network.transport("a"), "s", Random(1), space)
    assert (caught.value.peer, caught.value.step) == ("b", "agree")


def test_the_result_lists_what_was_opened_as_all_parties_together_know(released, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    opened = assemble(parse_job(TEXT, {}), released, out)["opened"]
    [digest] = [entry for entry in opened if entry["what"] == "job: digest of the job"]
    assert (digest["to"], digest["times"]) == (["a", "b"], 1)
    assert digest["meaning"].startswith("The digest")
    [summary] = [entry for entry in opened if entry["what"] == "job: summary"]
    assert summary["to"] == ["the coordinator"]
    kept = json.loads((released["a"].parent / "kept" / "opened.json").read_text())
    assert {entry["what"] for entry in kept} == {entry["what"] for entry in opened}


def test_a_party_that_lists_impossible_openings_is_named(released, tmp_path):
    path = released["b"] / SUMMARY
    summary = json.loads(path.read_text())
    summary["opened"].append({"what": "job: nothing", "to": ["a"], "times": 1})
    path.write_text(json.dumps(summary))
    with pytest.raises(PeerFaultError, match=r"b: .*openings that cannot be"):
        assemble(parse_job(TEXT, {}), released, tmp_path)


def test_what_was_opened_stays_with_the_party_when_the_job_fails(tmp_path):
    job = parse_job(TEXT, {})
    space = Workspace(tmp_path / "a")
    space.create()

    def lonely(channel):
        with pytest.raises(PeerLostError):
            run_party(job, None, channel._transport, "s", Random("a"), space)

    run_parties({"a": lonely, "b": lambda channel: None})
    kept = json.loads((space.kept / "opened.json").read_text())
    assert [entry["what"] for entry in kept] == [
        "job: progress",
        "job: digest of the job",
        "job: answers that are kept",
        "job: silent transfers",
    ]
