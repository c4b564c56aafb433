"""A proposer that goes on with what the holder of a sensitive column has refused (`conditions: holder`)."""

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.protocols.integration.mondrian import shown_cuts
from coterie.protocols.messaging.channel import Channel
from tests.jobs.loans import JOB_FILE, SIGNS, loan_folder
from tests.papers.loans import ROWS

LIAR = "bank"
JOB = JOB_FILE.replace("k: 4}", "k: 2, sensitive: Zodiac, l: 2}").replace("k: 5", "k: 2")
# Who has one of two jobs has one sign, so that groups of these jobs are forbidden.
ZODIAC = [
    SIGNS[0] if row["Job"] in ("Carpenter", "Manager") else SIGNS[i % 5]
    for i, row in enumerate(ROWS)
]


@pytest.mark.parametrize(
    "more", ["", "method: mondrian\n", "refine: columns\n", "refine: groups\n"]
)
def test_what_a_holder_refused_is_followed_by_nobody(tmp_path, monkeypatch, more):
    path = loan_folder(tmp_path, job=f"{JOB}conditions: holder\n{more}", zodiac=ZODIAC)
    for name in ("honest", "lied"):
        (tmp_path / name).mkdir()
    simulate(load_job(path), tmp_path, tmp_path / "honest", seed="1")
    flag, flags = Channel.recv_flag, shown_cuts.told_flags

    def always(self, peer, *rest):
        return flag(self, peer, *rest) or self.me == LIAR

    def none(channel, *rest):
        told = flags(channel, *rest)
        return np.zeros_like(told) if channel.me == LIAR else told

    monkeypatch.setattr(Channel, "recv_flag", always)
    monkeypatch.setattr(shown_cuts, "told_flags", none)
    with pytest.raises(PeerFaultError, match=f"^{LIAR}: .*forbids"):
        simulate(load_job(path), tmp_path, tmp_path / "lied", seed="1")
