"""Random tables whose columns several parties hold, and runs over them."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from coterie.anonymity.specialization.scores import RULES
from coterie.anonymity.specialization.specialize import specialize
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.anonymity.tables import Case, cases
from tests.papers.loans import JOB, REQUIREMENTS, ROWS, SEX

NAMES = ("ann", "bob", "cat", "dan", "eve")


@dataclass
class Split:
    """A table whose columns several parties hold."""

    case: Case
    names: tuple
    holders: dict  # of the attributes
    class_holders: tuple
    models: dict | None = None  # requirement -> (sensitive column, model)
    rule: str = "gain-ratio"
    max_suppression: float = 0.0
    turns: bool = False
    conditions: str = "shares"
    slack: bool = False

    @property
    def requirements(self):
        listed = self.case.requirement_list()
        for j, (sensitive, model) in (self.models or {}).items():
            listed[j] = replace(listed[j], sensitive=sensitive, model=model)
        return tuple(listed)

    @property
    def needs_class(self):
        return RULES[self.rule].needs_class

    def used(self):
        return [column.name for column in self.case.columns()]

    def sensitive(self):
        named = [s if isinstance(s, tuple) else (s,) for s, _ in (self.models or {}).values()]
        return {name for names in named for name in names if name != "class"}

    def plan(self):
        trees = {}
        for name in self.used():
            kind, detail = self.case.attributes[name]
            if kind == "taxonomy":
                trees[name] = TaxonomyTree(taxonomy_of(detail))
            else:
                trees[name] = None if detail is None else IntervalTree(*detail)
        return Plan(
            self.names,
            trees,
            {name: self.holders[name] for name in trees},
            self.requirements,
            self.class_holders if self.needs_class else (),
            "class" if self.needs_class else None,
            {name: self.holders[name] for name in self.sensitive()},
            self.rule,
            self.max_suppression,
            self.turns,
            self.conditions,
            slack=self.slack,
        )

    def party(self, name, rng=None, **options):
        columns = {n: self.case.column(n) for n in self.used() if self.holders[n] == name}
        labels = {n: self.case.labels(n) for n in self.sensitive() if self.holders[n] == name}
        if self.needs_class and name in self.class_holders:
            labels["class"] = self.case.labels("class")
        return lambda channel: integrate(
            channel,
            self.plan(),
            columns,
            labels,
            len(self.case.rows),
            rng or Random(name),
            **options,
        )

    def run(self, wrap=lambda transport: transport, **options):
        return run_parties({name: self.party(name, **options) for name in self.names}, wrap=wrap)

    def single(self):
        sensitive = {name: self.case.labels(name) for name in self.sensitive()}
        classes = self.case.labels("class") if self.needs_class else None
        if any(s == "class" for s, _ in (self.models or {}).values()):
            sensitive["class"] = classes
        return specialize(
            self.case.columns(),
            classes,
            self.requirements,
            sensitive=sensitive,
            rule=self.rule,
            max_suppression=self.max_suppression,
        )


@st.composite
def splits(draw, **options):
    case = draw(cases(**options))
    count = draw(st.integers(2, 5))
    names = NAMES[:count]
    holders = {name: draw(st.sampled_from(names)) for name in case.attributes}
    class_holders = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    return Split(case, names, holders, tuple(n for n in names if n in class_holders))


def assert_equal(outcome, single):
    assert outcome.table.winners == single.winners
    assert outcome.table.cut == single.cut
    assert outcome.table.anonymity == single.anonymity
    assert np.array_equal(outcome.table.kept, single.kept)
    for name in single.names:
        ours, theirs = outcome.table.generalized(name), single.generalized(name)
        assert ours[1] == theirs[1]
        assert np.array_equal(ours[0], theirs[0])


def loans():
    rows = [{**row, "class": row["Class"]} for row in ROWS]
    attributes = {
        "Sex": ("taxonomy", SEX),
        "Job": ("taxonomy", JOB),
        "Salary": ("range", (1, 99)),
    }
    holders = {"Sex": "ann", "Job": "bob", "Salary": "bob"}
    return Split(
        Case(rows, attributes, list(REQUIREMENTS)), ("ann", "bob"), holders, ("ann", "bob")
    )
