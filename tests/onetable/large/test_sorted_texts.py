"""Rows of texts that the memory does not hold come back in their order."""

import random

import pyarrow as pa
import pytest

from coterie.onetable.large import sorted_texts
from coterie.onetable.large.sorted_texts import SortedTexts

SCHEMA = pa.schema([("rank", pa.uint32()), ("a", pa.string()), ("b", pa.string())])


@pytest.mark.parametrize("files", [2, 64])
def test_rows_come_back_in_the_order_of_python_s_own_sorting(tmp_path, monkeypatch, files):
    monkeypatch.setattr(sorted_texts, "_LEAST", 300)
    monkeypatch.setattr(sorted_texts, "_FILES", files)
    rng = random.Random(4)
    letters = ["", "a", "B", "é", "z\u00e9", "\U0001f600", "\ufb01", "aa"]
    rows = [(rng.randrange(4), rng.choice(letters), f"{rng.randrange(300)}") for _ in range(2000)]
    sorting = SortedTexts(tmp_path, SCHEMA, 4000)
    for start in range(0, len(rows), 37):
        some = rows[start : start + 37]
        sorting.add(pa.table([list(column) for column in zip(*some, strict=True)], schema=SCHEMA))
    assert len(list(tmp_path.iterdir())) > 4  # several files
    pieces = list(sorting.read())
    found = [tuple(row.values()) for piece in pieces for row in piece.to_pylist()]
    assert found == sorted(rows)
    assert max(piece.num_rows for piece in pieces) < len(rows)
    assert not list(tmp_path.iterdir())


def test_nothing_was_added(tmp_path):
    assert list(SortedTexts(tmp_path, SCHEMA, 4000).read()) == []
