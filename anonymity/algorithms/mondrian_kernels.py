"""The compiled loops of Mondrian: find the best cut, and split a part in two.

A part is a range of places. `order` has the number of the record at each place, and `codes` the
record's codes, a row per attribute; both are rearranged together, so that a part is contiguous in
memory. A cut (attribute, code, taken) sends to the left the records below `code`, and `taken` of
those with this code: 0 in a strict partition.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.anonymity.table.hierarchy import joined
from coterie.base.arrays import Array
from coterie.base.compiled import compiled

SCALE = float(2**30)  # scores are compared as whole numbers, as everywhere in Coterie
ENTROPY, SPREAD = 0, 1
# Above so many records each side of a part gets at least this share of it, where it can.
LARGE, LARGE_SHARE, HUGE, HUGE_SHARE = 1 << 12, 512, 1 << 15, 32
# Where the commonest value of a part is rarer than this, each side gets at least an eighth.
RARE, RARE_SHARE = 64, 8


@compiled
def _present(codes: Array, lo: int, hi: int, j: int, hist: Array, vals: Array, cnts: Array) -> int:
    """The codes that occur in a part, in order, with their counts; returns how many."""
    low, high = codes[j, lo], codes[j, lo]
    for i in range(lo, hi):
        c = codes[j, i]
        low, high = min(low, c), max(high, c)
    used = 0
    if high - low <= 4 * (hi - lo) + 64:
        for i in range(lo, hi):
            hist[codes[j, i]] += 1
        for c in range(low, high + 1):
            if hist[c]:
                vals[used], cnts[used] = c, hist[c]
                hist[c] = 0
                used += 1
        return used
    some = np.empty(hi - lo, codes.dtype)  # with few records over a wide span, sorting is quicker
    for i in range(lo, hi):
        some[i - lo] = codes[j, i]
    some.sort()
    for c in some:
        if used and vals[used - 1] == c:
            cnts[used - 1] += 1
        else:
            vals[used], cnts[used] = c, 1
            used += 1
    return used


@compiled
def _extents(
    vals: Array, used: int, j: int, rule: int, tree: Array, start: Array, parent: Array,
    first: Array, last: Array, leaf_start: Array, leaf_node: Array, node_cost: Array,
    place_start: Array, place: Array, weight: Array, left: Array, right: Array,
) -> None:  # fmt: skip
    """The cost per record of the regions from the first value to each, and from each to the last."""
    if tree[j]:
        node = leaf_node[leaf_start[j] + vals[0]]
        for i in range(used):
            node = joined(parent, last, first, start[j], node, vals[i])
            left[i] = node_cost[start[j] + node]
        node = leaf_node[leaf_start[j] + vals[used - 1]]
        for i in range(used - 1, -1, -1):
            node = joined(parent, last, first, start[j], node, vals[i])
            right[i] = node_cost[start[j] + node]
        return
    at = place_start[j]
    for i in range(used):
        if rule == ENTROPY:  # `place` counts the records before each code
            left[i] = weight[j] * math.log2(place[at + vals[i] + 1] - place[at + vals[0]])
            right[i] = weight[j] * math.log2(place[at + vals[used - 1] + 1] - place[at + vals[i]])
        else:  # `place` is the number itself, as a share of the span
            left[i] = weight[j] * (place[at + vals[i]] - place[at + vals[0]])
            right[i] = weight[j] * (place[at + vals[used - 1]] - place[at + vals[i]])


@compiled
def _list_cuts(
    size: int, used: int, vals: Array, cnts: Array, k: int, rule: int, relaxed: bool,
    median_only: bool, favour: float, left: Array, right: Array, cut: Array, taken: Array,
    under: Array, score: Array, nearness: Array,
) -> int:  # fmt: skip
    """Lists the cuts of one attribute that leave k records on both sides, with scores."""
    if used < 2 or size < 2 * k:
        return 0
    found = 0
    if relaxed:
        below, i = 0, 0
        while below + cnts[i] <= size // 2:
            below += cnts[i]
            i += 1
        cut[0], taken[0], under[0] = vals[i], size // 2 - below, size // 2
        before = i if taken[0] else i - 1
        score[0] = _score(size, size // 2, left[before], right[i], left[used - 1], rule, favour)
        nearness[0] = 0
        return 1
    below, middle = 0, -1
    for i in range(1, used):  # find the median: values up to the lower median go left
        below += cnts[i - 1]
        if below > (size - 1) // 2:
            middle = i
            break
    if middle < 0:
        middle = used - 1  # the median is the largest value: values below it go left
    # Of a large part every cut that is far from even would cost a pass over it for few records.
    least = k
    if rule == ENTROPY and size > LARGE:
        least = max(k, size // (HUGE_SHARE if size > HUGE else LARGE_SHARE))
    if rule == ENTROPY:
        # Values that are all rare can be cut anywhere, and which uneven cut scores best is chance:
        # k records a pass would go, and the work would grow with the square of the records.
        commonest = 0
        for i in range(used):
            commonest = max(commonest, cnts[i])
        if commonest * RARE < size:
            least = max(least, size // RARE_SHARE)
    if least > k:
        below, most_even = 0, 0
        for i in range(1, used):
            below += cnts[i - 1]
            most_even = max(most_even, min(below, size - below))
        if most_even < least:
            least = k
    below = 0
    for i in range(1, used):
        below += cnts[i - 1]
        if below < least or size - below < least or (median_only and i != middle):
            continue
        cut[found], taken[found], under[found] = vals[i], 0, below
        score[found] = _score(size, below, left[i - 1], right[i], left[used - 1], rule, favour)
        nearness[found] = 1 if i == middle else -abs(2 * below - size)
        found += 1
    return found


@compiled
def _score(
    size: int, under: int, left: float, right: float, whole: float, rule: int, favour: float
) -> int:
    if rule == SPREAD:
        return round((whole + favour) * SCALE)
    share = under / size
    gain = share * (whole - left) + (1 - share) * (whole - right)
    evenness = -share * math.log2(share) - (1 - share) * math.log2(1 - share)
    return round(gain / evenness * SCALE)


@compiled
def _split(
    codes: Array, order: Array, lo: int, hi: int, j: int, cut: int, taken: int, spare: Array
) -> int:
    """Puts the left records of a part before the right ones; both keep their order."""
    goes = np.empty(hi - lo, np.bool_)
    middle = lo
    for i in range(lo, hi):
        c = codes[j, i]
        left = c < cut
        if c == cut and taken > 0:
            left = True
            taken -= 1
        goes[i - lo] = left
        middle += left
    at, others = lo, 0
    for i in range(lo, hi):
        if goes[i - lo]:
            order[at] = order[i]
            at += 1
        else:
            spare[others] = order[i]
            others += 1
    for i in range(others):
        order[at + i] = spare[i]
    for a in range(codes.shape[0]):
        at, others = lo, 0
        for i in range(lo, hi):
            if goes[i - lo]:
                codes[a, at] = codes[a, i]
                at += 1
            else:
                spare[others] = codes[a, i]
                others += 1
        for i in range(others):
            codes[a, at + i] = spare[i]
    return middle


@compiled
def partition(
    codes: Array, order: Array, starts: Array, k: int, rule: int, relaxed: bool,
    median_only: bool, tree: Array, start: Array, parent: Array, first: Array, last: Array,
    leaf_start: Array, leaf_node: Array, node_cost: Array, place_start: Array, place: Array,
    weight: Array, favour: Array, sizes: Array,
) -> tuple[Array, Array, Array, int]:  # fmt: skip
    """Cuts every part as long as some cut leaves k on both sides; part i is starts[i]:starts[i+1].

    Returns where the final parts end in `order`; the region of each between its cuts (the first
    code, and the code after the last); and how many records were read, of all parts together, which
    says how long the work took.
    """
    d, n = codes.shape
    widest = 1
    for size in sizes:
        widest = max(widest, size)
    hist = np.zeros(widest, np.int64)
    vals, cnts = np.empty(widest, np.int64), np.empty(widest, np.int64)
    left, right = np.empty(widest), np.empty(widest)
    cut, taken = np.empty(widest, np.int64), np.empty(widest, np.int64)
    under, score = np.empty(widest, np.int64), np.empty(widest, np.int64)
    nearness = np.empty(widest, np.int64)
    spare = np.empty(n, np.int64)
    most = max(n // max(k, 1), 1) + len(starts) + 2
    stack_lo, stack_hi = np.empty(most, np.int64), np.empty(most, np.int64)
    low, high = np.zeros((most, d), np.int32), np.zeros((most, d), np.int32)
    ends = np.empty(most, np.int64)
    final_low, final_high = np.empty((most, d), np.int32), np.empty((most, d), np.int32)
    depth, parts, looked = 0, 0, 0
    for p in range(len(starts) - 1, 0, -1):  # so that the first part is on top of the stack
        stack_lo[depth], stack_hi[depth] = starts[p - 1], starts[p]
        high[depth] = sizes
        depth += 1
    while depth:
        depth -= 1
        lo, hi = stack_lo[depth], stack_hi[depth]
        looked += hi - lo
        best_j, best, best_cut, best_taken = -1, 0, 0, 0
        best_near = 0
        for j in range(d):
            if hi - lo < 2 * k:
                break
            used = _present(codes, lo, hi, j, hist, vals, cnts)
            if used < 2:
                continue
            _extents(vals, used, j, rule, tree, start, parent, first, last, leaf_start, leaf_node,
                     node_cost, place_start, place, weight, left, right)  # fmt: skip
            found = _list_cuts(hi - lo, used, vals, cnts, k, rule, relaxed, median_only, favour[j],
                               left, right, cut, taken, under, score, nearness)  # fmt: skip
            for i in range(found):
                better = best_j < 0 or score[i] > best
                if best_j == j and score[i] == best:
                    better = nearness[i] > best_near
                if better:
                    best_j, best, best_cut, best_taken = j, score[i], cut[i], taken[i]
                    best_near = nearness[i]
        if best_j < 0:
            ends[parts] = hi
            final_low[parts], final_high[parts] = low[depth], high[depth]
            parts += 1
            continue
        middle = _split(codes, order, lo, hi, best_j, best_cut, best_taken, spare)
        low[depth + 1], high[depth + 1] = low[depth], high[depth]
        # The left part is on top of the stack, so it is done first.
        stack_lo[depth], stack_hi[depth] = middle, hi
        low[depth, best_j] = best_cut
        stack_lo[depth + 1], stack_hi[depth + 1] = lo, middle
        high[depth + 1, best_j] = best_cut + (1 if best_taken else 0)
        depth += 2
    return ends[:parts], final_low[:parts], final_high[:parts], looked


@compiled
def cuts_of_counts(
    counts: Array, j: int, k: int, rule: int, relaxed: bool, median_only: bool, tree: Array,
    start: Array, parent: Array, first: Array, last: Array, leaf_start: Array, leaf_node: Array,
    node_cost: Array, place_start: Array, place: Array, weight: Array, favour: Array, sizes: Array,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Every cut of attribute j that leaves k records, from how often each code occurs in a part.

    Returns the codes, how many records with this code go left, the scores and the nearness.
    """
    widest = len(counts)
    vals, cnts = np.empty(widest, np.int64), np.empty(widest, np.int64)
    left, right = np.empty(widest), np.empty(widest)
    cut, taken = np.empty(widest, np.int64), np.empty(widest, np.int64)
    under, score = np.empty(widest, np.int64), np.empty(widest, np.int64)
    nearness = np.empty(widest, np.int64)
    used, size = 0, 0
    for c in range(widest):
        if counts[c]:
            vals[used], cnts[used] = c, counts[c]
            size += counts[c]
            used += 1
    found = 0
    if used > 1:
        _extents(vals, used, j, rule, tree, start, parent, first, last, leaf_start, leaf_node,
                 node_cost, place_start, place, weight, left, right)  # fmt: skip
        found = _list_cuts(size, used, vals, cnts, k, rule, relaxed, median_only, favour[j],
                           left, right, cut, taken, under, score, nearness)  # fmt: skip
    return cut[:found], taken[:found], score[:found], nearness[:found]


