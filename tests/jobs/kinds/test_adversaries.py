"""Which adversary a job resists is said as its protocols are chosen."""

import pytest

from coterie.coordinator.run.doctor import examine
from coterie.jobs.kinds.adversaries import resisted
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.steward.plain_words import plain_words
from coterie.protocols.intersection.binned_store import shape_for

TWO = "parties: {a: {address: x:1}, b: {address: x:2}}\n"
THREE = "parties: {a: {address: x:1}, b: {address: x:2}, c: {address: x:3}}\n"
INTERSECT = "kind: intersect\nname: n\nid: ID\n"
COUNT = (
    "kind: count\nname: n\npartition: horizontal\nattributes: {Sex: {values: [F, M]}}\n"
    "tables: [[Sex]]\nminimum: 5\n"
)


@pytest.mark.parametrize(
    ("text", "resists"),
    [
        (INTERSECT + TWO, "malicious"),
        (INTERSECT + TWO + "protocol: oprf\n", "malicious"),
        (INTERSECT + TWO + "protocol: ring\n", "semi-honest"),
        (INTERSECT + THREE, "conspire with the one that has the fewest records"),
        (INTERSECT + THREE + "protocol: ring\n", "conspire with the one"),
        (INTERSECT + THREE + "reveal: pairwise\n", "semi-honest"),
    ],
)
def test_an_intersection_resists_what_its_protocol_does(text, resists, tmp_path):
    job = parse_job(text, {})
    [sentence] = resisted(job)
    assert resists in sentence
    assert ("malicious" in sentence) == (resists == "malicious")
    needs = KINDS["intersect"].needs(job, "a")
    assert any(sentence in told for told in plain_words(job, "a", needs, 10))
    (tmp_path / "job.yaml").write_text(text)
    checks = list(examine(tmp_path / "job.yaml", tmp_path / "nobody"))
    assert [check.detail for check in checks if check.name == "adversary"] == [sentence]


def test_what_follows_an_intersection_has_an_adversary_of_its_own():
    attributes = "attributes: {Sex: {party: a, values: [F, M]}, Job: {party: b, values: [x, y]}}\n"
    job = parse_job(
        f"kind: count\nname: n\n{TWO}id: ID\n{attributes}tables: [[Sex, Job]]\nminimum: 5\n", {}
    )
    first, second = resisted(job)
    assert "malicious" in first
    assert second.startswith("what follows it resists only partners that keep to the protocol")


def test_a_job_without_an_intersection_has_one_sentence():
    [sentence] = resisted(parse_job(COUNT + TWO, {}))
    assert sentence.startswith("the job resists only")


def test_the_room_of_a_receiver_is_as_large_as_is_said():
    for count in [*range(1, 3000), *range(3000, 1_100_000, 3001)]:
        assert count < shape_for(count).words <= 1.34 * count + 103
