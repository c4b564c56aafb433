"""`coterie experiment adult`: the classification errors of paper 1 §7.1 on the Adult table.

A decision tree (`anonymity.classifier.learner`) learns on the training records and is tested on the
others.

* BE, base error: on the integrated table as it is.
* SE, source error: on the columns of one party alone.
* UE, upper bound error: without the attributes of the QID.
* IE, integration error: training and test records are generalized together, then split again.
  Suppressed records are not used for training, and count as errors in the test.

`PAPER` has the paper's figures. The experiment writes `adult.csv` (every integration error),
`adult.json` (the same with the rest), `adult.md` (the table beside the paper's values) and the
figure as `adult.svg` and `adult.png`.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.classifier.decision_tree import Feature, error_rate
from coterie.anonymity.classifier.learner import learn
from coterie.anonymity.classifier.released import coded_attribute, learner_attribute
from coterie.anonymity.specialization.specialize import Requirement, Specializer, specialize
from coterie.base.errors import EnvironmentFaultError
from coterie.experiments.secure_data_integration.adult_data import (
    NAMES,
    PARTY_A,
    PARTY_B,
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
    top,
)

SIZES = (5, 7, 9)
THRESHOLDS = (20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 300, 400, 600, 800, 1000)
QUICK = (20, 180, 200, 1000)
# The ways to specialize: the rule for scores, and the share of records that may be left out.
WAYS: dict[str, tuple[str, float]] = {
    "gain-ratio": ("gain-ratio", 0.0),
    "information-gain": ("information-gain", 0.0),
    "information-gain-per-anonymity-loss": ("information-gain-per-anonymity-loss", 0.0),
    "gain-ratio, 0.5 % suppressed": ("gain-ratio", 0.005),
    "gain-ratio, 1 % suppressed": ("gain-ratio", 0.01),
}
PAPER: dict[str, float] = {
    "BE": 14.7,
    "SE(A)": 17.7,
    "SE(B)": 17.9,
    "UE Top5": 20.4,
    "UE Top7": 21.5,
    "UE Top9": 22.4,
}


def paper_says(size: int, k: int) -> str:
    """What the text of §7.1 says about the integration error; the figure is not available."""
    if size == 5 and k <= 180:
        return "14.8"
    if size == 7 and k <= 200:
        return "< 15.7"
    if size == 9 and k >= 80:
        return "> 17.6"
    return ""


@dataclass(frozen=True)
class Integration:
    """One integration error, in percent, and its settings."""

    qid: str
    k: int
    way: str
    error: float  # of all test records; those that were suppressed count as errors
    error_of_kept: float
    smallest: int
    suppressed: int
    specializations: int
    leaves: int


class Errors:
    """Errors of trees on one table, in percent of the test records."""

    def __init__(self, adult: Adult) -> None:
        self.adult = adult
        self._raw = {name: learner_attribute(name, adult.table[name].to_pylist()) for name in NAMES}
        self._known: dict[tuple[str, ...], float] = {}

    def _error(self, attributes: Sequence[Feature], kept: Any = slice(None)) -> tuple[float, int]:
        """The error on these records, of which those for training come first."""
        target = self.adult.target[kept]
        cut = int(np.arange(len(self.adult.target))[kept].searchsorted(self.adult.training))
        tree = learn([a[:cut] for a in attributes], target[:cut], 2)
        return 100 * error_rate(tree, [a[cut:] for a in attributes], target[cut:]), tree.leaves

    def raw(self, names: Sequence[str]) -> float:
        """The error on these attributes without generalization: BE with all, SE and UE with some."""
        key = tuple(names)
        if key not in self._known:
            self._known[key] = self._error([self._raw[name] for name in names])[0]
        return self._known[key]

    def without(self, size: int) -> float:
        """UE of TopN."""
        return self.raw([name for name in NAMES if name not in top(size)])

    def table(self) -> dict[str, float]:
        """The errors that do not depend on k."""
        return {
            "BE": self.raw(NAMES),
            "SE(A)": self.raw(PARTY_A),
            "SE(B)": self.raw(PARTY_B),
            **{f"UE Top{size}": self.without(size) for size in SIZES},
        }

    def generalize(self, size: int, k: int, way: str = "gain-ratio") -> Specializer:
        qid = top(size)
        rule, share = WAYS[way]
        return specialize(
            self.adult.columns(qid),
            self.adult.classes,
            [Requirement(qid, k)],
            rule=rule,
            max_suppression=share,
        )

    def released(self, done: Specializer) -> tuple[float, float, int]:
        """IE of a generalized table, the error on the records that it keeps, and the tree's leaves."""
        kept = done.kept
        attributes = [
            coded_attribute(name, *done.generalized(name)) if name in done.names else raw[kept]
            for name, raw in self._raw.items()
        ]
        of_kept, leaves = self._error(attributes, kept)
        tests = len(self.adult.target) - self.adult.training
        left = int(np.sum(kept >= self.adult.training))
        return (of_kept * left + 100 * (tests - left)) / tests, of_kept, leaves

    def integration(self, size: int, k: int, way: str = "gain-ratio") -> Integration:
        """IE of TopN at k."""
        done = self.generalize(size, k, way)
        error, of_kept, leaves = self.released(done)
        return Integration(
            f"Top{size}",
            k,
            way,
            error,
            of_kept,
            done.anonymity[0]["smallest"],
            done.suppressed,
            len(done.winners),
            leaves,
        )

    def ranking(self, number: int) -> list[str]:
        """The attribute at the root of the tree, then at the root of the tree without it, ..."""
        left: list[str] = list(NAMES)
        ranked: list[str] = []
        cut = self.adult.training
        for _ in range(number):
            attributes = [self._raw[name][:cut] for name in left]
            tree = learn(attributes, self.adult.target[:cut], 2, None)
            ranked.append(left.pop(tree.root_attribute))
        return ranked


