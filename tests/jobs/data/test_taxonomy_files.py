"""Taxonomies of strangers' jobs: what is too large is refused before a tree is built."""

import pytest

from coterie.anonymity.table import taxonomy as trees
from coterie.base.errors import UsageError
from coterie.jobs.data import taxonomy_files
from coterie.jobs.kinds.job_file import parse_job

KINDS = {
    "integrate": "score: discernibility\nrequirement: [{qid: [A, B], k: 2}]\n",
    "count": "tables: [[A, B]]\n",
}


def parsed(files, kind="integrate", more=""):
    first, second = sorted(files)[0], sorted(files)[-1]
    text = f"""kind: {kind}
name: x
parties: {{a: {{}}, b: {{}}}}
id: ID
attributes:
  A: {{party: a, taxonomy: {first}{more}}}
  B: {{party: b, taxonomy: {second}}}
{KINDS[kind]}"""
    return parse_job(text, files)


def rows(number, levels=2):
    above = ";".join(f"l{n}" for n in range(levels - 2))
    return "".join(f"v{n};{above}{';' if above else ''}*\n" for n in range(number)).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_two_attributes_use_is_read_once(kind, monkeypatch):
    read = []
    build = trees.build_taxonomy
    monkeypatch.setattr(
        taxonomy_files, "build_taxonomy", lambda *given: read.append(given[1]) or build(*given)
    )
    parsed({"t.csv": rows(5)}, kind)
    assert read == ["t.csv"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("bound", "most", "files", "said"),
    [
        ("MOST_ROWS", 9, {"t.csv": rows(10)}, "at most 9 rows together"),
        ("MOST_ROWS", 9, {"t.csv": rows(5)}, "at most 9 rows together"),  # used by two attributes
        ("MOST_ROWS", 9, {"s.csv": rows(5), "t.csv": rows(5)}, "at most 9 rows together"),
        ("MOST_BYTES", 60, {"s.csv": rows(10), "t.csv": rows(5)}, "at most 0 MB together"),
        ("MOST_LEVELS", 4, {"t.csv": rows(3, levels=5)}, "at most 4 levels, not 5"),
    ],
)
def test_what_is_too_large_is_refused_with_the_key(kind, bound, most, files, said, monkeypatch):
    parsed(files, kind)
    monkeypatch.setattr(taxonomy_files, bound, most)
    with pytest.raises(UsageError, match=said) as error:
        parsed(files, kind)
    assert "taxonomy:" in str(error.value)


def test_too_many_rows_are_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr(taxonomy_files, "taxonomy_rows", None)
    with pytest.raises(UsageError, match="at most 500,000 rows"):
        parsed({"t.csv": b"\n" * 500_001})


def test_many_bounds_on_a_large_taxonomy_are_looked_up_at_once():
    """Each of 5,000 marks among 20,000 values: comparing all with all would take minutes."""
    marks = ", ".join(f"v{n}" for n in range(5000))
    parsed({"t.csv": rows(20_000), "u.csv": rows(3)}, more=f", at_most: [{marks}]")


def test_leaves_under_a_known_path_are_checked_as_the_first_was():
    with pytest.raises(trees.DataError, match=r"t:3: 'a' is under 'y', but it is under 'x'"):
        trees.taxonomy_of([["a", "x", "*"], ["b", "y", "*"], ["a", "y", "*"]], "t")
    with pytest.raises(trees.DataError, match="t:2: a value is empty"):
        trees.taxonomy_of([["a", "x", "*"], ["", "x", "*"]], "t")
    with pytest.raises(trees.DataError, match="'x' is a leaf"):
        trees.taxonomy_of([["a", "x", "*"], ["x", "*"]], "t")
    same = trees.taxonomy_of([["a", "x", "*"], ["b", "x", "*"], ["b", "x", "*"]])
    assert same.leaves == ("a", "b")
