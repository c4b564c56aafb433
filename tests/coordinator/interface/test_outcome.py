"""An outcome is its result, and its table where there is one."""

import json
import sys

import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.interface.outcome import Outcome


@pytest.fixture
def outcome(tmp_path):
    (tmp_path / "release.csv").write_text('"Sex","Age"\n"F","[1, 5)"\n"","07"\n')
    (tmp_path / "report.html").write_text('<p title="x">"quoted" & more</p>')
    return Outcome({"records": 2}, tmp_path)


def test_values_stay_as_they_stand_in_the_release(outcome):
    assert outcome.table.to_pydict() == {"Sex": ["F", ""], "Age": ["[1, 5)", "07"]}


def test_it_is_a_mapping_of_its_result(outcome):
    assert dict(outcome) == {"records": 2}
    assert json.dumps(dict(outcome)) == '{"records": 2}'
    assert "2 records" in repr(outcome)


def test_frames_of_others_take_it_by_the_arrow_interface(outcome):
    import pyarrow as pa

    assert pa.table(outcome).num_rows == 2


def test_the_report_cannot_break_out_of_its_frame(outcome):
    shown = outcome._repr_html_()
    assert shown.count('"') == 8  # of the frame's own attributes
    assert shown.count("<") == 2


def test_a_job_without_a_table_says_so(tmp_path):
    with pytest.raises(UsageError, match="releases no table"):
        Outcome({}, tmp_path).table  # noqa: B018


def test_a_library_that_is_not_there_is_named(outcome, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pandas is not installed"):
        outcome.to_pandas()
