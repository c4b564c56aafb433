"""`coterie experiment payoffs`: the payoff matrix of paper 1, Figure 7, measured; and pairs that collude.

Figure 7 has letters: w for the payoff of a round, p for the probability that B contributes in it. Here
both are measured on random tables of two parties, with the payoffs of whole jobs in which a party
cooperates or never contributes, under Algorithm 1 (no strategy) and Algorithm 2 (§6.3). §8 mentions
parties that deviate together and does not try it: in games of three and four parties each pair never
contributes, and its payoffs stand beside those of honest play. What a pair receives from each other
is nothing, then; phi counts what the others give.
"""

from __future__ import annotations

import argparse
import itertools
import json
from typing import Any

import numpy as np

from coterie.coordinator.simulate.deviation.deviations import deviation
from coterie.experiments.census import markdown
from coterie.experiments.secure_data_integration.deviation import EPSILON, random_deal
from coterie.experiments.secure_data_integration.game import play

ALGORITHMS = {"1, no strategy": None, "2, the strategy": EPSILON}
GAMES = ("long", "short")


def matrix(game: str, algorithm: str, tables: int) -> dict[str, Any]:
    """Mean payoffs of A and B by what each does; w and p of honest play."""
    found: dict[str, list[tuple[float, float]]] = {}
    scores: list[float] = []
    by_second = 0
    for seed in range(tables):
        deal = random_deal(2, seed, game)
        for who in ((), ("A",), ("B",)):
            run = play(deal, ALGORITHMS[algorithm], {name: deviation("never") for name in who})
            key = f"{'defect' if 'A' in who else 'cooperate'}, {'defect' if 'B' in who else 'cooperate'}"
            found.setdefault(key, []).append((run.received("A"), run.received("B")))
            if not who:
                scores += run.scores
                by_second += run.winners.count("B")
    # Two parties that never contribute give each other nothing, whatever the table.
    found["defect, defect"] = [(0.0, 0.0)]
    return {
        "game": game,
        "algorithm": algorithm,
        "w": float(np.mean(scores)),
        "p": by_second / len(scores),
        "payoffs": {key: np.mean(values, axis=0).tolist() for key, values in found.items()},
    }


def colluders(parties: int, game: str, algorithm: str, tables: int) -> dict[str, Any]:
    """The payoff of a pair, honest and colluding, and in how many cases colluding brings more."""
    honest, colluding = [], []
    for seed in range(tables):
        deal = random_deal(parties, seed, game)
        plain = play(deal, ALGORITHMS[algorithm])
        for pair in itertools.combinations(deal.names, 2):
            run = play(deal, ALGORITHMS[algorithm], {name: deviation("never") for name in pair})
            honest.append(sum(plain.received(name) for name in pair) / 2)
            colluding.append(sum(run.received(name) for name in pair) / 2)
    gained = sum(c > h + 1e-12 for c, h in zip(colluding, honest, strict=True))
    return {
        "game": game,
        "algorithm": algorithm,
        "parties": parties,
        "honest": float(np.mean(honest)),
        "colluding": float(np.mean(colluding)),
        "gained": gained,
        "cases": len(honest),
    }


def run(tables: int) -> dict[str, Any]:
    pairs = list(itertools.product(GAMES, ALGORITHMS))
    return {
        "tables": tables,
        "matrix": [matrix(game, algorithm, tables) for game, algorithm in pairs],
        "colluders": [
            colluders(parties, game, algorithm, tables)
            for game, algorithm in pairs
            for parties in (3, 4)
        ],
    }


def table(found: dict[str, Any]) -> str:
    rows = [
        [m["game"], m["algorithm"], f"{m['w']:.3f}", f"{m['p']:.2f}",
         *(f"{a:.3f}, {b:.3f}" for a, b in (m["payoffs"][key] for key in _ORDER))]
        for m in found["matrix"]
    ]  # fmt: skip
    head = ["game", "algorithm", "w", "p", *_ORDER]
    of_two = markdown(head, rows)
    rows = [
        [c["game"], c["algorithm"], c["parties"], f"{c['honest']:.3f}", f"{c['colluding']:.3f}",
         f"{c['gained']} of {c['cases']}"]
        for c in found["colluders"]
    ]  # fmt: skip
    head = ["game", "algorithm", "parties", "honest pair", "colluding pair", "brought more"]
    return f"{of_two}\n{markdown(head, rows)}"


_ORDER = ("cooperate, cooperate", "cooperate, defect", "defect, cooperate", "defect, defect")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment payoffs", description=__doc__)
    parser.add_argument("--tables", type=int, default=20, help="random tables of each kind (20)")
    parser.add_argument("--quick", action="store_true", help="four tables")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    found = run(4 if options.quick else max(options.tables, 1))
    print(json.dumps(found) if options.json else table(found))
    return 0
