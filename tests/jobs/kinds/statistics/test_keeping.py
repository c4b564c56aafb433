"""Nets with `structure: naive` or `keep`: what the job may say, what is counted and what is kept."""

import json
import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.base.errors import DataError, UsageError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.protocols.statistics.family_costs import HEADROOM, settings_of

HEAD = "name: kept\nparties: {lender: {}, bank: {}}\nid: ID\nclass: Class\n"
ATTRIBUTES = "attributes: {Sex: {party: lender}, Job: {party: bank, values: [x, y, z]}}\n"
NAIVE = f"kind: bayesnet\n{HEAD}{ATTRIBUTES}structure: naive\n"
SEARCHED = f"kind: bayesnet\n{HEAD}{ATTRIBUTES}keep: risk\n"
MANY = str([f"v{at}" for at in range(91)])
POOLED = "attributes: {Sex: {values: [F, M]}, Job: {values: [x, y, z]}}\n"


def frames(size=120):
    draw = np.random.default_rng(2)
    sex, job = draw.choice(["F", "M"], size), draw.choice(["x", "y"], size)
    label = np.where(draw.random(size) < 0.7, np.where(sex == "F", "Y", "N"), "N")
    ids = [f"p{i}" for i in range(size)]
    tables = {
        "lender": pa.table({"ID": ids, "Sex": sex.tolist(), "Class": label.tolist()}),
        "bank": pa.table({"ID": ids, "Job": job.tolist()}),
    }
    return tables, sex, job, label


def simulated(text, tables, folder):
    (folder / "job.yaml").write_text(text)
    return coterie.simulate(folder / "job.yaml", tables, out=folder / "out")


def test_a_naive_net_shows_the_counts_and_keeps_each_partys_own(tmp_path):
    tables, sex, job, label = frames()
    text = f"{NAIVE}parameters: true\nkeep: risk\n"
    result = simulated(text, tables, tmp_path)
    assert result["nodes"] == ["Class", "Sex", "Job"]
    assert result["edges"] == [["Class", "Sex"], ["Class", "Job"]]
    counted = {
        "Sex": Counter(zip(label, sex, strict=True)),
        "Job": Counter(zip(label, job, strict=True)),
    }
    shown = 0
    for table in result["tables"]:
        _, name = table["attributes"]
        for of_class, value, count in table["cells"]:
            if count is not None:
                assert count == counted[name][of_class, value]
                shown += 1
    assert shown >= 4
    for party, name, values in (("lender", "Sex", "FM"), ("bank", "Job", "xyz")):
        content = json.loads((tmp_path / "out/parties" / party / "model.json").read_text())
        assert list(content["own"]) == [name]
        assert content["own"][name]["counts"] == [
            [counted[name][of_class, value] for of_class in "NY"] for value in values
        ]
        assert content["class_counts"] == [int((label == of_class).sum()) for of_class in "NY"]
    assert coterie.verify(tmp_path / "out")["edges"] == 2


def test_keeping_alone_opens_no_count(tmp_path):
    tables, *_ = frames()
    result = simulated(f"{NAIVE}keep: risk\n", tables, tmp_path)
    assert "tables" not in result
    parts = {entry["what"].split(":")[0] for entry in result["opened"]}
    assert parts <= {"job", "intersection", "class", "statistics"}
    needs = KINDS["bayesnet"].needs(parse_job(f"{NAIVE}keep: risk\n", {}), "bank")
    assert (needs.answers.keeps, needs.groups.smallest, dict(needs.answers.counted)) == (
        "risk",
        None,
        {},
    )


def test_two_parties_keep_shares_of_a_table_across_them_and_nobody_its_counts(tmp_path):
    tables, sex, job, label = frames()
    text = f"{SEARCHED}order: [Sex, Class, Job]\nparameters: true\n"
    label = np.where((job == "x") & (sex == "F"), "Y", "N")
    label[:9] = "Y"
    column = pa.array(label.tolist())
    tables["lender"] = tables["lender"].set_column(2, "Class", column)
    result = simulated(text, tables, tmp_path)
    assert result["edges"] == [["Sex", "Class"], ["Class", "Job"], ["Sex", "Job"]]
    lender, bank = (
        json.loads((tmp_path / "out/parties" / party / "model.json").read_text())
        for party in ("lender", "bank")
    )
    assert lender["shared"] == bank["shared"]
    assert lender["shared"]["parents"] == {"Class": ["Sex"], "Job": ["Sex", "Class"]}
    counted = Counter(zip(sex, label, strict=True))
    assert lender["tables"] == {"Class": [counted[s, c] for s in "FM" for c in "NY"]}
    assert bank["tables"] == {}
    seen = Counter(zip(sex, job, label, strict=True))
    due = [
        math.log((counted[s, c] + 3) / (seen[s, j, c] + 1))
        for s in "FM"
        for j in "xyz"
        for c in "NY"
    ]
    shares = zip(lender["shares"]["Job"], bank["shares"]["Job"], strict=True)
    told = [((one + other) % 2**40 - HEADROOM) / 2**20 for one, other in shares]
    assert told == pytest.approx(due, abs=2 * settings_of(123).error_bound)
    for part in (lender, bank):  # alone, shares are random numbers of 40 bits
        assert max(part["shares"]["Job"]) > 2**36
    assert coterie.verify(tmp_path / "out")["edges"] == 3


