"""Whole `rules` jobs, vertical and horizontal, against a plain search of the joined table."""

import importlib.util
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from coterie.base.errors import DataError, UsageError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.kinds.rules import counting
from coterie.protocols.messaging.channel import Channel

VALUES = {"Sex": ["F", "M"], "Job": ["A", "B", "C"], "Late": ["0", "1"], "Town": ["x", "y"]}
HOLDS = {"a": ("Sex", "Town"), "b": ("Job",), "c": ("Late",)}
PARTIES = "name: test\nparties: {a: {data: a.csv}, b: {data: b.csv}, c: {data: c.csv}}\n"
OPEN = "attributes:\n" + "".join(
    f"  {name}: {{party: {party}}}\n" for party, names in HOLDS.items() for name in names
)
POOLED = "partition: horizontal\nattributes:\n" + "".join(
    f"  {name}: {{values: {values}}}\n" for name, values in VALUES.items()
)
KEYS = "support: 0.1\nconfidence: 0.6\nlongest: 3\n"
N = 160


def people(seed=1, records=N):
    draw = np.random.default_rng(seed)
    table = {
        name: draw.choice(
            values, records, p=np.arange(len(values), 0, -1) / sum(range(len(values) + 1))
        )
        for name, values in VALUES.items()
    }
    table["Late"] = np.where((table["Job"] == "C") | (draw.random(records) < 0.1), "1", "0")
    return table


def apriori(table, records, least, confidence, longest):
    """Frequent sets by counting every set of values of every record; rules by their definition."""
    rows = [[(name, str(table[name][i])) for name in table] for i in range(records)]
    counts = Counter(
        frozenset(chosen)
        for row in rows
        for size in range(1, longest + 1)
        for chosen in combinations(row, size)
    )
    frequent = {one: have for one, have in counts.items() if have >= least}
    rules = {
        (frozenset(left), whole - frozenset(left))
        for whole in frequent
        for size in range(1, len(whole))
        for left in combinations(whole, size)
        if Fraction(frequent[whole], frequent[frozenset(left)]) >= confidence
    }
    return frequent, rules


def by_mlxtend(table, least, confidence, longest):
    """The rules that mlxtend finds in the joined table."""
    from mlxtend.frequent_patterns import association_rules, fpgrowth
    from pandas import DataFrame

    items = [(name, value) for name in table for value in VALUES[name]]
    frame = DataFrame({at: table[name] == value for at, (name, value) in enumerate(items)})
    sets = fpgrowth(frame, min_support=least, max_len=longest)
    found = association_rules(sets, metric="confidence", min_threshold=confidence)
    sides = zip(found["antecedents"], found["consequents"], strict=True)
    return {tuple(frozenset(items[at] for at in side) for side in both) for both in sides}