def markdown(fixed: dict[str, float], found: Sequence[Integration]) -> str:
    """The table of errors, measured beside the paper's."""
    lines = ["| error, % | Coterie | paper |", "|---|---|---|"]
    lines += [f"| {name} | {value:.2f} | {PAPER[name]} |" for name, value in fixed.items()]
    by = {(entry.qid, entry.k, entry.way): entry for entry in found}
    thresholds = sorted({entry.k for entry in found})
    for way in dict.fromkeys(entry.way for entry in found):
        lines += ["", f"Integration error, %, with {way}:", ""]
        heads = [f"Top{size} | paper" for size in SIZES]
        lines += [f"| k | {' | '.join(heads)} |", "|---" * 7 + "|"]
        for k in thresholds:
            cells = []
            for size in SIZES:
                cells += [f"{by[f'Top{size}', k, way].error:.2f}", paper_says(size, k)]
            lines.append(f"| {k} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_STYLES = {
    "gain-ratio": ("#0b5394", "-", "o"),
    "information-gain": ("#b45f06", "--", "s"),
    "information-gain-per-anonymity-loss": ("#38761d", ":", "^"),
    "gain-ratio, 0.5 % suppressed": ("#a61c6c", "-.", "D"),
    "gain-ratio, 1 % suppressed": ("#d5a6bd", "-.", "v"),
}


def draw(fixed: dict[str, float], found: Sequence[Integration], out: Path) -> None:
    """One panel for each QID: errors over k, the fixed errors as lines, the paper as bands."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "adult", "axes.spines.top": False,
                         "axes.spines.right": False})  # fmt: skip
    thresholds = sorted({entry.k for entry in found})
    places = {k: at for at, k in enumerate(thresholds)}  # not linear, as the paper's
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), sharey=True, layout="constrained")
    for panel, size in zip(panels, SIZES, strict=True):
        for name in ("BE", "SE(A)", "SE(B)", f"UE Top{size}"):
            panel.axhline(fixed[name], color="#777777", lw=0.8, ls=(0, (6, 3)))
        right = len(places) - 0.4
        for label, height, at, above in (
            ("BE", fixed["BE"], right, False),
            ("SE(A), SE(B)", fixed["SE(B)"], -0.6, True),
            ("UE", fixed[f"UE Top{size}"], right, True),
        ):
            panel.annotate(label, (at, height), va="bottom" if above else "top", fontsize=8,
                           ha="left" if at < 0 else "right", color="#555555")  # fmt: skip
        _paper_band(panel, size, places)
        for way, (colour, line, mark) in _STYLES.items():
            series = [e for e in found if e.qid == f"Top{size}" and e.way == way]
            panel.plot([places[e.k] for e in series], [e.error for e in series], color=colour,
                       ls=line, marker=mark, ms=3.5, lw=1.4, label=way)  # fmt: skip
        panel.set_title(f"Top{size}", loc="left")
        panel.set_xticks(range(len(places)), [str(k) for k in places], rotation=60)
        panel.set_xlabel("anonymity threshold k (not to scale)")
    panels[0].set_ylabel("error on test records, %")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=6, frameon=False)
    for suffix in ("svg", "png"):
        metadata = {"Date": None} if suffix == "svg" else {}
        figure.savefig(out / f"adult.{suffix}", dpi=130, metadata=metadata)
    plt.close(figure)


def _paper_band(panel: Any, size: int, places: dict[int, int]) -> None:
    """Draws the range that the paper's text gives for the integration error."""
    said = [at for k, at in places.items() if paper_says(size, k)]
    if not said:
        return
    low, high = {5: (14.75, 14.85), 7: (14.7, 15.7), 9: (17.6, 18.6)}[size]
    left, right = min(said) - 0.4, max(said) + 0.4
    panel.fill_between([left, right], low, high, color="#f1c232", alpha=0.45, lw=0,
                       label="paper, text of §7.1")  # fmt: skip


def run(adult: Adult, thresholds: Sequence[int], out: Path) -> dict[str, Any]:
    """Measures all errors and writes the files."""
    errors = Errors(adult)
    fixed = errors.table()
    found = [errors.integration(size, k, way) for way in WAYS for size in SIZES for k in thresholds]
    result = {
        "records": {"training": adult.training, "test": len(adult.target) - adult.training},
        "ranking": errors.ranking(9),
        "errors": fixed,
        "paper": PAPER,
        "integration": [asdict(entry) for entry in found],
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "adult.json").write_text(json.dumps(result, indent=1) + "\n")
        with (out / "adult.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(found[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(entry) for entry in found)
        (out / "adult.md").write_text(markdown(fixed, found))
        draw(fixed, found, out)
    except OSError as error:
        raise EnvironmentFaultError(f"{out}: {error.strerror}") from None
    return result


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment adult", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, default=Path("adult-out"), help="folder for the files")
    parser.add_argument("--quick", action="store_true", help="four values of k instead of all")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args(argv)
    if importlib.util.find_spec("matplotlib") is None:
        raise EnvironmentFaultError("the figure needs matplotlib: pip install 'coterie[bench]'")
    result = run(
        load_adult(adult_folder(options.data)), QUICK if options.quick else THRESHOLDS, options.out
    )
    if options.json:
        print(json.dumps(result))
    else:
        print((options.out / "adult.md").read_text())
        print(f"written to {options.out}: adult.csv, adult.json, adult.md, adult.svg, adult.png")
    return 0
