"""Plain Cox regression with Breslow's ties, and concordance, on rows that somebody has."""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Array

RIDGE = 1e-6
MOST_STEPS = 50


def cox(x: Array, time: Array, event: Array, ridge: float = RIDGE) -> Array:
    """The coefficients with the largest partial likelihood, by Newton's method."""
    order = np.argsort(-time, kind="stable")
    x, time, event = x[order], time[order], event[order]
    # Ties: the risk set of a time ends with the last record of that time.
    ends = np.searchsorted(-time, -time, side="right") - 1
    at = ends[event]
    weights = np.zeros(x.shape[1])
    for _ in range(MOST_STEPS):
        score = np.exp(np.clip(x @ weights, -30, 30))
        s0 = np.cumsum(score)[at]
        s1 = np.cumsum(score[:, None] * x, axis=0)[at]
        s2 = np.cumsum(score[:, None, None] * x[:, :, None] * x[:, None, :], axis=0)[at]
        mean = s1 / s0[:, None]
        gradient = (x[event] - mean).sum(axis=0) - ridge * weights
        curvature = (s2 / s0[:, None, None] - mean[:, :, None] * mean[:, None, :]).sum(axis=0)
        step = np.linalg.solve(curvature + ridge * np.eye(len(weights)), gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def concordance(score: Array, time: Array, event: Array) -> float:
    """Of the pairs whose order is known, the share in which the higher score dies first; ties half."""
    earlier = event[:, None] & (time[:, None] < time[None, :])
    higher = score[:, None] > score[None, :]
    equal = score[:, None] == score[None, :]
    return float((earlier & higher).sum() + 0.5 * (earlier & equal).sum()) / max(
        int(earlier.sum()), 1
    )
