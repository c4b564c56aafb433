"""Every kind of job, every partition, every party: the others' records do not show in the view.

Vertical jobs: among records that are alike for the watched party (its own columns and the class),
the others' values change places between the worlds. Horizontal jobs: the other two parties exchange
their tables. Every count of the joined table, and so every result, is the same.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.kinds.statistics import joining, tree
from coterie.jobs.run.party_run import run_party
from coterie.protocols.models import concordance
from coterie.protocols.primitives.randomness import Random
from tests.jobs.kinds.predict.kept import Parts, part
from tests.secrecy.mutants import MUTANTS
from tests.views import assert_alike

NAMES = ("lender", "bank", "card")
OWNERS = {"Sex": "lender", "Job": "bank", "Late": "card"}
VALUES = {"Sex": ["F", "M"], "Job": ["A", "B", "C"], "Late": ["0", "1"]}
RECORDS = 150
HEAD = "name: views\nparties: {lender: {}, bank: {}, card: {}}\n"
VERTICAL = """id: ID
class: Class
attributes:
  Sex: {party: lender, values: [F, M]}
  Job: {party: bank}
  Late: {party: card, values: ['0', '1']}
"""
HORIZONTAL = """partition: horizontal
class: Class
attributes:
  Sex: {values: [F, M]}
  Job: {values: [A, B, C]}
  Late: {values: ['0', '1']}
"""
MIXED = HORIZONTAL.replace("horizontal", "mixed\nid: ID")
TAXONOMIES = {
    f"{name}.csv": "".join(f"{value};ANY\n" for value in values).encode()
    for name, values in VALUES.items()
}
INTEGRATE = """kind: integrate
id: ID
class: Class
attributes:
  Sex: {party: lender, taxonomy: Sex.csv}
  Job: {party: bank, taxonomy: Job.csv}
  Late: {party: card, taxonomy: Late.csv}
requirement: [{qid: [Sex, Job, Late], k: 4}]
"""
SENSITIVE = """kind: integrate
id: ID
class: Class
attributes:
  Sex: {party: lender, taxonomy: Sex.csv}
  Job: {party: bank, taxonomy: Job.csv}
  Late: {party: card}
requirement: [{qid: [Sex, Job], k: 4, sensitive: Late, l: 2}]
"""
WITNESSED = """kind: integrate
id: ID
class: Class
attributes:
  Sex: {party: lender, taxonomy: Sex.csv}
  Job: {party: bank, taxonomy: Job.csv}
