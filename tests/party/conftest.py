import pytest

from tests.party.houses import Houses


@pytest.fixture
def houses(tmp_path):
    """Three organisations with party files and certificates; no server runs yet."""
    made = Houses(tmp_path)
    with made.stack:
        yield made
