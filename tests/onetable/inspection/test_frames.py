"""`coterie.inspect` on frames in memory."""

import importlib
import json

import pyarrow as pa
import pytest

import coterie
from coterie.__main__ import run
from coterie.base.errors import DataError, UsageError
from tests.onetable.interface.test_frames import people
from tests.onetable.people import write_people


def test_a_frame_gives_what_the_command_gives(tmp_path, capsys):
    write_people(tmp_path)
    assert run(["inspect", str(tmp_path / "people.csv"), "--json", "--seed", "3"]) == 0
    assert coterie.inspect(people(), seed=3) == json.loads(capsys.readouterr().out)


def test_a_notebook_shows_html_and_a_terminal_lines():
    found = coterie.inspect(people().drop_columns(["ID"]), population=1000, mask="separation=0.5")
    assert found._repr_html_().startswith("<p>40 records")
    assert "Small sets that single people out" in str(found)
    hostile = pa.table({"<b>": ["<i>", "y"]})
    assert "<b>" not in coterie.inspect(hostile)._repr_html_()


def test_anything_with_the_arrow_interface_will_do():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            return people().__arrow_c_stream__(requested_schema)

    assert coterie.inspect(Frame(), ["Age", "Sex"])["records"] == 40


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_others(library):
    module = importlib.import_module(library)
    frame = module.DataFrame(people().to_pydict())
    assert coterie.inspect(frame, seed=3) == coterie.inspect(people(), seed=3)


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"columns": ["Agee"]}, DataError, "no column 'Agee'; did you mean 'Age'"),
        ({"frame": [1, 2]}, UsageError, "no Arrow interface"),
        ({"frame": pa.table({"a": pa.array([], pa.int64())})}, DataError, "no records"),
        ({"frame": pa.table({})}, UsageError, "has no columns"),
        ({"frame": pa.table([[1], [2]], names=["a", "a"])}, UsageError, "'a' twice"),
        ({"frame": pa.table({"a": [1.0, float("inf")]})}, DataError, "row 2.*finite"),
        ({"mask": "half"}, UsageError, "is not as in"),
        ({"k": 0}, UsageError, "k must be at least 1"),
    ],
)
def test_mistakes_are_one_line(arguments, error, told):
    with pytest.raises(error, match=told):
        coterie.inspect(**({"frame": people()} | arguments))
