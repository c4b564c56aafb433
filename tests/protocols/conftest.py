"""Protocols above base transfers are tested with ideal ones."""

import pytest

from tests.protocols.transfer.ideal_transfer import ideal_transfers

# What a peer may do to the real ones, what these hide, and the bytes of a whole run are tested on the
# real ones.
REAL = {
    "tests.protocols.circuits.test_garbling",
    "tests.protocols.test_fuzzed_peers",
    "tests.protocols.test_hiding",
    "tests.protocols.test_other_types",
    "tests.protocols.transfer.test_oblivious_transfer",
}


@pytest.fixture(autouse=True, scope="module")
def base_transfers(request):
    if request.module.__name__ in REAL:
        yield
    else:
        with ideal_transfers():
            yield
