"""`kind: predict` in simulations: from the job that keeps a model to the lists of the recipients."""

import csv
import json
import math
from collections import Counter
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.base.errors import DataError, UsageError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS

SIZE, NEW = 150, 60
HEAD = "parties: {lender: {}, bank: {}, card: {}}\nid: ID\n"
KEPT = """class: Class
attributes:
  Sex: {party: lender}
  Job: {party: bank, values: [x, y, z]}
  Age: {party: card, cuts: [30, 50]}
keep: risk
"""
PREDICT = f"""kind: predict
name: new
{HEAD}model: risk
attributes: {{Sex: {{party: lender}}, Job: {{party: bank}}, Age: {{party: card}}}}
recipients: [lender, card]
"""


def people(seed, size, tag):
    draw = np.random.default_rng(seed)
    rows = []
    for i in range(size):
        row = {
            "ID": f"{tag}{i}",
            "Sex": str(draw.choice(["F", "M"])),
            "Job": str(draw.choice(["x", "y", "z"])),
            "Age": str(draw.integers(18, 80)),
        }
        likely = (row["Job"] == "x" and int(row["Age"]) >= 50) or (
            row["Sex"] == "F" and row["Job"] == "y"
        )
        row["Class"] = "Y" if likely != (draw.random() < 0.1) else "N"
        rows.append(row)
    return rows


def frames(rows, named=True):
    """The parties' tables, each with strangers of its own and in its own order."""
    columns = {"lender": ["Sex", *(["Class"] if named else [])], "bank": ["Job"], "card": ["Age"]}
    tables = {}
    for at, (party, own) in enumerate(columns.items()):
        held = rows[at:] + rows[:at]
        strangers = [{**row, "ID": f"{party}-{row['ID']}"} for row in rows[:5]]
        tables[party] = {n: [row[n] for row in held + strangers] for n in ["ID", *own]}
    return {party: pa.table(table) for party, table in tables.items()}


def job(text, folder, name="job.yaml"):
    (folder / name).write_text(text)
    return folder / name


@pytest.fixture(scope="module")
def training():
    return people(5, SIZE, "p")


@pytest.fixture(scope="module")
def newcomers():
    return people(6, NEW, "n")


@pytest.fixture(scope="module", params=["tree", "net", "searched"])
def kept(request, training, tmp_path_factory):
    """The result folder of a job that keeps a model, and which one."""
    folder = tmp_path_factory.mktemp("kept")
    texts = {
        "tree": f"kind: tree\nname: kept\n{HEAD}{KEPT}max_depth: 2\nminimum: 5\n",
        "net": f"kind: bayesnet\nname: kept\n{HEAD}{KEPT}structure: naive\n",
        "searched": f"kind: bayesnet\nname: kept\n{HEAD}{KEPT}order: [Job, Class, Age, Sex]\n",
    }
    out = folder / "out"
    coterie.simulate(job(texts[request.param], folder), frames(training), out=out, seed="kept")
    return request.param, out


