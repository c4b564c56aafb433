"""Errors about data: what they carry, who is shown what, and that no raiser tells more."""

import ast
import copy

import pytest

from coterie.base.errors import DataError
from coterie.transport.error_messages import describe, describe_to_coordinator, farewell_for
from tests import ROOT

ERROR = DataError(
    "{column}: {value} is not a number", file="t.csv", column="Pay", rows=[7], value="much"
)
REPEATED = DataError(
    "{column}: {rows}; remove them", file="t.csv", column=["A", "B"], rows=[(3, 1), (4, 2)]
)


def test_the_holder_sees_everything():
    assert str(ERROR) == "t.csv: row 7: column 'Pay': 'much' is not a number"
    assert str(REPEATED) == "t.csv: columns 'A', 'B': row 3 repeats 1, 4 repeats 2; remove them"
    many = DataError("{column} is empty", column="A", rows=list(range(1, 9)))
    assert str(many) == "rows 1, 2, 3, 4, 5 and 3 more: column 'A' is empty"


def test_the_partys_log_has_the_row_and_not_the_value():
    assert describe(ERROR) == "t.csv: row 7: column 'Pay': … is not a number"


def test_the_coordinator_sees_neither_unless_the_policy_explains_rows():
    note = " (the row is in the party's log)"
    assert (
        describe_to_coordinator(ERROR, "columns") == "t.csv: column 'Pay': … is not a number" + note
    )
    assert describe_to_coordinator(ERROR, "rows") == describe(ERROR)
    told = describe_to_coordinator(REPEATED, "columns")
    assert told == "t.csv: columns 'A', 'B': identifiers are repeated; remove them" + note
    assert describe_to_coordinator(DataError("the file is empty"), "columns") == "the file is empty"


def test_peers_see_nothing():
    words = farewell_for(ERROR, "bank", "prepare")
    assert words.error == "its data cannot be used"
    assert not {"Pay", "much", "t.csv", "7"} & set(str(words).replace("'", " ").split())


def test_a_value_that_looks_like_a_place_is_only_a_value():
    error = DataError("{column}: {value} is wrong", column="{value}", rows=[1], value="{rows}")
    assert str(error) == "row 1: column '{value}': '{rows}' is wrong"
    assert error.message(rows=False) == "column '{value}': … is wrong"


def test_a_copy_hides_as_much():
    assert describe_to_coordinator(copy.copy(ERROR), "columns") == describe_to_coordinator(
        ERROR, "columns"
    )
    assert str(copy.copy(ERROR)) == str(ERROR)


