"""Tables in Markdown."""

from coterie.experiments.single_table.tables import markdown_table


def test_a_table_has_a_head_a_line_and_numbers_that_can_be_read():
    assert markdown_table(["k", "loss"], [[1000, 2.25], ["x", True]]) == [
        "| k | loss |",
        "| --- | --- |",
        "| 1,000 | 2.2 |",
        "| x | yes |",
    ]
