"""`method: mondrian` of an integrate job, from its file to its checked release, in one process."""

import csv
import json
import random

import pytest

from coterie.base.errors import CoterieError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.data.release_file import read_release
from coterie.jobs.kinds.integrate.cuts.verify_tree import cutting_of, origins
from coterie.jobs.kinds.integrate.kind import INTEGRATE
from coterie.jobs.kinds.integrate.verify_release import released_columns
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.results.report import write_report
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.reading import load_table_file

TOWNS = "Ulm;South;*\nMainz;South;*\nBonn;West;*\nKiel;North;*\n"
COLUMNS = {
    "Age": ("ann", "range: [17, 90], priority: 3"),
    "Town": ("ann", "taxonomy: Town.csv"),
    "Pay": ("bob", "missing: value, range: [1, 99]"),
    "Job": ("bob", "flat: true"),
    "Born": ("cat", "range: [1940-01-01, 2000-01-01]"),
    "Ill": ("cat", ""),
}
REQUIREMENT = "  - {qid: [Age, Town, Pay, Job, Born], k: 8, sensitive: Ill, l: 2}\n"


def people(seed=1, count=240):
    rng = random.Random(seed)
    return [
        {
            "ID": str(i),
            "Age": str(rng.randint(18, 80)),
            "Town": rng.choice(["Ulm", "Bonn", "Kiel", "Mainz"]),
            "Pay": rng.choice(["", *map(str, range(1, 100, 7))]),
            "Job": rng.choice(["Cook", "Smith", "Nurse", "Clerk"]),
            "Born": f"19{rng.randint(40, 99)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
            "Ill": rng.choice(["flu", "flu", "cold", "gout"]),
            "Class": rng.choice("ab"),
        }
        for i in range(count)
    ]


def write(path, rows, names):
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, names, extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)


def folder_of(folder, more="", requirement=REQUIREMENT, parties="ann bob cat", columns=None):
    """A folder with tables of the parties, of all together, a job and a table file."""
    rows, columns = people(), columns or COLUMNS
    names = parties.split()
    held = {
        n: [
            c
            for c, (p, _) in columns.items()
            if names[min(["ann", "bob", "cat"].index(p), len(names) - 1)] == n
        ]
        for n in names
    }
    folder.mkdir(exist_ok=True)
    (folder / "Town.csv").write_text(TOWNS)
    for name in names:
        own = ["ID", *held[name], *(["Class"] if name == "ann" else [])]
        write(folder / f"{name}.csv", rows, own)
    write(folder / "all.csv", rows, ["ID", *columns, "Class"])
    party = {c: n for n in names for c in held[n]}
    listed = "".join(
        f"  {c}: {{party: {party[c]}{', ' if keys else ''}{keys}}}\n"
        for c, (_, keys) in columns.items()
    )
    alone = "".join(f"  {c}: {{{keys}}}\n" for c, (_, keys) in columns.items())
    known = "".join(f"  {n}: {{address: {n}:7000, data: {n}.csv}}\n" for n in names)
    (folder / "job.yaml").write_text(
        f"kind: integrate\nname: cuts\nmethod: mondrian\nparties:\n{known}id: ID\nclass: Class\n"
        f"attributes:\n{listed}requirement:\n{requirement}{more}"
    )
    shared = "\n".join(line for line in more.splitlines() if line.startswith(("boxes", "score")))
    (folder / "table.yaml").write_text(
        f"data: all.csv\nmethod: mondrian\nrule: width\nid: ID\nclass: Class\nattributes:\n{alone}"
        f"requirement:\n{requirement}{shared}\n"
    )
    return folder / "job.yaml"


def run(path):
    out = path.parent / "out"
    out.mkdir()
    job = load_job(path)
    return simulate(job, path.parent, out, seed="1"), out


@pytest.mark.parametrize("parties", ["ann bob", "ann bob cat"])
@pytest.mark.parametrize(
    "more", ["", "boxes: tight\n", "score: gain-ratio\nhide_scores: false\n", "recipients: all\n"]
)
def test_the_joint_release_is_the_file_that_one_table_gives(tmp_path, more, parties):
    path = folder_of(tmp_path / "job", more, parties=parties)
    result, out = run(path)
    alone = tmp_path / "alone"
    alone.mkdir()
    made = anonymise_file(load_table_file(path.parent / "table.yaml"))
    made.write(alone)
    expected = made.result
    assert (out / "release.csv").read_bytes() == (alone / "release.csv").read_bytes()
    told = [{k: v for k, v in cut.items() if k != "party"} for cut in result["tree"]]
    assert told == expected["tree"]
    assert {cut["party"] for cut in result["tree"]} <= set(parties.split())
    assert verify(out)["verdict"].startswith("holds")
    write_report(out)
    assert "How the groups were made" in (out / "report.html").read_text()


def test_a_simulation_says_on_request_what_each_method_would_keep(tmp_path):
    """Its own method as it has done, the others as jobs with their keys would."""
    whole = "  - {qid: [Age, Town, Pay, Job, Born], k: 8}\n"
    columns = COLUMNS | {"Age": ("ann", "range: [17, 90]")}
    path = folder_of(tmp_path / "a", "", whole, columns=columns)
    job, out = load_job(path), tmp_path / "out"
    out.mkdir()
    result = simulate(job, path.parent, out, seed="1", compare=True)
    found = {one["keys"]: one for one in result["methods"]}
    own_error = pytest.approx(result["utility"]["query_error"])
    assert found["method: mondrian"]["query_error"] == own_error
    assert found["method: mondrian"]["class_error"] == result["utility"]["class_error"]["release"]
    for keys, one in found.items():
        other = tmp_path / str(len(keys))
        text = folder_of(other, "", whole, columns=columns)
        own = text.read_text().replace("method: mondrian", keys.replace(", ", "\n"))
        text.write_text(own)
        utility = run(text)[0]["utility"]
        assert one["query_error"] == pytest.approx(utility["query_error"]), keys
    write_report(out)
    assert "What each method would keep" in (out / "report.html").read_text()
    assert "What each method would keep" not in (out / "public.html").read_text()


