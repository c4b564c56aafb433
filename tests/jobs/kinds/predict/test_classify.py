"""Joint classification by kept parts: against a plain computation on one table."""

import math

import numpy as np
import pytest

from coterie.base.errors import DataError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.predict.classify import by_net, by_tree, compare_models
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.jobs.kinds.predict.kept import part

PARTIES = ("a", "b", "c")
RECORDS = 70


def random_case(seed):
    """Attributes of random sizes at random parties, and the codes of new records."""
    draw = np.random.default_rng(seed)
    attributes = {}
    for at in range(int(draw.integers(3, 6))):
        size = int(draw.integers(2, 5))
        values = [f"v{value}" for value in range(size)]
        attributes[f"x{at}"] = (PARTIES[at] if at < 3 else str(draw.choice(PARTIES)), values, [])
    codes = {n: draw.integers(0, len(values), RECORDS) for n, (_, values, _) in attributes.items()}
    classes = tuple("LMNOP"[: int(draw.integers(2, 5))])
    return attributes, codes, classes


def job_of(attributes, recipients):
    lines = "".join(f"  {name}: {{party: {entry[0]}}}\n" for name, entry in attributes.items())
    return parse_job(
        "kind: predict\nname: new\nparties: {a: {}, b: {}, c: {}}\nid: ID\nmodel: risk\n"
        f"recipients: [{', '.join(recipients)}]\nservers: [c, a]\nattributes:\n{lines}",
        {},
    )


def found_by(kind, attributes, codes, classes, recipients):
    job = job_of(attributes, recipients)

    def party(channel):
        model = part(kind, attributes, channel.me, classes=classes)
        compare_models(job, model, channel)
        own = {name: codes[name] for name in model.own}
        work = by_tree if kind == "tree" else by_net
        return work(job, model, own, RECORDS, channel, Random(channel.me))

    return run_parties(dict.fromkeys(PARTIES, party))


def plain_tree(attributes, codes, classes, record):
    """Walks the tree; a value takes the branch that its owner's numbers say."""
    parts = {party: part("tree", attributes, party, classes=classes) for party in PARTIES}
    node = parts["a"].tree
    while "label" not in node:
        name = node["attribute"]
        number = parts[attributes[name][0]].own[name].numbers[int(codes[name][record])]
        node = node["branches"][number]
    return node["label"]


def plain_net(attributes, codes, classes, record):
    """The greatest product of probabilities, by logarithms; None if two are as good as equal."""
    totals = part("bayesnet", attributes, "a", classes=classes).class_counts
    scores = []
    for label in range(len(classes)):
        score = math.log(totals[label] / sum(totals))
        for name, (party, values, _) in attributes.items():
            counts = part("bayesnet", attributes, party, classes=classes).own[name].counts
            seen = counts[int(codes[name][record])][label]
            score += math.log((seen + 1) / (totals[label] + len(values)))
        scores.append(score)
    *_, second, best = sorted(scores)
    return scores.index(best) if best - second > (len(attributes) + 1) / 2**20 else None


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_gives_every_record_the_class_of_its_leaf(seed):
    attributes, codes, classes = random_case(seed)
    recipients = [("a",), ("b", "c"), PARTIES][seed]
    found = found_by("tree", attributes, codes, classes, recipients)
    expected = [plain_tree(attributes, codes, classes, record) for record in range(RECORDS)]
    for party in PARTIES:
        if party in recipients:
            assert found[party].tolist() == expected
        else:
            assert found[party] is None


@pytest.mark.parametrize("seed", range(3))
def test_a_net_gives_every_record_its_most_likely_class(seed):
    attributes, codes, classes = random_case(10 + seed)
    recipients = [("b",), ("a", "b"), PARTIES][seed]
    found = found_by("bayesnet", attributes, codes, classes, recipients)
    expected = [plain_net(attributes, codes, classes, record) for record in range(RECORDS)]
    assert sum(label is not None for label in expected) > RECORDS / 2
    for party in PARTIES:
        if party not in recipients:
            assert found[party] is None
            continue
        for label, wanted in zip(found[party].tolist(), expected, strict=True):
            assert wanted in (None, label)


def test_parts_of_two_models_are_not_used_together():
    attributes, _, _ = random_case(1)
    job = job_of(attributes, ["a"])

    def party(channel):
        run = "earlier" if channel.me == "a" else "another"
        compare_models(job, part("tree", attributes, channel.me, run=run), channel)

    with pytest.raises(DataError, match="have kept different models under the name 'risk'"):
        run_parties(dict.fromkeys(PARTIES, party))
