"""`coterie verify` on tables whose rules were hidden, right ones and spoilt ones."""

import pytest

from coterie.__main__ import run
from tests.onetable.methods.hide_rules.baskets import FILE, rows, write
from tests.onetable.verdicts import verdict


@pytest.fixture(params=["fewest", "blocking"])
def folder(request, tmp_path):
    path = write(tmp_path, FILE + f"by: {request.param}\n")
    assert run(["hide-rules", str(path), "--out", str(tmp_path / "out")]) == 0
    return tmp_path


def test_a_release_holds_also_beside_its_table(folder, capsys):
    assert verdict(folder, capsys) == (0, "holds: 1 rule is not found in 80 records")
    assert verdict(folder, capsys, "--data", str(folder / "baskets.csv"))[0] == 0


def test_a_rule_that_is_still_there_is_found(folder, capsys):
    lines = [",".join(f'"{v}"' if v else "" for v in row) for row in sorted(rows())]
    path = folder / "out/release.csv"
    path.write_text('"Bread","Milk","Beer","Town"\n' + "\n".join(lines) + "\n")
    code, line = verdict(folder, capsys)
    assert code == 8
    assert "the rule Bread = 1 -> Beer = 1 is found" in line


def test_another_table_and_another_claim_are_found(folder, capsys):
    baskets = rows()
    baskets[0][3] = "Bruges"
    write(folder, baskets=baskets)
    code, line = verdict(folder, capsys, "--data", str(folder / "baskets.csv"))
    assert code == 8
    path = folder / "out/result.json"
    path.write_text(path.read_text().replace('"failures": 0', '"failures": 1'))
    code, line = verdict(folder, capsys)
    assert (code, "not all rules are hidden" in line) == (8, True)