ROOMS = ("anonymity", "protocols", "trust", "transport", "jobs", "party", "coordinator")
# What a sentence may hold besides fields, each read once: names and numbers of the job, names of
# columns, numbers of records, what a taxonomy (the coordinator's own file) says, and texts that are
# composed of these.
HARMLESS = {
    "', '.join(names)", "', '.join(requirement.qid)", "', '.join(self.names)",
    "', '.join(rest)", "', '.join(table.names)", "', '.join(task.names)", "MAX_CELLS", "MAX_VALUES", "MOST_CLASSES", "MOST_NODES",
    "_named(j, requirement)", "allowed", "below", "bound", "cells", "channel.current_step",
    "channel.me", "child", "class_name", "column", "column.name", "columns", "config.source", "count",
    "MOST_CANDIDATES", "MOST_CELLS", "MOST_ITEMS", "MOST_RULES", "LARGEST", "minimum", "self.channel.me",
    "error.strerror", "first", "gone", "here", "high", "job.class_name", "job.minimum", "kind",
    "known_line", "largest", "lattice.nodes", "leaf", "len(distinct)", "len(rows)", "len(values)",
    "line", "longest", "low", "matching.pad_to", "me", "min(missing)", "model.name", "modulus - 1",
    "name", "names", "numbered(records, 'record')", "other", "pad_to", "parents[below][1]", "records", "requirement",
    "requirement.k", "root", "row[-1]", "rows.line_num", "rows[0][0]", "self", "self._channel.me",
    "self._count", "self.bits", "self.path", "self.records", "source", "table.num_rows",
    "table.records", "there", "unknown[0]", "values.dtype", "values.shape", "where",
}  # fmt: skip
# Texts by another name: where they come from has been read.
COMPOSED = {
    ("jobs/data/require.py", "extra"),  # of this package
    ("jobs/data/workbooks.py", "names[0]"),  # of a sheet
    ("jobs/matching/common_records.py", "NO_COMMON"),
    ("jobs/data/require.py", "reason"),  # why Python cannot import it
    ("anonymity/models/closeness.py", "error.where"),  # order, costs or taxonomy
    # Of a file of costs, which comes with the job.
    ("anonymity/models/distances/given_costs.py", "MOST_BYTES >> 20"),
    ("anonymity/models/distances/given_costs.py", "MOST_VALUES"),
    ("anonymity/models/distances/given_costs.py", "value"),
    ("anonymity/models/distances/given_costs.py", "text"),
    ("anonymity/models/distances/given_costs.py", "error"),
    ("anonymity/models/distances/given_costs.py", "values[at]"),
    ("anonymity/models/distances/given_costs.py", "len(row) - 1"),
    ("anonymity/models/distances/given_costs.py", "values[other]"),
    # Limits, the number of common records, which all know, and names of the job's columns.
    ("protocols/models/regression.py", "outcome_name"),  # a column of the job
    ("protocols/models/joint_kmeans.py", "MOST_COLUMNS"),
    ("protocols/models/joint_kmeans.py", "MOST_RECORDS"),
    ("protocols/models/joint_logistic.py", "moments.records"),
    ("protocols/models/joint_logistic.py", "MOST_RECORDS"),
    ("protocols/models/joint_logistic.py", "outcome"),
    ("protocols/models/scale.py", "what"),  # feature or outcome
    ("jobs/kinds/aggregate/noisy.py", "error"),  # of the noise, by the job's own numbers
    ("jobs/kinds/aggregate/noisy.py", "key[0] or 'records'"),
    ("jobs/kinds/statistics/mixed.py", "quoted_list(wrong)"),  # names of columns, as declared
    # One's own terminal: all parties are in one process.
    ("coordinator/simulate/simulation.py", "error"),
    ("coordinator/simulate/simulation.py", "said"),
    ("anonymity/algorithms/conditions.py", "whose"),  # the name of a column, or nothing
    # One's own table, and one's own terminal: a column's name and how many values it has.
    ("anonymity/algorithms/stored_recoding.py", "widest.name"),
    ("anonymity/algorithms/stored_recoding.py", "widest.size"),
    ("anonymity/table/taxonomy.py", "value"),  # a node of the coordinator's file, and its columns
    ("anonymity/table/taxonomy.py", "column + 1"),
    ("anonymity/table/taxonomy.py", "ends + 1"),
    ("anonymity/table/taxonomy.py", "error"),  # of the CSV reader, about the coordinator's file
    ("anonymity/table/columns.py", "reason"),  # two fixed texts, and the job's range
    ("anonymity/table/columns.py", "len(gaps)"),  # of all rows; `bare` has no numbers
    ("anonymity/table/columns.py", "after"),  # what to do, whatever the rows are
    ("anonymity/table/columns.py", "hint"),  # one of a few texts; `bare` has all of them as one
    ("anonymity/table/columns.py", "general"),
    ("jobs/data/workbooks.py", "names[0]"),  # a sheet that the steward's file has
    ("jobs/matching/common_records.py", "NO_COMMON"),  # a fixed text
    ("jobs/data/require.py", "reason"),  # of an import that failed
    ("jobs/data/require.py", "extra"),  # the name of an optional package
    ("jobs/data/odbc.py", "text"),  # of the driver, before it has read a row
    ("jobs/data/odbc.py", "hint"),
    ("jobs/data/batches.py", "path"),  # the steward's own file
    ("jobs/data/batches.py", "error.strerror or 'cannot be read'"),
    ("jobs/data/missing.py", "error.what"),  # an error of the same form, with other row numbers
    ("jobs/data/missing.py", "error.bare"),
    ("jobs/data/own_columns.py", "most"),  # a fixed limit
    ("jobs/kinds/kept_models.py", "self.name"),  # the name that the job gives a model
    ("jobs/kinds/kept_models.py", "len(data)"),  # bytes of a part
    ("jobs/kinds/kept_models.py", "place"),  # the steward's own file, and its version
    ("jobs/kinds/kept_models.py", "shared['version']"),
    ("jobs/kinds/kept_models.py", "VERSION"),
    ("party/books/models.py", "path"),
    # Parties and attributes of a model, for a coordinator that may use it.
    ("jobs/kinds/predict/people.py", "quoted_list(model.parties)"),
    ("jobs/kinds/predict/people.py", "quoted_list(job.party_names)"),
    ("jobs/kinds/predict/people.py", "known"),
    ("jobs/kinds/predict/people.py", "holder"),
    ("jobs/kinds/predict/people.py", "partition"),
    ("jobs/kinds/predict/people.py", "' and '.join(model.net.servers)"),
    ("jobs/kinds/predict/people.py", "quoted_list(left)"),
    ("jobs/kinds/predict/people.py", "error.what"),  # an error of the same form
    ("jobs/kinds/predict/people.py", "error.bare"),
    ("jobs/kinds/predict/classify.py", "peer"),
    ("jobs/kinds/predict/classify.py", "job.model"),
    ("protocols/statistics/predictions.py", "attributes"),  # how many the model has, and the most
    ("protocols/statistics/predictions.py", "MOST_TERMS - 1"),
    ("anonymity/models/closeness.py", "what"),
    ("anonymity/models/closeness.py", "str(error)"),  # of a model's check, which tells no value
    ("anonymity/counts/hidden_cells.py", "others"),  # names of attributes
    ("anonymity/table/builders.py", "wider"),  # widths of bands that a command was given
    ("anonymity/table/builders.py", "finer"),
    ("anonymity/table/builders.py", "above"),  # a code of a catalogue that a command was given
    ("anonymity/table/builders.py", "coarser"),
    ("jobs/kinds/statistics/linked_columns.py", "first"),  # names of attributes
    ("jobs/kinds/statistics/linked_columns.py", "second"),
    ("protocols/integration/mondrian/levels.py", "one.k"),  # the job's, and its attributes
    ("protocols/integration/mondrian/levels.py", "', '.join(one.names)"),
    ("protocols/integration/sensitive/holders.py", "j + 1"),  # of an entry of the requirement
    ("protocols/integration/rounds.py", "names[attribute]"),
    ("jobs/data/sources.py", "what"),
    ("jobs/data/sources.py", "error.strerror or 'cannot be read'"),
    ("jobs/data/measured.py", "self.name"),  # an attribute, and its declared decimals
    ("jobs/data/measured.py", "self.decimals"),
    ("jobs/kinds/aggregate/kind.py", "', '.join(job.by)"),
    ("jobs/kinds/aggregate/kind.py", "measure.title"),
    ("jobs/kinds/identify/kind.py", "job.attributes[empty[0]].party"),
    (
        "jobs/kinds/identify/kind.py",
        "people",
    ),  # the job's population, or the opened number of records
    ("jobs/kinds/models/common.py", "why"),  # a fixed text, and the job's minimum
    ("jobs/kinds/rules/counting.py", "len(names)"),
    # Of sets that are opened as frequent, or made of them.
    ("jobs/kinds/rules/counting.py", "len(candidates)"),
    ("jobs/kinds/rules/counting.py", "len(candidates[0])"),
    ("jobs/kinds/rules/counting.py", "self._records"),
    ("protocols/patterns/frequent_sets.py", "size"),
    ("protocols/patterns/frequent_sets.py", "number"),
    ("protocols/patterns/frequent_sets.py", "float(confidence)"),  # the job's
    ("protocols/models/joint_products.py", "names[error.at]"),  # a column
    ("protocols/models/regression.py", "what"),  # a feature, or the outcome
    ("anonymity/algorithms/stored_recoding.py", "', '.join(requirement.sensitive_columns)"),
    ("onetable/prepare.py", "error.what"),  # an error told again with its file
    ("onetable/prepare.py", "error.bare"),
    ("jobs/run/answers_file.py", "self._source"),  # the steward's own file
    ("jobs/data/sources.py", "hint"),
    ("jobs/data/sources.py", "self._hint()"),  # the name of an encoding
    ("jobs/data/sources.py", "self.codec"),
    ("jobs/data/workbooks.py", "what"),  # one of two fixed texts
    ("jobs/data/workbooks.py", "error.strerror or 'cannot be read'"),
    ("jobs/data/sources.py", "bare"),
    ("jobs/data/databases.py", "what"),  # the table that the party file names
    ("jobs/data/databases.py", "hint"),  # one of three fixed texts
    ("jobs/data/databases.py", "text"),  # of a driver before it has read a row
    ("jobs/matching/identifiers.py", "complaint"),
}


