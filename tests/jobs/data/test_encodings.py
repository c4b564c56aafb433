"""CSV files as people have them: encodings, marks, line ends."""

import pytest

from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.batches import batches
from coterie.jobs.data.encodings import guessed
from coterie.jobs.data.sources import file_source, parse_source
from coterie.jobs.file.document import read_document

ROWS = {"ID": ["1", "2"], "Name": ["Müller", 'Äpfel, "süß"']}
TEXT = 'ID,Name\r\n1,Müller\r\n2,"Äpfel, ""süß"""'  # as Windows writes it, the last line without an end


def source(folder, keys):
    node = read_document(f"data: {{csv: people.csv{keys}}}", "party.yaml").required("data")
    return parse_source(node, folder)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_what_the_file_itself_says_is_read(tmp_path, codec):
    (tmp_path / "people.csv").write_bytes(TEXT.encode(codec))
    table = file_source(tmp_path / "people.csv")
    assert table.names() == ["ID", "Name"]
    assert table.read(["ID", "Name"]).to_pydict() == ROWS


@pytest.mark.parametrize("codec", ["cp1252", "cp850", "latin-1", "utf-16-be"])
def test_another_encoding_is_named(tmp_path, codec):
    (tmp_path / "people.csv").write_bytes(TEXT.encode(codec))
    assert source(tmp_path, f", encoding: {codec}").read(["ID", "Name"]).to_pydict() == ROWS


@pytest.mark.parametrize("codec", ["cp1252", "utf-16"])
def test_large_files_are_read_in_pieces_in_any_encoding(tmp_path, codec):
    lines = ["ID,Name", *(f"{i},Müller{i}" for i in range(60_000))]
    (tmp_path / "people.csv").write_bytes("\n".join(lines).encode(codec))
    pieces = list(batches(source(tmp_path, f", encoding: {codec}"), ["ID", "Name"], 1 << 20))
    assert len(pieces) > 1
    assert [n for piece in pieces for n in piece["Name"].to_pylist()] == [
        f"Müller{i}" for i in range(60_000)
    ]


@pytest.mark.parametrize("codec", ["cp1252", "cp850"])
def test_the_error_guesses_the_encoding(tmp_path, codec):
    (tmp_path / "people.csv").write_bytes(TEXT.encode(codec))
    assert guessed(tmp_path / "people.csv") == codec
    with pytest.raises(DataError, match=f"column 'Name' is not UTF-8 text.*encoding: {codec}"):
        file_source(tmp_path / "people.csv").read(["ID", "Name"])


def test_a_wrong_or_unknown_encoding_is_an_error(tmp_path):
    (tmp_path / "people.csv").write_bytes(TEXT.encode("cp1252"))
    with pytest.raises(DataError, match="not a text in the encoding 'utf-16'"):
        source(tmp_path, ", encoding: utf-16").read(["ID"])
    for wrong in ("klingon", "rot13"):
        with pytest.raises(UsageError, match=f"'{wrong}' is not an encoding; examples are cp1252"):
            source(tmp_path, f", encoding: {wrong}")


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"PK\x03\x04", "a spreadsheet: name it .xlsx"),
        (b"PAR1", "a Parquet file"),
        (b"\x1f\x8b", "unpack it"),
    ],
)
def test_another_file_named_csv_is_called_what_it_is(tmp_path, start, what):
    (tmp_path / "people.csv").write_bytes(start + b"\0" * 90)
    with pytest.raises(DataError, match=what):
        file_source(tmp_path / "people.csv").names()
