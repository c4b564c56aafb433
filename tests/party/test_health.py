"""The health service answers who asks, and nobody can hold it up by watching."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc


@pytest.fixture
def stub(houses):
    houses.serve("bank")
    channel = houses.authority.identity("lender").connect(
        "bank", f"127.0.0.1:{houses.ports['bank']}"
    )
    houses.stack.callback(channel.close)
    return health_pb2_grpc.HealthStub(channel)


def test_it_serves_the_services_it_knows(stub):
    for name in ("", "coterie.v1.Jobs"):
        assert stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=60).status == 1
    with pytest.raises(grpc.RpcError, match="no service of this name"):
        stub.Check(health_pb2.HealthCheckRequest(service="other"), timeout=60)


def test_watching_is_not_offered(stub):
    with pytest.raises(grpc.RpcError) as caught:
        next(stub.Watch(health_pb2.HealthCheckRequest(), timeout=60))
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
