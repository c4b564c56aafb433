"""`coterie experiment noise`: reconstruction, and what attacks leave of noise and of a rotation.

Section 20.2 of the chapter (paper 3) prints no figures. The experiment shows three things:

* Adult's ages (37 bins of two years) under five noises: the L1 distance from the true histogram of
  the noisy values, of the estimate, and of the estimate after 1,000 iterations, which overfits.
* Naive Bayes of Adult's income from reconstructed distributions of its columns of numbers.
* scikit-learn's breast cancer data (30 standardised columns) under noise and under a secret rotation,
  with the error of the best guesses.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from coterie.anonymity.randomization.attacks import (
    linear_guess,
    mean_error,
    projection,
    unrotated,
)
from coterie.anonymity.randomization.naive_bayes import NaiveBayes, bin_numbers
from coterie.anonymity.randomization.noise import noise_for
from coterie.anonymity.randomization.reconstruction import reconstruct
from coterie.base.arrays import Floats
from coterie.base.errors import EnvironmentFaultError
from coterie.experiments.census import markdown
from coterie.experiments.secure_data_integration.adult_data import (
    Adult,
    add_data_option,
    adult_folder,
    load_adult,
)

EDGES = np.linspace(17, 91, 38)
NOISES = (("normal", 0.25), ("normal", 0.5), ("normal", 1.0), ("uniform", 0.5), ("uniform", 1.0))
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
BINS = 37
DEVIATIONS = (0.5, 1.0, 2.0)
KNOWN = (10, 20, 30)


def column(data: Adult, name: str) -> Floats:
    return np.array(data.table.column(name).to_pylist(), np.float64)


def reconstructed(ages: Floats, seed: int) -> list[dict[str, Any]]:
    """The distances from the true histogram, for every noise."""
    rng = np.random.default_rng(seed)
    true = np.histogram(ages, EDGES)[0] / len(ages)
    rows = []
    for law, share in NOISES:
        noise = noise_for(law, share, 73)
        z = ages + noise.draw(len(ages), rng.bytes)
        found = reconstruct(z, noise, EDGES)
        entry: dict[str, Any] = {"noise": f"{law} {share:.0%}"}
        for name, shares in (
            ("z itself", np.histogram(z, EDGES)[0] / len(z)),
            ("estimate", found.shares),
            ("1,000 iterations", reconstruct(z, noise, EDGES, stop=False).shares),
        ):
            outside = 1 - float(shares.sum())  # noisy values beyond all bins
            entry[name] = round(float(np.abs(shares - true).sum()) + outside, 3)
        rows.append(entry | {"iterations": found.iterations})
    return rows


def classified(data: Adult, seed: int) -> list[dict[str, Any]]:
    """Naive Bayes of income from distributions by class: learned under noise, tried without it."""
    rng = np.random.default_rng(seed)
    learned, classes = slice(0, data.training), np.asarray(data.target)
    own = classes[learned]
    tried = {name: column(data, name) for name in NUMBERS}
    edges = {
        name: np.linspace(values.min(), values.max(), BINS + 1) for name, values in tried.items()
    }
    codes = [bin_numbers(tried[name][data.training :], edges[name]) for name in NUMBERS]
    rows = []
    for law, share in (("none", 0.0), *NOISES):
        shares = []
        for name in NUMBERS:
            values, ends = tried[name][learned], edges[name]
            if law == "none":
                counts = [np.histogram(values[own == c], ends)[0] for c in (0, 1)]
                shares.append(np.stack([part / part.sum() for part in counts]))
                continue
            noise = noise_for(law, share, float(ends[-1] - ends[0]))
            z = values + noise.draw(len(values), rng.bytes)
            parts = [reconstruct(z[own == c], noise, ends).shares for c in (0, 1)]
            shares.append(np.stack(parts))
        found = NaiveBayes(np.bincount(own), shares).predict(codes)
        right = float((found == classes[data.training :]).mean())
        rows.append({"noise": f"{law} {share:.0%}" if share else law, "right": round(right, 3)})
    most = float((classes[data.training :] == 0).mean())
    return [*rows, {"noise": "always the most frequent class", "right": round(most, 3)}]


def breast_cancer() -> Floats:
    try:
        from sklearn.datasets import load_breast_cancer
    except ModuleNotFoundError as error:
        raise EnvironmentFaultError(
            "the attacks need scikit-learn's data: pip install 'coterie[bench]'"
        ) from error
    points: Floats = load_breast_cancer(return_X_y=True)[0]
    scaled: Floats = (points - points.mean(axis=0)) / points.std(axis=0)
    return scaled


def attacked(points: Floats, seed: int) -> list[dict[str, Any]]:
    """The error of the noisy values and of both guesses, for every noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for deviation in DEVIATIONS:
        z = points + deviation * rng.normal(size=points.shape)
        of = np.full(points.shape[1], deviation)
        guesses = {
            "z itself": z,
            "projection": projection(z, of),
            "linear guess": linear_guess(z, of),
        }
        errors = {name: _total(points, guess) for name, guess in guesses.items()}
        rows.append({"σ": deviation, **errors})
    return rows


def turned(points: Floats, seed: int) -> list[dict[str, Any]]:
    """The error of a table that was turned, from so many known records."""
    rng = np.random.default_rng(seed)
    width = points.shape[1]
    secret = points @ np.linalg.qr(rng.normal(size=(width, width)))[0]
    rows = []
    for known in KNOWN:
        chosen = rng.choice(len(points), known, replace=False)
        guess = unrotated(secret, points[chosen], chosen)
        rows.append({"known records": known, "error": _total(points, guess)})
    return rows


def _total(true: Floats, guess: Floats) -> float:
    return round(float(np.sqrt((mean_error(true, guess) ** 2).mean())), 3)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment noise", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    points, data = breast_cancer(), load_adult(adult_folder(options.data))
    ages = column(data, "age")[: data.training]
    found = {
        "reconstruction": reconstructed(ages, options.seed),
        "naive Bayes": classified(data, options.seed),
        "noise": attacked(points, options.seed),
        "rotation": turned(points, options.seed),
    }
    if options.json:
        print(json.dumps(found))
        return 0
    for name, rows in found.items():
        print(f"{name}\n")
        print(markdown(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))
        print()
    return 0
