"""Clusters (k-means) of records that several parties hold, from sums; small clusters are joined.

Paper 3, §20.5, names joint clustering; Lloyd's iteration is the textbook's. Horizontal partition.

In: at every party its records as points. Out, at every party: the centre and the size of each
cluster, each of at least `minimum` records.

1. Start. Public candidates are drawn around the mean of all records, by their standard deviation.
   Each party counts its records nearest to each candidate; which candidates have many is decided on
   shares and opened. The starting centres are those of a plain k-means of these candidates, or of all
   candidates where fewer than the clusters have many.
2. Iterations. Each party assigns its records to the nearest centre. Which clusters have fewer than
   `minimum` records is decided on shares and opened; of these the one whose centre is nearest to
   another is joined to its neighbours: its centre goes, and its records go to the next nearest one.
   That is repeated until no cluster is small. (If all small ones went at once, neighbours that are
   large together would go, too.) Then sums and sizes are opened, and their quotients are the new
   centres.
3. Records that move between iterations show in the difference of the sums. So the sums of an
   iteration are opened only if, compared with every earlier one, none or at least `minimum` records
   have moved between any two clusters; that is decided on shares, as one bit. Otherwise the search
   ends with the clusters that were opened last, and `settled` is false.

Adversary: semi-honest; the two servers must not collude. Messages: for each iteration one or two runs
of `hidden_counts` and one secure sum, and one more run for each cluster that goes. What all parties
must agree on is computed in plain arithmetic, the same at every party. Cost: for each iteration at
most 95 AND gates for each pair of clusters and earlier iteration, and 32 bytes for each opened number
to every other party.

After an interruption nothing of this is kept: a second attempt draws the same public candidates, since
their seed is public, and opens the same bits and sums, since they follow from the candidates and the
records. Seeds of masks and shares are drawn anew in each attempt, so that no mask covers two vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Codes, Floats, Mask, UInt32s
from coterie.base.errors import DataError
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.scale import Scale
from coterie.protocols.models.symmetric import Matrix, Vector
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.count_circuits import label_circuit
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import share_out

CANDIDATES = 16  # for each cluster
MOST_CANDIDATES = 256
STARTS = 8
_ROWS = 1 << 14

LARGE = declare(
    "cluster: which cells are large",
    what="Of each candidate and of each cluster of an iteration, again after a small one was joined to others, one bit, whether at least so many records are nearest to it; no number.",
    to="every party",
    why="Clusters begin where records are, and a small one is joined to others before its sums are opened.",
)
CLUSTERS = declare(
    "cluster: sums and sizes",
    what="For each cluster of an iteration, of at least `minimum` records, the number of its records and the sum of each attribute.",
    to="every party",
    why="Their quotients are the centres; the last ones are the result.",
)


@dataclass(frozen=True)
class Clusters:
    centres: Matrix
    sizes: list[int]
    iterations: int
    settled: bool


def large_cells(
    counts: HiddenCounts, holders: Sequence[str], mine: UInt32s, minimum: int, rng: Random
) -> Mask:
    """Which cells have `minimum` records or more, of all parties together."""
    share = share_out(counts.channel, counts.servers, holders, len(mine), mine, rng)
    return large_shares(counts, share, len(mine), minimum)


def large_shares(counts: HiddenCounts, share: UInt32s | None, cells: int, minimum: int) -> Mask:
    """What `large_cells` returns, from shares of the counts at the servers."""
    large = counts.large(share, cells, minimum, zeros=False)
    inputs = {"kept": None if large is None else large[None]}
    told, _ = counts.decided(label_circuit(cells), 1, inputs, "label")
    found: Mask = counts.channel.open(LARGE, told)[0].astype(np.bool_)
    return found


def nearest(points: Floats, centres: Matrix) -> Codes:
    """The nearest centre of each point."""
    at = np.array(centres)
    found = np.empty(len(points), np.int64)
    for start in range(0, len(points), _ROWS):
        part = points[start : start + _ROWS]
        apart = ((part[:, None, :] - at) ** 2).sum(axis=2)
        found[start : start + _ROWS] = apart.argmin(axis=1)
    return found


def start_centres(
    scale: Scale,
    clusters: int,
    records: int,
    points: Floats,
    large: Callable[[UInt32s, int], Mask],
    minimum: int,
    seed: str,
) -> Matrix:
    """The centres of candidates that have many records; `seed` is public."""
    drawn = Random(f"candidates {seed}")  # a public choice
    candidates = _candidates(scale, clusters, drawn)
    number = len(candidates)
    mine = np.bincount(nearest(points, candidates), minlength=number).astype(np.uint32)
    many = large(mine, max(minimum, records // (2 * number)))
    dense = [candidate for candidate, keep in zip(candidates, many.tolist(), strict=True) if keep]
    if len(dense) == clusters:
        return dense
    # Where fewer have many records, small clusters around the others are joined later.
    return _best_of_starts(dense if len(dense) > clusters else candidates, clusters, scale, drawn)


def public_centres(scale: Scale, clusters: int, seed: str) -> Matrix:
    """Centres of candidates, wherever the records are; `seed` is public."""
    drawn = Random(f"candidates {seed}")  # a public choice
    return _best_of_starts(_candidates(scale, clusters, drawn), clusters, scale, drawn)


def _candidates(scale: Scale, clusters: int, drawn: Random) -> Matrix:
    """Points around the mean, by the deviations."""
    candidates: Matrix = []
    for _ in range(min(CANDIDATES * clusters, MOST_CANDIDATES)):
        # The sum of twelve uniform numbers is close to normal, and the same on every machine.
        spots = [sum(drawn.below(1 << 32) / 2.0**32 for _ in range(12)) - 6 for _ in scale.means]
        candidates.append(
            [m + 1.2 * s * d for m, s, d in zip(scale.means, spots, scale.deviations, strict=True)]
        )
    return candidates


def _best_of_starts(points: Matrix, clusters: int, scale: Scale, drawn: Random) -> Matrix:
    """Plain k-means of a few public points, from several starts far apart, the best of them."""
    best, least = points[:clusters], float("inf")
    for _ in range(STARTS):
        centres = [points[drawn.below(len(points))]]
        while len(centres) < clusters:
            # As in k-means++, a point is taken with the chance of its squared distance.
            gaps = [min(_apart(p, c) for c in centres) for p in points]
            goal = drawn.below(1 << 53) / 2.0**53 * sum(gaps)
            at = 0
            while at < len(gaps) - 1 and goal > gaps[at]:
                goal -= gaps[at]
                at += 1
            centres.append(points[at])
        for _ in range(10):
            homes = [_closest(point, centres) for point in points]
            for c in range(clusters):
                group = [p for p, home in zip(points, homes, strict=True) if home == c]
                if group:
                    centres[c] = [sum(column) / len(group) for column in zip(*group, strict=True)]
        total = sum(min(_apart(p, c) for c in centres) for p in points)
        if total < least:
            best, least = list(centres), total
    return best


def _closest(point: Vector, centres: Matrix) -> int:
    gaps = [_apart(point, centre) for centre in centres]
    return gaps.index(min(gaps))


def _apart(a: Vector, b: Vector) -> float:
    return sum((x - y) * (x - y) for x, y in zip(a, b, strict=True))


def lloyd(
    sums: ExactSums,
    points: Floats,
    centres: Matrix,
    iterations: int,
    large: Callable[[UInt32s], Mask],
    unlike: Callable[[UInt32s], bool],
) -> Clusters:
    """Lloyd's iteration over all parties' points.

    `large` says which counts of all parties together are large, `unlike` whether each is 0 or large.
    """
    channel = sums.channel
    homes: list[Codes] = []  # by iteration, of the clusters that have been opened
    begun = len(centres)
    names = list(range(begun))  # a cluster keeps its name when others go
    found: Clusters | None = None
    for done in range(1, iterations + 1):
        with channel.step(f"iteration {done}"):
            names, centres, home = _without_small(points, names, centres, begun, large)
            if homes and not unlike(_moves(homes, home, begun)):
                break
            told = channel.open(CLUSTERS, sums.totals(_sums(points, home, names)))
        channel.progress(done, iterations)
        width = points.shape[1]
        sizes = [round(size) for size in told[: len(names)]]
        rest = told[len(names) :]
        before = centres
        centres = [
            [rest[at * width + column] / size for column in range(width)]
            for at, size in enumerate(sizes)
        ]
        homes.append(home)
        settled = found is not None and before == centres
        found = Clusters(centres, sizes, done, settled)
        if settled:
            break
    assert found is not None  # noqa: S101 the first iteration is always opened
    order = sorted(range(len(found.sizes)), key=lambda at: found.centres[at])
    return Clusters(
        [found.centres[at] for at in order],
        [found.sizes[at] for at in order],
        found.iterations,
        found.settled,
    )


def _without_small(
    points: Floats,
    names: Sequence[int],
    centres: Matrix,
    begun: int,
    large: Callable[[UInt32s], Mask],
) -> tuple[list[int], Matrix, Codes]:
    """The clusters that stay, and the one of each of this party's points."""
    left = dict(zip(names, centres, strict=True))
    while True:
        home = np.array(list(left))[nearest(points, list(left.values()))]
        counts = np.bincount(home, minlength=begun)[list(left)].astype(np.uint32)
        small = [
            name for name, stays in zip(left, large(counts).tolist(), strict=True) if not stays
        ]
        if not small:
            return list(left), list(left.values()), home
        if len(left) == 1:
            raise DataError("all records together are fewer than `minimum`: ask with a smaller one")
        gaps = {
            name: min(_apart(left[name], left[other]) for other in left if other != name)
            for name in small
        }
        del left[min(small, key=gaps.__getitem__)]


def _moves(homes: Sequence[Codes], home: Codes, width: int) -> UInt32s:
    """How many records have moved, between any two clusters, since each earlier iteration.

    `width` is the number of clusters at the start: a party may have no record in the last of them.
    """
    parts = []
    for earlier in homes:
        table = np.bincount(earlier * width + home, minlength=width * width).reshape(width, width)
        np.fill_diagonal(table, 0)
        parts.append(table.reshape(-1))
    return np.concatenate(parts).astype(np.uint32)


def _sums(points: Floats, home: Codes, names: Sequence[int]) -> Floats:
    """This party's sizes of the clusters, and the sums of their points."""
    sizes = [np.count_nonzero(home == name) for name in names]
    totals = [points[home == name].sum(axis=0) for name in names]
    return np.concatenate([np.array(sizes, np.float64), *totals])