@pytest.fixture(scope="module")
def predicted(kept, newcomers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("predicted")
    coterie.simulate(
        job(PREDICT, folder), frames(newcomers, False), out=folder / "out", models=kept[1]
    )
    return kept, folder / "out"


def read_list(out, party):
    with (out / "parties" / party / "predictions.csv").open(newline="") as file:
        return {row["ID"]: row["predicted"] for row in csv.DictReader(file)}


def age_group(row):
    age = int(row["Age"])
    return "<30" if age < 30 else "[30, 50)" if age < 50 else ">=50"


def by_the_tree(out, rows):
    """The classes by the tree in the result and what its owners alone know of its branches."""
    tree = json.loads((out / "result.json").read_text())["tree"]
    numbers = {}
    for party in ("lender", "bank", "card"):
        path = out / "parties" / party / "branches.csv"
        if path.exists():
            with path.open(newline="") as file:
                for entry in csv.DictReader(file):
                    numbers[entry["attribute"], entry["value"]] = entry["branch"]
    found = {}
    for row in rows:
        node = tree
        values = {**row, "Age": age_group(row)}
        while "class" not in node:
            value = values[node["attribute"]]
            node = node["branches"][numbers.get((node["attribute"], value), value)]
        found[row["ID"]] = node["class"]
    return found


def by_joint_probability(training, edges, rows):
    """The class of greatest probability, by the product over all nodes of the net."""
    domains = {
        "Sex": ["F", "M"],
        "Job": ["x", "y", "z"],
        "Age": ["<30", "[30, 50)", ">=50"],
        "Class": ["N", "Y"],
    }
    known = [{**row, "Age": age_group(row)} for row in training]

    def probability(node, row):
        parents = [parent for parent, child in edges if child == node]
        if node == "Class" and not parents:
            return sum(r["Class"] == row["Class"] for r in known) / len(known)
        alike = [r for r in known if all(r[name] == row[name] for name in parents)]
        same = sum(r[node] == row[node] for r in alike)
        return (same + 1) / (len(alike) + len(domains[node]))

    found = {}
    for row in rows:
        scores = {
            label: sum(
                math.log(probability(node, {**row, "Age": age_group(row), "Class": label}))
                for node in domains
            )
            for label in domains["Class"]
        }
        best, second = sorted(scores.values(), reverse=True)[:2]
        assert best - second > 1e-3, "the table has a tie, by which the test would say nothing"
        found[row["ID"]] = max(scores, key=scores.get)
    return found


def by_bayes(training, rows):
    """The most likely class of each row, with one record added to each value of each class."""
    totals = Counter(row["Class"] for row in training)
    sizes = {"Sex": 2, "Job": 3, "Age": 3}

    def value(row, name):
        return age_group(row) if name == "Age" else row[name]

    seen = Counter((name, value(row, name), row["Class"]) for row in training for name in sizes)
    found = {}
    for row in rows:
        scores = {
            label: math.log(totals[label] / len(training))
            + sum(
                math.log((seen[name, value(row, name), label] + 1) / (totals[label] + size))
                for name, size in sizes.items()
            )
            for label in sorted(totals)
        }
        best, second = sorted(scores.values(), reverse=True)[:2]
        assert best - second > 1e-5, "the table has a tie, by which the test would say nothing"
        found[row["ID"]] = max(scores, key=scores.get)
    return found


def test_recipients_get_the_classes_of_the_joined_table(predicted, training, newcomers):
    (kind, earlier), out = predicted
    if kind == "searched":
        edges = json.loads((earlier / "result.json").read_text())["edges"]
        across = {("Job", "Age"), ("Job", "Sex"), ("Class", "Sex"), ("Class", "Age")}
        assert len(across & set(map(tuple, edges))) == 4
        expected = by_joint_probability(training, edges, newcomers)
    else:
        by = {"net": partial(by_bayes, training), "tree": partial(by_the_tree, earlier)}
        expected = by[kind](newcomers)
    assert len(set(expected.values())) > 1
    assert read_list(out, "lender") == expected
    assert read_list(out, "card") == expected


def test_nobody_else_gets_a_class_and_the_coordinator_a_number(predicted):
    _, out = predicted
    assert not (out / "parties" / "bank" / "predictions.csv").exists()
    result = json.loads((out / "result.json").read_text())
    assert result["records"] == NEW
    assert result["model"] == "risk"
    assert result["predicted_for"] == ["lender", "card"]
    opened = {entry["what"]: entry["to"] for entry in result["opened"]}
    assert set(opened["prediction: classes"]) <= {"lender", "card"}
    shown = (out / "report.html").read_text()
    assert "60 people, whom all parties have" in shown
    for text in ("predicted,", "n17", '"Y"'):
        assert text not in shown


def test_the_result_is_verified(predicted):
    assert coterie.verify(predicted[1])["records"] == NEW


def test_a_part_has_nothing_of_the_other_parties(kept):
    kind, out = kept
    for party, own in (("lender", "Sex"), ("bank", "Job"), ("card", "Age")):
        content = json.loads((out / "parties" / party / "model.json").read_text())
        assert list(content["own"]) == [own]
        assert (content["shared"]["tree"] is None) == (kind != "tree")
        if kind == "searched":
            assert list(content["tables"]) == (["Class"] if party == "bank" else [])
            assert list(content["shares"]) == (["Age", "Sex"] if party != "card" else [])


def test_a_naive_net_is_that_of_scikit_learn(training, newcomers):
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")

    def codes(rows):
        ages = ["<30", "[30, 50)", ">=50"]
        return [
            ["FM".index(r["Sex"]), "xyz".index(r["Job"]), ages.index(age_group(r))] for r in rows
        ]

    model = naive_bayes.CategoricalNB(alpha=1.0, min_categories=[2, 3, 3])
    model.fit(codes(training), [row["Class"] for row in training])
    labels = model.predict(codes(newcomers)).tolist()
    expected = by_bayes(training, newcomers)
    assert labels == [expected[row["ID"]] for row in newcomers]


def test_people_with_a_value_that_the_model_does_not_know_are_named(kept, newcomers, tmp_path):
    rows = [dict(row) for row in newcomers]
    rows[7]["Job"] = "w"
    with pytest.raises(DataError, match="not among the attribute's values"):
        coterie.simulate(job(PREDICT, tmp_path), frames(rows, False), models=kept[1])


def test_parties_without_a_common_person_end_with_a_sentence(kept, newcomers, tmp_path):
    tables = frames(newcomers, False)
    tables["bank"] = tables["bank"].slice(NEW)
    with pytest.raises(DataError, match="no common records"):
        coterie.simulate(job(PREDICT, tmp_path), tables, models=kept[1])


def test_a_simulation_is_told_where_the_model_is(newcomers, tmp_path):
    with pytest.raises(UsageError, match="by --models DIR"):
        coterie.simulate(job(PREDICT, tmp_path), frames(newcomers, False))
    with pytest.raises(UsageError, match="name the result folder of a simulated job"):
        coterie.simulate(job(PREDICT, tmp_path), frames(newcomers, False), models=tmp_path)


def in_cells(rows, seed, named):
    """The parties' tables where each cell lies at any one party; the lender has the whole class."""
    draw = np.random.default_rng(seed)
    holders = {name: draw.integers(0, 3, len(rows)) for name in ("Sex", "Job", "Age")}
    tables = {}
    for at, party in enumerate(("lender", "bank", "card")):
        table = {"ID": [row["ID"] for row in rows]}
        for name, of_row in holders.items():
            table[name] = [r[name] if h == at else None for r, h in zip(rows, of_row, strict=True)]
        if named and party == "lender":
            table["Class"] = [row["Class"] for row in rows]
        tables[party] = pa.table(table)
    return tables


@pytest.mark.parametrize(
    "keys",
    ["kind: tree\nminimum: 5\nmax_depth: 2\n", "kind: bayesnet\nstructure: naive\n"],
    ids=["tree", "naive net"],
)
def test_people_whose_cells_lie_anywhere_are_classified(keys, training, newcomers, tmp_path):
    anywhere = (
        "partition: mixed\nattributes: {Sex: {values: [F, M]}, Job: {values: [x, y, z]}, "
        "Age: {cuts: [30, 50]}}\n"
    )
    text = f"{keys}name: kept\n{HEAD}class: Class\nkeep: risk\n{anywhere}"
    result = coterie.simulate(
        job(text, tmp_path), in_cells(training, 1, True), out=tmp_path / "kept"
    )
    if "tree" in keys:
        expected = by_the_tree(tmp_path / "kept", newcomers)
    else:
        expected = by_joint_probability(training, result["edges"], newcomers)
    predict = PREDICT.replace("attributes: ", "partition: mixed\nattributes: ")
    for party in ("lender", "bank", "card"):
        predict = predict.replace(f"party: {party}", "")
    coterie.simulate(
        job(predict, tmp_path, "new.yaml"), in_cells(newcomers, 2, False), out=tmp_path / "out",
        models=tmp_path / "kept",
    )  # fmt: skip
    assert read_list(tmp_path / "out", "card") == expected
    assert coterie.verify(tmp_path / "out")["records"] == NEW
    spoilt = in_cells(newcomers, 2, False)
    spoilt["bank"] = spoilt["bank"].set_column(2, "Job", pa.array([None] * NEW, pa.string()))
    with pytest.raises(DataError, match=r"column 'Job': .*at two parties or at none"):
        coterie.simulate(
            job(predict, tmp_path, "new.yaml"), spoilt, models=tmp_path / "kept"
        )  # fmt: skip


REFUSED = {
    "the key 'model' is missing": ("model: risk\n", ""),
    "the key 'recipients' is missing": ("recipients: [lender, card]\n", ""),
    "'nobody' is not among the parties": ("[lender, card]", "[nobody]"),
    "is not a name": ("model: risk", "model: ../risk"),
    "the model knows the values": ("Sex: {party: lender}", "Sex: {party: lender, values: [F, M]}"),
    "who has all columns of a person and the model predicts alone": (
        "id: ID",
        "id: ID\npartition: horizontal",
    ),
    "attributes.Sex.party: unknown key": ("id: ID", "id: ID\npartition: mixed"),
    "at least one attribute": (
        "{Sex: {party: lender}, Job: {party: bank}, Age: {party: card}}",
        "{}",
    ),
    "class": ("model: risk", "model: risk\nclass: Class"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_job_file_that_makes_no_sense_is_refused(message):
    with pytest.raises(UsageError, match=message):
        parse_job(PREDICT.replace(*REFUSED[message]), {})


def test_a_steward_reads_who_learns_the_classes():
    made = parse_job(PREDICT, {})
    told = "\n".join(KINDS["predict"].told_of(made, "bank"))
    assert "lender, card: which class the model 'risk' gives each common person" in told
    assert "which depends on your 'Job'" in told
    needs = KINDS["predict"].needs(made, "bank")
    assert (needs.matching.by, needs.columns.used) == (("ID",), ("Job",))
    assert needs.answers.model == "risk"
    assert needs.answers.predicted_for == ("lender", "card")