requirement: [{qid: [Sex, Job], k_map: 4}]
universe: card
"""
KEYS = {
    "count": "tables: [[Sex, Job], [Job, Late, Class]]\nminimum: 3\n",
    "tree": "max_depth: 2\nminimum: 5\nopen: true\n",
    "bayesnet": "order: [Sex, Job, Late]\nmax_parents: 1\nparameters: true\nminimum: 3\n",
}
REGRESS = """partition: horizontal
outcome: Class
features: [Sex, Job, Late]
attributes: {Sex: {values: [F, M]}, Job: {values: [A, B, C]}, Late: {values: ['0', '1']}, Class: {values: [N, Y]}}
minimum: 3
"""
IDENTIFY = """kind: identify
id: ID
attributes: {Sex: {party: lender}, Job: {party: bank}, Late: {party: card}}
population: 1000
alpha: 0.001
"""
AGGREGATE = "by: [Sex, Job]\nmeasures: [{sum: Late}, {variance: Late}]\nminimum: 3\n"
RULES = "support: 0.1\nconfidence: 0.5\nlongest: 3\nminimum: 4\n"
LINEAR = """model: linear
id: ID
outcome: Late
features: [Sex, Job]
attributes: {Sex: {party: card, values: [F, M]}, Job: {party: bank, values: [A, B, C]}, Late: {party: lender, range: [0, 1]}}
minimum: 3
"""
CLUSTER = """partition: horizontal
attributes: {Days: {}, Late: {}}
clusters: 2
iterations: 3
minimum: 3
"""
COX = """partition: horizontal
features: [Sex, Job]
attributes: {Sex: {values: [F, M]}, Job: {values: [A, B, C]}, Late: {values: ['0', '1']}}
grid: {step: 25, end: 100}
minimum: 3
"""
PREDICT = """id: ID
attributes: {Sex: {party: lender}, Job: {party: bank}, Late: {party: card}}
recipients: [card]
"""
PREDICT_MIXED = """id: ID
partition: mixed
attributes: {Sex: {}, Job: {}, Late: {}}
recipients: [card]
"""
JOBS = {
    "intersect": "kind: intersect\nid: ID\n",
    "predict by a tree": f"kind: predict\nmodel: tree\n{PREDICT}",
    "predict by a naive net": f"kind: predict\nmodel: bayesnet\n{PREDICT}",
    "predict by a net": f"kind: predict\nmodel: net\n{PREDICT}",
    "predict by a tree, mixed": f"kind: predict\nmodel: mixed-tree\n{PREDICT_MIXED}",
    "predict by a net, mixed": f"kind: predict\nmodel: mixed-net\n{PREDICT_MIXED}",
    "naive bayesnet": (
        f"kind: bayesnet\n{VERTICAL}structure: naive\nkeep: risk\nparameters: true\nminimum: 3\n"
    ),
    "rules, vertical": f"kind: rules\n{VERTICAL.replace('class: Class', '')}{RULES}",
    "rules, horizontal": f"kind: rules\n{HORIZONTAL.replace('class: Class', '')}{RULES}",
    "identify": IDENTIFY,
    "integrate": INTEGRATE + "hide_scores: false\n",
    "integrate with hidden scores": INTEGRATE,
    "integrate with its slack": INTEGRATE.replace("k: 4", "k: 30") + "slack: tell\n",
    "integrate with recipients": INTEGRATE + "recipients: all\n",
    "integrate with a strategy": INTEGRATE + "adversary: malicious\n",
    "integrate with a condition on shares": SENSITIVE,
    "integrate with a condition at its holder": SENSITIVE + "conditions: holder\n",
    "integrate by open cuts": INTEGRATE + "method: mondrian\nhide_scores: false\n",
    "integrate by cuts": INTEGRATE + "method: mondrian\n",
    "integrate by cuts with a strategy": INTEGRATE + "method: mondrian\nadversary: malicious\n",
    "integrate by cuts with a model": SENSITIVE + "method: mondrian\n",
    "integrate with a second phase of columns": INTEGRATE + "refine: columns\n",
    "integrate with a second phase of groups": INTEGRATE + "refine: groups\n",
    "integrate with a witness": WITNESSED,
    "count as shares": f"kind: count\n{VERTICAL}{KEYS['count']}output: shares\n",
    "regress logistic": f"kind: regress\nmodel: logistic\npenalty: 1\n{REGRESS}",
    "regress cox": f"kind: regress\nmodel: cox\ntime: Days\nevent: Late\n{COX}",
    "cluster": f"kind: cluster\n{CLUSTER}",
    "regress linear": f"kind: regress\n{LINEAR}",
    "regress svm": f"kind: regress\nmodel: svm\n{REGRESS}",
    "tree with predictions": f"kind: tree\n{VERTICAL}{KEYS['tree']}predict: card\n",
    "aggregate, vertical": f"kind: aggregate\n{VERTICAL}{AGGREGATE}".replace("class: Class\n", ""),
    "aggregate with noise": (
        f"kind: aggregate\n{VERTICAL}{AGGREGATE}noise: {{epsilon: 20}}\n".replace(
            "class: Class\n", ""
        )
        .replace("Job: {party: bank}", "Job: {party: bank, values: [A, B, C]}")
        .replace("values: ['0', '1']", "range: [0, 1]")
        .replace("minimum: 3", "minimum: 1")
    ),
    "aggregate, mixed": f"kind: aggregate\n{MIXED}{AGGREGATE}".replace("class: Class\n", ""),
    "aggregate, horizontal": f"kind: aggregate\n{HORIZONTAL}{AGGREGATE}".replace(
        "class: Class\n", ""
    ),
} | {
    f"{kind}, {partition}": f"kind: {kind}\n{attributes}{keys}"
    for kind, keys in KEYS.items()
    for partition, attributes in (
        ("vertical", VERTICAL),
        ("horizontal", HORIZONTAL),
        ("mixed", MIXED),
    )
}
# The class depends on columns of two parties, so that the servers keep shares of a table.
JOBS["bayesnet, vertical"] = (
    JOBS["bayesnet, vertical"].replace("Late]", "Class]").replace("max_parents: 1", "keep: risk")
)
# With four values, vectors of a number for each value are long enough for a word that comes again.
JOBS["bayesnet, mixed"] = (
    JOBS["bayesnet, mixed"]
    .replace("[F, M]", "[F, M, X, Y]")
    .replace("['0', '1']", "['0', '1', '2', '3']")
)
# Their values are in the joint order of the records, which is drawn anew in each run.
IN_JOINT_ORDER = (
    "intersection: common records",
    "class: labels",
    "job: digests of what was told to all",
    "integrate: instruction",
    "integrate: cuts",
    "integrate: proposal",
    "participation: digest of an instruction",
    "prediction: classes",
    "identify: seed of the pairs",
    "identify: alike pairs in steps",  # which have a random offset
    "aggregate: numbers with noise",
    "statistics: seed of the check of cells",
)


def people(seed=3):
    draw = np.random.default_rng(seed)
    table = {name: draw.choice(values, RECORDS) for name, values in VALUES.items()}
    by_sex, by_job = (
        np.where(table["Sex"] == "F", "Y", "N"),
        np.where(table["Job"] == "A", "Y", "N"),
    )
    table["Class"] = np.where(draw.random(RECORDS) < 0.85, by_sex, by_job)
    table["Days"] = draw.integers(1, 99, RECORDS)
    return table


def vertical_tables(watched, world):
    table = people()
    order = np.arange(RECORDS)
    mine = [name for name, owner in OWNERS.items() if owner == watched]
    if world:
        alike = np.array(["/".join(row) for row in zip(*(table[n] for n in [*mine, "Class"]), strict=True)])  # fmt: skip
        for kind in np.unique(alike):
            places = np.flatnonzero(alike == kind)
            order[places] = np.roll(places, 1)
    tables = {}
    for name in NAMES:
        shared = [f"p{i}" for i in range(RECORDS)]
        strangers = [f"{name}{i}{world if name != watched else ''}" for i in range(20)]
        own = {"ID": [*shared, *strangers]}
        for column in [c for c, owner in OWNERS.items() if owner == name]:
            values = table[column] if name == watched else table[column][order]
            own[column] = [*values, *[VALUES[column][0]] * 20]
        if name == "lender":
            own["Class"] = [*table["Class"], *["Y"] * 20]
        tables[name] = own
    return tables


def mixed_tables(watched, world):
    """The watched party holds all cells of every third record, and none of the others.

    One of the other two holds the rest, in each world another one, and records of theirs change places.
    """
    table, at, order = people(), np.arange(RECORDS), np.arange(RECORDS)
    if world:
        for label in np.unique(table["Class"]):
            places = np.flatnonzero((table["Class"] == label) & (at % 3 > 0))
            order[places] = np.roll(places, 1)
    others = [name for name in NAMES if name != watched]
    tables = {}
    for name in NAMES:
        strangers = [f"{name}{i}{world if name != watched else ''}" for i in range(20)]
        tables[name] = {"ID": [*(f"p{i}" for i in range(RECORDS)), *strangers]}
        for column in OWNERS:
            holder = np.where(at % 3 == 0, watched, others[world])
            cells = np.where(holder == name, table[column][order], None)
            tables[name][column] = [*cells, *[None] * 20]
        if name == "lender":
            tables[name]["Class"] = [*table["Class"], *["Y"] * 20]
    return tables


def witness_tables(watched, world):
    """The card company holds a population: in each world another one, in which the same groups are few.

    Nobody is in every group of Sex and Job, so that the witness refuses one of the two columns. If it is
    the card company that watches, the table of the other two has every person twice in one world.
    """
    tables = vertical_tables(watched, world)
    if world and watched == "card":
        for name in ("lender", "bank"):
            own = tables[name]
            tables[name] = {c: [*values[:RECORDS], *values] for c, values in own.items()}
            tables[name]["ID"][:RECORDS] = [f"twin of p{i}" for i in range(RECORDS)]
    table = people()
    groups = np.array(["/".join(pair) for pair in zip(table["Sex"], table["Job"], strict=True)])
    times = 9 if world and watched != "card" else 6
    few = np.flatnonzero(groups == "M/C")[: 3 if world and watched != "card" else 2]
    rows = np.concatenate([np.repeat(np.flatnonzero(groups != "M/C"), times), few])
    rows = np.random.default_rng(world).permutation(rows)
    tables["card"] = {name: table[name][rows] for name in ("Sex", "Job")}
    return tables


def linear_tables(watched, world):
    """Numbers whose sums and sums of squares, also of each group of people, are the same in both worlds.

    Sums are what a linear model opens. The numbers themselves are others, so that it shows if they
    are seen. They are the lender's, whose columns the other two choose from; the card company has the
    lender's other columns instead.
    """
    others = {"lender": "card", "card": "lender"}
    tables = vertical_tables(others.get(watched, watched), world)
    tables["lender"], tables["card"] = tables["card"], tables["lender"]
    triple = (0.25, 0.25, 1.0) if world and watched != "lender" else (0.0, 0.75, 0.75)
    pairs = zip(tables["card"]["Sex"], tables["bank"]["Job"], strict=True)
    groups = np.array([sex + job for sex, job in pairs])
    numbers = np.full(len(groups), 0.5)
    for group in np.unique(groups[:RECORDS]):
        places = np.flatnonzero(groups[:RECORDS] == group)
        whole = places[: len(places) // 3 * 3]
        # Each three by another factor: a column of few values must not have rare ones.
        numbers[whole] = np.resize(triple, len(whole)) * (1 - np.arange(len(whole)) // 3 / 64)
    tables["lender"]["Late"] = numbers.tolist()
    return tables


def uncut_tables(watched, world):
    """The card company's column has a value of one person or of three of a group, too few for a cut."""
    if watched == "card":
        return vertical_tables(watched, world)
    tables = vertical_tables(watched, 0)
    pairs = list(zip(tables["lender"]["Sex"], tables["bank"]["Job"], strict=True))
    few = [at for at in range(RECORDS) if pairs[at] == pairs[0]][: 1 if world else 3]
    tables["card"]["Late"] = ["1" if at in few else "0" for at in range(RECORDS + 20)]
    return tables


