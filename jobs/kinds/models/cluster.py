"""`kind: cluster`: groups of similar records (k-means) of several parties, from sums.

    attributes: {Age: {}, Income: {range: [0, 1000000]}}    columns of numbers
    clusters: 4
    iterations: 20              the most iterations whose sums are opened; with vertical partition
                                the number of iterations on shares (10 by default; 5 with noise)
    standardise: false          true: distances in standard deviations of each column
    minimum: 5                  the least records of a cluster
    noise: {epsilon: 1}         noise of differential privacy (`noisy`)

All parties learn the centres and the sizes of the clusters of each iteration; with vertical
partition those of the result alone.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coterie.base.arrays import Mask, UInt32s
from coterie.base.errors import VerificationError
from coterie.base.text import numbered, one_line
from coterie.jobs.data.numbers import read_number_attributes
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim, read_rows
from coterie.jobs.kinds.aggregate.report import promise
from coterie.jobs.kinds.aggregate.verify_groups import verify_promise
from coterie.jobs.kinds.kind import Verdict
from coterie.jobs.kinds.models.common import (
    JoinedNumbers,
    ModelJob,
    ModelKind,
    PreparedNumbers,
    begin,
    check_records,
    fields,
    read_partition,
    rounded,
)
from coterie.jobs.kinds.models.noisy import described, noise_unchecked, read_model_noise
from coterie.jobs.kinds.models.vertical_cluster import cluster_vertically
from coterie.jobs.kinds.statistics.common import UNCHECKED, reported
from coterie.jobs.kinds.statistics.count import read_minimum
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.page import Part, note, table
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.joint_kmeans import MOST_COLUMNS
from coterie.protocols.models.kmeans import Clusters, large_cells, lloyd, start_centres
from coterie.protocols.models.scale import Scale, pooled_scale
from coterie.protocols.models.small_support import all_large
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

CENTRES = "centres.csv"
MOST_CLUSTERS = 50


@dataclass(frozen=True)
class ClusterJob(ModelJob):
    clusters: int
    iterations: int
    standardise: bool

    @property
    def decides(self) -> Sequence[str]:
        return ("clusters", "iterations", "standardise", "ranges", "seed")

    @property
    def seed(self) -> str:
        """A public seed of the first centres: another one gives other groups of the same people."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def ranges(self) -> list[tuple[float, float] | None]:
        """The ranges of the columns, which say where the first centres lie."""
        return [item.limits for item in self.attributes.values()]


@dataclass(frozen=True)
class ClaimedClusters:
    """Clusters as a result claims them, after their form has been checked."""

    records: int
    centres: Sequence[Sequence[float]]
    sizes: Sequence[int]
    iterations: int
    settled: bool

    def cautions(self, job: ClusterJob) -> list[str]:
        """In what these are not the clusters that plain k-means would give."""
        found = []
        if job.noise:
            found.append(
                f"All numbers have {promise(job.noise)}, so that nobody can tell from them what the "
                "columns say of any one person: sizes do not add up, and centres are as far off as "
                "noise beside the number of records makes them."
            )
            if len(self.sizes) < job.clusters:
                found.append(
                    f"The job asked for {numbered(job.clusters, 'cluster')}. One whose number of "
                    f"records is, with noise, below {job.minimum} is left out."
                )
            return found
        if len(self.sizes) < job.clusters:
            found.append(
                f"The job asked for {numbered(job.clusters, 'cluster')}. A group of fewer than "
                f"{numbered(job.minimum, 'record')} is none of its own: its records are among the "
                "others."
            )
        if not self.settled and job.horizontal and self.iterations < job.iterations:
            found.append(
                f"The search ended after {numbered(self.iterations, 'iteration')} and has not "
                f"settled: in the next one, fewer than {job.minimum} records would have gone from one "
                "cluster to another, and the difference would have told of them."
            )
        elif not self.settled:
            found.append(
                f"The clusters have not settled in {numbered(self.iterations, 'iteration')}: more of "
                "them may give better ones."
            )
        return found

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """The rows of the file of centres."""
        rows = zip(self.centres, self.sizes, strict=True)
        return [[*names, "records"], *([*map(str, c), str(size)] for c, size in rows)]


