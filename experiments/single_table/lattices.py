"""Lattices of Adult: how many nodes satisfy k, how many of these are minimal, and the least height.

Samarati (TKDE 2001) and LeFevre, DeWitt, Ramakrishnan (SIGMOD 2005) on the complete training records
of Adult with the taxonomies of paper 1, with nobody suppressed and with one record in a hundred. The
counts of `REFERENCE` come from an independent program that examines every node.
"""

from __future__ import annotations

from typing import Any

from coterie.anonymity.algorithms.incognito import incognito
from coterie.anonymity.algorithms.samarati import samarati
from coterie.anonymity.specialization.specialize import Requirement
from coterie.experiments.secure_data_integration.adult_data import Adult
from coterie.experiments.single_table.tables import experiment, markdown_table, training_table

FIVE = ("education", "marital-status", "race", "sex", "workclass")
EIGHT = (
    "education", "marital-status", "native-country", "occupation", "race", "relationship", "sex",
    "workclass",
)  # fmt: skip
# (columns, k, records that may go): satisfying, minimal, least height, nodes at that height.
REFERENCE = {
    (5, 2, 0): (188, 10, 6, 2),
    (5, 50, 0): (58, 4, 8, 1),
    (5, 10, 301): (471, 43, 4, 3),
    (5, 100, 301): (181, 28, 7, 5),
    (8, 5, 0): (348, 30, 14, 4),
    (8, 50, 0): (174, 22, 15, 5),
    (8, 10, 301): (2_584, 335, 11, 5),
    (8, 100, 301): (449, 70, 14, 9),
}


def run(data: Adult, quick: bool) -> dict[str, Any]:
    found = []
    for (size, k, most), reference in REFERENCE.items():
        names = FIVE if size == 5 else EIGHT
        if quick and size == 8:
            continue
        table, wanted = training_table(data, names), [Requirement(names, k)]
        details = incognito(table, wanted, most).details["lattice"]
        least = samarati(table, wanted, most).details["lattice"]
        counts = (
            details["satisfying"],
            details["minimal"],
            details["least_height"],
            least["least"],
        )
        found.append(
            {
                "columns": size, "k": k, "may_go": most, "nodes": details["nodes"],
                "satisfying": counts[0], "minimal": counts[1], "least_height": counts[2],
                "at_least_height": counts[3], "as_the_reference": counts == reference,
            }
        )  # fmt: skip
    return {"lattices": found}


def markdown(result: dict[str, Any]) -> str:
    rows = [list(entry.values()) for entry in result["lattices"]]
    head = ["columns", "k", "may be suppressed", "nodes", "satisfying", "minimal", "least height",
            "nodes at it", "as the reference"]  # fmt: skip
    return "\n".join(["# Lattices of Adult", "", *markdown_table(head, rows)]) + "\n"


def main(argv: list[str] | None = None) -> int:
    return experiment("lattices", __doc__, run, markdown, argv)
