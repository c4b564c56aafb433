"""A table of people and the file that perturbs it, written into a folder."""

import numpy as np

FILE = """\
data: people.csv
method: perturb
id: ID
class: Class
attributes:
  Age: {range: [17, 90], noise: 50%}
  Income: {range: [0, 100000], noise: 100%, law: uniform}
  Smokes: {values: ["yes", "no"], keep: 0.7}
"""


def rows(number=400, seed=1):
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 90, number)
    incomes = np.clip(ages * 900 + rng.normal(0, 4_000, number), 0, 100_000).round()
    smokes = np.where(rng.random(number) < 0.2 + (ages > 50) * 0.5, "yes", "no")
    return [
        [f"p{i}", str(age), str(int(income)), smoke, "old" if age > 50 else "young"]
        for i, (age, income, smoke) in enumerate(zip(ages, incomes, smokes, strict=True))
    ]


def write(folder, text=FILE, people=None):
    lines = [["ID", "Age", "Income", "Smokes", "Class"], *(rows() if people is None else people)]
    (folder / "people.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    path = folder / "noise.yaml"
    path.write_text(text)
    return path
