"""What a party tells of itself: Describe, and the standard health and reflection services."""

import json

import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from coterie.party.answers import ASK
from coterie.protos import jobs_pb2 as pb
from tests.party.served import change


def describe(houses, job="", caller="analyst"):
    request = pb.DescribeRequest(job_yaml=job)
    return houses.stub(caller, "bank").Describe(request, timeout=60)


def test_describe_says_who_the_party_is_and_checks_a_job(houses):
    houses.serve("bank")
    plain = describe(houses)
    assert plain.party == "bank"
    assert plain.version
    assert plain.unix_time > 1.7e9
    assert not plain.checks
    checks = describe(houses, houses.job()).checks
    assert [(c.name, c.ok) for c in checks] == [
        ("coordinator", True),
        ("job", True),
        ("policy", True),
        ("data", True),
    ]
    assert checks[-1].detail == f"20 records; {ASK}"
    assert not (houses.state("bank") / "jobs").exists()  # nothing was proposed


def test_each_look_at_the_data_is_in_the_audit_log(houses):
    """Whoever asks about many jobs, each with another range, finds values out by the answers."""
    houses.serve("bank")
    log = houses.state("bank") / "audit.log"

    def looks():
        entries = map(json.loads, log.read_text().splitlines())
        return [(e["by"], e["kind"]) for e in entries if e["event"] == "examined"]

    describe(houses)
    describe(houses, houses.job(), "stranger")
    describe(houses, change(houses.job(), id="SSN"))
    assert looks() == []  # the data was not looked at
    describe(houses, houses.job())
    describe(houses, houses.job())
    assert looks() == [("analyst", "intersect")] * 2


def test_describe_stops_at_the_first_check_that_fails(houses):
    houses.people("bank", ["p1", "p1"])
    houses.serve("bank")
    for job, caller, last in (
        (houses.job(), "stranger", "coordinator"),
        ("nonsense", "analyst", "job"),
        (change(houses.job(), id="SSN"), "analyst", "policy"),
        (houses.job(), "analyst", "data"),
    ):
        checks = describe(houses, job, caller).checks
        assert checks[-1].name == last
        assert [c.ok for c in checks] == [True] * (len(checks) - 1) + [False]


def test_the_standard_health_and_reflection_services_answer(houses):
    houses.write("bank", reflection=True)
    houses.serve("bank")
    channel = houses.authority.identity("analyst").connect(
        "bank", f"127.0.0.1:{houses.ports['bank']}"
    )
    stub = health_pb2_grpc.HealthStub(channel)
    for service in ("", "coterie.v1.Jobs"):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=60)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    [answer] = reflection.ServerReflectionInfo(iter([request]), timeout=60)
    names = {service.name for service in answer.list_services_response.service}
    assert {"coterie.v1.Jobs", "coterie.v1.Peers", "grpc.health.v1.Health"} <= names
    channel.close()


@pytest.mark.parametrize("explain", ["columns", "rows"])
def test_a_coordinator_hears_which_rule_would_help_if_the_policy_permits_it(houses, explain):
    houses.people("bank", ["p1", "p2 ", "p3 "])
    content = yaml.safe_load(houses.path("bank").read_text())
    content["policy"]["explain"] = explain
    houses.path("bank").write_text(yaml.safe_dump(content, sort_keys=False))
    houses.serve("bank")
    detail = describe(houses, houses.job()).checks[-1].detail
    told = {
        "columns": ASK,
        "rows": "column 'ID': 2 values have white space at an end; "
        "'normalise: {ID: [trim]}' would mend it",
    }
    assert detail == f"3 records; {told[explain]}"
