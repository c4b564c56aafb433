"""Joint classification by kept parts: against a plain computation on one table."""

import math
from dataclasses import replace

import numpy as np
import pytest

from coterie.base.errors import DataError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.kept_models import ANYWHERE
from coterie.jobs.kinds.predict.classify import (
    _naive_costs,
    _own_costs,
    by_net,
    by_tree,
    compare_models,
)
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.jobs.kinds.predict.kept import CLASS, made_up_counts, part

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


def random_families(seed, attributes):
    """The parents of the class and of some of the attributes, as many as a search could give."""
    draw = np.random.default_rng(seed)
    order = [*draw.permutation(list(attributes)).tolist()]
    order.insert(int(draw.integers(0, 3)), CLASS)
    families = {}
    for at, node in enumerate(order):
        wanted = draw.permutation(order[:at])[: int(draw.integers(0, 4))].tolist()
        if at > order.index(CLASS) and draw.random() < 0.6:
            wanted = [CLASS, *(name for name in wanted if name != CLASS)]
        if wanted and CLASS in (*wanted, node):
            families[node] = tuple(wanted)
    return families


def job_of(attributes, recipients):
    mixed = any(entry[0] == ANYWHERE for entry in attributes.values())
    lines = "".join(
        f"  {name}: {{{'' if mixed else f'party: {entry[0]}'}}}\n"
        for name, entry in attributes.items()
    )
    return parse_job(
        "kind: predict\nname: new\nparties: {a: {}, b: {}, c: {}}\nid: ID\nmodel: risk\n"
        f"recipients: [{', '.join(recipients)}]\nservers: [c, a]\nattributes:\n{lines}"
        f"partition: {'mixed' if mixed else 'vertical'}\n",
        {},
    )


def found_by(kind, attributes, codes, classes, recipients, **more):
    job = job_of(attributes, recipients)
    holders = np.random.default_rng(3).integers(0, 3, (len(attributes), RECORDS))

    def party(channel):
        model = part(
            kind, attributes, channel.me, classes=classes, parties=PARTIES, servers=("a", "c"),
            **more,
        )  # fmt: skip
        compare_models(job, model, channel)
        own = {name: codes[name] for name in model.used if name in model.own}
        if job.mixed:
            at = PARTIES.index(channel.me)
            own = {
                name: np.where(holders[place] == at, codes[name], -1)
                for place, name in enumerate(attributes)
                if name in own
            }
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


def plain_families(attributes, codes, classes, families, record):
    """The class of greatest probability, by every factor of the net with the class in it."""
    totals = part("bayesnet", attributes, "a", classes=classes).class_counts
    scores = []
    for label in range(len(classes)):
        score = 0.0 if CLASS in families else math.log(totals[label] / sum(totals))
        for node, parents in families.items():
            counts = made_up_counts(attributes, node, parents, len(classes))
            names = [name for name in (*parents, node) if name != CLASS]
            cell = tuple(int(codes[name][record]) for name in names)
            if node == CLASS:
                beside = [counts[(*cell, other)] for other in range(len(classes))]
            else:
                size = len(attributes[node][1])
                beside = [counts[(*cell[:-1], other, label)] for other in range(size)]
            score += math.log((counts[(*cell, label)] + 1) / (sum(beside) + len(beside)))
        scores.append(score)
    *_, second, best = sorted(scores)
    # A share's probability is made up to a step; a tie goes to the first class.
    return scores.index(best) if best - second > (len(families) + 1) / 2**19 else None


def agreed(found, expected, recipients):
    """Every recipient has the expected classes, wherever there is one, and nobody else any."""
    assert sum(label is not None for label in expected) > RECORDS / 2
    for party in PARTIES:
        if party not in recipients:
            assert found[party] is None
            continue
        for label, wanted in zip(found[party].tolist(), expected, strict=True):
            assert wanted in (None, label)


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
    agreed(found, expected, recipients)


@pytest.mark.parametrize("anywhere", [False, True], ids=["vertical", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_a_net_of_any_families_gives_every_record_its_most_likely_class(seed, anywhere):
    attributes, codes, classes = random_case(20 + seed)
    families = random_families(seed, attributes)
    if anywhere:
        attributes = {name: (ANYWHERE, *rest) for name, (_, *rest) in attributes.items()}
    recipients = [("b",), ("a", "b"), PARTIES][seed]
    found = found_by("net", attributes, codes, classes, recipients, families=families)
    expected = [
        plain_families(attributes, codes, classes, families, record) for record in range(RECORDS)
    ]
    agreed(found, expected, recipients)
    assert len(set(expected) - {None}) > 1


def test_a_tree_of_cells_that_lie_anywhere_gives_every_record_the_class_of_its_leaf():
    attributes, codes, classes = random_case(2)
    attributes = {name: (ANYWHERE, *rest) for name, (_, *rest) in attributes.items()}
    found = found_by("tree", attributes, codes, classes, ("b",))
    expected = [walked(attributes, codes, classes, record) for record in range(RECORDS)]
    assert found["b"].tolist() == expected


def walked(attributes, codes, classes, record):
    node = part("tree", attributes, "a", classes=classes, parties=PARTIES).tree
    while "label" not in node:
        node = node["branches"][int(codes[node["attribute"]][record])]
    return node["label"]


def test_a_class_that_nothing_depends_on_is_the_most_frequent_one():
    attributes, codes, classes = random_case(1)
    found = found_by("net", attributes, codes, classes, ("a",), families={})
    assert found["a"].tolist() == [len(classes) - 1] * RECORDS


def test_a_family_under_the_class_alone_costs_what_it_costs_in_a_naive_net():
    """To the last step, and not only in the end."""
    attributes = {"x": ("a", ["u", "v", "w"], [])}
    counts = [[3, 40], [0, 9], [17, 2]]
    of_class = tuple(np.sum(counts, axis=0).tolist())
    naive, net = (
        replace(part(kind, attributes, "a", families={"x": (CLASS,)}, parties=PARTIES), class_counts=of_class)
        for kind in ("bayesnet", "net")
    )  # fmt: skip
    item = replace(naive.own["x"], counts=tuple(map(tuple, counts)))
    naive = replace(naive, own={"x": item})
    net = replace(net, net=replace(net.net, tables={"x": tuple(np.ravel(counts).tolist())}))
    codes = {"x": np.array([0, 1, 2, 1])}
    assert _own_costs(net, codes, 4).tolist() == _naive_costs(naive, codes, 4).tolist()


def test_parts_of_two_models_are_not_used_together():
    attributes, _, _ = random_case(1)
    job = job_of(attributes, ["a"])

    def party(channel):
        run = "earlier" if channel.me == "a" else "another"
        compare_models(job, part("tree", attributes, channel.me, run=run), channel)

    with pytest.raises(DataError, match="have kept different models under the name 'risk'"):
        run_parties(dict.fromkeys(PARTIES, party))
