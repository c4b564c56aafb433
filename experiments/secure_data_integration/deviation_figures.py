"""The figures of `coterie experiment deviation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError

_COLOURS = {
    "never": "#b45f06",
    "from:2": "#38761d",
    "from:3": "#6aa84f",
    "underdeclare": "#a61c6c",
    "overdeclare": "#0b5394",
}
_MARKS = {"never": "o", "from:2": "s", "from:3": "^", "underdeclare": "D", "overdeclare": "x"}
_LINES = {2: ("#0b5394", "-"), 3: ("#b45f06", "--"), 4: ("#38761d", ":")}


def _pyplot() -> Any:
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise EnvironmentFaultError(
            "the figures need matplotlib; pip install 'coterie[bench]'"
        ) from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "deviation", "axes.spines.top": False,
                         "axes.spines.right": False})  # fmt: skip
    return plt


def _save(figure: Any, plt: Any, path: Path) -> None:
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=130)
    plt.close(figure)


def draw_game(
    cases: Sequence[Mapping[str, Any]], theorem: Sequence[Mapping[str, Any]], out: Path
) -> None:
    """Draws phi of each case left and middle (above the diagonal deviating pays), Theorem 1 right."""
    plt = _pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
    top = max([max(e["honest"], e["deviating"]) for e in cases], default=1.0) * 1.05
    titles = {1: "Algorithm 1: no strategy", 2: "Algorithm 2: participation strategy"}
    for panel, algorithm in zip(panels[:2], (1, 2), strict=True):
        panel.fill_between([0, top], [0, top], [top, top], color="#f4cccc", lw=0, alpha=0.6)
        panel.plot([0, top], [0, top], color="#666666", lw=0.8)
        panel.annotate("deviating pays", (0.03 * top, 0.93 * top), color="#990000")
        for way, colour in _COLOURS.items():
            chosen = [e for e in cases if e["algorithm"] == algorithm and e["deviation"] == way]
            hollow = (
                {"facecolors": "none", "edgecolors": colour}
                if way == "never"
                else {"color": colour}
            )
            panel.scatter([e["honest"] for e in chosen], [e["deviating"] for e in chosen],
                          s=40 if way == "never" else 12, marker=_MARKS[way], alpha=0.6,
                          label=way, lw=0.9, **hollow)  # fmt: skip
        panel.set_title(titles[algorithm], loc="left")
        panel.set_xlabel("phi when honest")
        panel.set_xlim(0, top)
        panel.set_ylim(0, top)
        panel.set_aspect("equal")
    panels[0].set_ylabel("phi when deviating")
    right = panels[2]
    for parties, (colour, line) in _LINES.items():
        rows = [r for r in theorem if r["parties"] == parties]
        deltas = [r["delta"] for r in rows]
        right.plot(deltas, [100 * r["pays"] / r["cases"] for r in rows], color=colour, ls=line,
                   marker="o", ms=3, label=f"deviating pays, n = {parties}")  # fmt: skip
        right.plot(deltas, [100 * r["within"] / r["cases"] for r in rows], color=colour, ls=line,
                   lw=0.9, alpha=0.5, label=f"within the bound, n = {parties}")  # fmt: skip
    right.set_title("Theorem 1: jobs without end", loc="left")
    right.set_xlabel("discount factor delta")
    right.set_ylabel("cases, %")
    right.set_ylim(-2, 102)
    handles, names = right.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper right", ncols=3, frameon=False, fontsize=7.5)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=5, frameon=False)
    _save(figure, plt, out / "deviation-game")


def draw_adult(entries: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Draws the integration error over k, with a panel for each split."""
    plt = _pyplot()
    thresholds = sorted({e["k"] for e in entries})
    places = {k: at for at, k in enumerate(thresholds)}
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.4), sharey=True, layout="constrained")
    colours = {"Top5": "#0b5394", "Top7": "#b45f06", "Top9": "#38761d"}
    titles = {
        "equal": "two parties, equal: A has 9 of Table 4, B the rest",
        "unequal": "two parties, unequal: A has Top9",
        "four": "four parties",
    }
    for panel, (split, title) in zip(panels, titles.items(), strict=True):
        for qid, colour in colours.items():
            chosen = [e for e in entries if (e["split"], e["qid"]) == (split, qid)]
            at = [places[e["k"]] for e in chosen]
            panel.plot(at, [e["error_1"] for e in chosen], color=colour, ls=":", lw=1.2,
                       label=f"{qid}, Algorithm 1")  # fmt: skip
            panel.plot(at, [e["error_2"] for e in chosen], color=colour, marker="o", ms=3,
                       label=f"{qid}, Algorithm 2")  # fmt: skip
        if split == "four":
            small = [at for k, at in places.items() if k <= 180]
            large = [at for k, at in places.items() if k >= 800]
            for level, qid, at in (
                (16.2, "Top5", small),
                (16.6, "Top7", small),
                (18.3, "Top9", large),
            ):
                panel.plot([at[0] - 0.4, at[-1] + 0.4], [level] * 2, lw=6, alpha=0.3,
                           color=colours[qid], label=f"{qid}, paper", solid_capstyle="butt")  # fmt: skip
        panel.set_title(title, loc="left", fontsize=9.5)
        panel.set_xticks(range(len(places)), [str(k) for k in places], rotation=60)
        panel.set_xlabel("anonymity threshold k (not to scale)")
    panels[0].set_ylabel("IE, % of test records")
    handles, names = panels[2].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    _save(figure, plt, out / "deviation-adult")
