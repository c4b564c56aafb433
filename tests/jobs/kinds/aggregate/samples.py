"""Tables, jobs and DuckDB's answers, for the tests of aggregates."""

import csv

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job

N = 240
HELD = {"lender": ["Sex", "Pay"], "bank": ["Job", "Age"], "card": ["Late", "Debt"]}
ATTRIBUTES = """
attributes:
  Sex: {party: lender, values: [F, M]}
  Pay: {party: lender, range: [0, 5000], decimals: 2}
  Job: {party: bank, values: [A, B, C, D]}
  Age: {party: bank, range: [18, 90]}
  Late: {party: card}
  Debt: {party: card, range: [-100, 900.5]}
"""
POOLED = """
attributes:
  Sex: {values: [F, M]}
  Pay: {range: [0, 5000], decimals: 2}
  Job: {values: [A, B, C, D]}
  Age: {range: [18, 90]}
  Late: {values: ["0", "1"]}
  Debt: {range: [-100, 900.5]}
"""
BASIC = "measures: [{count: true}, {sum: Pay}, {mean: Pay}, {variance: Pay}, {mean: Age}, {sum: Debt}]\n"
BASIC_SQL = "count(*), sum(Pay), avg(Pay), var_samp(Pay), avg(Age), sum(Debt)"


def people(seed=1, records=N):
    rng = np.random.default_rng(seed)
    return {
        "ID": [f"p{i}" for i in range(records)],
        "Sex": rng.choice(["F", "M"], records),
        "Pay": np.round(rng.gamma(2, 600, records).clip(0, 5000), 2),
        "Job": rng.choice(["A", "B", "C", "D"], records, p=[0.4, 0.3, 0.29, 0.01]),
        "Age": rng.integers(18, 91, records),
        "Late": rng.choice(["0", "1"], records),
        "Debt": np.round(rng.uniform(-100, 900, records), 1),
    }  # fmt: skip


def write_job(folder, table, keys, attributes=ATTRIBUTES, held=HELD):
    """The job on the table divided by columns; every party has strangers, too."""
    horizontal = "party" not in attributes
    rng = np.random.default_rng(7)
    for at, (party, columns) in enumerate(held.items()):
        if horizontal:
            part = {name: column[at :: len(held)] for name, column in table.items() if name != "ID"}
        else:
            strangers = {"ID": [f"{party}{i}" for i in range(5)]}
            part = {n: [*table[n], *strangers.get(n, table[n][:5])] for n in ("ID", *columns)}
            order = rng.permutation(len(part["ID"]))
            part = {name: [column[i] for i in order] for name, column in part.items()}
        with (folder / f"{party}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(part)
            writer.writerows(zip(*part.values(), strict=True))
    parties = "\n".join(f"  {party}: {{data: {party}.csv}}" for party in held)
    how = "partition: horizontal" if horizontal else "id: ID"
    path = folder / "job.yaml"
    path.write_text(
        f"kind: aggregate\nname: test\nparties:\n{parties}\n{how}\n{attributes}\n{keys}"
    )
    return path


def run(path, seed="7"):
    out = path.parent / "out"
    out.mkdir(exist_ok=True)
    return simulate(load_job(path), path.parent, out, seed=seed)


def duck(table, by, what):
    """DuckDB's answer on the joined table, by group."""
    names = ", ".join(by)
    grouping = f"group by {names}" if by else ""
    query = f"select {names + ', ' if by else ''}{what} from joined {grouping}"
    with duckdb.connect() as connection:
        connection.register("joined", pa.table({n: pa.array(c) for n, c in table.items()}))
        rows = connection.sql(query).fetchall()
    return {row[: len(by)]: row[len(by) :] for row in rows}


def check(result, table, by, what, minimum=5):
    """Shown groups are DuckDB's; those below the minimum are hidden. Returns how many are shown."""
    expected = duck(table, by, f"count(*), {what}")
    shown = 0
    for group in result["groups"]:
        size, *numbers = expected.get(tuple(group["by"]), (0, *[None] * len(group["measures"])))
        if all(number is None for number in group["measures"]):
            continue
        shown += 1
        assert size >= minimum
        assert group["measures"] == pytest.approx([float(n) for n in numbers], rel=1e-12)
    return shown
