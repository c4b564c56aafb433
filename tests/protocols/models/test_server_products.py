"""Products of parties' columns by numbers that servers share, beside plain arithmetic."""

import numpy as np

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.server_products import ServerProducts
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers

NAMES, SERVERS = ["a", "b", "c"], ("b", "a")
HELD = {"a": 2, "b": 0, "c": 1}
N = 7
SMALL = 1 << 40


def test_products_add_up_whoever_holds_the_columns():
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(-1000, 1000, (N, width)) for name, width in HELD.items()}
    shares = {s: rng.integers(0, 1 << 63, N).astype(np.uint64) * np.uint64(2) for s in SERVERS}
    weights = {s: rng.integers(0, 1 << 63, 3).astype(np.uint64) for s in SERVERS}

    def party(channel):
        me = channel.me
        transfers = Transfers(channel, Random(me))
        products = ServerProducts(transfers, NAMES, SERVERS, HELD, Random(f"{me} moved"))
        found = {}
        for holder in ("a", "c"):
            mine = columns[me] if me == holder else None
            for summed in (True, False):
                found[holder, summed] = products.columns_by_shares(
                    holder, HELD[holder], mine, shares.get(me), summed
                )
        rows = products.rows_by_weights(columns[me], weights.get(me), N, SMALL)
        return found, rows

    found = run_same(NAMES, party)
    assert all(part is None for part in found["c"][0].values())
    assert found["c"][1] is None
    shared = sum(shares[s].astype(object) for s in SERVERS)
    for holder in ("a", "c"):
        due = columns[holder].astype(object) * shared[:, None] % (1 << 64)
        each = [found[s][0][holder, False].astype(object).reshape(due.shape) for s in SERVERS]
        assert ((each[0] + each[1]) % (1 << 64) == due).all()
        sums = [found[s][0][holder, True].astype(object) for s in SERVERS]
        assert ((sums[0] + sums[1]) % (1 << 64) == due.sum(axis=0) % (1 << 64)).all()
    whole = np.concatenate([columns["a"], columns["c"]], axis=1).astype(object)
    total = sum(weights[s].astype(object) for s in SERVERS)
    rows = sum(found[s][1].astype(object) for s in SERVERS)
    assert (rows % SMALL == (whole * total).sum(axis=1) % SMALL).all()
