import pytest

from tests.party.houses import Houses
from tests.party.links import HASTY, GrpcNetwork


@pytest.fixture
def houses(tmp_path):
    """Three organisations with party files and certificates; no server runs yet."""
    made = Houses(tmp_path)
    with made.stack:
        yield made


@pytest.fixture
def network(tmp_path):
    """Three parties that know each other, in this process."""
    made = GrpcNetwork(tmp_path)
    yield made
    made.close()


@pytest.fixture
def hasty(network):
    """The network with a short deadline."""
    for node in network.nodes.values():
        node.heartbeat = HASTY
    return network