class Cluster(ModelKind[ClusterJob]):
    about = "Groups of similar records (k-means), their centres and sizes, small groups joined."
    leaves = (CENTRES,)
    job_type = ClusterJob

    def parse(self, section: Section, common: Common) -> ClusterJob:
        matching, servers = read_partition(section, common)
        node = section.required("attributes")
        names = node.section().keys()
        if not names:
            raise node.error("a job needs at least one attribute")
        attributes = read_number_attributes(section, common, names, matching is None, plain=names)
        noise = read_model_noise(section, matching is not None)
        usual = 20 if matching is None else 5 if noise else 10
        job = ClusterJob(
            **fields(common, matching=matching, servers=servers, attributes=attributes),
            minimum=read_minimum(section),
            noise=noise,
            clusters=section.required("clusters").integer(2 if noise else 1, MOST_CLUSTERS),
            iterations=section.read("iterations", lambda n: n.integer(1, 100), usual),
            standardise=section.read("standardise", Node.boolean, False),
        )
        if matching is not None:
            for name, item in attributes.items():
                if item.limits is None:
                    raise node.error(
                        f"with vertical partition the attribute '{name}' needs a 'range'"
                    )
            if len(names) > MOST_COLUMNS:
                raise node.error(f"must be at most {MOST_COLUMNS} with vertical partition")
        return job

    def run(
        self,
        job: ClusterJob,
        prepared: PreparedNumbers,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        joined = begin(job, prepared, channel, rng, workspace)
        least = job.minimum * job.clusters
        check_records(joined.records, least, f"{job.clusters} clusters need {least} of them")
        names = list(job.attributes)
        seed = job.seed
        if job.horizontal:
            found = _horizontally(job, joined, channel, rng, seed)
        else:
            found = cluster_vertically(
                job, job.clusters, job.iterations, job.standardise, joined, channel, rng, seed
            )
        return {
            "records": joined.records,
            "attributes": names,
            "centres": [[rounded(value) for value in row] for row in found.centres],
            "sizes": found.sizes,
            "iterations": found.iterations,
            "settled": found.settled,
            **({"noise": described(job.noise)} if job.noise else {}),
        }

    def assemble(self, job: ClusterJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes the centres as a table, beside `result.json`."""
        found = verify_clusters(job, Claim(reported(released)))
        with (out / CENTRES).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(found.table(list(job.attributes)))
        return [CENTRES]

    def summary(self, job: ClusterJob, result: Claim) -> Sequence[str]:
        found = verify_clusters(job, result)
        lines = [f"{numbered(len(found.sizes), 'cluster')} of {', '.join(job.attributes)}"]
        for centre, size in zip(found.centres, found.sizes, strict=True):
            around = ", ".join(f"{value:.6g}" for value in centre)
            lines.append(f"  {numbered(size, 'record')} around {around}")
        return [*lines, *found.cautions(job)]

    def report(self, job: ClusterJob, result: Claim, folder: Path) -> Sequence[Part]:
        found = verify_clusters(job, result)
        rows = [
            [str(at + 1), f"{size:,}", *(f"{value:.6g}" for value in centre)]
            for at, (centre, size) in enumerate(zip(found.centres, found.sizes, strict=True))
        ]
        sizes = [(f"cluster {row[0]}", float(size), row[1]) for row, size in zip(rows, found.sizes, strict=True)]  # fmt: skip
        content = [
            note(
                "Each record belongs to the cluster whose centre is nearest to it. The bars show how "
                "many records a cluster has; a line of the table has the means of its records."
            ),
            *map(note, found.cautions(job)),
            bars("The number of records of each cluster", sizes),
            table(
                ["cluster", "records", *map(one_line, job.attributes)],
                rows,
                range(1, 2 + len(job.attributes)),
            ),
        ]
        return [Part("The clusters", content, public=True)]

    def check(self, job: ClusterJob, result: Claim) -> None:
        verify_clusters(job, result)

    def verify(self, job: ClusterJob, result: Claim, folder: Path) -> Verdict:
        found = verify_clusters(job, result)
        path = folder / CENTRES
        if read_rows(path) != found.table(list(job.attributes)):
            raise VerificationError(f"{path}: has other clusters than result.json")
        unchecked, facts = noise_unchecked(job.noise)
        holds = [
            f"{numbered(found.records, 'record')} in {numbered(len(found.sizes), 'cluster')}, none of fewer "
            f"than {job.minimum}"
        ]
        facts |= {"records": found.records, "minimum": job.minimum}
        return Verdict(holds, [UNCHECKED, *unchecked], facts)


def _horizontally(
    job: ClusterJob, joined: JoinedNumbers, channel: Channel, rng: Random, seed: str
) -> Clusters:
    """The clusters of different people at each party, in the columns' own units."""
    names = list(job.attributes)
    points = joined.matrix(names)
    hidden = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
    turns = iter(range(1 << 30))

    def large(counts: UInt32s, minimum: int = job.minimum) -> Mask:
        fork = rng.fork(f"cells {next(turns)}")
        with channel.step("cells"):
            return large_cells(hidden, job.party_names, counts, minimum, fork)

    def unlike(counts: UInt32s) -> bool:
        fork = rng.fork(f"moves {next(turns)}")
        with channel.step("moves"):
            return all_large(hidden, job.party_names, counts, job.minimum, fork)

    sums = ExactSums(channel, job.party_names, rng.fork("sums"))
    scale = pooled_scale(sums, points, joined.records, names, "attribute")
    if job.standardise:
        points = scale.moved(points)
    within = Scale([0.0] * len(names), [1.0] * len(names)) if job.standardise else scale
    centres = start_centres(within, job.clusters, joined.records, points, large, job.minimum, seed)
    found = lloyd(sums, points, centres, job.iterations, large, unlike)
    shown = found.centres
    if job.standardise:
        shown = [
            [m + d * v for m, d, v in zip(scale.means, scale.deviations, row, strict=True)]
            for row in shown
        ]
    return replace(found, centres=shown)


def verify_clusters(job: ClusterJob, result: Claim) -> ClaimedClusters:
    """The clusters of a result; raises if the job does not allow them."""
    records = result.entry("records").integer(minimum=0)
    if result.entry("attributes").texts() != list(job.attributes):
        raise result.entry("attributes").error("must be those of the job")
    claim = result.entry("centres")
    centres = [[value.number() for value in row.items()] for row in claim.items()]
    if any(len(centre) != len(job.attributes) for centre in centres):
        raise claim.error("must have a number for each attribute")
    sizes = [size.integer(minimum=job.minimum) for size in result.entry("sizes").items()]
    if len(sizes) != len(centres) or not 0 < len(sizes) <= job.clusters:
        raise result.entry("sizes").error(f"must be one for each centre, at most {job.clusters}")
    if job.noise is not None:
        verify_promise(job.noise, result.entry("noise"))
        ends = [item.limits or (-math.inf, math.inf) for item in job.attributes.values()]
        if any(not low <= at <= high for c in centres for at, (low, high) in zip(c, ends, strict=True)):  # fmt: skip
            raise claim.error("must be within the ranges of the attributes")
    elif sum(sizes) != records:
        raise result.entry("sizes").error(f"do not add up to {records} records")
    iterations = result.entry("iterations").integer(minimum=1)
    if iterations > job.iterations:
        raise result.entry("iterations").error(f"the job allows {job.iterations}")
    settled = result.entry("settled")
    if type(settled.value) is not bool:
        raise settled.error("must be true or false")
    return ClaimedClusters(records, centres, sizes, iterations, settled.value)


CLUSTER = Cluster()
