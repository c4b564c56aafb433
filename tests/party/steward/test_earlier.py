"""The comparison with earlier jobs, and the strictest rule, in words."""

from coterie.party.steward.earlier import earlier_lines, strictest

ONE = {
    "name": "pilot", "kind": "count", "coordinator": "analyst", "time": "2026-01-02T03:04:05Z",
    "people": 4000, "still_here": 3990, "again": ["Sex"], "other_classes": [],
}  # fmt: skip


def test_an_earlier_job_is_a_line():
    assert earlier_lines([]) == ["earlier jobs about your people: none"]
    assert earlier_lines([ONE])[1] == (
        "  pilot (count, of analyst, 2026-01-02): 4,000 people, 3,990 of them still in your table; "
        "asks again for Sex"
    )
    other = ONE | {"still_here": None, "other_classes": ["Sex"]}
    assert earlier_lines([other])[1].endswith(
        "4,000 people; asks again for Sex, in other classes for Sex"
    )
    assert earlier_lines([{"error": "no"}])[1] == "  cannot be compared: no"


def test_the_strictest_rule_leaves_the_least_room():
    rules = [
        {"rule": "kinds", "policy": ["count", "tree"], "job": "count"},
        {"rule": "smallest_k", "policy": 4, "job": 5},
        {"rule": "repeat", "policy": "k 10", "job": ["Sex"]},
    ]
    assert strictest(rules) == "smallest_k 4, and the job has 5"
    exact = [*rules[:1], {"rule": "smallest_k", "policy": 5, "job": 5}]
    assert strictest(exact) == "smallest_k 5, and the job has 5; nothing is left"
    assert strictest(rules[:1]) == "kinds, of whose 2 entries the job needs 1"
    assert strictest([]) == ""
