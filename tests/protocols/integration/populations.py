"""Random tables whose groups are counted in a population, and runs with a witness."""

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from coterie.anonymity.specialization.specialize import specialize
from coterie.anonymity.specialization.universe import Universe
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.protocols.integration.witness import bear_witness
from coterie.protocols.messaging.memory import run_parties
from tests.protocols.integration.splits import Split, loans, splits

WITNESS = "registry"


@dataclass
class Peopled(Split):
    """A split table, and a population in which the groups with a `k_map` are counted."""

    population: list = field(default_factory=list)
    k_maps: list = field(default_factory=list)

    @property
    def requirements(self):
        return tuple(
            replace(entry, k_map=k)
            for entry, k in zip(super().requirements, self.k_maps, strict=True)
        )

    def plan(self):
        return replace(super().plan(), witness=WITNESS)

    def universe(self):
        mapped = {
            n
            for (qid, _), k in zip(self.case.requirements, self.k_maps, strict=True)
            if k
            for n in qid
        }
        return Universe([self.people(n) for n in self.used() if n in mapped], self.requirements)

    def people(self, name):
        text = [person[name] for person in self.population]
        kind, detail = self.case.attributes[name]
        if kind == "taxonomy":
            return categorical_column(name, text, taxonomy_of(detail))
        return continuous_column(name, text, detail)

    def party(self, name, rng=None, **options):
        run = super().party(name, rng, **options)

        def among(channel):
            with channel.among(self.names):
                return run(channel)

        return among

    def witness(self, channel):
        blanks = ["class"] if self.needs_class else []
        return bear_witness(channel, self.names, self.universe(), blanks)

    def parties(self, **options):
        return {n: self.party(n, **options) for n in self.names} | {WITNESS: self.witness}

    def run(self, wrap=lambda transport: transport, **options):
        outcomes = run_parties(self.parties(**options), wrap=wrap)
        del outcomes[WITNESS]
        return outcomes

    def single(self):
        sensitive = {name: self.case.labels(name) for name in self.sensitive()}
        classes = self.case.labels("class") if self.needs_class else None
        return specialize(
            self.case.columns(),
            classes,
            self.requirements,
            sensitive=sensitive,
            rule=self.rule,
            universe=self.universe(),
        )


def peopled_loans(copies=6, k_map=20):
    """The loan table; the population has everybody in it so many times."""
    split = loans()
    split.case.requirements = [(["Sex", "Job"], 1), (["Sex", "Salary"], 5)]
    people = [dict(row) for row in split.case.rows for _ in range(copies)]
    return Peopled(**vars(split), population=people, k_maps=[k_map, None])


@st.composite
def peopled(draw, **options):
    """A table that is a part of its population; now and then the population lacks some of its people."""
    split = draw(splits(**options))
    case = split.case
    for name, (kind, detail) in case.attributes.items():
        if kind == "range" and detail is None:
            case.attributes[name] = (kind, (0, 6))
    k_maps = [draw(st.sampled_from([None, 2, 3])) for _ in case.requirements]
    k_maps[0] = k_maps[0] or 2
    case.requirements = [
        (qid, 1 if k_map else k) for (qid, k), k_map in zip(case.requirements, k_maps, strict=True)
    ]
    copies = draw(st.integers(1, 4))
    people = [dict(row) for row in case.rows for _ in range(copies)]
    if draw(st.integers(0, 3)) == 0:  # the population lacks some people of the table
        people = people[draw(st.integers(1, max(1, len(people) // 2))) :]
    while len(people) < 3:
        people.append(dict(case.rows[0]))
    return Peopled(**vars(split), population=people, k_maps=k_maps)
