"""`refine` of one table against its reference."""

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.top_down import SpecializeOptions, specialize_table
from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.anonymity.specialization.scores import RULES
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table
from tests.anonymity import reference as first_phase
from tests.anonymity.cuts import refined
from tests.anonymity.cuts.reference import text
from tests.anonymity.tables import cases

LASTING = sorted(name for name, rule in RULES.items() if rule.lasting)


def released(case, refine, requirements=None, rule="gain-ratio"):
    labels = {name: case.labels(name) for name in case.rows[0] if name not in case.attributes}
    table = Table(tuple(case.columns()), labels)
    entries = requirements or case.requirement_list()
    return specialize_table(table, entries, 0, "class", SpecializeOptions(rule, refine))


def rows_of(answer):
    columns = {n: [c.labels[code] for code in c.codes] for n, c in answer.columns.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def winners_of(answer, phase):
    return [
        (w["attribute"], w["value"], tuple(w["children"]), round(w["score"] * 2**30))
        for w in answer.details["winners"]
        if w["phase"] == phase
    ]


@settings(max_examples=150, deadline=None)
@given(cases(max_rows=30), st.sampled_from(LASTING))
def test_columns_are_those_of_the_reference(case, rule):
    first = first_phase.specialize(case.rows, case.attributes, "class", case.requirements, rule)
    steps, shown = refined.columns(case.rows, case.attributes, case.requirements, first)
    answer = released(case, "columns", rule=rule)
    assert winners_of(answer, 1) == first[0]
    assert winners_of(answer, 2) == steps
    assert rows_of(answer) == [
        dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)
    ]


@settings(max_examples=60, deadline=None)
@given(cases(max_rows=30), st.integers(2, 3))
def test_columns_keep_a_model(case, least):
    for i, row in enumerate(case.rows):
        row["s"] = str(i % least)

    def holds(group, j):
        return len({row["s"] for row in group}) >= 2

    first = first_phase.specialize(
        case.rows, case.attributes, "class", case.requirements, holds=holds
    )
    steps, _ = refined.columns(case.rows, case.attributes, case.requirements, first, holds)
    entries = [Requirement(tuple(q), k, "s", DistinctDiversity(2)) for q, k in case.requirements]
    answer = released(case, "columns", entries)
    assert winners_of(answer, 2) == steps


@settings(max_examples=150, deadline=None)
@given(cases(max_rows=40))
def test_groups_are_those_of_the_reference(case):
    first = first_phase.specialize(case.rows, case.attributes, "class", case.requirements)
    used = {name: kind for name, kind in case.attributes.items() if name in first[1]}
    tree, shown, _ = refined.groups(case.rows, used, case.requirements, first[2])
    answer = released(case, "groups")
    assert winners_of(answer, 1) == first[0]
    # Groups of one level have an order of their own in each implementation.
    assert sorted(map(repr, answer.details["tree"])) == sorted(map(repr, tree))
    assert rows_of(answer) == [{name: text(row[name]) for name in used} for row in shown]


@settings(max_examples=100, deadline=None)
@given(cases(max_rows=40), st.sampled_from(["columns", "groups"]))
def test_every_entry_still_holds(case, refine):
    rows = rows_of(released(case, refine))
    for qid, k in case.requirements:
        groups = [tuple(row[name] for name in qid) for row in rows]
        assert min(map(groups.count, groups)) >= k
