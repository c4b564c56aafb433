"""A server that lies about its share of what is opened: no honest party tells the number on.

The server keeps to the protocol, but adds a chosen number to its share, before the circuit that decides
what is shown, when it is opened, or both; no comparison of messages can find that. What the promise of
the job excludes ends the job at every honest party, and the error, which others read, has no number.
"""

import re

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import PeerError, PeerFaultError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.kinds.rules.counting import Counting
from coterie.jobs.run.party_run import EXCLUDED, SUMMARY, run_party
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

N = 120
LIAR = "bank"
HEAD = "name: lie\nparties: {bank: {}, clinic: {}, shop: {}}\nid: ID\nservers: [bank, clinic]\n"
COLUMNS = (
    "attributes:\n  Job: {party: bank, values: [x, y]}\n  Sex: {party: clinic, values: [f, m]}\n"
    "  Late: {party: shop, values: ['0', '1']}\n"
)
NUMBERS = (
    "attributes:\n  Job: {party: bank, values: [x, y]}\n  Sex: {party: clinic, values: [f, m]}\n"
    "  Pay: {party: shop, range: [0, 100]}\n"
)
POINTS = (
    "attributes:\n  Age: {party: bank, range: [0, 100]}\n  Pay: {party: shop, range: [0, 100]}\n"
)

# The job, and what the liar adds to its share before the circuits and at the opening.
CASES = {
    "count, every cell lifted by the minimum": (
        f"kind: count\n{COLUMNS}tables: [[Sex, Job]]\nminimum: 5\n", 5, 5),
    "count, more than all records": (
        f"kind: count\n{COLUMNS}tables: [[Sex, Job]]\nminimum: 5\n", 0, 1000),
    "count, fewer than none": (
        f"kind: count\n{COLUMNS}tables: [[Sex, Job]]\nminimum: 5\n", 0, -1000),
    "count, tables that do not fit each other": (
        f"kind: count\n{COLUMNS}tables: [[Sex, Job], [Sex, Late]]\nminimum: 5\n", 0, 1),
    "count with a minimum of 1": (
        f"kind: count\n{COLUMNS}tables: [[Sex, Job]]\nminimum: 1\n", 0, 1),
    "bayesnet": (
        f"kind: bayesnet\n{COLUMNS}max_parents: 1\nparameters: true\nminimum: 5\n", 0, 1000),
    "tree": (
        f"kind: tree\nclass: Class\n{COLUMNS}max_depth: 1\nminimum: 5\nshow: [records]\n", 0, 1),
    "aggregate, numbers of records": (
        f"kind: aggregate\n{NUMBERS}by: [Sex]\nmeasures: [{{count: true}}]\nminimum: 5\n", 0, 1000),
    "aggregate, sums": (
        f"kind: aggregate\n{NUMBERS}by: [Sex]\nmeasures: [{{sum: Pay}}]\nminimum: 5\n", 0, 1 << 50),
    "cluster": (
        f"kind: cluster\n{POINTS}clusters: 2\niterations: 2\nminimum: 5\n", 0, 1000),
    "rules": (f"kind: rules\n{COLUMNS}support: 0.1\nconfidence: 0.6\nminimum: 5\n", 1 << 20, 0),
}  # fmt: skip


def people():
    rng = np.random.default_rng(3)
    ids = [f"p{at:03}" for at in range(N)]
    job, label = rng.choice(["x", "y"], N), rng.choice(["n", "y"], N)
    return {
        "bank": {"ID": ids, "Job": job, "Age": rng.integers(0, 100, N).astype(str), "Class": label},
        "clinic": {"ID": ids, "Sex": np.where(rng.random(N) < 0.8, np.where(label == "y", "f", "m"), "f")},
        "shop": {"ID": ids, "Late": rng.choice(["0", "1"], N), "Pay": rng.integers(0, 100, N).astype(str)},
    }  # fmt: skip


def lying(monkeypatch, before, opened):
    """The liar's share is another one before circuits, and when it is opened."""

    def moved(share, by):
        return None if share is None else share + np.array(by).astype(share.dtype)

    large, added, vertical = HiddenCounts.large, HiddenCounts.added, Counting.vertical

    def false_large(self, share, *rest, **more):
        by = before if self.channel.me == LIAR else 0
        return large(self, moved(share, by), *rest, **more)

    def false_added(self, share, *rest, **more):
        by = opened if self.channel.me == LIAR else 0
        return added(self, moved(share, by), *rest, **more)

    def false_vertical(self, candidates):
        by = before if self._channel.me == LIAR else 0
        return moved(vertical(self, candidates), by)

    monkeypatch.setattr(HiddenCounts, "large", false_large)
    monkeypatch.setattr(HiddenCounts, "added", false_added)
    monkeypatch.setattr(Counting, "vertical", false_vertical)


def errors_of(text, folder):
    """Runs the job in memory; what ended it at each party, and their workspaces."""
    job = parse_job(text, {})
    spaces, errors = {}, {}

    def party(name):
        wanted = KINDS[job.kind].needs(job, name)
        table = pa.table(
            {c: v for c, v in people()[name].items() if c in {*wanted.read, *wanted.optional}}
        )
        prepared = KINDS[job.kind].prepare(job, name, table, f"{name}.csv")
        spaces[name] = Workspace(folder / name)
        spaces[name].create()

        def work(channel):
            try:
                run_party(job, prepared, channel._transport, "s", Random(name), spaces[name])
            except PeerError as error:
                errors[name] = error
                raise

        return work

    run_parties({name: party(name) for name in job.party_names})
    return errors, spaces


@pytest.mark.parametrize("name", CASES)
def test_a_false_share_ends_the_job_before_anything_is_told_on(name, tmp_path, monkeypatch):
    text, before, opened = CASES[name]
    errors_of(HEAD + text, tmp_path / "honest")
    lying(monkeypatch, before, opened)
    with pytest.raises(PeerFaultError, match="that the job's promise excludes") as caught:
        errors_of(HEAD + text, tmp_path / "lied")
    assert caught.value.peer in ("bank", "clinic")
    assert not re.search(r"\d", str(caught.value))
    for honest in ("clinic", "shop"):
        folder = tmp_path / "lied" / honest
        assert not list(folder.rglob(SUMMARY))
        assert list(folder.rglob(EXCLUDED))


def test_a_party_that_is_no_server_names_both(tmp_path, monkeypatch):
    text, before, opened = CASES["count, more than all records"]
    lying(monkeypatch, before, opened)
    found = {}
    original = run_party

    def noted(job, prepared, transport, *rest):
        try:
            return original(job, prepared, transport, *rest)
        except PeerFaultError as error:
            found[transport.me] = str(error)
            raise

    monkeypatch.setattr("tests.bad_peers.test_shares.run_party", noted)
    with pytest.raises(PeerFaultError):
        errors_of(HEAD + text, tmp_path)
    assert found["shop"].startswith("bank: opened a number, or clinic did, that")
    assert found["clinic"].startswith("bank: opened a number that")
