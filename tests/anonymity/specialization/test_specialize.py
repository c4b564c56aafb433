"""Single-table specialization against a plain reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.anonymity.specialization import partitions
from coterie.anonymity.specialization.scores import RULES, best_split
from coterie.anonymity.specialization.specialize import Labels, Requirement, specialize
from coterie.anonymity.table.columns import continuous_column
from coterie.base.errors import DataError, UsageError
from tests.anonymity import reference
from tests.anonymity.tables import Case, cases


def outcome(result):
    winners = [(w.attribute, w.value, w.children, w.score) for w in result.winners]
    columns = {}
    for name in result.names:
        codes, values = result.generalized(name)
        columns[name] = [values[code] for code in codes]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return winners, result.cut, rows


@settings(max_examples=150, deadline=None)
@given(cases())
def test_the_result_is_that_of_the_plain_reference(case):
    expected = reference.specialize(case.rows, case.attributes, "class", case.requirements)
    result = specialize(case.columns(), case.labels("class"), case.requirement_list())
    assert outcome(result) == expected


@settings(max_examples=60, deadline=None)
@given(cases(max_rows=25, max_attributes=3), st.sampled_from(sorted(RULES)))
def test_every_score_gives_the_result_of_the_plain_reference(case, rule):
    class_name = "class" if RULES[rule].needs_class else None
    expected = reference.specialize(case.rows, case.attributes, class_name, case.requirements, rule)
    classes = case.labels("class") if class_name else None
    result = specialize(case.columns(), classes, case.requirement_list(), rule=rule)
    assert outcome(result) == expected


@settings(max_examples=150, deadline=None)
@given(cases(max_rows=30), st.integers(1, 6), st.sampled_from(sorted(RULES)))
def test_suppression_gives_the_result_of_the_plain_reference(case, most, rule):
    class_name = "class" if RULES[rule].needs_class else None
    expected = reference.specialize(
        case.rows, case.attributes, class_name, case.requirements, rule, most_left_out=most
    )
    result = specialize(
        case.columns(),
        case.labels("class") if class_name else None,
        case.requirement_list(),
        rule=rule,
        max_suppression=most / len(case.rows),
    )
    winners, cut, rows = outcome(result)
    assert (winners, cut) == expected[:2]
    assert rows == [row for row in expected[2] if row is not None]
    assert result.kept.tolist() == [i for i, row in enumerate(expected[2]) if row is not None]
    assert result.suppressed == expected[2].count(None) <= most


@settings(max_examples=60, deadline=None)
@given(cases())
def test_the_smallest_groups_reported_are_those_of_the_table(case):
    result = specialize(case.columns(), case.labels("class"), case.requirement_list())
    _, _, rows = outcome(result)
    for (qid, k), reported in zip(case.requirements, result.anonymity, strict=True):
        groups = [tuple(row[name] for name in qid) for row in rows]
        assert reported == {"qid": qid, "k": k, "smallest": min(map(groups.count, groups))}
        assert reported["smallest"] >= k


def test_k_above_the_number_of_records_is_refused():
    case = Case([{"a": "1", "class": "x"}] * 4, {"a": ("range", None)}, [(["a"], 5)])
    with pytest.raises(DataError, match=r"requirement 1 \(a\): k = 5 is more than the 4 common"):
        specialize(case.columns(), case.labels("class"), case.requirement_list())


def test_a_requirement_over_an_unknown_column_is_refused():
    case = Case([{"a": "1", "class": "x"}] * 4, {"a": ("range", None)}, [(["a"], 2)])
    with pytest.raises(DataError, match="no column 'b', which a requirement names"):
        specialize(case.columns(), case.labels("class"), [Requirement(("a", "b"), 2)])


def test_a_split_is_at_the_smallest_of_equally_good_values():
    def split(*rows):  # of counts by class
        return best_split(np.array(rows).T)

    assert split([1, 0], [0, 0], [0, 1], [0, 1], [1, 0]) == 2
    assert split([3, 4]) is None
    assert split([0, 0], [3, 4], [0, 0]) is None
    assert split([2, 2], [1, 1], [3, 3]) == 1
    assert split([1], [1], [5]) == 1
    assert best_split(np.array([[1, 1, 5]]), by_size=True) == 2
    assert best_split(np.array([[1, 1, 1, 1]]), by_size=True) == 2


@settings(max_examples=40, deadline=None)
@given(cases(max_rows=30), st.sampled_from([1, 7, 1 << 22]), st.integers(2, 3))
def test_diversity_gives_the_result_of_the_plain_reference(case, cells, least):
    """Whatever the number of groups that are counted together."""
    requirements = [
        Requirement(tuple(q), k, "s", DistinctDiversity(2)) for q, k in case.requirements
    ]
    for i, row in enumerate(case.rows):
        row["s"] = str(i % least)
    expected = reference.specialize(
        case.rows,
        case.attributes,
        "class",
        case.requirements,
        holds=lambda group, j: len({row["s"] for row in group}) >= 2,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "_CELLS", cells)
        result = specialize(
            case.columns(), case.labels("class"), requirements, sensitive={"s": case.labels("s")}
        )
    assert outcome(result) == expected


def test_a_model_that_merging_groups_can_break_is_refused():
    class Odd(DistinctDiversity):
        monotone = False

    labels = Labels(np.array([0, 1, 0, 1]), ("n", "y"))
    column = continuous_column("x", ["1", "2", "3", "4"])
    with pytest.raises(UsageError, match="distinct 2-diversity can come back"):
        specialize([column], labels, [Requirement(("x",), 1, "s", Odd(2))], sensitive={"s": labels})
