"""Fixtures that several rooms' tests use.

Each imports what it needs when a test asks for it: servers and coordinators take longer to import
than most tests take, and the tests of the lower rooms need neither.
"""

import pytest
from hypothesis import HealthCheck, settings

from tests import cores, durations

# What a test says must not depend on how busy the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

JOB = """\
kind: intersect
name: pilot
parties:
  lender: {address: "127.0.0.1:1", data: lender.csv}
  bank: {address: "127.0.0.1:2", data: bank.csv}
  card: {address: "127.0.0.1:3", data: card.csv}
id: ID
"""


# What starts servers of its own, or needs a browser or a database, is long.
_REAL = {"houses", "organisations", "own_organisations", "network", "browser", "postgresql"}


def pytest_configure(config):
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        cores.stay_on(int(worker["workerid"].removeprefix("gw")))


def pytest_collection_modifyitems(items):
    """Puts long files first, and leaves what is long to `make guard`."""
    durations.longest_first(items)
    longest = durations.longest()
    for item in items:
        real = _REAL & set(getattr(item, "fixturenames", ()))
        if real or item.get_closest_marker("slow") or durations.file_of(item.nodeid) in longest:
            item.add_marker("guard")


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """Runs of tests are not in the list of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COTERIE_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def job(tmp_path):
    """A small job of three CSV files with the people 3, 4 and 5 in common."""
    (tmp_path / "lender.csv").write_text("ID,Sex\n" + "".join(f"{n},F\n" for n in (5, 1, 3, 4)))
    (tmp_path / "bank.csv").write_text("ID,Job\n" + "".join(f"{n},x\n" for n in (2, 3, 4, 5)))
    (tmp_path / "card.csv").write_text("ID,Late\n" + "".join(f"{n},0\n" for n in (6, 4, 3, 5, 1)))
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    return path


@pytest.fixture(scope="module")
def organisations(tmp_path_factory):
    """Three real servers, for tests that leave them as they are."""
    from tests.coordinator.support import Organisations

    made = Organisations(tmp_path_factory.mktemp("organisations"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture
def own_organisations(tmp_path):
    """Three organisations whose servers a test starts, breaks and edits itself."""
    from tests.coordinator.support import Organisations

    made = Organisations(tmp_path / "organisations")
    yield made
    made.stop()


@pytest.fixture
def houses(tmp_path):
    """Three organisations with party files and certificates; no server runs yet."""
    from tests.party.houses import Houses

    made = Houses(tmp_path)
    with made.stack:
        yield made


@pytest.fixture
def network(tmp_path):
    """Three parties that know each other, in this process."""
    from tests.transport.links import GrpcNetwork

    made = GrpcNetwork(tmp_path)
    yield made
    made.close()


@pytest.fixture
def clock(network):
    """The time of the network's sessions, in which a deadline passes when a test lets it pass."""
    from tests.transport.links import Clock

    made = Clock()
    for node in network.nodes.values():
        node.clock = made
    return made
