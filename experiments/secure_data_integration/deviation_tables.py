"""The tables of `coterie experiment deviation`, beside the figures of paper 1, §7.2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SIZES = (5, 7, 9)
PAPER_SE = {
    "equal": {"A": 17.7, "B": 17.9},
    "unequal": {"A": 15.3, "B": 22.4},
    "four": {"A": 21.2, "B": 25.1, "C": 20.0, "D": 21.7},
}


def paper_says(split: str, size: int, k: int) -> str:
    """What the text of §7.2 says about the integration error under Algorithm 2."""
    if split == "equal":
        return "as Algorithm 1"
    if split == "unequal":
        return "very high"
    if size in (5, 7):
        return {5: "16.2", 7: "16.6"}[size] if k <= 180 else "<= 18.3"
    return "18.3" if k >= 800 else "<= 18.3"


def markdown(result: Mapping[str, Any]) -> str:
    lines = ["# Deviating: what it brings", "", "## Random tables, one job", ""]
    lines += [
        "phi is what a party receives, mean over tables and parties. Gains: cases in which the "
        "deviating party received more than it would have by following the protocol.",
        "",
        "| game | rounds | algorithm | parties | deviation | phi honest | phi deviating | gains "
        "| caught | cases |",
        "|---" * 10 + "|",
    ]
    lines += [
        f"| {r['game']} | {r['rounds']:.1f} | {r['algorithm']} | {r['parties']} | "
        f"{r['deviation']} | {r['honest']:.4f} | "
        f"{r['deviating']:.4f} | {r['gains']} | {r['caught']} | {r['cases']} |"
        for r in result["random"]
    ]
    lines += [
        "",
        "## Theorem 1: jobs without end",
        "",
        "After the job in which a party deviated its partners refuse it. Within the bound: cases "
        "with delta^(n-1) >= 1 - c/w.",
        "",
        "| game | parties | delta | deviating pays | within the bound | of these it pays | cases |",
        "|---" * 7 + "|",
    ]
    lines += [
        f"| {r['game']} | {r['parties']} | {r['delta']:g} | {r['pays']} | {r['within']} | {r['pays_within']} "
        f"| {r['cases']} |"
        for r in result["theorem"]
        if r["delta"] in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
    ]
    if "adult" in result:
        lines += _adult_tables(result["adult"])
    return "\n".join(lines) + "\n"


def _adult_tables(adult: Mapping[str, Any]) -> list[str]:
    lines = [
        "",
        "## Adult: source errors, %",
        "",
        "| split | party | Coterie | paper |",
        "|---" * 4 + "|",
    ]
    for split, errors in adult["source_errors"].items():
        lines += [
            f"| {split} | {party} | {error:.2f} | {PAPER_SE[split][party]} |"
            for party, error in errors.items()
        ]
    for split in adult["source_errors"]:
        lines += ["", f"## Adult, {split} split: IE, % (Algorithm 1, Algorithm 2, paper for 2)", ""]
        lines += ["| k | " + " | ".join(f"Top{s}" for s in SIZES) + " |", "|---" * 4 + "|"]
        found = {(e["qid"], e["k"]): e for e in adult["integration"] if e["split"] == split}
        for k in sorted({k for _, k in found}):
            cells = []
            for size in SIZES:
                e = found[f"Top{size}", k]
                said = paper_says(split, size, k)
                cells.append(f"{e['error_1']:.2f}, {e['error_2']:.2f}, {said}")
            lines.append(f"| {k} | " + " | ".join(cells) + " |")
    lines += ["", "## Adult: contributions at k = 20, Top9", ""]
    lines += ["| split | algorithm | mu |", "|---|---|---|"]
    for e in adult["integration"]:
        if e["qid"] == "Top9" and e["k"] == 20:
            for number in (1, 2):
                given = ", ".join(f"{p} {mu:.4f}" for p, mu in e[f"given_{number}"].items())
                lines.append(f"| {e['split']} | {number} | {given} |")
    lines += ["", "## Adult: deviating (Top9, k = 20)", ""]
    lines += ["| split | algorithm | party | deviation | phi honest | phi deviating | caught |"]
    lines += ["|---" * 7 + "|"]
    lines += [
        f"| {e['split']} | {e['algorithm']} | {e['party']} | {e['deviation']} | "
        f"{e['honest']:.4f} | {e['deviating']:.4f} | {'yes' if e['caught'] else ''} |"
        for e in adult["deviating"]
    ]
    return lines
