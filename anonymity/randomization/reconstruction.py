"""The distribution of a column before noise was added, from the noisy values alone.

Papers: Agrawal and Srikant (2000), the Bayes iteration of equation 20.5 in the chapter (paper 3);
Agrawal and Aggarwal (2001), expectation maximization, which the chapter cites as the one that
converges.

Both improve the shares θ of bins: θ_i becomes θ_i times the mean over the records of
p(z | i) / Σ_l θ_l p(z | l). *Bayes* takes p(z | i) as the density of the noise between z and the
middle of bin i; *EM* as its mean over the bin. The noisy values are counted in cells first, so that
an iteration costs cells times bins; for EM p is the exact probability of a cell, the double integral
of the density. Then it is expectation maximization for counts: the likelihood never falls, and as it
is concave in θ the iteration tends to its maximum.

*When to stop.* The maximum is a spiky overfit. The iteration ends when the counts agree with the
model as well as counts of a true model would: when chi-square over the cells first falls to their
number less one (the discrepancy principle). Counts of a true model lie above that number about as
often as below it, so the iteration also ends when the second half of its steps has lowered chi-square
by less than one degree of freedom: what is left is noise; and after `most` steps. Neighbouring cells are
joined until a bin is not wider, since a model of bins cannot follow less, and until five records are
expected.

Erratum: bins must cover the domain of x, not the range of z.
Values heaped at one point do not fit bins that are even inside, and make the estimate spiky around it.
Guarantee: none of privacy. Error: with n records some 1/sqrt(n) a bin at best, more for more noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.anonymity.randomization.noise import Noise
from coterie.base.arrays import Floats, Ints

CELLS = 400
MOST = 1_000
METHODS = ("em", "bayes")
_EARLIEST = 20  # steps before the iteration may end for gaining nothing
_FEWEST = 5.0  # records that a cell of the chi-square is expected to have


@dataclass(frozen=True)
class Reconstruction:
    """Shares of bins or categories, and how the iteration ended.

    `likelihoods` has the logarithm of the likelihood before every step and after the last.
    """

    shares: Floats
    iterations: int
    chi_square: float
    degrees: int
    likelihoods: list[float]

    @property
    def agrees(self) -> bool:
        """Whether chi-square is no larger than that of a true model in 39 of 40 cases."""
        return self.chi_square <= self.degrees + 2 * float(np.sqrt(2 * self.degrees))


def reconstruct(
    z: Floats,
    noise: Noise,
    edges: Floats,
    method: str = "em",
    most: int = MOST,
    stop: bool = True,
) -> Reconstruction:
    """The shares of the bins between `edges`, which must cover the domain of x."""
    if not len(z):
        raise ValueError("there are no values")
    low, high = float(edges[0]) - noise.reach, float(edges[-1]) + noise.reach
    inner = np.linspace(low, high, CELLS + 1)
    place = ((np.asarray(z, np.float64) - low) * (CELLS / (high - low))).astype(np.int64)
    counts = np.bincount(np.clip(place, 0, CELLS - 1), minlength=CELLS)
    kernel = (
        cell_chances(noise, inner, edges) if method == "em" else _at_middles(noise, inner, edges)
    )
    joined = max(int(np.ceil((edges[1] - edges[0]) / (inner[1] - inner[0]))), 1)
    return maximise(kernel, counts, np.arange(CELLS) // joined, most, stop)


def cell_chances(noise: Noise, cells: Floats, edges: Floats) -> Floats:
    """The chance that z is in a cell (row) for x uniform in a bin (column), exactly.

    The first and the last cell have no end.
    """
    total = noise.summed_distribution(cells[1:-1, None] - edges[None, :])
    below = (total[:, :-1] - total[:, 1:]) / np.diff(edges)
    full = np.vstack([np.zeros(len(edges) - 1), below, np.ones(len(edges) - 1)])
    chances: Floats = np.maximum(np.diff(full, axis=0), 0)
    return chances


def _at_middles(noise: Noise, cells: Floats, edges: Floats) -> Floats:
    middles, places = ((ends[1:] + ends[:-1]) / 2 for ends in (edges, cells))
    chances: Floats = noise.density(places[:, None] - middles[None, :]) * (cells[1] - cells[0])
    return chances


def maximise(
    kernel: Floats,
    counts: Ints,
    joined: Ints | None = None,
    most: int = MOST,
    stop: bool = True,
) -> Reconstruction:
    """The shares of the columns of `kernel` (the chances of cells), from counts of the cells.

    `joined` has the number of the larger cell that each belongs to in the chi-square. Without `stop`
    the iteration takes all `most` steps, towards the maximum of the likelihood.
    """
    counts = np.asarray(counts, np.float64)
    possible = kernel.sum(axis=1) > 0
    kernel, seen = kernel[possible], counts[possible]
    larger = np.arange(len(counts)) if joined is None else joined
    larger = np.unique(larger[possible], return_inverse=True)[1]
    total = float(seen.sum())
    if not total:
        raise ValueError("no value is one that the noise allows")
    shares = np.full(kernel.shape[1], 1 / kernel.shape[1])
    likelihoods: list[float] = []
    squares: list[float] = []
    occupied = seen > 0
    steps = 0
    while True:
        model = kernel @ shares
        likelihoods.append(float(seen[occupied] @ np.log(np.maximum(model[occupied], 1e-300))))
        square, degrees = _chi_square(seen, total * model, larger)
        squares.append(square)
        gains = steps < _EARLIEST or squares[steps // 2] - square >= 1
        if steps == most or (stop and (square <= degrees or not gains)):
            return Reconstruction(shares, steps, square, degrees, likelihoods)
        ratio = np.divide(seen, model, out=np.zeros_like(seen), where=model > 0)
        shares = shares * (ratio @ kernel) / total
        shares = shares / shares.sum()
        steps += 1


def _chi_square(seen: Floats, expected: Floats, larger: Ints) -> tuple[float, int]:
    """Chi-square over the larger cells, of which those with few expected records are one together."""
    found, wanted = (np.bincount(larger, values) for values in (seen, expected))
    few = wanted < _FEWEST
    if few.any():
        found = np.append(found[~few], found[few].sum())
        wanted = np.append(wanted[~few], wanted[few].sum())
    held = wanted > 0
    square = float((((found - wanted)[held] ** 2) / wanted[held]).sum())
    return square, max(int(held.sum()) - 1, 1)
