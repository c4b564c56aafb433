"""A table of numbers with a class, and its table file, written into a folder."""

import numpy as np

TABLE_FILE = """\
data: people.csv
method: condense
k: 5
id: ID
class: Class
attributes:
  Age: {range: [17, 90]}
  Income: {}
"""


def rows(number=60, seed=1):
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 90, number)
    incomes = np.round(ages * 300 + rng.normal(0, 3_000, number), -2)
    return [
        [f"p{i}", str(age), str(int(income)), "yn"[i % 2]]
        for i, (age, income) in enumerate(zip(ages, incomes, strict=True))
    ]


def as_csv(people):
    lines = [["ID", "Age", "Income", "Class"], *people]
    return "".join(",".join(line) + "\n" for line in lines)


def write(folder, text=TABLE_FILE, people=None):
    (folder / "people.csv").write_text(as_csv(rows() if people is None else people))
    path = folder / "people.yaml"
    path.write_text(text)
    return path
