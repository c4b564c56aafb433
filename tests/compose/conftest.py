import fcntl
import tempfile
from pathlib import Path

import pytest

from tests import ROOT
from tests.compose.engine import IMAGE, docker, engine_answers


@pytest.fixture(scope="session")
def image():
    """The image of this tree. Tests run beside each other; the first of them builds it."""
    if not engine_answers():
        pytest.fail("no container engine answers")
    with Path(tempfile.gettempdir(), "coterie-compose-test.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        docker("build", "-q", "-t", IMAGE, str(ROOT), timeout=900)
    return IMAGE
