"""Baskets and the file that hides a rule of them, written into a folder."""

import numpy as np

FILE = """\
data: baskets.csv
method: hide-rules
attributes: [Bread, Milk, Beer, Town]
support: 0.2
confidence: 0.5
longest: 3
hide:
  - {if: {Bread: "1"}, then: {Beer: "1"}}
"""


def rows(number=80, seed=1):
    rng = np.random.default_rng(seed)
    bread, milk = rng.random((2, number)) < 0.6
    beer = bread & (rng.random(number) < 0.8)
    town = rng.choice(["Ghent", "Leuven"], number)
    return [
        ["1" if bread[i] else "", "1" if milk[i] else "", "1" if beer[i] else "", str(town[i])]
        for i in range(number)
    ]


def write(folder, text=FILE, baskets=None):
    lines = [["Bread", "Milk", "Beer", "Town"], *(rows() if baskets is None else baskets)]
    (folder / "baskets.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    path = folder / "baskets.yaml"
    path.write_text(text)
    return path
