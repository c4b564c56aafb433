"""Tables in the documents are those of the saved results."""

import json
import re

import pytest

from coterie.__main__ import run
from coterie.base.errors import UsageError
from coterie.bench import questions
from coterie.bench.tables import TABLES, rendered
from tests import ROOT

MEASURED = {
    "date": "2026-01-02", "runs": 3, "cores": 2, "processor": "P", "python": "3", "load": 0, "version": "1"
}  # fmt: skip
RUN = {"parties": 2, "seconds": {"median": 2.0, "low": 1.0, "high": 3.0}, "cpu_seconds": 4.0}


def test_the_tables_of_the_documents_are_those_of_the_saved_results():
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text()
        assert rendered(text, ROOT / "bench/results") == text, "run coterie bench tables"


def test_every_table_that_can_be_made_stands_in_one_document():
    texts = [page.read_text() for page in (ROOT / "docs").glob("*.md")]
    found = [block for text in texts for block in re.findall(r"<!-- bench: (\w+) (\w+) -->", text)]
    assert sorted(found) == sorted(TABLES)


# Sentences with a time that was not measured: a setting, a limit, a paper's own figure.
TIMES = re.compile(r"\d ?(?:s|ms|µs|ns|seconds|minutes|hours|MB/s|GB/s)\b(?! of silence)")
GIVEN = [
    r"2\.5 hours there",  # the paper's
    r"--link 100mbit,20ms",
    r"The paper reports 5 seconds",
    r"differ by more than 60 seconds",
    r"asks again after 2 seconds",
    r"1971, 1970s",
    r"Either has 30 seconds",
    r"0\.09 s warm, 0\.623",  # peers on another machine, as docs/one-table.md says
    r"local recoding in 61 s",
    r"anonypy took 12\.9 s",
    r"anjana 10\.6 s for 0\.749",
    r"a sign of life every 30 seconds",
]


# The tables of experiments are those that `coterie experiment` prints beside the papers' figures.
PAGES = [
    ROOT / "README.md",
    *sorted({*(ROOT / "docs").glob("*.md")} - {ROOT / "docs/experiments.md"}),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_time_that_was_measured_stands_in_a_table_that_a_benchmark_writes(page):
    """Otherwise two pages say different things of one benchmark, and nobody knows of which day."""
    text = re.sub(r"<!-- bench: .*?<!-- end bench -->", "", page.read_text(), flags=re.DOTALL)
    for line in text.splitlines():
        for found in TIMES.finditer(line):
            around = line[max(0, found.start() - 60) : found.end() + 40]
            assert any(re.search(given, around) for given in GIVEN), f"{page.name}: {around}"


def test_a_block_is_replaced_and_the_rest_stays(tmp_path):
    runs = [
        {"tool": "ours", "size": 1000, **RUN},
        {"tool": "theirs", "size": 1000, "parties": 2, "error": "x"},
    ]
    (tmp_path / "intersect.json").write_text(json.dumps({"measured": MEASURED, "runs": runs}))
    page = "before\n<!-- bench: intersect pairs -->\nold\n<!-- end bench -->\nafter\n"
    text = rendered(page, tmp_path)
    assert "2026-01-02" in text
    assert "| ours | 2 s (1 to 3); 4 s |" in text
    assert "| theirs | failed |" in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("<!-- end bench -->\nafter\n")
    assert rendered(text, tmp_path) == text


def test_the_tables_of_questions_have_every_cost_and_the_peer_where_there_is_one(tmp_path):
    cost = {"seconds": 2.0, "cpu_seconds": 3.0, "megabytes": 4.0, "rounds": 5, "peak_mb": 600}
    beside = {**cost, "peer": {"seconds": 0.1, "cpu_seconds": 0.2}}
    models = dict.fromkeys(("linear", "ridge", "logistic", "svm"), beside)
    result = {
        "measured": MEASURED,
        "aggregate": [{"parties": 2, "records": 9, "groups": 4, "noise": True, **beside}],
        "mixed": {"records": 9, "groups": 4, **cost},
        "identify": {"records": 9, "sets": 500, **cost},
        "regress": {"records": 9, "features": 20, **models, "cox": {**cost, "peer": None},
                    "logistic of columns": {"records": 8, "features": 6, **beside}},
        "cluster": {"records": 9, **beside, "of columns": {"records": 8, **beside}},
        "rules": {"records": 9, "columns": 8, "horizontal": {"rules": 7, **beside},
                  "vertical": {"rules": 7, **beside}},
        "predict": {"records": 9, "columns": 6, "tree": cost, "bayesnet": cost, "net": cost},
        "witness": {"records": 9, "population": 90, "people_of_a_group": 5,
                    "in the population": {"groups": 3, **cost},
                    "in the table": {"groups": 2, **cost}},
    }  # fmt: skip
    result["targets"] = questions.targets(result)
    (tmp_path / "questions.json").write_text(json.dumps(result))
    parts = [part for name, part in TABLES if name == "questions"]
    page = "".join(f"<!-- bench: questions {part} -->\n<!-- end bench -->\n" for part in parts)
    text = rendered(page, tmp_path)
    costs = "| 2 s | 3 s | 4 MB | 600 MB |"
    assert f"| 9 records, 2 parties, with noise {costs} 0.1 s | 0.2 s |" in text
    assert f"| cox, 9 x 20 {costs}  |  |" in text
    assert f"| a naive net, 9 people, 6 columns {costs}" in text
    assert f"| 5 of 90 people, two parties and a witness: 3 groups {costs}" in text
    assert text.count(costs) == 1 + 1 + 1 + 6 + 2 + 2 + 3 + 2
    assert "| rules, vertical, 3 parties | 2 s | 60 | yes |".replace("2 s", "2") in text


def test_where_the_peer_was_given_up_its_time_and_the_ratio_are_lower_bounds(tmp_path):
    ours = {"ahead": 1.0, "total": 2.0, "single": 0.1}
    row = {"parties": 10, "batch": 1000, "coterie_seconds": ours, "times_faster_batch": 60.0,
           "mpyc_seconds": {"arrays": 120.0, "gave_up": 1.0}, "mpyc_tolerates": 4}  # fmt: skip
    (tmp_path / "fair.json").write_text(json.dumps({"measured": MEASURED, "rows": [row]}))
    text = rendered("<!-- bench: fair argmax -->\n<!-- end bench -->\n", tmp_path)
    assert "| 10 parties: ours | 2 s | 1 s |  |  | 0.1 s | more than 60 | 9 |" in text
    assert "| 10 parties: MPyC | more than 120 s |  |  |  |  |  | 4 |" in text


def test_without_a_result_a_table_stays_and_an_unknown_one_is_an_error(tmp_path):
    page = "<!-- bench: fair argmax -->\nold\n<!-- end bench -->\n"
    assert rendered(page, tmp_path) == page
    with pytest.raises(UsageError, match="no table 'pie'"):
        rendered(page.replace("argmax", "pie"), tmp_path)


def test_a_benchmark_is_run_several_times_and_kept(tmp_path, monkeypatch, capsys):
    seconds = iter([1.0, 3.0])
    monkeypatch.setattr(
        "coterie.bench.dka.main", lambda argv: print(json.dumps({"s": next(seconds)})) or 0
    )
    assert run(["bench", "--runs", "2", "--save", str(tmp_path), "dka", "--quick"]) == 0
    kept = json.loads((tmp_path / "dka.json").read_text())
    assert kept == json.loads(capsys.readouterr().out)
    assert kept["s"] == {"median": 2.0, "low": 1.0, "high": 3.0}
