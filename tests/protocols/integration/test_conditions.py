"""Conditions decided on shares: the single table's release, and nothing of a rejected proposal."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.options import model_from_options
from coterie.base.errors import DataError
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.integrate import announce_scores
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.primitives.randomness import Random
from tests.protocols.integration.splits import assert_equal, splits

MODELS = [
    {"l": 2},
    {"l": 3},
    {"l": 2, "c": 2, "diversity": "recursive"},
    {"l": 3, "c": 1.5, "diversity": "recursive"},
    {"alpha": 0.6},
    {"alpha": 0.5, "l": 2},
    {"t": 0.3},
    {"t": 0.4, "distance": "ordered"},
]


def with_models(split, data):
    """One or two more columns, held by somebody, each bounded by a model on some of the QIDs."""
    split.models = {}
    chosen = data.draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=2))
    for number, options in enumerate(chosen):
        name = f"s{number}"
        values = data.draw(
            st.lists(
                st.integers(0, 3), min_size=len(split.case.rows), max_size=len(split.case.rows)
            )
        )
        for row, value in zip(split.case.rows, values, strict=True):
            row[name] = str(value)
        split.holders[name] = data.draw(st.sampled_from(split.names))
        for j in range(number, len(split.case.requirements), len(chosen)):
            split.models[j] = (name, model_from_options(options))


def either_result(split, **options):
    """The single table's and the joint one, or None where neither can be."""
    try:
        single = split.single()
    except DataError as error:
        with pytest.raises(DataError, match="not even the whole table") as joint:
            split.run(**options)
        assert str(joint.value).split(":")[1] == str(error).split(":")[1]  # noqa: PT017
        return None
    return single, split.run(**options)


@settings(max_examples=60, deadline=None)
@given(splits(max_rows=30), st.data())
def test_the_release_is_the_single_tables(split, data):
    with_models(split, data)
    found = either_result(split)
    if found is not None:
        for outcome in found[1].values():
            assert_equal(outcome, found[0])


@settings(max_examples=15, deadline=None)
@given(splits(max_rows=20, max_attributes=3), st.data())
def test_the_release_is_the_single_tables_when_scores_are_hidden(split, data):
    with_models(split, data)
    count = len(split.used())

    def find_winner(channel, names, key, sessions={}):  # noqa: B006 one session a run and party
        session = sessions.setdefault(
            (id(channel), channel.me), HiddenWinner(Random(channel.me), count, rejectable=True)
        )
        return session(channel, names, key)

    found = either_result(split, find_winner=find_winner)
    if found is not None:
        for outcome in found[1].values():
            assert_equal(outcome, found[0])