def horizontal_tables(watched, world):
    table = people()
    parts = np.array_split(np.arange(RECORDS), 3)
    others = [name for name in NAMES if name != watched]
    order = [watched, *(others if not world else others[::-1])]
    return {
        name: {column: values[part] for column, values in table.items()}
        for name, part in zip(order, parts, strict=True)
    }


def kept_by(party):
    """The party's part of a tree and of nets, which are named after their kinds."""
    attributes = {name: (owner, VALUES[name], []) for name, owner in OWNERS.items()}
    kinds = ("tree", "bayesnet", "net", "mixed-tree", "mixed-net")
    return Parts(*(part(kind, attributes, party, name=kind) for kind in kinds))


def world_of(text, folder, watched, world):
    job = parse_job(text, {name: data for name, data in TAXONOMIES.items() if name in text})
    kind = KINDS[job.kind]
    made = horizontal_tables if "horizontal" in text else vertical_tables
    made = mixed_tables if "mixed" in text else made
    made = witness_tables if "universe" in text else made
    made = uncut_tables if "mondrian" in text and "l: " not in text else made
    tables = (linear_tables if "model: linear" in text else made)(watched, world)

    def party(name):
        wanted = kind.needs(job, name)
        names = [*wanted.read, *(n for n in wanted.optional if n in tables[name])]
        table = pa.table(
            {
                column: pa.array(
                    [v if v is None else str(v) for v in tables[name][column]], "string"
                )
                for column in names
            }
        )
        space = Workspace(folder / name)
        space.create()

        def run(channel, rng):
            prepared = kind.prepare(job, name, table, name)
            prepared = kind.recall(job, name, prepared, kept_by(name))
            result = run_party(job, prepared, channel._transport, "views", rng, space)["result"]
            for one in result.get("sets", ()):  # its offset is drawn anew in each run
                one.pop("separation", None)
            if "noise" in result:  # which is drawn anew in each run
                del result["groups"]
            return result

        return run

    return {name: party(name) for name in NAMES}


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("watched", NAMES)
def test_a_job_does_not_show_the_others_records(name, watched, tmp_path, monkeypatch):
    monkeypatch.setattr(joining, "MOST_CLASSES", 4)  # what the class is padded to takes seconds
    monkeypatch.setattr(concordance, "CLASSES", 4)  # as many transfers take minutes to compare
    kind, rest = JOBS[name].split("\n", 1)
    text = f"{kind}\n{HEAD}{rest}"
    scene = partial(world_of, text, tmp_path, watched)
    assert_alike(scene, watched, runs=2, drawn=IN_JOINT_ORDER)


def test_every_kind_has_a_view_test_and_every_such_test_fails_on_some_mutant():
    """`make secrecy` tries whether each named test does fail."""
    assert {text.split()[1] for text in JOBS.values()} == set(KINDS)
    start = "tests/jobs/test_views.py::test_a_job_does_not_show_the_others_records["
    killers = {test for mutant in MUTANTS for test in mutant.tests}
    for name in JOBS:
        assert killers & {f"{start}{watched}-{name}]" for watched in NAMES}, name


def test_the_numbers_of_branches_say_nothing_of_the_order_of_values(tmp_path):
    values = tuple(f"v{i}" for i in range(40))
    joined = joining.Joined(40, {"x": np.arange(40)}, {}, {"x": values}, None)
    job = SimpleNamespace(attributes={"x": None}, owner=lambda name: "bank")
    space = Workspace(tmp_path)
    space.create()
    channel = SimpleNamespace(me="bank", drawn=lambda what, draw, lasting: draw())
    numbers = [
        tree._numbered(job, joined, channel, Random(seed), space).codes["x"] for seed in (1, 2)
    ]
    for number in numbers:
        assert sorted(number) == list(range(40))
        assert (number == np.arange(40)).sum() < 8
    assert (numbers[0] != numbers[1]).any()
