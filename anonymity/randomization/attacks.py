"""What noise really hides: guesses of the true values from the noisy ones.

Papers: Kargupta et al. (2003), spectral filtering, and Huang, Du and Chen (2005), the linear guess,
which 20.7 of the chapter (paper 3) cites; Liu, Giannella and Kargupta (2006) for rotations.

* *Linear guess.* Correlated columns give each other away. With the covariance of x as that of z
  less that of the noise (negative eigenvalues set to 0), the best linear guess of all columns is
  μ + Σ_x (Σ_x + Σ_y)^-1 (z - μ). It needs nothing but the release and the public laws.
* *Projection.* What lies along eigenvectors of z that noise alone explains, those with an eigenvalue
  of at most (1 + sqrt(d / n))² in units of the noise, is dropped.
* *Bounded noise.* Uniform noise on [-a, a] leaves x within a of z and within the range of the column;
  near its ends little is left.
* *Rotation.* A table times a secret rotation keeps all distances; as many known records as columns
  give the rotation, and with it all records.

Cost: an eigendecomposition of d columns.
"""

from __future__ import annotations

import numpy as np

from coterie.anonymity.randomization.noise import Noise
from coterie.base.arrays import Floats, Rows


def linear_guess(z: Floats, deviations: Floats) -> Floats:
    """The best linear guess of the true table from the noisy one, given the noise of each column."""
    scaled, mean = z / deviations, (z / deviations).mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(scaled, rowvar=False, bias=True).reshape(len(mean), -1))
    true = np.maximum(values - 1, 0)
    shrink = vectors * (true / (true + 1)) @ vectors.T
    guess: Floats = (mean + (scaled - mean) @ shrink) * deviations
    return guess


def projection(z: Floats, deviations: Floats) -> Floats:
    """The noisy table without the directions that noise alone explains."""
    scaled, mean = z / deviations, (z / deviations).mean(axis=0)
    records, width = z.shape
    values, vectors = np.linalg.eigh(np.cov(scaled, rowvar=False, bias=True).reshape(width, -1))
    kept = vectors[:, values > (1 + np.sqrt(width / records)) ** 2]
    guess: Floats = (mean + (scaled - mean) @ kept @ kept.T) * deviations
    return guess


def mean_error(true: Floats, guess: Floats) -> Floats:
    """The root of the mean squared error of each column."""
    error: Floats = np.sqrt(((true - guess) ** 2).mean(axis=0))
    return error


def narrowed(z: Floats, noise: Noise, limits: tuple[float, float]) -> float:
    """The share of records whose 95 % interval, within the range, is below half the advertised one."""
    if noise.law != "uniform":
        return 0.0
    low, high = np.maximum(z - noise.size, limits[0]), np.minimum(z + noise.size, limits[1])
    return float((0.95 * (high - low) < noise.interval / 2).mean())


def unrotated(rotated: Floats, known: Floats, rows: Rows) -> Floats:
    """The table before its rotation, from the true values of some of its rows (Procrustes)."""
    left, _, right = np.linalg.svd(rotated[rows].T @ known)
    guess: Floats = rotated @ (left @ right)
    return guess
