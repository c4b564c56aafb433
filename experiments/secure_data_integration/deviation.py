"""`coterie experiment deviation`: whether deviating pays, and what the strategy costs in quality.

Paper 1, §6 and §7.2. Runs of the real protocol in memory answer three questions:

* On random tables, what does a party receive (phi) when it deviates, and what when it is honest:
  under Algorithm 1, which has no strategy, and under Algorithm 2?
* Theorem 1 is about an endless game. Jobs are repeated; the partners of a party that deviated refuse
  it from the next job on (`policy.most_owed`). Deviating then pays only below some discount factor
  delta; the theorem bounds delta by delta^(n-1) >= 1 - c/w, where c is the honest discounted
  average payoff and w the largest payoff of a round.
* On the Adult table: the equal split of §7.1, the unequal one, and the four parties of §7.2, with
  the classification error IE of the release beside what the paper prints.

Files: deviation.json (everything), deviation.md (the tables), deviation-game and deviation-adult
(figures, svg and png).
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.specialization.specialize import Labels, Requirement
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree, Tree, categorical_column
from coterie.anonymity.table.taxonomy import Taxonomy, taxonomy_of
from coterie.base.errors import DataError, EnvironmentFaultError, UsageError
from coterie.coordinator.simulate.deviation.deviations import deviation
from coterie.experiments.secure_data_integration.adult import Errors
from coterie.experiments.secure_data_integration.adult_data import (
    ATTRIBUTES,
    CONTINUOUS,
    NAMES,
    PARTY_A,
    PARTY_B,
    RANKED,
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
    top,
)
from coterie.experiments.secure_data_integration.deviation_figures import draw_adult, draw_game
from coterie.experiments.secure_data_integration.deviation_tables import SIZES, markdown
from coterie.experiments.secure_data_integration.game import (
    Deal,
    Play,
    endless_average,
    once_average,
    play,
)

DEVIATIONS = ("never", "from:2", "from:3", "underdeclare", "overdeclare")
EPSILON = 0.01  # §7.2
DISCOUNTS = (*(round(0.05 * i, 2) for i in range(1, 20)), 0.97, 0.99)
THRESHOLDS = (20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 300, 400, 600, 800, 1000)
QUICK = (20, 180, 1000)
_FOUR = {
    "A": ("Ag", "Wc", "Fw", "En"),
    "B": ("Ms", "Re", "Ra", "Sx"),
    "C": ("Cg", "Hw", "Nc"),
    "D": ("Ed", "Oc", "Cl"),
}
SPLITS: dict[str, dict[str, tuple[str, ...]]] = {
    "equal": {"A": PARTY_A, "B": PARTY_B},
    "unequal": {"A": RANKED, "B": tuple(n for n in NAMES if n not in RANKED)},
    "four": {party: tuple(ATTRIBUTES[s] for s in short) for party, short in _FOUR.items()},
}


# Random tables


def random_deal(parties: int, seed: int, game: str) -> Deal:
    """Two attributes a party, each with some influence on the class.

    Short games: 300 records, all attributes in one QID, k = 10, which ends after a few rounds. Long
    ones: 2,000 records, two QIDs with one attribute of each party, k = 4.
    """
    records = 300 if game == "short" else 2000
    draw = np.random.default_rng([parties, seed])
    names = tuple("ABCDEF"[:parties])
    paths = [(f"v{i}", f"g{i // 2}", "ANY") for i in range(6)]
    taxonomy: Taxonomy = taxonomy_of(paths)
    holders = {f"{name}{i}": name for name in names for i in (1, 2)}
    codes = {attribute: draw.integers(0, 6, records) for attribute in holders}
    weights = {attribute: draw.normal(size=6) * draw.uniform(0.2, 1.5) for attribute in holders}
    total = np.sum([weights[a][codes[a]] for a in holders], axis=0) + draw.normal(size=records)
    texts = {a: [f"v{c}" for c in codes[a]] for a in holders}
    return Deal(
        holders,
        names,
        lambda attribute: categorical_column(attribute, texts[attribute], taxonomy),
        lambda attribute: TaxonomyTree(taxonomy),
        Labels((total > np.median(total)).astype(np.uint8), ("no", "yes")),
        (Requirement(tuple(holders), 10),)
        if game == "short"
        else tuple(Requirement(tuple(f"{name}{i}" for name in names), 4) for i in (1, 2)),
    )


def play_random(parties: int, tables: int, game: str) -> list[dict[str, Any]]:
    """One entry for each table, algorithm, deviating party and way to deviate."""
    found = []
    for seed in range(tables):
        deal = random_deal(parties, seed, game)
        for epsilon in (None, EPSILON):
            honest = play(deal, epsilon)
            for party in deal.names:
                for way in DEVIATIONS:
                    deviating = play(deal, epsilon, {party: deviation(way)})
                    entry = _entry(deal, seed, epsilon, party, way, honest, deviating)
                    found.append({"game": game, **entry})
    return found


def _entry(
    deal: Deal,
    seed: int,
    epsilon: float | None,
    party: str,
    way: str,
    honest: Play,
    deviating: Play,
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "parties": len(deal.names),
        "table": seed,
        "algorithm": 1 if epsilon is None else 2,
        "party": party,
        "deviation": way,
        "rounds": len(honest.winners),
        "honest": honest.received(party),
        "deviating": deviating.received(party),
        "gave_honest": honest.given(party),
        "gave_deviating": deviating.given(party),
        "caught": deviating.caught is not None,
    }
    if epsilon is not None:
        entry["repeated"] = [
            _repeated(honest.payoffs(party), deviating.payoffs(party), len(deal.names), d)
            for d in DISCOUNTS
        ]
    return entry


def _repeated(
    honest: Sequence[float], deviating: Sequence[float], parties: int, discount: float
) -> dict[str, Any]:
    """Averages over endless jobs: an honest party plays all, a deviating one only the first."""
    c = endless_average(honest, discount)
    d = once_average(deviating, discount)
    w = max([*honest, *deviating], default=0.0)
    holds = w > 0 and discount ** (parties - 1) >= 1 - c / w
    return {"delta": discount, "c": c, "d": d, "theorem": holds, "pays": d > c + 1e-12}


def summarise(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each algorithm, number of parties and way to deviate."""
    rows = []
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for e in found:
        groups.setdefault((e["game"], e["algorithm"], e["parties"], e["deviation"]), []).append(e)
    for key, entries in groups.items():
        honest = float(np.mean([e["honest"] for e in entries]))
        deviating = float(np.mean([e["deviating"] for e in entries]))
        rows.append(
            {
                "game": key[0],
                "algorithm": key[1],
                "parties": key[2],
                "deviation": key[3],
                "cases": len(entries),
                "rounds": float(np.mean([e["rounds"] for e in entries])),
                "honest": honest,
                "deviating": deviating,
                "gains": sum(e["deviating"] > e["honest"] + 1e-12 for e in entries),
                "caught": sum(e["caught"] for e in entries),
            }
        )
    return rows


