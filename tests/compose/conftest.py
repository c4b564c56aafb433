import pytest

from tests import ROOT
from tests.compose.engine import IMAGE, docker, engine_answers


@pytest.fixture(scope="session")
def image():
    if not engine_answers():
        pytest.fail("no container engine answers")
    docker("build", "-q", "-t", IMAGE, str(ROOT), timeout=900)
    return IMAGE
