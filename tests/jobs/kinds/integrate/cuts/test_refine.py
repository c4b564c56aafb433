"""`refine` of an integrate job and of one table, from the file to the checked release."""

import csv
import json

import pytest

from coterie.base.errors import CoterieError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.results.report import write_report
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.reading import load_table_file
from tests.jobs.kinds.integrate.cuts.test_mondrian import COLUMNS, folder_of, run

PLAIN = COLUMNS | {"Age": ("ann", "range: [17, 90]")}
LOOSE = "  - {qid: [Age, Town, Pay, Job, Born], k: 8}\n"
SENSITIVE = LOOSE.replace("k: 8", "k: 8, sensitive: Ill, l: 2")
SHORT = (
    "  - {qid: [Age, Town], k: 20}\n  - {qid: [Town, Pay], k: 25}\n  - {qid: [Job, Born], k: 9}\n"
)


def refining(folder, refine, more="", requirement=LOOSE, parties="ann bob", columns=PLAIN):
    path = folder_of(folder, more, requirement, parties, columns)
    path.write_text(
        path.read_text().replace("method: mondrian\n", f"method: specialize\nrefine: {refine}\n")
    )
    table = (folder / "table.yaml").read_text()
    alone = "".join(
        line + "\n"
        for line in more.splitlines()
        if line.startswith(("score", "max_suppression", "split"))
    )
    (folder / "table.yaml").write_text(
        table.replace(
            "method: mondrian\nrule: width\n", f"method: specialize\nrefine: {refine}\n{alone}"
        ).replace("score: discernibility\n\n", "\n")
    )
    return path


@pytest.mark.parametrize("refine", ["columns", "groups"])
@pytest.mark.parametrize("requirement", [LOOSE, SENSITIVE, SHORT])
@pytest.mark.parametrize(
    "more", ["", "max_suppression: 0.1\n", "adversary: malicious\nepsilon: 9\n"]
)
def test_the_joint_release_is_the_file_that_one_table_gives(tmp_path, refine, requirement, more):
    if "Ill" in requirement and "suppression" in more:
        return
    parties = "ann bob cat" if "Ill" in requirement else "ann bob"
    path = refining(tmp_path / "job", refine, more, requirement, parties)
    result, out = run(path)
    alone = tmp_path / "alone"
    alone.mkdir()
    made = anonymise_file(load_table_file(path.parent / "table.yaml"))
    made.write(alone)
    assert (out / "release.csv").read_bytes() == (alone / "release.csv").read_bytes()
    plain = [{k: v for k, v in one.items() if k != "party"} for one in result["winners"]]
    assert plain == made.result["winners"]
    told = [{k: v for k, v in cut.items() if k != "party"} for cut in result.get("tree", [])]
    assert told == made.result.get("tree", [])
    assert sum(result["refine_contributions"].values()) > 0
    phases = {winner["phase"] for winner in result["winners"]}
    assert phases <= ({1, 2} if refine == "columns" else {1})
    for folder in (out, alone):
        assert verify(folder)["verdict"].startswith("holds")
    write_report(out)
    page = (out / "report.html").read_text()
    assert ("second phase" if refine == "columns" else "were cut further") in page


@pytest.mark.parametrize("refine", ["columns", "groups"])
@pytest.mark.parametrize(
    ("requirement", "bound"),
    [
        (LOOSE, "[South, West, North]"),
        (SHORT, "[South, West, North]"),
        (LOOSE, "[Ulm, Mainz, Bonn, Kiel]"),
    ],
)
def test_bounds_hold_in_a_second_phase_too(tmp_path, refine, bound, requirement):
    columns = PLAIN | {"Town": ("ann", f"taxonomy: Town.csv, at_most: {bound}")}
    more = "adversary: malicious\nepsilon: 9\nmax_suppression: 0.2\n"
    path = refining(tmp_path / "job", refine, more, requirement, columns=columns)
    result, out = run(path)
    made = anonymise_file(load_table_file(path.parent / "table.yaml"))
    alone = tmp_path / "alone"
    alone.mkdir()
    made.write(alone)
    assert (out / "release.csv").read_bytes() == (alone / "release.csv").read_bytes()
    with (out / "release.csv").open(newline="") as file:
        shown = {row["Town"] for row in csv.DictReader(file)}
    permitted = {"South", "West", "North", "Ulm", "Mainz", "Bonn", "Kiel"}
    assert shown <= permitted - ({"South"} if "Ulm" in bound else set())
    assert sum(result["refine_contributions"].values()) > 0
    for folder in (out, alone):
        assert verify(folder)["verdict"].startswith("holds")


