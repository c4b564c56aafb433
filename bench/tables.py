"""Writes the tables in docs/ from the results that `coterie bench --save` keeps.

A table is between `<!-- bench: NAME PART -->` and `<!-- end bench -->`; the text between them is
replaced. A benchmark without a saved result leaves its tables unchanged.

    coterie bench tables [--results bench/results] [--docs docs] [--check] [--chart docs/links.svg]

`--chart` draws the time of intersections against the rate of links, from the results of `--link`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError
from coterie.bench.saved_results.figures import caption
from coterie.bench.written_tables import (
    of_jobs,
    of_links,
    of_one_table,
    of_protocols,
    of_questions,
)
from coterie.bench.written_tables.form import targets

_BLOCK = re.compile(r"(<!-- bench: (\w+) ([\w-]+) -->\n).*?(<!-- end bench -->)", re.DOTALL)


# What makes each table, and the parts of a result of which it needs at least one.
Writer = Callable[[dict[str, Any]], str]
TABLES: dict[tuple[str, str], tuple[Writer, set[str]]] = {
    ("anonymise", "rows"): (of_one_table.anonymise_rows, {"mondrian of a random table"}),
    ("anonymise", "adult"): (of_one_table.anonymise_adult, {"adult"}),
    ("anonymise", "reconstruction"): (of_one_table.anonymise_reconstruction, {"reconstruction"}),
    ("anonymise", "streams"): (of_one_table.anonymise_streams, {"condensation of a stream"}),
    ("anonymise", "targets"): (targets, {"targets"}),
    ("channel", "rates"): (of_protocols.channel_rates, {"mtls"}),
    ("conditions", "models"): (of_protocols.conditions_models, {"models"}),
    ("dka", "growth"): (of_protocols.dka_growth, {"growth"}),
    ("fair", "argmax"): (of_protocols.fair_argmax, {"rows"}),
    ("fair", "rounds"): (of_protocols.fair_rounds, {"hide_scores_3_parties"}),
    ("garbling", "speed"): (of_protocols.garbling_speed, {"coterie"}),
    ("anonymise", "risk"): (of_one_table.inspect_risk, {"risk"}),
    ("anonymise", "keys"): (of_one_table.inspect_wide, {"wide"}),
    ("history", "judgements"): (of_jobs.history_judgements, {"counts"}),
    ("integrate", "ratios"): (of_jobs.integrate_ratios, {"adult", "many"}),
    ("integrate", "scale"): (of_jobs.integrate_scale, {"scale"}),
    ("intersect", "memory"): (of_jobs.intersect_memory, {"runs"}),
    ("intersect", "pairs"): (of_jobs.intersect_pairs, {"runs"}),
    ("intersect", "parties"): (of_jobs.intersect_parties, {"runs"}),
    ("intersect", "ratios"): (of_jobs.intersect_ratios, {"ratios"}),
    ("links", "intersect"): (of_links.intersections, {"results"}),
    ("logarithm", "gates"): (of_protocols.logarithm_gates, {"gates"}),
    ("logarithm", "paillier"): (of_protocols.logarithm_paillier, {"paillier"}),
    ("logarithm", "times"): (of_protocols.logarithm_times, {"coterie"}),
    ("models", "jobs"): (of_jobs.models_jobs, {"bayes_net"}),
    ("questions", "aggregate"): (of_questions.aggregate, {"aggregate"}),
    ("questions", "cluster"): (of_questions.cluster, {"cluster"}),
    ("questions", "identify"): (of_questions.identify, {"identify"}),
    ("questions", "mixed"): (of_questions.mixed, {"mixed"}),
    ("questions", "predict"): (of_questions.predict, {"predict"}),
    ("questions", "regress"): (of_questions.regress, {"regress"}),
    ("questions", "rules"): (of_questions.rules, {"rules"}),
    ("questions", "targets"): (targets, {"targets"}),
    ("questions", "witness"): (of_questions.witness, {"witness"}),
    ("transfers", "code"): (of_protocols.transfers_code, {"code"}),
    ("transfers", "jobs"): (of_protocols.transfers_jobs, {"jobs"}),
    ("transfers", "speed"): (of_protocols.transfers_speed, {"speed"}),
    ("utility", "adult"): (partial(of_jobs.utility_kept, "adult"), {"adult"}),
    ("utility", "second"): (partial(of_jobs.utility_kept, "second"), {"second"}),
    ("utility", "targets"): (targets, {"targets"}),
    ("scalar_products", "ways"): (of_protocols.scalar_products_ways, {"transfer"}),
}


def rendered(text: str, results: Path) -> str:
    """The page with every table made from its saved result, if there is one."""

    def block(match: re.Match[str]) -> str:
        name, part = match[2], match[3]
        if (name, part) not in TABLES:
            raise UsageError(f"no table '{part}' of the benchmark '{name}'")
        path = results / f"{name}.json"
        if not path.exists():
            return match[0]
        result = json.loads(path.read_text())
        write, parts = TABLES[name, part]
        if not parts & result.keys():
            return match[0]  # this part was not measured
        body = write(result)
        return f"{match[1]}{caption(result)}\n\n{body}{match[4]}"

    return _BLOCK.sub(block, text)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench tables", description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("bench/results"))
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page would")
    parser.add_argument("--chart", type=Path, help="draw intersections on links here")
    options = parser.parse_args(argv)
    on_links = options.results / "links.json"
    if options.chart and on_links.exists():
        of_links.draw(json.loads(on_links.read_text()), options.chart)
    changed = []
    for page in sorted(options.docs.glob("*.md")):
        text = page.read_text()
        if (new := rendered(text, options.results)) != text:
            changed.append(page.name)
            if not options.check:
                page.write_text(new)
    print(json.dumps({"changed": changed}))
    return 1 if changed and options.check else 0
