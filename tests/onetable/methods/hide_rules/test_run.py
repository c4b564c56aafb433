"""`coterie hide-rules`: rules that are gone, what that cost, and what is refused."""

import csv
import json
from itertools import combinations

import pytest

from coterie.__main__ import run
from tests.onetable.methods.hide_rules.baskets import FILE, rows, write

WAYS = ["fewest", "support", "confidence", "border", "exact", "blocking"]


def rules(table):
    """All rules of at most three items, by counting every one of them."""
    names = ["Bread", "Milk", "Beer", "Town"]
    baskets = [
        frozenset((n, v) for n, v in zip(names, row, strict=True) if v not in ("", "?"))
        for row in table
    ]
    items = sorted(set().union(*baskets))
    found = set()
    for size in (2, 3):
        for chosen in combinations(items, size):
            together = sum(set(chosen) <= basket for basket in baskets)
            if together < 0.2 * len(table):
                continue
            for part in range(1, size):
                for premise in combinations(chosen, part):
                    if together >= 0.5 * sum(set(premise) <= basket for basket in baskets):
                        rest = frozenset(chosen) - frozenset(premise)
                        found.add((frozenset(premise), rest))
    return found


def hidden(tmp_path, text=FILE, baskets=None):
    path = write(tmp_path, text, baskets)
    assert run(["hide-rules", str(path), "--out", str(tmp_path / "out"), "--force"]) == 0
    with (tmp_path / "out/release.csv").open(newline="") as file:
        return json.loads((tmp_path / "out/result.json").read_text()), list(csv.reader(file))[1:]


RULE = (frozenset({("Bread", "1")}), frozenset({("Beer", "1")}))


@pytest.mark.parametrize("way", WAYS)
def test_the_rule_is_gone_and_the_costs_are_those_of_a_plain_count(tmp_path, way):
    if way == "exact":
        pytest.importorskip("scipy")
    result, table = hidden(tmp_path, FILE + f"by: {way}\n")
    before, after = rules(rows()), rules(table)
    assert RULE in before
    assert RULE not in after
    both = RULE[0] | RULE[1]
    assert (result["hidden"], result["failures"]) == (1, 0)
    assert result["rules_before"] == len(before)
    # Emptied cells are no item; what is unknown may be counted otherwise by whoever looks.
    if way != "blocking":
        assert result["rules_after"] == len(after)
        assert result["ghosts"] == len(after - before)
        gone = {rule for rule in before - after if not both <= rule[0] | rule[1]}
        assert result["lost"] == len(gone)
    assert result["cells_changed"] > 0
    changed = sum(
        max(sum(r[j] == v for r in rows()) - sum(r[j] == v for r in table), 0)
        for j in range(4)
        for v in {r[j] for r in rows()}
    )
    assert result["cells_changed"] == changed
    assert run(["verify", str(tmp_path / "out")]) == 0


def test_exact_changes_no_more_than_the_heuristics_by_support(tmp_path):
    pytest.importorskip("scipy")
    costs = {
        way: hidden(tmp_path, FILE + f"by: {way}\n")[0] for way in ("support", "border", "exact")
    }
    assert costs["exact"]["items_changed"] == costs["support"]["items_changed"]
    assert costs["exact"]["items_changed"] == costs["border"]["items_changed"]


def test_blocked_cells_are_unknown_and_half_of_them_hide_nothing(tmp_path):
    result, table = hidden(tmp_path, FILE + "by: blocking\nmargin: 0.1\n")
    unknown = sum(row.count("?") for row in table)
    assert unknown == result["cells_changed"]
    assert result["decoys"] == unknown // 2


def test_a_rule_that_is_not_found_needs_no_change(tmp_path):
    result, table = hidden(tmp_path, FILE.replace("support: 0.2", "support: 0.9"))
    assert result["cells_changed"] == 0
    assert sorted(table) == sorted(rows())


@pytest.mark.parametrize(
    ("text", "baskets", "message"),
    [
        (FILE, [], "the table has no records"),
        (FILE.replace('Beer: "1"', 'Beer: "2"'), None, "no record has the value '2'"),
        (FILE.replace("if: {Bread", "if: {Wine"), None, "is not among the attributes"),
        (
            FILE.replace("[Bread, Milk, Beer, Town]", "[Bread, Beer, Wine]"),
            None,
            "no column 'Wine'",
        ),
        (FILE.replace('{Beer: "1"}', '{Bread: "1"}'), None, "has a column on both sides"),
        (FILE.replace("support: 0.2", "support: 0"), None, "must be above 0"),
        (FILE.replace("support: 0.2", "support: nan"), None, "support"),
        (FILE + "by: magic\n", None, "by: must be one of"),
        (FILE + "margin: 0.1\n", None, "is only for 'by: blocking'"),
        (FILE.replace("method: hide-rules\n", ""), None, "the key 'method' is missing"),
        (FILE.split("hide:")[0] + "hide: []\n", None, "must have at least one rule"),
        (FILE + "k: 3\n", None, "unknown key"),
        (FILE + "by: blocking\n", [["?", "1", "1", "x"]], "has a ?, which blocking writes"),
    ],
)
def test_what_cannot_be_hidden_is_one_line(tmp_path, capsys, text, baskets, message):
    path = write(tmp_path, text, baskets)
    assert run(["hide-rules", str(path), "--out", str(tmp_path / "out")]) in (2, 3)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_one_row_is_hidden(tmp_path):
    result, table = hidden(tmp_path, baskets=[["1", "1", "1", "x"]])
    assert result["cells_changed"] == 1
    assert "" in table[0]
