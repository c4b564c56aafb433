"""`coterie experiment keys`: the Adult rows of Motwani and Xu's Tables 2 to 4 (P3DM 2008, section 4).

The paper does not say which columns and rows it took. Its sizes demand all 15 columns without fnlwgt
and with the class; of the rows it says "around 30,000": here the training part, `?` a value, without
repeated rows, 29,096. Complete records give the same sizes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coterie.anonymity.risk.keys import greedy_key, minimum_key, necessary
from coterie.anonymity.risk.masks import published, published_by_pairs
from coterie.anonymity.risk.ratios import ratios_of
from coterie.anonymity.risk.sampled_keys import distinct_key, separation_key
from coterie.experiments.census import load_census, markdown
from coterie.experiments.secure_data_integration.adult_data import (
    NAMES,
    add_data_option,
    adult_folder,
)

COLUMNS = (
    *("age", "workclass", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "class"),
)
PRINTED = {  # size, and the ratio where the paper has one
    "minimum key, by trying all": (13, None),
    "greedy key": (13, None),
    "(0.1, 0.01)-distinct key": (13, 1.0),
    "(0.001, 0.01)-separation key": (5, 0.99995),
    "0.5-distinct mask, greedy": (12, None),
    "0.8-separation mask, greedy": (5, None),
    "0.8-separation mask, 50,000 pairs": (5, None),
}
PAIRS = 50_000


def measure(folder: Any, seeds: int) -> dict[str, Any]:
    """Each row of the tables: the columns, and for samples how often each size came out."""
    table = load_census(folder, COLUMNS, distinct=True)
    codes, records = table.codes(COLUMNS), table.records
    assert set(COLUMNS) == {*NAMES, "class"} - {"fnlwgt"}  # noqa: S101

    def entry(name: str, chosen: Sequence[int], seconds: float) -> dict[str, Any]:
        ratios = ratios_of([codes[j] for j in chosen], records)
        return {
            "what": name,
            "columns": [COLUMNS[j] for j in chosen],
            "size": len(chosen),
            "printed": PRINTED[name][0],
            "distinct": ratios.distinct,
            "separation": ratios.separation,
            "seconds": round(seconds, 3),
        }

    def timed(name: str, work: Callable[[], Sequence[int]]) -> dict[str, Any]:
        work()  # loads the compiled loops
        begun = time.perf_counter()
        chosen = work()
        return entry(name, chosen, time.perf_counter() - begun)

    def sampled(
        name: str, ratio: str, work: Callable[[np.random.Generator], Sequence[int]]
    ) -> dict[str, Any]:
        found = []
        begun = time.perf_counter()
        for seed in range(seeds):
            chosen = work(np.random.default_rng(seed))
            found.append(chosen)
        spent = (time.perf_counter() - begun) / seeds
        ratios = [getattr(ratios_of([codes[j] for j in c], records), ratio) for c in found]
        sizes = Counter(map(len, found))
        return {
            **entry(name, found[0], spent),
            "sizes": {str(size): sizes[size] for size in sorted(sizes)},
            f"least_{ratio}": min(ratios),
            f"most_{ratio}": max(ratios),
        }

    return {
        "records": records,
        "necessary": [COLUMNS[j] for j in necessary(codes, records)],
        "rows": [
            timed("minimum key, by trying all", lambda: minimum_key(codes, records).columns),
            timed("greedy key", lambda: greedy_key(codes, records)),
            sampled(
                "(0.1, 0.01)-distinct key",
                "distinct",
                lambda rng: distinct_key(codes, records, 0.1, 0.01, rng),
            ),
            sampled(
                "(0.001, 0.01)-separation key",
                "separation",
                lambda rng: separation_key(codes, records, 0.001, 0.01, rng),
            ),
            timed("0.5-distinct mask, greedy", lambda: published(codes, records, 0.5, "distinct")),
            timed(
                "0.8-separation mask, greedy", lambda: published(codes, records, 0.8, "separation")
            ),
            sampled(
                "0.8-separation mask, 50,000 pairs",
                "separation",
                lambda rng: published_by_pairs(codes, records, 0.8, 0.01, PAIRS, rng),
            ),
        ],
    }


def tables(found: dict[str, Any]) -> str:
    rows = []
    for row in found["rows"]:
        sizes = ", ".join(f"{size}: {times}" for size, times in row.get("sizes", {}).items())
        rows.append(
            [row["what"], row["printed"], sizes or row["size"], f"{row['distinct']:.4f}",
             f"{row['separation']:.5f}", f"{row['seconds']:.3f}"]
        )  # fmt: skip
    head = [
        "Adult",
        "size printed",
        "size (of samples: seeds)",
        "distinct",
        "separation",
        "seconds",
    ]
    return markdown(head, rows)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment keys", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--seeds", type=int, default=100, help="samples of each kind")
    parser.add_argument("--quick", action="store_true", help="ten samples of each kind")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    found = measure(adult_folder(options.data), 10 if options.quick else options.seeds)
    print(json.dumps(found, indent=1) if options.json else tables(found))
    return 0
