"""A stream of which a sample says where to cut: the release of the table in memory, from any source."""

import os
import sqlite3
import threading

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from coterie.__main__ import run
from coterie.base.errors import DataError
from coterie.coordinator.results.verify import verify
from coterie.onetable.methods.generalizing.large import anonymise_large, is_large
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.quantiles import streamed
from coterie.onetable.methods.reading import load_table_file
from tests.onetable.methods.generalizing.test_large import both_ways, error_of, on_disk, with_gaps
from tests.onetable.methods.quantiles.test_verify_quantiles import TABLE
from tests.onetable.people import rows, write_people

SAMPLED = TABLE + "clusters: sampled\nepsilon: 0.2\ndelta: 0.1\n"
TWO = SAMPLED.replace("  Ill: {}", "  Weight: {}\n  Ill: {}").replace(
    "requirement:\n", "requirement:\n  - {qid: [Weight], k: 4}\n"
)
WAYS = {
    "a class": SAMPLED.replace("  Sex: {flat: true}\n", "") + "class: Sex\n",
    "gaps shown": SAMPLED.replace(", sensitive: Ill, l: 2", "") + "missing: value\n",
    "two columns": TWO,
}


@pytest.fixture
def small_pieces(monkeypatch):
    """The source comes in pieces of seven rows."""
    honest = streamed.batches

    def short(source, names, memory):
        for piece in honest(source, names, memory):
            for start in range(0, piece.num_rows, 7):
                yield piece.slice(start, 7)

    monkeypatch.setattr(streamed, "batches", short)


def with_weight(path):
    """One more column of numbers."""
    table = pacsv.read_csv(path.parent / "people.csv")
    weight = [50 + (at * 37) % 40 + at / 8 for at in range(table.num_rows)]
    pacsv.write_csv(table.append_column("Weight", [weight]), path.parent / "people.csv")
    return path


@pytest.mark.parametrize("way", WAYS)
def test_the_release_of_a_stream_is_that_in_memory(tmp_path, way, small_pieces):
    people = with_gaps() if "gaps" in way else None
    both_ways(with_weight(write_people(tmp_path, WAYS[way], people)), tmp_path)


@pytest.mark.parametrize(
    ("column", "value"), [(1, "200"), (1, "old"), (1, ""), (1, "nan"), (4, "")]
)
def test_an_unusable_value_is_the_same_line_with_the_same_row(
    tmp_path, column, value, small_pieces
):
    people = rows()
    people[9][column] = people[23][column] = people[24][column] = value
    file = load_table_file(write_people(tmp_path, SAMPLED, people))
    assert error_of(lambda: on_disk(file)) == error_of(lambda: anonymise_file(file))


@pytest.mark.parametrize("people", [[], rows(1), [[row[0], "", *row[2:]] for row in rows()]])
@pytest.mark.parametrize("missing", ["", "missing: drop\n"])
def test_a_table_of_no_use_is_the_same_line(tmp_path, people, missing):
    file = load_table_file(write_people(tmp_path, SAMPLED + missing, people))
    assert error_of(lambda: on_disk(file)) == error_of(lambda: anonymise_file(file))


def test_a_column_that_singles_everybody_out_is_refused_as_in_memory(tmp_path, small_pieces):
    text = SAMPLED.replace("id: ID\n", "").replace("  Ill: {}", "  ID: {}\n  Ill: {}")
    file = load_table_file(write_people(tmp_path, text))
    told = error_of(lambda: on_disk(file))
    assert "column 'ID' has a different value in every record" in told
    assert told == error_of(lambda: anonymise_file(file))
    (tmp_path / "kept").mkdir()
    both_ways(
        write_people(tmp_path / "kept", text.replace("ID: {}", "ID: {keep: true}")),
        tmp_path / "kept",
    )


def test_a_source_that_changes_between_the_passes_is_refused(tmp_path, monkeypatch):
    path = write_people(tmp_path, SAMPLED)
    honest = streamed._Passes.draw

    def then_changed(passes):
        honest(passes)
        (tmp_path / "people.csv").write_text(
            (tmp_path / "people.csv").read_text().rsplit("\n", 2)[0] + "\n"
        )

    monkeypatch.setattr(streamed._Passes, "draw", then_changed)
    with (
        pytest.raises(DataError, match="was changed while it was read"),
        anonymise_large(load_table_file(path), 10**7),
    ):
        pass


def sources(folder):
    """The people in a Parquet file and in a database."""
    table = pacsv.read_csv(
        folder / "people.csv",
        convert_options=pacsv.ConvertOptions(strings_can_be_null=False),
    )
    pq.write_table(table, folder / "people.parquet")
    with sqlite3.connect(folder / "people.db") as connection:
        names = ", ".join(table.column_names)
        connection.execute(f"CREATE TABLE people ({names})")
        marks = ", ".join("?" * len(table.column_names))
        connection.executemany(
            f"INSERT INTO people VALUES ({marks})",
            [tuple(row.values()) for row in table.to_pylist()],
        )
    connection.close()


@pytest.mark.parametrize("source", ["people.parquet", "{sqlite: people.db, table: people}"])
def test_other_sources_give_the_same_release(tmp_path, source):
    path = write_people(tmp_path, SAMPLED)
    sources(tmp_path)
    both_ways(path, tmp_path)
    other = tmp_path / "other.yaml"
    other.write_text(SAMPLED.replace("data: people.csv", f"data: {source}"))
    file = load_table_file(other)
    assert is_large(file, 1)
    (tmp_path / "from").mkdir()
    with anonymise_large(file, 10**7) as large:
        large.write(tmp_path / "from")
    first, second = (tmp_path / name / "release.csv" for name in ("disk", "from"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_anonymised_by_the_command_and_leaves_nothing_behind(tmp_path, monkeypatch):
    path = write_people(tmp_path, SAMPLED)
    content = (tmp_path / "people.csv").read_text()
    both_ways(path, tmp_path)
    (tmp_path / "people.csv").unlink()
    os.mkfifo(tmp_path / "people.csv")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    writer = threading.Thread(target=(tmp_path / "people.csv").write_text, args=(content,))
    writer.start()
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    writer.join()
    first, second = (tmp_path / name / "release.csv" for name in ("disk", "out"))
    assert first.read_bytes() == second.read_bytes()
    assert verify(tmp_path / "out")["records"] == 40
    assert not list((tmp_path / "temporary").iterdir())


def test_an_arrow_table_of_many_columns_is_sorted_by_all_of_them(tmp_path, small_pieces):
    text = SAMPLED.replace("  Sex: {flat: true}\n", "  Sex: {flat: true}\n  Place: {}\n")
    both_ways(write_people(tmp_path, text), tmp_path)
    shown = pacsv.read_csv(tmp_path / "disk" / "release.csv")
    assert shown.column_names == ["Age", "Ill", "Sex", "Place"]
    assert isinstance(shown, pa.Table)