def theorem(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By number of parties and delta: how often deviating pays, beside the theorem's bound."""
    rows = []
    for game, parties in dict.fromkeys((e["game"], e["parties"]) for e in found):
        for i, delta in enumerate(DISCOUNTS):
            cases = [
                e["repeated"][i]
                for e in found
                if (e["game"], e["parties"]) == (game, parties) and "repeated" in e
            ]
            rows.append(
                {
                    "game": game,
                    "parties": parties,
                    "delta": delta,
                    "cases": len(cases),
                    "pays": sum(c["pays"] for c in cases),
                    "within": sum(c["theorem"] for c in cases),
                    "pays_within": sum(c["pays"] and c["theorem"] for c in cases),
                }
            )
    return rows


# Adult


def adult_deal(adult: Adult, split: str, size: int, k: int) -> Deal:
    holder = {name: party for party, names in SPLITS[split].items() for name in names}

    def tree(name: str) -> Tree:
        if name in adult.taxonomies:
            return TaxonomyTree(adult.taxonomies[name])
        return IntervalTree(*CONTINUOUS[name])

    return Deal(
        {name: holder[name] for name in top(size)},
        tuple(SPLITS[split]),
        adult.column,
        tree,
        adult.classes,
        (Requirement(top(size), k),),
    )


def play_adult(adult: Adult, thresholds: Sequence[int]) -> dict[str, Any]:
    errors = Errors(adult)
    entries = []
    for split, parties in SPLITS.items():
        for size, k in itertools.product(SIZES, thresholds):
            deal = adult_deal(adult, split, size, k)
            entry: dict[str, Any] = {"split": split, "qid": f"Top{size}", "k": k}
            for number, epsilon in ((1, None), (2, EPSILON)):
                run = play(deal, epsilon)
                if run.table is None:
                    raise RuntimeError(f"an honest party was blamed: {run.caught}")
                entry[f"error_{number}"] = errors.released(run.table)[0]
                entry[f"given_{number}"] = {party: run.given(party) for party in parties}
            entries.append(entry)
    source = {
        split: {
            party: errors.raw([n for n in NAMES if n in names]) for party, names in held.items()
        }
        for split, held in SPLITS.items()
    }
    return {"source_errors": source, "integration": entries, "deviating": deviate_adult(adult)}


def deviate_adult(adult: Adult, size: int = 9, k: int = 20) -> list[dict[str, Any]]:
    """What each party of each split receives when it deviates, under both algorithms."""
    rows = []
    for split in SPLITS:
        deal = adult_deal(adult, split, size, k)
        for epsilon in (None, EPSILON):
            honest = play(deal, epsilon)
            for party in deal.names:
                for way in DEVIATIONS:
                    run = play(deal, epsilon, {party: deviation(way)})
                    entry = _entry(deal, 0, epsilon, party, way, honest, run)
                    entry.pop("repeated", None)
                    rows.append({"split": split, "qid": f"Top{size}", "k": k, **entry})
    return rows


def run(tables: int, adult: Adult | None, thresholds: Sequence[int], out: Path) -> dict[str, Any]:
    """Runs all games and writes the files."""
    found = [
        entry
        for game in ("long", "short")
        for parties in (2, 3, 4)
        for entry in play_random(parties, tables, game)
    ]
    result: dict[str, Any] = {
        "epsilon": EPSILON,
        "tables": tables,
        "random": summarise(found),
        "theorem": theorem(found),
    }
    if adult is not None:
        result["adult"] = play_adult(adult, thresholds)
    try:
        out.mkdir(parents=True, exist_ok=True)
        cases = [{k: v for k, v in e.items() if k != "repeated"} for e in found]
        text = json.dumps({**result, "cases": cases}, indent=1)
        (out / "deviation.json").write_text(text + "\n")
        (out / "deviation.md").write_text(markdown(result))
        long = [e for e in cases if e["game"] == "long"]
        draw_game(long, [r for r in result["theorem"] if r["game"] == "long"], out)
        if adult is not None:
            draw_adult(result["adult"]["integration"], out)
    except OSError as error:
        raise EnvironmentFaultError(f"{out}: {error.strerror}") from None
    return result


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment deviation", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, default=Path("deviation-out"))
    parser.add_argument("--tables", type=int, help="random tables for each number of parties")
    parser.add_argument("--quick", action="store_true", help="4 tables, three values of k")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args(argv)
    if options.tables is not None and options.tables < 1:
        raise UsageError(f"--tables must be at least 1, not {options.tables}")
    tables = options.tables or (4 if options.quick else 20)
    try:
        adult: Adult | None = load_adult(adult_folder(options.data))
    except (DataError, UsageError) as error:
        adult = None
        if not options.json:
            print(f"without Adult: {error}")
    result = run(tables, adult, QUICK if options.quick else THRESHOLDS, options.out)
    print(json.dumps(result) if options.json else (options.out / "deviation.md").read_text())
    return 0