def test_a_net_whose_tables_would_be_too_large_is_refused_before_it_is_searched(tmp_path):
    tables, *_ = frames(8200)
    values = pa.array([f"v{at}" for at in range(8200)])
    tables["bank"] = tables["bank"].set_column(1, "Job", values)
    text = SEARCHED.replace(", values: [x, y, z]", "")
    with pytest.raises(DataError, match="more than 4096"):
        simulated(text, tables, tmp_path)
    few = pa.array([f"v{at % 4090}" for at in range(8200)])
    tables["bank"] = tables["bank"].set_column(1, "Job", few)
    many = pa.array([f"c{at % 9}" for at in range(8200)])
    tables["lender"] = tables["lender"].set_column(2, "Class", many)
    with pytest.raises(DataError, match=r"may have 73,620 cells, .* at most 16,384"):
        simulated(text, tables, tmp_path)


def test_a_class_of_one_value_classifies_nobody(tmp_path):
    tables, *_ = frames()
    column = pa.array(["Y"] * tables["lender"].num_rows)
    tables["lender"] = tables["lender"].set_column(2, "Class", column)
    with pytest.raises(DataError, match="one value only"):
        simulated(f"{NAIVE}keep: risk\n", tables, tmp_path)


def test_verify_refuses_another_net_than_the_naive_one(tmp_path):
    tables, *_ = frames()
    simulated(f"{NAIVE}keep: risk\n", tables, tmp_path)
    path = tmp_path / "out/result.json"
    result = json.loads(path.read_text())
    result["edges"] = [["Class", "Sex"], ["Sex", "Job"]]
    path.write_text(json.dumps(result))
    with pytest.raises(coterie.CoterieError, match="'Job' has not the class as only parent"):
        coterie.verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NAIVE, "say 'parameters: true', or 'keep' it"),
        (NAIVE.replace("class: Class\n", "") + "keep: risk\n", "needs a 'class'"),
        (f"{NAIVE}keep: risk\nmax_parents: 1\n", "has no meaning with 'structure: naive'"),
        (f"{NAIVE}keep: risk\norder: [Sex, Job]\n", "has no meaning with 'structure: naive'"),
        (f"{NAIVE}keep: a/b\n", "is not a name"),
        (NAIVE.replace("naive", "star"), "structure"),
        (f"{SEARCHED}order: [Sex, Job]\n", "which the job must name and 'order' list"),
        (SEARCHED.replace("class: Class\n", ""), "which the job must name and 'order' list"),
        (
            SEARCHED.replace("lender}", f"lender, values: {MANY}}}").replace("[x, y, z]", MANY),
            "may have 16,562 cells",
        ),
        (
            f"{NAIVE}partition: horizontal\nkeep: risk\n".replace(ATTRIBUTES, POOLED).replace("id: ID\n", ""),
            "it predicts alone",
        ),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_kept_is_refused_in_the_job_file(text, message):
    with pytest.raises(UsageError, match=message):
        parse_job(text, {})


def test_a_steward_reads_what_is_kept():
    told = "\n".join(KINDS["bayesnet"].told_of(parse_job(f"{NAIVE}keep: risk\n", {}), "bank"))
    assert "nobody: how often your values occur by class among the common people" in told
    told = "\n".join(KINDS["bayesnet"].told_of(parse_job(SEARCHED, {}), "bank"))
    assert "lender and bank keep random shares" in told
    anywhere = SEARCHED.replace(ATTRIBUTES, f"{POOLED}partition: mixed\n")
    told = "\n".join(KINDS["bayesnet"].told_of(parse_job(anywhere, {}), "bank"))
    assert "nobody: more. All keep a part of the model 'risk'" in told
    tree = parse_job(f"kind: tree\n{HEAD}{ATTRIBUTES}keep: risk\npredict: lender\n", {})
    assert KINDS["tree"].needs(tree, "bank").answers.predicted_for == ("lender",)
    told = "\n".join(KINDS["tree"].told_of(tree, "bank"))
    assert "your part of the model 'risk'" in told