@compiled
def count_codes(matrix: Array, starts: Array, width: int, counts: Array) -> None:
    """Counts the codes of some records, and their labels by code.

    A row of `matrix` has a record's codes, then its labels. The counts of code c of attribute j
    begin at `starts[j] + c * width`: the records first, then each label.
    """
    d = len(starts)
    for i in range(len(matrix)):
        for j in range(d):
            at = starts[j] + matrix[i, j] * width
            counts[at] += 1
            for s in range(d, matrix.shape[1]):
                counts[at + 1 + matrix[i, s]] += 1


@compiled
def cuts_of_parts(
    codes: Array, order: Array, los: Array, his: Array, k: int, rule: int, relaxed: bool,
    median_only: bool, tree: Array, start: Array, parent: Array, first: Array, last: Array,
    leaf_start: Array, leaf_node: Array, node_cost: Array, place_start: Array, place: Array,
    weight: Array, favour: Array, sizes: Array, labels: Array, values: int, room: int,
) -> tuple[int, Array, Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """Every cut of the first parts that leaves k records, with the label counts of its left side.

    Only as many parts are considered as fit into `room` cuts, but at least one. `labels` has a
    column for each sensitive attribute, its codes following those of the one before; `values` is
    their number.
    """
    d = codes.shape[0]
    widest = 1
    for size in sizes:
        widest = max(widest, size)
    hist = np.zeros(widest, np.int64)
    vals, cnts = np.empty(widest, np.int64), np.empty(widest, np.int64)
    left, right = np.empty(widest), np.empty(widest)
    cut, taken = np.empty(widest, np.int64), np.empty(widest, np.int64)
    under, score = np.empty(widest, np.int64), np.empty(widest, np.int64)
    nearness = np.empty(widest, np.int64)
    place_of = np.zeros(widest, np.int64)
    parts: list[int] = [0][:0]
    attributes: list[int] = [0][:0]
    cuts: list[int] = [0][:0]
    takes: list[int] = [0][:0]
    scores: list[int] = [0][:0]
    nears: list[int] = [0][:0]
    counts = [np.zeros(values, np.int64)][:0]
    done = 0
    for p in range(len(los)):
        if done and len(cuts) >= room:
            break
        done += 1
        lo, hi = los[p], his[p]
        if hi - lo < 2 * k:
            continue
        for j in range(d):
            used = _present(codes, lo, hi, j, hist, vals, cnts)
            if used < 2:
                continue
            _extents(vals, used, j, rule, tree, start, parent, first, last, leaf_start, leaf_node,
                     node_cost, place_start, place, weight, left, right)  # fmt: skip
            found = _list_cuts(hi - lo, used, vals, cnts, k, rule, relaxed, median_only, favour[j],
                               left, right, cut, taken, under, score, nearness)  # fmt: skip
            if not found:
                continue
            # Cut f has the records below cut[f]: those of the cuts before it, and some more.
            by_code = np.zeros((used, values), np.int64)
            for i in range(used):
                place_of[vals[i]] = i
            ties = np.zeros(values, np.int64)
            wanted = taken[0] if relaxed else 0
            for i in range(lo, hi):
                c = codes[j, i]
                for s in range(labels.shape[1]):
                    by_code[place_of[c], labels[order[i], s]] += 1
                if relaxed and c == cut[0] and wanted > 0:
                    wanted -= 1
                    for s in range(labels.shape[1]):
                        ties[labels[order[i], s]] += 1
            running = np.zeros(values, np.int64)
            at = 0
            for f in range(found):
                while vals[at] < cut[f]:
                    running += by_code[at]
                    at += 1
                parts.append(p)
                attributes.append(j)
                cuts.append(cut[f])
                takes.append(taken[f])
                scores.append(score[f])
                nears.append(nearness[f])
                counts.append(running + ties if relaxed else running.copy())
    matrix = np.zeros((len(counts), values), np.int64)
    for i in range(len(counts)):
        matrix[i] = counts[i]
    return (done, np.array(parts), np.array(attributes), np.array(cuts), np.array(takes),
            np.array(scores), np.array(nears), matrix)  # fmt: skip


@compiled
def split_parts(
    codes: Array, order: Array, los: Array, his: Array, attributes: Array, cuts: Array, takes: Array
) -> Array:
    """Makes one cut in each part; returns where the right sides begin."""
    spare = np.empty(len(order), np.int64)
    middles = np.empty(len(los), np.int64)
    for p in range(len(los)):
        middles[p] = _split(codes, order, los[p], his[p], attributes[p], cuts[p], takes[p], spare)
    return middles
