"""Full-domain methods against enumeration of all nodes, and against counts made elsewhere."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.datafly import datafly_table
from coterie.anonymity.algorithms.incognito import incognito
from coterie.anonymity.algorithms.samarati import nodes_of_height, samarati
from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.levels import ladder
from coterie.anonymity.table.table import Table
from coterie.base.errors import DataError, UsageError
from tests import ADULT
from tests.anonymity.small_tables import is_truthful, rows_shown, smallest_group, tables

QID = ("place", "sex", "age")


def enumerated(table: Table, k: int, most: int, names=QID) -> dict[tuple, int]:
    """Every level vector that leaves out at most so many records, with their number."""
    ladders = [ladder(table.column(name)) for name in names]
    found = {}
    for node in itertools.product(*(range(len(own.levels)) for own in ladders)):
        texts = [own.texts(level) for own, level in zip(ladders, node, strict=True)]
        sizes = Counter(zip(*texts, strict=True)).values()
        small = sum(size for size in sizes if size < k)
        if small <= most:
            found[node] = small
    return found


def lowest(nodes) -> list[tuple]:
    def below(a, b):
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))

    return [node for node in nodes if not any(below(other, node) for other in nodes)]


@settings(max_examples=40, deadline=None)
@given(tables(least=2, most=25), st.integers(1, 4), st.integers(0, 3))
def test_all_satisfying_and_minimal_nodes_are_found(table, k, most):
    if k > table.records:
        return
    nodes = enumerated(table, k, most)
    answer = incognito(table, [Requirement(QID, k)], most)
    told = answer.details["lattice"]
    assert told["satisfying"] == len(nodes)
    assert told["minimal"] == len(lowest(nodes))
    assert told["least_height"] == min(map(sum, nodes))
    assert tuple(told["levels"].values()) in nodes
    assert answer.suppressed == nodes[tuple(told["levels"].values())]
    if answer.suppressed < table.records:
        assert smallest_group(answer) >= k
    assert is_truthful(answer)


@pytest.mark.parametrize(
    ("cost", "measure"),
    [
        ("entropy", lambda u: u.entropy_loss),
        ("precision", lambda u: -u.precision),
        ("discernibility", lambda u: u.discernibility),
    ],
)
def test_no_satisfying_node_costs_less(cost, measure):
    from coterie.anonymity.algorithms.lattice import Lattice, released_at, task_of
    from tests.anonymity.small_tables import table_of

    rng = np.random.default_rng(4)
    places = [("San Diego", "Wichita", "Kansas City", "Lincoln")[i] for i in rng.integers(0, 4, 60)]
    table = table_of(places, ["FM"[i] for i in rng.integers(0, 2, 60)], [30] * 60)
    for most in (0, 5):
        requirement = [Requirement(QID, 4)]
        answer = incognito(table, requirement, most, cost)
        task = task_of(table, requirement, most)
        lattice = Lattice(task.rest, task.names)
        costs = {
            node: measure(released_at("", task, lattice, node, {}).utility())
            for node in enumerated(table, 4, most)
        }
        assert measure(answer.utility()) == pytest.approx(min(costs.values()))


@settings(max_examples=40, deadline=None)
@given(tables(least=2, most=25), st.integers(1, 4), st.integers(0, 3))
def test_samarati_has_the_least_height_and_there_the_fewest_suppressed(table, k, most):
    if k > table.records:
        return
    nodes = enumerated(table, k, most)
    answer = samarati(table, [Requirement(QID, k)], most)
    told = answer.details["lattice"]
    least = min(map(sum, nodes))
    assert told["least_height"] == least
    assert told["least"] == sum(sum(node) == least for node in nodes)
    assert sum(told["levels"].values()) == least
    assert answer.suppressed == min(small for node, small in nodes.items() if sum(node) == least)


@settings(max_examples=40, deadline=None)
@given(tables(least=2, most=25), st.integers(1, 4), st.integers(0, 3))
def test_datafly_satisfies(table, k, most):
    if k > table.records:
        return
    answer = datafly_table(table, [Requirement(QID, k)], most)
    assert tuple(answer.details["lattice"]["levels"].values()) in enumerated(table, k, most)
    assert answer.suppressed <= most
    assert is_truthful(answer)


@settings(max_examples=30, deadline=None)
@given(
    tables(least=2, most=25), st.integers(1, 4), st.integers(0, 3),
    st.sampled_from([samarati, datafly_table]),
)  # fmt: skip
def test_every_method_tells_all_numbers_of_its_lattice(table, k, most, method):
    if k > table.records:
        return
    nodes = enumerated(table, k, most)
    told = method(table, [Requirement(QID, k)], most).details["lattice"]
    assert told["nodes"] == np.prod([len(ladder(table.column(name)).levels) for name in QID])
    assert told["satisfying"] == len(nodes)
    assert told["minimal"] == len(lowest(nodes))
    assert told["least_height"] == min(map(sum, nodes))


@pytest.mark.parametrize("method", [samarati, datafly_table])
def test_what_would_be_dear_to_count_is_null(monkeypatch, method):
    from coterie.anonymity.algorithms import incognito as module
    from tests.anonymity.small_tables import table_of

    table = table_of(["Lincoln", "Wichita", "Lincoln"], ["F", "M", "F"], [30, 40, 50])
    monkeypatch.setattr(module, "MOST_COUNTED", 3)
    told = method(table, [Requirement(QID, 2)]).details["lattice"]
    assert told["satisfying"] is told["minimal"] is None
    assert {"nodes", "least_height", "levels"} <= told.keys()


@settings(max_examples=30, deadline=None)
@given(tables(least=4, most=25), st.sampled_from([incognito, samarati, datafly_table]))
def test_several_requirements_and_models_hold(table, method):
    model = model_from_options({"l": 2})
    wanted = [Requirement(("place", "age"), 2, "ill", model), Requirement(("sex", "age"), 3)]
    if len(set(table.labels["ill"].codes.tolist())) < 2:
        with pytest.raises(DataError, match="not even the whole table"):
            method(table, wanted)
        return
    answer = method(table, wanted)
    assert smallest_group(answer, ("sex", "age")) >= 3
    ills = table.labels["ill"].codes
    shown = rows_shown(answer, ("place", "age"))
    for group in set(shown):
        inside = [i for i, row in enumerate(shown) if row == group]
        assert len(inside) >= 2
        assert len(set(ills[inside].tolist())) >= 2


@settings(max_examples=30, deadline=None)
@given(tables(least=3, most=25), st.sampled_from([incognito, samarati, datafly_table]))
def test_no_value_is_shown_above_its_bound(table, method):
    bounded = Table(table.columns, {}, {"place": ("California", "Midwest")})
    places = [str(table.columns[0].taxonomy.leaves[c]) for c in table.columns[0].codes]
    west = sum(place in ("San Diego", "Los Angeles") for place in places)
    small = sum(number for number in (west, len(places) - west) if number < 2)
    if small:
        with pytest.raises(DataError, match=f"cost {small} of {len(places)} records"):
            method(bounded, [Requirement(QID, 2)])
    if small == len(places):
        return
    answer = method(bounded, [Requirement(QID, 2)], small)
    assert not {"USA", "West"} & {row[0] for row in rows_shown(answer)}
    assert answer.suppressed == small
    assert smallest_group(answer) >= 2
    assert is_truthful(answer)


def test_suppression_is_refused_where_it_could_break_another_condition():
    from tests.anonymity.small_tables import table_of

    table = table_of(["Wichita"] * 6, ["F"] * 6, [30] * 6)
    wanted = [Requirement(("place",), 2), Requirement(("sex",), 2)]
    with pytest.raises(
        UsageError, match="max_suppression is only for a single requirement on k alone"
    ):
        incognito(table, wanted, 1)


def test_a_lattice_too_large_names_other_methods():
    from coterie.anonymity.table.columns import ContinuousColumn

    codes = np.arange(1000, dtype=np.uint16)
    columns = [ContinuousColumn(str(j), codes, np.arange(1000.0)) for j in range(6)]
    with pytest.raises(DataError, match="take samarati or mondrian"):
        incognito(Table(tuple(columns)), [Requirement(tuple("012345"), 2)])


def test_the_nodes_of_a_height_are_all_of_them_in_order():
    for height in range(7):
        nodes = [n for n in itertools.product(range(3), range(2), range(4)) if sum(n) == height]
        assert list(nodes_of_height([2, 1, 3], height)) == nodes


A = ("education", "marital-status", "race", "sex", "workclass")
B = ("education", "marital-status", "native-country", "occupation", "race", "relationship", "sex",
     "workclass")  # fmt: skip


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not at hand")
@pytest.mark.parametrize(
    ("names", "k", "most", "nodes", "satisfying", "minimal", "height", "least"),
    [
        (A, 2, 0, 600, 188, 10, 6, 2),
        (A, 50, 0, 600, 58, 4, 8, 1),
        (A, 10, 301, 600, 471, 43, 4, 3),
        (A, 100, 301, 600, 181, 28, 7, 5),
        (B, 5, 0, 21_600, 348, 30, 14, 4),
        (B, 50, 0, 21_600, 174, 22, 15, 5),
        (B, 10, 301, 21_600, 2_584, 335, 11, 5),
        (B, 100, 301, 21_600, 449, 70, 14, 9),
    ],
)
def test_the_lattices_of_adult_have_the_counts_of_the_reference(
    names, k, most, nodes, satisfying, minimal, height, least
):
    from tests.anonymity.algorithms.test_mondrian import adult

    table = adult(names)
    told = incognito(table, [Requirement(names, k)], most).details["lattice"]
    found = [told[key] for key in ("nodes", "satisfying", "minimal", "least_height")]
    assert found == [nodes, satisfying, minimal, height]
    told = samarati(table, [Requirement(names, k)], most).details["lattice"]
    assert (told["least_height"], told["least"]) == (height, least)


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not at hand")
def test_the_optimum_of_adult_is_that_of_the_exact_search_of_arx():
    from tests.anonymity.algorithms.test_mondrian import adult

    answer = incognito(adult(B), [Requirement(B, 50)])
    assert answer.utility().entropy_loss == pytest.approx(0.6225, abs=0.0005)
