"""Who decides for a party: the worst that somebody with another key, or another's name, can try."""

import json

import grpc
import pytest

from coterie.__main__ import run
from coterie.base.errors import UsageError
from coterie.party.config import load_party
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2_grpc import JobsStub
from tests.party.houses import status

JOB = "a" * 32


@pytest.fixture
def bank(houses):
    """The bank, for which Ada and Bob decide, with a job that waits; both have certificates."""
    for person in ("ada", "bob", "eve"):
        houses.authority.issue(person)
    operators = {name: {"certificate": f"certs/{name}.crt"} for name in ("ada", "bob")}
    houses.write("bank", operators=operators, policy={"consent": "manual"})
    houses.serve("bank")
    proposal = pb.Proposal(job_id=JOB, job_yaml=houses.job())
    assert houses.stub("analyst", "bank").Propose(proposal, timeout=60).state == pb.WAITING
    return houses


def decisions(stub):
    approval = pb.Approval(job_id=JOB, yes=True, person="ada")
    return {
        "approve": lambda: stub.Approve(approval, timeout=60),
        "answer": lambda: stub.Approve(pb.Approval(job_id=JOB, about="output"), timeout=60),
        "cancel": lambda: stub.Cancel(pb.Cancellation(job_id=JOB, person="ada"), timeout=60),
        "prune": lambda: stub.Prune(pb.PruneRequest(), timeout=60),
        "remove": lambda: stub.RemoveModel(pb.ModelRef(name="m", person="ada"), timeout=60),
    }


def audit_lines(houses):
    log = (houses.state("bank") / "audit.log").read_text()
    return [json.loads(line) for line in log.splitlines()]


def refused(call):
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return status(caught)


@pytest.mark.parametrize("what", ["approve", "answer", "cancel", "prune", "remove"])
def test_the_server_s_own_key_decides_nothing_where_people_are_listed(bank, what):
    code, reason = refused(decisions(bank.stub("bank", "bank"))[what])
    assert code == grpc.StatusCode.PERMISSION_DENIED
    assert reason == (
        "only ada, bob may decide for bank (operators of the party file), not 'bank'; give your own "
        "certificate by --identity"
    )
    assert {"event": "turned away", "by": "bank"}.items() <= audit_lines(bank)[-1].items()


@pytest.mark.parametrize("caller", ["eve", "analyst", "lender"])
def test_another_certificate_of_the_authority_decides_nothing(bank, caller):
    for what in ("approve", "prune", "remove"):
        code, _ = refused(decisions(bank.stub(caller, "bank"))[what])
        assert code == grpc.StatusCode.PERMISSION_DENIED


def test_a_second_certificate_in_a_listed_name_decides_nothing(bank):
    bank.authority.issue("ada", file="forged")
    channel = bank.authority.identity("ada", "forged").connect(
        "bank", f"127.0.0.1:{bank.ports['bank']}"
    )
    code, _ = refused(decisions(JobsStub(channel))["approve"])
    channel.close()
    assert code == grpc.StatusCode.PERMISSION_DENIED


def test_what_a_person_decides_is_noted_with_the_certificate_whatever_name_is_typed(bank):
    approval = pb.Approval(job_id=JOB, yes=True, person="Bob")
    bank.stub("ada", "bank").Approve(approval, timeout=60)
    cancellation = pb.Cancellation(job_id=JOB, person="ada")
    bank.stub("bob", "bank").Cancel(cancellation, timeout=60)
    operators = load_party(bank.path("bank")).operators
    noted = [line for line in audit_lines(bank) if line["event"] in ("approved", "cancelled")]
    assert [(line["event"], line["person"]) for line in noted] == [
        ("approved", "ada"),
        ("cancelled", "bob"),
    ]
    for line in noted:
        assert {line["certificate"]} == operators[line["person"]].fingerprints


def test_the_commands_show_the_certificate_of_a_person(bank, capsys):
    config = str(bank.path("bank"))
    assert run(["party", "approve", JOB, "--config", config, "--by", "Ada"]) == 4
    assert "give your own certificate by --identity" in capsys.readouterr().err
    person = ["--identity", str(bank.folder / "certs/ada.crt")]
    assert run(["party", "approve", JOB, "--config", config, *person]) == 0
    assert run(["party", "cancel", JOB, "--config", config, *person]) == 0
    assert [line["person"] for line in audit_lines(bank) if "person" in line] == ["ada", "ada"]
    assert run(["party", "prune", "--config", config, *person]) == 0
    assert run(["party", "health", "--config", config]) == 0


def test_the_folder_of_a_stopped_server_is_open_to_whoever_can_write_it(bank, capsys):
    """As docs/party.md says: certificates are shown to a server, and there is none."""
    config = str(bank.path("bank"))
    person = ["--identity", str(bank.folder / "certs/ada.crt")]
    bank.servers.pop("bank").stop()
    assert run(["party", "approve", JOB, "--config", config, *person]) != 0
    assert run(["party", "audit", "--config", config]) == 0
    assert run(["party", "forget-history", "--config", config]) == 0
    assert run(["party", "audit", "--config", config]) == 0
    assert run(["party", "health", "--config", config]) != 0
    capsys.readouterr()
    bank.serve("bank")
    assert run(["party", "health", "--config", config]) == 0
    assert run(["party", "approve", JOB, "--config", config]) == 4
    assert run(["party", "approve", JOB, "--config", config, *person]) == 0


def test_the_server_s_own_key_still_looks_and_the_coordinator_still_cancels(bank):
    own = bank.stub("bank", "bank")
    assert [job.job_id for job in own.List(pb.ListRequest(), timeout=60).jobs] == [JOB]
    assert own.Explain(pb.JobRef(job_id=JOB), timeout=60).json
    bank.stub("analyst", "bank").Cancel(pb.Cancellation(job_id=JOB), timeout=60)
    assert own.List(pb.ListRequest(), timeout=60).jobs[0].state == pb.CANCELLED


@pytest.mark.parametrize("name", ["bank", "analyst", "lender"])
def test_nobody_approves_under_a_name_that_proposes_or_computes(houses, name):
    houses.write("bank", operators={name: {"certificate": f"certs/{name}.crt"}})
    with pytest.raises(UsageError, match=f"operators.{name}: '{name}' is the party, one of its"):
        load_party(houses.path("bank"))


def test_an_empty_list_of_operators_is_a_mistake(houses):
    houses.write("bank", operators={})
    with pytest.raises(UsageError, match="names nobody who may decide"):
        load_party(houses.path("bank"))
