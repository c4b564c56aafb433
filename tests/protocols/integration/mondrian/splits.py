"""Random jobs of `method: mondrian` whose columns several parties hold."""

import random
from dataclasses import dataclass, field

import numpy as np

from coterie.anonymity.specialization.starting import start_nodes
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree
from coterie.protocols.integration.mondrian.cut_together import cut_together
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.anonymity.cuts.jobs import RandomJob

NAMES = ("ann", "bob", "cat", "dan")


@dataclass
class JointJob:
    """A random job and who holds its columns; `spans` leaves the ranges of numbers to be told."""

    job: RandomJob
    names: tuple
    holders: dict
    starts: dict = field(default_factory=dict)
    tight: bool = False
    conditions: str = "shares"
    options: dict = field(default_factory=dict)

    @classmethod
    def random(cls, seed, parties=None, **job):
        made = RandomJob(seed, **job)
        rng = random.Random(seed)
        names = NAMES[: parties or rng.choice([2, 2, 3, 4])]
        holders = {name: rng.choice(names) for name in [*made.names, "ill"]}
        return cls(made, names, holders)

    def tree(self, name):
        tree = self.job.columns[name].tree
        if isinstance(tree, IntervalTree):
            return IntervalTree(tree.low[0], tree.high[0], tree.scale, tree.gap)
        return TaxonomyTree(tree.taxonomy)

    def plan(self):
        job = self.job
        sensitive = {"ill": self.holders["ill"]} if any(r.model for r in job.requirements) else {}
        cuts = {
            name: start_nodes(job.columns[name].taxonomy, marks)[1]
            for name, marks in self.starts.items()
        }
        return Plan(
            self.names,
            {name: self.tree(name) for name in job.names},
            {name: self.holders[name] for name in job.names},
            job.requirements,
            (self.names[0],),
            "class",
            sensitive,
            job.score,
            start_values=cuts,
            priority=job.priority,
            tight=self.tight,
            conditions=self.conditions,
        )

    def party(self, name, rng=None, rows=None, **options):
        job = self.job
        plan = self.plan()
        columns = {n: job.columns[n] for n in job.names if self.holders[n] == name}
        labels = (
            {"ill": job.labels("ill")} if (plan.sensitive_holders or {}).get("ill") == name else {}
        )
        if name == self.names[0]:
            labels["class"] = job.labels("class")
        records = len(job.texts["ill"])
        if rows is not None:
            columns = {n: c.take(rows) for n, c in columns.items()}
            labels = {n: c.take(rows) for n, c in labels.items()}
            records = len(rows)
        return lambda channel: cut_together(
            channel, plan, columns, labels, records, rng or Random(name), **options
        )

    def run(self, wrap=lambda transport: transport, rows=None, **options):
        parties = {name: self.party(name, rows=rows, **options) for name in self.names}
        return run_parties(parties, wrap=wrap)


def shown(outcome):
    """What a joint release shows of each record."""
    columns = {name: outcome.generalized(name) for name in outcome.names}
    return [
        {name: values[codes[i]] for name, (codes, values) in columns.items()}
        for i in range(outcome.records)
    ]


def same_groups(outcome, name):
    return np.array_equal(*(outcome.regions(name)[0] for _ in range(2)))
