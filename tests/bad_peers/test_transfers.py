"""A party that deviates in oblivious transfers, in jobs of several kinds: it is named, and nothing is told.

Before transfers were checked, the first of these lies gave all bits of the other side's secret in one
count, and with it every hidden count; the job ended normally.
"""

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.jobs.run.party_run import SUMMARY
from coterie.protocols.primitives.local_code import Size
from coterie.protocols.transfer import punctured_leaves, silent
from coterie.protocols.transfer.silent import ChooserTransfers, HolderTransfers
from coterie.protocols.transfer.small_field import ChooserRows
from tests.bad_peers.test_shares import COLUMNS, HEAD, NUMBERS, POINTS, errors_of

# Each job, and a party that is the receiver of transfers in it.
JOBS = {
    "count": (f"kind: count\n{COLUMNS}tables: [[Sex, Job]]\nminimum: 5\n", "clinic"),
    "tree": (f"kind: tree\nclass: Class\n{COLUMNS}max_depth: 1\nminimum: 5\n", "clinic"),
    "aggregate": (
        f"kind: aggregate\n{NUMBERS}by: [Job]\nmeasures: [{{sum: Pay}}]\nminimum: 5\n",
        "bank",
    ),
    "cluster": (f"kind: cluster\n{POINTS}clusters: 2\niterations: 1\nminimum: 5\n", "bank"),
}


def false_corrections(monkeypatch, liar):
    """Another choice in every tree, one row each: a hash of the row tells four bits of the secret."""
    honest = ChooserRows._factors

    def factors(self, corrections, rows):
        if self._channel.me == liar:
            errors = np.eye(31, 8 * corrections.shape[1], dtype=np.uint8)
            corrections ^= np.packbits(errors, axis=1, bitorder="little")
        return honest(self, corrections, rows)

    monkeypatch.setattr(ChooserRows, "_factors", factors)


def false_bits(monkeypatch, liar):
    """The rows' own sums in the check, other bits beside them."""
    honest = ChooserRows._fill

    def fill(self, wanted):
        send = self._channel.send

        def other(peer, corrections, check):
            check = check.copy()
            check[0] ^= np.uint64(1)
            send(peer, corrections, check)

        if self._channel.me == liar:
            self._channel.send = other
        honest(self, wanted)
        self._channel.__dict__.pop("send", None)

    monkeypatch.setattr(ChooserRows, "_fill", fill)


def false_sums(monkeypatch, liar):
    """Sums of one side of every tree that show by an error where the other's secret is."""
    honest = punctured_leaves.own_leaves

    def own_leaves(channel, peer, rng):
        send = channel.send

        def other(to, *values):
            if len(values) == 3:
                values = (values[0] ^ np.array([[1], [0]], np.uint8), *values[1:])
            send(to, *values)

        if channel.me == liar:
            channel.send = other
        found = honest(channel, peer, rng)
        channel.__dict__.pop("send", None)
        return found

    monkeypatch.setattr("coterie.protocols.transfer.small_field.own_leaves", own_leaves)


LIES = {
    false_corrections: "inconsistent corrections of transfers",
    false_bits: "inconsistent corrections of transfers",
    false_sums: "inconsistent trees for the transfers",
}


@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_party_that_cheats_in_transfers_is_named(kind, lie, tmp_path, monkeypatch):
    text, liar = JOBS[kind]
    lie(monkeypatch, liar)
    with pytest.raises(PeerFaultError, match=f"{liar}: sent {LIES[lie]}"):
        errors_of(HEAD + text, tmp_path)
    for honest in {"bank", "clinic", "shop"} - {liar}:
        assert not list((tmp_path / honest).rglob(SUMMARY))


# Silent transfers. The holder of each job's transfers sends blocks and a digest in each round, the
# chooser a seed and a check value.
HOLDERS = {"count": "bank", "tree": "bank"}


def lie_in(monkeypatch, role, liar, number, change):
    """The liar changes the message of this number of every silent round."""
    honest = role._leaves

    def leaves(self, *inputs):
        send, messages = self._channel.send, iter(range(9))

        def other(peer, value):
            send(peer, change(value) if next(messages) == number else value)

        if self._channel.me == liar:
            self._channel.send = other
        found = honest(self, *inputs)
        self._channel.__dict__.pop("send", None)
        return found

    monkeypatch.setattr(role, "_leaves", leaves)


def false_block(blocks):
    """One level of one tree, so that the path of one place shows."""
    return blocks ^ (np.arange(blocks.size).reshape(blocks.shape) == 4).astype(np.uint64)


SILENT_LIES = {
    "false block": (HolderTransfers, 0, false_block, "inconsistent trees for silent"),
    "fewer trees": (HolderTransfers, 0, lambda b: b[1:], "no sums of the trees of silent"),
    "false digest": (HolderTransfers, 1, lambda d: d[::-1], "inconsistent trees for silent"),
    "no digest": (HolderTransfers, 1, lambda d: d[1:], "no digest of the check of silent"),
    "short seed": (ChooserTransfers, 0, lambda s: s[1:], "no seed of silent transfers"),
    "no check value": (ChooserTransfers, 1, lambda x: x[1:], "no check value of silent"),
}


@pytest.fixture
def all_silent(monkeypatch):
    monkeypatch.setattr(silent, "FEWEST", 1)
    monkeypatch.setattr(silent, "FIRST", Size(3, 320))
    monkeypatch.setattr(silent, "LATER", Size(4, 160))


@pytest.mark.usefixtures("all_silent")
@pytest.mark.parametrize("kind", HOLDERS)
@pytest.mark.parametrize("lie", SILENT_LIES)
def test_a_party_that_cheats_in_silent_transfers_is_named(kind, lie, tmp_path, monkeypatch):
    role, number, change, fault = SILENT_LIES[lie]
    liar = HOLDERS[kind] if role is HolderTransfers else JOBS[kind][1]
    lie_in(monkeypatch, role, liar, number, change)
    with pytest.raises(PeerFaultError, match=f"{liar}: sent {fault}"):
        errors_of(HEAD + JOBS[kind][0], tmp_path)
    for honest in {"bank", "clinic", "shop"} - {liar}:
        assert not list((tmp_path / honest).rglob(SUMMARY))


@pytest.mark.usefixtures("all_silent")
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_party_that_cheats_in_the_start_of_silent_transfers_is_named(lie, tmp_path, monkeypatch):
    text, liar = JOBS["count"]
    lie(monkeypatch, liar)
    with pytest.raises(PeerFaultError, match=f"{liar}: sent {LIES[lie]}"):
        errors_of(HEAD + text, tmp_path)