def test_a_condition_on_another_column_is_not_compared(tmp_path):
    path = folder_of(tmp_path / "a")
    (tmp_path / "out").mkdir()
    result = simulate(load_job(path), path.parent, tmp_path / "out", seed="1", compare=True)
    assert result["methods"] == []


def test_the_drawn_tree_puts_each_group_below_the_one_that_it_is_a_part_of(tmp_path):
    path = folder_of(tmp_path / "job")
    result, out = run(path)
    job = load_job(path)
    table = read_release(out / "release.csv", released_columns(job), "the job")
    tree = result["tree"]
    above = origins(cutting_of(job, result), tree, table)
    assert above[0] is None
    for number, place in list(above.items())[1:]:
        parent, part = place
        assert sum(tree[number]["sizes"]) == tree[parent]["sizes"][part]
        assert tree[number]["level"] > tree[parent]["level"]
        if tree[number]["attribute"] == tree[parent]["attribute"] == "Age":
            assert tree[number]["region"] == tree[parent]["parts"][part]
    assert len(set(above.values())) == len(tree)
    write_report(out)
    page = (out / "report.html").read_text()
    first = tree[0]
    assert page.index(f"{first['attribute']}: {first['region']}") < page.index("· · · ")


def test_several_entries_bounds_and_the_strategy_hold_when_checked(tmp_path):
    columns = COLUMNS | {"Town": ("ann", "taxonomy: Town.csv, at_most: [South, West, North]")}
    requirement = (
        "  - {qid: [Age, Town], k: 5}\n  - {qid: [Town, Pay], k: 6}\n  - {qid: [Job], k: 9}\n"
    )
    more = "adversary: malicious\nepsilon: 0.2\nmax_suppression: 0.2\n"
    path = folder_of(tmp_path / "job", more, requirement, columns=columns)
    result, out = run(path)
    assert {cut["condition"] for cut in result["tree"]} == {0, 1}
    assert verify(out)["verdict"].startswith("holds")
    assert sum(result["contributions"].values()) > 0
    assert any("together" in line for line in load_job(path).warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["tree"][0].update(score=9.0), "has the score"),
        (lambda r: r["tree"][0]["sizes"].reverse(), "no group of the release"),
        (lambda r: r["tree"].pop(), "leaves records together"),
        (lambda r: r["tree"][0].update(party="nobody"), "of no attribute of nobody"),
        (lambda r: r["contributions"].update(bob=7.0), "bob contributed"),
        (lambda r: r["tree"][0].update(parts=[r["tree"][0]["parts"][0]] * 2), "no parts of"),
        (lambda r: r["tree"][0]["sizes"].__setitem__(0, 1), "fewer than k"),
        (lambda r: r["anonymity"][0].update(smallest=99), "99"),
        (lambda r: r["utility"].update(normalised_width=0.1), "normalised_width"),
    ],
)
def test_a_result_that_is_not_that_of_its_release_is_found_out(tmp_path, change, message):
    _, out = run(folder_of(tmp_path / "job", parties="ann bob"))
    result = json.loads((out / "result.json").read_text())
    change(result)
    (out / "result.json").write_text(json.dumps(result))
    with pytest.raises(VerificationError, match=message):
        verify(out)


@pytest.mark.parametrize(
    ("more", "requirement", "message"),
    [
        ("split: even\n", REQUIREMENT, "split: does not go with 'method: mondrian'"),
        ("slack: tell\n", REQUIREMENT.replace(", sensitive: Ill, l: 2", ""), "slack: does not go"),
        ("score: discernibility\n", REQUIREMENT, "score: must be one of width, gain-ratio"),
        ("boxes: round\n", REQUIREMENT, "boxes: must be one of regions, tight"),
        (
            "universe: cat\n",
            "  - {qid: [Age, Town], k_map: 8}\n  - {qid: [Pay, Job], k: 8}\n",
            "'k_map' does not go with 'method: mondrian'",
        ),
    ],
)
def test_what_does_not_go_with_local_cuts_is_refused_by_name(tmp_path, more, requirement, message):
    with pytest.raises(CoterieError, match=message):
        load_job(folder_of(tmp_path / "job", more, requirement))


@pytest.mark.parametrize("key", ["priority: 3", "boxes"])
def test_keys_of_mondrian_do_not_go_with_specialization(tmp_path, key):
    more = "boxes: tight\n" if key == "boxes" else ""
    columns = COLUMNS if key != "boxes" else COLUMNS | {"Age": ("ann", "range: [17, 90]")}
    path = folder_of(tmp_path / "job", more, columns=columns)
    path.write_text(path.read_text().replace("method: mondrian\n", ""))
    with pytest.raises(CoterieError, match="is only for 'method: mondrian'"):
        load_job(path)


def test_exact_ends_are_what_a_job_needs_permission_for(tmp_path):
    tight = load_job(folder_of(tmp_path / "tight", "boxes: tight\n"))
    regions = load_job(folder_of(tmp_path / "regions"))
    assert INTEGRATE.needs(tight, "ann").groups.exact_ends
    assert not INTEGRATE.needs(regions, "ann").groups.exact_ends