def raisers():
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "DataError":
                    yield path.relative_to(ROOT).as_posix(), node


def pieces(node):
    """What a sentence is put together of, besides fixed text."""
    if isinstance(node, ast.JoinedStr):
        return [piece for value in node.values for piece in pieces(value)]
    if isinstance(node, ast.FormattedValue):
        return [ast.unparse(node.value)]
    if isinstance(node, ast.BinOp):
        return pieces(node.left) + pieces(node.right)
    return [] if isinstance(node, ast.Constant) else [ast.unparse(node)]


def test_no_sentence_of_a_data_error_holds_a_row_or_a_value():
    """Those belong into fields, which the teller hides; whoever adds an expression reads it first."""
    found = list(raisers())
    assert len(found) > 50
    for path, call in found:
        assert len(call.args) == 1, f"{path}:{call.lineno}: fields are keywords"
        sentences = [call.args[0], *(k.value for k in call.keywords if k.arg == "bare")]
        for piece in [piece for sentence in sentences for piece in pieces(sentence)]:
            assert piece in HARMLESS or (path, piece) in COMPOSED, f"{path}:{call.lineno}: {piece}"


@pytest.mark.parametrize("text", ["rows", "row", "value", "values[row]", "column[row].as_py()"])
def test_the_check_finds_rows_and_values(text):
    call = ast.parse(f"DataError(f'{{source}}: {{{text}}} is wrong')").body[0].value
    assert set(pieces(call.args[0])) - HARMLESS == {text}