@pytest.mark.parametrize(
    ("refine", "change", "message"),
    [
        ("columns", lambda r: r["winners"][-1].update(score=0.5), "has the score 0.5"),
        ("columns", lambda r: r["winners"][-1].update(phase=1), "no order of phases"),
        ("columns", lambda r: r["winners"][0].update(phase=3), "no order of phases"),
        ("columns", lambda r: r["refine_contributions"].update(bob=7.0), "bob contributed"),
        ("groups", lambda r: r["refine_contributions"].update(bob=7.0), "bob contributed"),
        ("groups", lambda r: r["contributions"].update(bob=7.0), "bob contributed"),
        ("groups", lambda r: r["tree"].pop(), "leaves records together"),
        ("groups", lambda r: r["tree"][0].update(score=9.0), "has the score"),
        ("groups", lambda r: r["winners"].pop(), "do not lead to the cut"),
        ("groups", lambda r: r["cut"]["Job"].append("Cook"), "Cook|once|twice"),
    ],
)
def test_a_result_that_is_not_that_of_its_release_is_found_out(tmp_path, refine, change, message):
    _, out = run(refining(tmp_path / "job", refine))
    result = json.loads((out / "result.json").read_text())
    change(result)
    (out / "result.json").write_text(json.dumps(result))
    with pytest.raises(VerificationError, match=message):
        verify(out)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["tree"].pop(), "leaves records together"),
        (lambda r: r["tree"][0].update(score=9.0), "has the score"),
        (lambda r: r["tree"][0]["sizes"].__setitem__(0, 1), "fewer than k"),
        (lambda r: r["tree"][0].update(parts=[r["tree"][0]["parts"][0]] * 2), "no parts of"),
    ],
)
@pytest.mark.parametrize("method", ["specialize", "mondrian"])
def test_a_tree_that_is_not_that_of_one_table_is_found_out(tmp_path, method, change, message):
    path = refining(tmp_path / "job", "groups")
    if method == "mondrian":
        path = folder_of(tmp_path / "other", "boxes: tight\n")
    made = anonymise_file(load_table_file(path.parent / "table.yaml"))
    out = tmp_path / "out"
    out.mkdir()
    made.write(out)
    assert verify(out)["verdict"].startswith("holds")
    result = json.loads((out / "result.json").read_text())
    change(result)
    (out / "result.json").write_text(json.dumps(result))
    with pytest.raises(VerificationError, match=message):
        verify(out)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("slack: tell\n", "refine: does not go with 'slack'"),
        ("method: mondrian\n", "refine: is only for 'method: specialize'"),
        ("refine: rows\n", "refine: must be one of columns, groups"),
    ],
)
def test_what_does_not_go_with_a_second_phase_is_refused_by_name(tmp_path, more, message):
    path = refining(tmp_path / "job", "columns")
    text = path.read_text()
    if more.startswith("method"):
        text = text.replace("method: specialize\n", "").replace(
            "range: [17, 90]", "range: [17, 90]"
        )
    if more.startswith("refine"):
        text = text.replace("refine: columns\n", "")
    path.write_text(text + more)
    with pytest.raises(CoterieError, match=message):
        load_job(path)


def test_a_job_says_that_short_entries_may_not_be_refined(tmp_path):
    job = load_job(refining(tmp_path / "job", "groups", "", SHORT))
    assert any("refine: groups cuts" in line for line in job.warnings)
    assert not any(
        "refine" in line for line in load_job(refining(tmp_path / "two", "groups")).warnings
    )
