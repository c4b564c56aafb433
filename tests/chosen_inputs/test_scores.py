"""A partner that writes the class reads no column that the release does not show out of scores."""

import csv
import itertools
import math

import pytest

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.protocols.integration import scores

JOB = """\
kind: integrate
name: labels
parties: {lender: {data: lender.csv}, bank: {data: bank.csv}}
id: ID
class: Label
attributes:
  Own: {party: lender, taxonomy: own.csv}
  Ill: {party: bank, taxonomy: ill.csv}
requirement: [{qid: [Own, Ill], k: 5}]
"""
PEOPLE = range(20)
OWN = ["a" if at < 10 else "b" for at in PEOPLE]
ILL = ["yes" if at < 8 or at >= 18 else "no" for at in PEOPLE]
TARGETS = (0, 10)  # each has a label of its own; all others have that of the lender's column
LABELS = [f"target {at}" if at in TARGETS else OWN[at] for at in PEOPLE]


def seen_by_the_lender(folder, monkeypatch, keys=""):
    """The scores that the bank tells the lender, and what the release shows of the bank's column."""
    heard = []
    true = scores.announced_keys

    def noted(channel, key):
        found = true(channel, key)
        if channel.me == "lender" and found["bank"]:
            heard.append(found["bank"] >> 16)
        return found

    monkeypatch.setattr(scores, "announced_keys", noted)
    tables = {"lender": {"Own": OWN, "Label": LABELS}, "bank": {"Ill": ILL}}
    for name, columns in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["ID", *columns])
            writer.writerows(zip((f"p{at}" for at in PEOPLE), *columns.values(), strict=True))
    (folder / "own.csv").write_text("a;Any\nb;Any\n")
    (folder / "ill.csv").write_text("yes;Any\nno;Any\n")
    (folder / "job.yaml").write_text(JOB + keys)
    (folder / "out").mkdir()
    simulate(load_job(folder / "job.yaml"), folder, folder / "out", seed="1")
    with (folder / "out" / "release.csv").open(newline="") as file:
        return heard, {row["Ill"] for row in csv.DictReader(file)}


def entropy(counts):
    return -sum(n / sum(counts) * math.log2(n / sum(counts)) for n in counts if n)


def score_of(side):
    """The gain ratio of a division of the 9 + 9 + 1 + 1 people by label, of whom so many are ill."""
    whole = (9, 9, 1, 1)
    other = tuple(all_ - one for all_, one in zip(whole, side, strict=True))
    parts = [part for part in (side, other) if sum(part)]
    gain = entropy(whole) - sum(sum(part) / 20 * entropy(part) for part in parts)
    split = entropy([sum(part) for part in parts])
    return round((gain / split if split else gain) * 2**30)


def told(heard):
    """What every table that gives these scores says of the targets: whether both are ill or well."""
    counts = itertools.product(range(10), range(10), (0, 1), (0, 1))
    return {side[2] == side[3] for side in counts if all(score_of(side) == one for one in heard)}


@pytest.mark.parametrize("keys", ["", "hide_scores: true\n"])
def test_a_class_that_a_partner_writes_reads_no_losing_column(tmp_path, monkeypatch, keys):
    heard, shown = seen_by_the_lender(tmp_path, monkeypatch, keys)
    assert shown == {"Any"}
    assert told(heard) == {True, False}


def test_open_scores_tell_what_the_permission_says(tmp_path, monkeypatch):
    """The rule is not for nothing: the release shows nothing of the column, and one score does."""
    heard, shown = seen_by_the_lender(tmp_path, monkeypatch, "hide_scores: false\n")
    assert shown == {"Any"}
    assert told(heard[:1]) == {ILL[0] == ILL[10]} == {False}
