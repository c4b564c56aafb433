"""Taxonomies: the tree that a file means, and the files that mean none."""

import pytest

from coterie.anonymity.table.taxonomy import read_taxonomy, taxonomy_of
from coterie.base.errors import DataError


def test_repeats_along_a_path_are_one_node():
    tree = read_taxonomy(b"a;a;X;Any\nb;b;X;Any\nc;c;c;Any\n", "t.csv")
    assert tree.labels == ("Any", "X", "c", "a", "b")
    assert tree.children == ((1, 2), (3, 4), (), (), ())
    assert tree.leaves == ("a", "b", "c")
    assert tree.depth == 2


def test_children_stand_in_the_order_of_their_first_leaf():
    tree = taxonomy_of([("a", "X", "R"), ("b", "Y", "R"), ("c", "X", "R")])
    assert tree.leaves == ("a", "c", "b")
    assert [tree.labels[c] for c in tree.children[0]] == ["X", "Y"]
    assert (tree.first[1], tree.last[1], tree.first[2], tree.last[2]) == (0, 2, 2, 3)


def test_quotes_a_byte_order_mark_and_other_line_ends_are_read():
    tree = read_taxonomy('\ufeff"a;1";Any\r\nb;Any\r\n\r\n'.encode(), "t.csv")
    assert tree.leaves == ("a;1", "b")


def test_a_tree_of_one_value():
    tree = taxonomy_of([("*",)])
    assert tree.leaves == ("*",)
    assert tree.children == ((),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "t.csv: the taxonomy is empty"),
        (b"a;R\nb;S\n", "t.csv:2: the root is 'S', but 'R' on line 1"),
        (b"a;X;R\nb;X;Y;R\n", "t.csv:2: 'X' is under 'Y', but it is under 'R' on line 1"),
        (b"a;R\nR;R\n", "t.csv:2: 'R' is a leaf, but it is the parent of 'a' on line 1"),
        (b"a;b;a;R\n", "t.csv:1: 'a' is under 'R', but it is under 'b' on line 1"),
        (b"R;a;R\n", "t.csv:1: 'R' is the root, but it is under 'a' on line 1"),
        (b"a;R\nb;a;R\n", "t.csv:1: 'a' is a leaf, but it is the parent of 'b' on line 2"),
        (b"a;;R\n", "t.csv:1: a value is empty"),
        (b"\xff;R\n", "t.csv: not UTF-8 text; save it as UTF-8 (Excel: 'CSV UTF-8')"),
    ],
)
def test_a_file_that_is_no_tree_is_refused(text, message):
    with pytest.raises(DataError) as error:
        read_taxonomy(text, "t.csv")
    assert str(error.value).startswith(message)
