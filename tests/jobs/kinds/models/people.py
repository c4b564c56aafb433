"""Records of three parties for models, and jobs about them."""

import csv

import numpy as np

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job

NAMES = ("lender", "bank", "card")
N = 240


def people(seed=1):
    """Ages, incomes, a category, a number, a yes or no, and a time that may be cut off."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, N)
    income = np.round(rng.lognormal(10, 0.5, N), 2)
    job = rng.choice(["A", "B", "C"], N)
    eta = 0.05 * (age - 50) + 0.8 * (job == "B") - 0.5 * (np.log(income) - 10)
    due = rng.exponential(200 * np.exp(-eta)) + 1
    end = rng.uniform(30, 400, N)
    return {
        "Age": age,
        "Income": income,
        "Job": job,
        "Cost": np.round(100 + 30 * eta + rng.normal(0, 20, N), 3),
        "Ill": np.where(rng.random(N) < 1 / (1 + np.exp(-eta)), "yes", "no"),
        "Days": np.ceil(np.minimum(due, end)).astype(int),
        "Died": (due <= end).astype(int),
    }


def features(table):
    return np.column_stack([table["Age"], table["Income"], table["Job"] == "B", table["Job"] == "C"]).astype(float)  # fmt: skip


def write(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def horizontal_job(folder, keys, table=None, names=NAMES, kind="regress"):
    table = table or people()
    parts = np.array_split(np.arange(len(table["Age"])), len(names))
    for name, part in zip(names, parts, strict=True):
        write(folder / f"{name}.csv", {n: [values[i] for i in part] for n, values in table.items()})
    parties = "\n".join(f"  {name}: {{data: {name}.csv}}" for name in names)
    path = folder / "job.yaml"
    path.write_text(
        f"kind: {kind}\nname: test\nparties:\n{parties}\npartition: horizontal\n{keys}\n"
    )
    return path


def run(path):
    out = path.parent / "out"
    out.mkdir(exist_ok=True)
    return simulate(load_job(path), path.parent, out, seed="7")
