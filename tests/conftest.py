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


def pytest_configure(config):
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        cores.stay_on(int(worker["workerid"].removeprefix("gw")))
        _measure_once(config)


def _measure_once(config):
    """Ends the first of the two measurements that pytest-cov begins in a process of its own.

    It would go on during the tests that coverage is to look away from.
    """
    plugin = config.pluginmanager.get_plugin("_cov")
    if plugin is not None and plugin.cov_controller is not None:
        plugin.cov_controller.cov.stop()


def pytest_collection_modifyitems(items):
    """Puts long files first, and has coverage look away from tests that repeat others' lines.

    Tracing costs a third of the time of a test. Slow tests, those with generated inputs, those of the
    longest files and all but the first case of a test go through the same lines again and again,
    nearly all of which other tests reach, too.
    """
    durations.longest_first(items)
    longest = durations.longest()
    seen = set()
    for item in items:
        generated = hasattr(getattr(item, "obj", None), "hypothesis")
        test = item.nodeid.partition("[")[0]
        if (
            generated
            or test in seen
            or item.get_closest_marker("slow")
            or durations.file_of(item.nodeid) in longest
        ):
            item.add_marker("no_cover")
        seen.add(test)


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
