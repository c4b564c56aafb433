"""Questions without a joint table, measured apart from the intersection before them. Prints JSON.

Each part is one function in `PARTS`; without names all parts run. Parties are processes on this
machine over mTLS. The first three parts begin with records that are lined up already: `coterie bench
intersect` measures the intersection.

    aggregate   number, sum and mean of a column of the first party by three columns (2, 5 and 15
                values): all at a second party; and one each at three parties; the former also with
                noise of differential privacy in the sums; beside DuckDB on the joined table
    mixed       the same question of a tenth of the records where each cell lies at one of two parties
    identify    how many pairs of people each of 500 sets of 20 columns of three parties tells apart
    regress     linear, ridge, logistic, support vector and survival models of 20 features of different
                people at three parties, beside scikit-learn and statsmodels on the pooled table
                and a logistic model of six of these features at three parties
    cluster     four clusters in three columns, the same beside scikit-learn, of different people
                at three parties and of columns at three parties
    rules       of Adult's categorical columns (--data DIR), support 5 %, confidence 80 %, three
                parties with a third of the people each, and with some of the columns each (that
                one with the intersection), beside mlxtend on the pooled table
    predict     the class of new people, of whom three parties have two columns each, by a tree, a
                naive net and a net with a table across parties that they have kept; with the
                intersection, without a peer
    witness     a study of two parties whose groups have 50 people in the population of a third, and
                the same with groups of 50 records; with the intersection, without a peer

The last five are whole jobs from columns of text on. What a peer finds is compared with what the
parties find. `targets` has the seconds that are asked for, and whether they are reached; memory is the
peak of the largest party's process, with its table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from typing import Any

from coterie.bench.question_parts import lined_up, populations, predictions, whole_jobs
from coterie.experiments.secure_data_integration.adult_data import add_data_option, adult_folder

Options = argparse.Namespace

PARTS: dict[str, Callable[[bool, Options], Any]] = {
    "aggregate": lambda quick, options: lined_up.aggregate(quick),
    "mixed": lambda quick, options: lined_up.mixed(quick),
    "identify": lambda quick, options: lined_up.identify(quick),
    "regress": lambda quick, options: whole_jobs.regress(quick),
    "cluster": lambda quick, options: whole_jobs.cluster(quick),
    "rules": lambda quick, options: whole_jobs.rules(quick, adult_folder(options.data)),
    "predict": lambda quick, options: predictions.predict(quick),
    "witness": lambda quick, options: populations.witness(quick),
}


def targets(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What is asked of the full sizes, what was measured, and whether it is reached."""
    found: list[dict[str, Any]] = []

    def add(what: str, seconds: float, most: float) -> None:
        entry = {"target": what, "figure": seconds, "at_most": most, "reached": seconds <= most}
        found.append(entry)

    for entry in report.get("aggregate", ()):
        noise = ", with noise" if entry["noise"] else ""
        add(f"aggregate, {entry['parties']} parties{noise}", entry["seconds"], 10)
    for model in ("linear", "ridge", "logistic", "svm", "cox"):
        if "regress" in report:
            add(f"regress, {model}, 3 parties", report["regress"][model]["seconds"], 10)
    for partition in ("horizontal", "vertical"):
        if "rules" in report:
            add(f"rules, {partition}, 3 parties", report["rules"][partition]["seconds"], 60)
    if "identify" in report:
        add("identify, 3 parties", report["identify"]["seconds"], 10)
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench questions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables")
    add_data_option(parser)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; without, all of them")
    options = parser.parse_args(argv)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"'{min(unknown)}' is no part; there are {', '.join(PARTS)}")
    report: dict[str, Any] = {
        "bench": "questions",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }
    for part in options.parts or PARTS:
        report[part] = PARTS[part](options.quick, options)
    report["targets"] = [] if options.quick else targets(report)
    print(json.dumps(report, indent=2))
    return 0
