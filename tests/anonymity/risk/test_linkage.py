"""The linkage attack on the chapter's tables, and against plain matching."""

import numpy as np
import pytest

from coterie.anonymity.models.audit import Released
from coterie.anonymity.risk.linkage import link, matches
from coterie.anonymity.table.taxonomy import taxonomy_of

PLACES = taxonomy_of(
    [["Rome", "Italy", "Europe"], ["Milan", "Italy", "Europe"], ["Bonn", "Germany", "Europe"]]
)


def column(values):
    names = tuple(dict.fromkeys(values))
    return Released(np.array([names.index(v) for v in values], np.int64), names)


@pytest.mark.parametrize(
    ("shown", "known", "fits"),
    [
        ("23", "23", True), ("23", "23.0", True), ("23", "24", False),
        ("[20, 30)", "20", True), ("[20, 30)", "30", False), ("[20, 30]", "30", True),
        ("[-10, -5)", "-7.5", True),
        ("[1971-03-13, 1980-01-01)", "1975-06-01", True),
        ("[1971-03-13, 1980-01-01)", "1980-01-01", False),
        ("Italy", "Rome", True), ("Italy", "Bonn", False), ("Europe", "Bonn", True),
        ("Rome", "Rome", True), ("Italy", "Paris", False),
        ("*", "anything", True), ("?", "Rome", True), ("Rome", "", True), ("Rome", "?", True),
        ("[20, 30)", "nan", False),
    ],
)  # fmt: skip
def test_what_a_released_value_matches(shown, known, fits):
    assert matches([shown], [known], PLACES)[0, 0] == fits


def test_candidates_rivals_and_shares_are_those_of_plain_matching():
    rng = np.random.default_rng(4)
    ages = ["[20, 30)", "[30, 40]", "*"]
    places = ["Rome", "Italy", "Germany", "Europe"]
    ill = ["flu", "cold", "gout"]
    release = [
        (ages[rng.integers(3)], places[rng.integers(4)], ill[rng.integers(3)]) for _ in range(60)
    ]
    people = [(str(rng.integers(20, 41)), PLACES.leaves[rng.integers(3)]) for _ in range(25)]
    found = link(
        {
            n: column(c)
            for n, c in zip(("age", "place", "ill"), zip(*release, strict=True), strict=True)
        },
        {n: column(c) for n, c in zip(("age", "place"), zip(*people, strict=True), strict=True)},
        {"place": PLACES},
        ["ill"],
    )
    under = {
        "Rome": {"Rome"},
        "Italy": {"Rome", "Milan"},
        "Germany": {"Bonn"},
        "Europe": set(PLACES.leaves),
    }

    def fits(record, person):
        age = int(person[0])
        low, high = {"[20, 30)": (20, 29), "[30, 40]": (30, 40), "*": (0, 99)}[record[0]]
        return low <= age <= high and person[1] in under[record[1]]

    for at, person in enumerate(people):
        own = [record for record in release if fits(record, person)]
        assert found.candidates[at] == len(own)
        rivals = [sum(fits(record, other) for other in people) for record in own]
        assert found.rivals[at] == max(rivals, default=0)
        shares = (
            {v: sum(r[2] == v for r in own) / len(own) for v in ill if any(r[2] == v for r in own)}
            if own
            else None
        )
        assert (found.inferred[at].get("ill") if own else None) == pytest.approx(shares)


def test_the_work_may_be_done_in_parts(monkeypatch):
    from coterie.anonymity.risk import linkage

    release = {"a": column(["1", "2", "[1, 3)"]), "s": column(["x", "y", "x"])}
    people = {"a": column(["1", "2", "9"])}
    whole = link(release, people, {}, ["s"])
    monkeypatch.setattr(linkage, "_WORK", 1)
    parts = link(release, people, {}, ["s"])
    assert whole.candidates.tolist() == parts.candidates.tolist() == [2, 2, 0]
    assert whole.inferred == parts.inferred == [{"s": {"x": 1.0}}, {"s": {"x": 0.5, "y": 0.5}}, {}]