def write(folder, name, columns, ids):
    rows = [
        ",".join([*ids_i, *(str(columns[n][i]) for n in columns)]) for i, ids_i in enumerate(ids)
    ]
    head = ",".join([*(["ID"] if ids[0] else []), *columns])
    (folder / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")


def vertical(folder, keys, table, attributes=OPEN):
    records = len(next(iter(table.values())))
    for party, names in HOLDS.items():
        order = np.random.default_rng(ord(party)).permutation(records)
        own = {
            n: [*table[n][order], *["x"] * 3]
            if n == "Town"
            else [*table[n][order], *[VALUES[n][0]] * 3]
            for n in names
        }
        write(
            folder, party, own, [*([f"p{i}"] for i in order), *([f"{party}{i}"] for i in range(3))]
        )
    return job(folder, f"id: ID\n{attributes}{keys}")


def horizontal(folder, keys, table):
    records = len(next(iter(table.values())))
    for party, part in zip(HOLDS, np.array_split(np.arange(records), [20, 70]), strict=True):
        write(folder, party, {n: table[n][part] for n in table}, [[]] * len(part))
    return job(folder, POOLED + keys)


def job(folder, text):
    path = folder / "job.yaml"
    path.write_text(f"kind: rules\n{PARTIES}{text}")
    return path


def run(path):
    out = path.parent / "out"
    out.mkdir(exist_ok=True)
    return simulate(load_job(path), path.parent, out, seed="7")


def named(items):
    return frozenset(map(tuple, items))


@pytest.mark.parametrize("make", [vertical, horizontal])
@pytest.mark.parametrize(("minimum", "confidence"), [(5, "0.6"), (1, "0.9")])
def test_the_rules_are_those_of_the_joined_table(tmp_path, make, minimum, confidence):
    table = people()
    keys = f"support: 0.1\nconfidence: {confidence}\nlongest: 3\nminimum: {minimum}\n"
    result = run(make(tmp_path, keys, table))
    frequent, rules = apriori(table, N, 16, Fraction(confidence), 3)
    assert len(rules) >= 10
    if importlib.util.find_spec("mlxtend"):
        assert by_mlxtend(table, 0.1, float(confidence), 3) == rules
    assert {named(one["items"]) for one in result["sets"]} == set(frequent)
    assert {(named(r["if"]), named(r["then"])) for r in result["rules"]} == rules
    assert len(result["rules"]) == len(rules)
    step = result["step"]
    assert step == (1 if minimum == 1 else 8)
    for rule in result["rules"]:
        have = frequent[named(rule["if"] + rule["then"])]
        assert rule["support"] * N == pytest.approx(have, abs=step - 1 + 1e-6)
        ratio = have / frequent[named(rule["if"])]
        assert rule["confidence"] == pytest.approx(ratio, abs=0.2 if step > 1 else 1e-6)
        assert rule["confidence"] >= float(confidence)


def test_no_set_below_the_minimum_is_learned_whatever_the_support(tmp_path):
    result = run(
        vertical(tmp_path, "support: 0.001\nconfidence: 0.1\nlongest: 4\nminimum: 20\n", people())
    )
    frequent, _ = apriori(people(), N, 20, Fraction("0.1"), 4)
    assert {named(one["items"]) for one in result["sets"]} == set(frequent)
    assert min(one["support"] * N for one in result["sets"]) >= 20


def test_a_value_of_few_records_is_told_to_nobody(tmp_path, monkeypatch):
    table = people()
    table["Town"] = np.array([f"t{i}" for i in range(N)], object)
    table["Town"][:60] = "x"
    told = []
    honest = Channel.open

    def listening(self, opening, value, to=None):
        if opening is counting.ITEMS:
            told.extend(value.get("Town", ()))
        return honest(self, opening, value, to)

    monkeypatch.setattr(Channel, "open", listening)
    result = run(vertical(tmp_path, KEYS, table))
    shown = {value for one in result["sets"] for name, value in one["items"] if name == "Town"}
    assert shown == set(told) == {"x"}


def test_where_nothing_is_frequent_there_are_no_rules(tmp_path):
    result = run(vertical(tmp_path, "support: 1\nconfidence: 0.5\n", people()))
    assert result["rules"] == result["sets"] == []


def test_fewer_records_than_the_minimum_are_refused(tmp_path):
    with pytest.raises(DataError, match="fewer than the minimum of 200"):
        run(horizontal(tmp_path, KEYS + "minimum: 200\n", people()))


def test_an_explosion_is_named_before_it_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MOST_PRODUCTS", 100)
    with pytest.raises(DataError, match="too many to be counted across parties"):
        run(vertical(tmp_path, KEYS, people()))
    monkeypatch.setattr(counting, "MOST_ITEMS", 4)
    with pytest.raises(DataError, match="more than 4"):
        run(vertical(tmp_path, KEYS, people()))


def test_parties_that_disagree_on_a_domain_are_told_which_column(tmp_path):
    table = people()
    table["Job"][0] = "D"
    with pytest.raises(DataError, match="Job"):
        run(horizontal(tmp_path, KEYS, table))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OPEN + "id: ID\nsupport: 0\nconfidence: 0.5\n", "support: must be above 0"),
        (OPEN + "id: ID\nsupport: 2\nconfidence: 0.5\n", "support: must be at most 1"),
        (OPEN + "id: ID\nconfidence: 0.5\n", "support.* missing"),
        (OPEN + "id: ID\nsupport: 0.1\nconfidence: 0\n", "confidence: must be above 0"),
        (OPEN + "id: ID\n" + KEYS.replace("3", "1"), "longest: a rule has at least two values"),
        ("attributes: {Sex: {party: a}}\nid: ID\n" + KEYS, "at least two attributes"),
        (OPEN + "id: ID\nclass: Sex\n" + KEYS, "rules have no class"),
        ("partition: horizontal\n" + OPEN + KEYS, "party: unknown key|a domain must be declared"),
    ],
)
def test_what_cannot_be_answered_is_named_before_anything_is_exchanged(text, message):
    with pytest.raises(UsageError, match=message):
        parse_job(f"kind: rules\n{PARTIES}{text}", {})


def test_a_policy_judges_columns_groups_and_servers():
    job = parse_job(f"kind: rules\n{PARTIES}id: ID\n{OPEN}{KEYS}minimum: 7\n", {})
    needs = KINDS["rules"].needs(job, "a")
    assert needs.columns.used == ("Sex", "Town")
    assert needs.columns.released == ("Sex", "Town")
    assert needs.groups.smallest == 7
    assert needs.answers.servers == ("a", "b")
