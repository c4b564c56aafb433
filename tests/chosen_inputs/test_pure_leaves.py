"""A holder of the class that chooses depth, minimum and classes does not learn who is not in a leaf.

It knows the class of every person, and sees the told tree. The judge goes through all ways to spread a
few people over the values of another party's attribute, and counts of whom the told tree excludes a
value for certain.
"""

import csv
import itertools
import json

import numpy as np
import pytest

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.protocols.circuits.boolean import evaluate, from_bits, to_bits
from coterie.protocols.statistics.count_circuits import WIDTH, leaf_circuit


def told(table, minimum, above):
    """What the level below the root shows: of each node whether it is a leaf, and its class if so."""
    circuit = leaf_circuit(2, minimum)
    inputs = {
        "inherited0": to_bits(np.full(len(table), above), 1),
        "inherited1": np.zeros((len(table), 1), np.uint8),
    }
    for at in range(2):
        inputs[f"x{at}"] = to_bits(table[:, at], WIDTH)
        inputs[f"y{at}"] = to_bits(0 * table[:, at], WIDTH)
    found = evaluate(circuit, inputs)
    return found["leaf"][:, 0], from_bits(found["label"])


def excluded(people, others, values, minimum):
    """(world, class, value) for which the view excludes that a person of the class has the value.

    People of one class look the same to the holder, so that a world is how many of each class have
    each value, and a value is excluded if nobody of the class has it in any world that looks the same.
    """

    def spread(total):
        bars = itertools.combinations(range(total + values - 1), values - 1)
        return [np.diff([-1, *bar, total + values - 1]) - 1 for bar in bars]

    worlds = [np.stack(pair, axis=1) for pair in itertools.product(spread(people), spread(others))]
    every = np.concatenate(worlds).astype(np.uint32)
    leaf, label = told(every, minimum, int(others > people))
    seen = np.stack([leaf, label], axis=1).reshape(len(worlds), -1)
    _, view = np.unique(seen, axis=0, return_inverse=True)
    cells = every.reshape(len(worlds), values, 2)
    found = 0
    for group in np.unique(view.reshape(-1)):
        inside = cells[view.reshape(-1) == group]
        if (inside.sum(axis=2) >= minimum).any():
            found += int((~(inside > 0).any(axis=0)).sum())
    return found


@pytest.mark.parametrize(
    ("others", "minimum"), [(5, 2), (8, 2), (7, 3), (11, 3), (9, 4), (12, 4), (11, 5)]
)
def test_no_told_leaf_excludes_a_person_of_another_class(others, minimum):
    """Where two nodes cannot have taken all people of a class: more than two times the minimum."""
    assert excluded(14, others, 3, minimum) == 0


def test_the_judge_sees_pure_leaves_and_classes_that_the_other_nodes_account_for():
    """What is left: all of a class in nodes that are told to have `minimum` of it each."""
    assert excluded(14, 5, 3, 1) > 0
    assert excluded(14, 8, 3, 4) > 0


def tree(folder, attribute, label, own, keys):
    folder.mkdir()
    people = [f"p{at:03}" for at in range(len(label))]
    for name, columns in (
        ("clinic", {"ID": people, "Diagnosis": attribute}),
        ("bank", {"ID": people, "Class": label, "Own": own}),
    ):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    path = folder / "job.yaml"
    path.write_text(
        "kind: tree\nname: leaves\nparties:\n  bank: {data: bank.csv}\n  clinic: {data: clinic.csv}\n"
        "id: ID\nclass: Class\nopen: true\nattributes:\n"
        "  Diagnosis: {party: clinic, values: [a, b, c]}\n"
        f"  Own: {{party: bank, values: ['0', '1']}}\n{keys}\n"
    )
    (folder / "out").mkdir()
    result = simulate(load_job(path), folder, folder / "out", seed="7")
    opened = [(entry["what"], entry.get("times")) for entry in result["opened"]]
    return json.dumps([result["tree"], opened], sort_keys=True)


@pytest.mark.parametrize("keys", ["", "minimum_gain: 0.0000001", "prune: true"])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_pure_leaf_and_one_with_a_few_others_look_the_same(tmp_path, depth, keys):
    label = ["y"] * 60 + ["n"] * 40
    attribute = ["a"] * 50 + ["b"] * 10 + ["b"] * 10 + ["c"] * 30
    own = [str(at % 2) for at in range(100)]
    rest = f"max_depth: {depth}\nminimum: 5\n{keys}"
    pure = tree(tmp_path / "pure", attribute, label, own, rest)
    for few in (1, 4):
        other = list(attribute)
        other[70 : 70 + few] = ["a"] * few  # people of class n, in the leaf of class y
        assert tree(tmp_path / f"few-{few}", other, label, own, rest) == pure
