"""The keys of an `integrate` job."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from coterie.anonymity.models.privacy import JointDiversity, TupleModel
from coterie.anonymity.specialization.scores import BY_QUANTILE, GROUPS, RULES, SCORES
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.specialization.starting import start_nodes
from coterie.anonymity.specialization.universe import mapped_names
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree, Tree
from coterie.anonymity.table.taxonomy import Taxonomy, with_gap
from coterie.jobs.data.attributes import CutAttribute, attribute_missing, one_of
from coterie.jobs.data.missing import read_missing
from coterie.jobs.data.released.together import apart, together_warnings
from coterie.jobs.data.scaled import read_limits, read_type
from coterie.jobs.data.taxonomy_files import TaxonomyFiles
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common, Job, read_recipients, referred_file
from coterie.jobs.kinds.integrate.cuts.keys import (
    MONDRIAN,
    SPECIALIZE,
    check_mondrian,
    long_warnings,
    read_boxes,
    read_refine,
    read_score_of_cuts,
    refine_warnings,
)
from coterie.jobs.kinds.integrate.population.keys import check_known_there, read_universe
from coterie.jobs.kinds.integrate.requirement_warnings import (
    apart_warnings,
    covered_warnings,
    lone_warnings,
    population_warnings,
)
from coterie.jobs.kinds.integrate.requirements import read_requirements, with_taxonomies
from coterie.jobs.kinds.integrate.slack import read_slack
from coterie.jobs.matching.identifiers import Matching, read_matching
from coterie.protocols.integration.bounds import MOST_GROUPS
from coterie.protocols.integration.sensitive.condition_forms import forms_of
from coterie.protocols.integration.sensitive.conditions import concerns_others


@dataclass(frozen=True, kw_only=True)
class ReleasedAttribute(CutAttribute):
    """A column that goes into the release."""

    party: str

    @cached_property
    def start(self) -> tuple[list[int], list[int]]:
        """The values that the bounds require to specialize first, and the cut after that."""
        if self.taxonomy is None:
            return [], [0]
        return start_nodes(self.taxonomy, self.at_most)

    def tree(self) -> Tree | None:
        """The tree above the values, as far as the job defines it."""
        if self.taxonomy is not None:
            return TaxonomyTree(self.taxonomy)
        return None if self.limits is None else IntervalTree(*self.limits, self.scale, self.gap)


@dataclass(frozen=True)
class IntegrateJob(Job):
    matching: Matching
    class_name: str | None
    attributes: tuple[ReleasedAttribute, ...]
    requirements: tuple[Requirement, ...]
    rule: str
    max_suppression: float
    adversary: str
    epsilon: float
    hide_scores: bool
    conditions: str
    recipients: tuple[str, ...]
    slack: bool
    universe: str | None  # the party that holds the population of entries with `k_map`
    method: str = SPECIALIZE
    refine: str | None = None  # what a second phase of `specialize` refines
    tight: bool = False  # whether the release shows the exact ends of numbers

    @property
    def record_holders(self) -> tuple[str, ...]:
        """The parties whose records are matched: all but the one that holds a population."""
        return tuple(name for name in self.party_names if name != self.universe)

    @property
    def in_population(self) -> list[ReleasedAttribute]:
        """The attributes that the population must have."""
        names = mapped_names(self.requirements, [a.name for a in self.attributes])
        return [attribute for attribute in self.attributes if attribute.name in names]

    @property
    def smallest_k_map(self) -> int | None:
        """The fewest people of the population in a group; None if no group is counted there."""
        return min((r.k_map for r in self.requirements if r.k_map is not None), default=None)

    @property
    def unique_together(self) -> bool:
        """Whether no entry has all columns of the others: together they may single people out."""
        return apart(self.requirements)

    def of_party(self, party: str) -> list[ReleasedAttribute]:
        return [attribute for attribute in self.attributes if attribute.party == party]

    @property
    def sensitive_holders(self) -> dict[str, str]:
        """The holder of each sensitive column that is not the class."""
        named = {name for r in self.requirements for name in r.sensitive_columns}
        return {a.name: a.party for a in self.attributes if a.name in named}

    @property
    def shows_proposals(self) -> bool:
        """Whether a party sees another party's proposal, which it may then reject."""
        return self.conditions == "holder" and any(
            concerns_others(requirement, self.sensitive_holders, self.holders)
            for requirement in self.requirements
        )

    @property
    def holders(self) -> dict[str, str]:
        """The holder of each attribute of a QID."""
        return {a.name: a.party for a in self.attributes if a.in_qid}

    @property
    def cuts_groups(self) -> bool:
        """Whether the release shows groups that are cut one by one, so that values overlap."""
        return self.method == MONDRIAN or self.refine == GROUPS

    @property
    def bounded(self) -> list[ReleasedAttribute]:
        """The attributes that begin below the root because of bounds."""
        return [attribute for attribute in self.attributes if attribute.start[0]]

    @property
    def bound_holders(self) -> list[str]:
        """The holders of bounded attributes, in the order of the parties."""
        holders = {attribute.party for attribute in self.bounded}
        return [name for name in self.record_holders if name in holders]

    @property
    def flat_names(self) -> set[str]:
        """The attributes whose values their owners tell the others."""
        return {a.name for a in self.attributes if a.flat}

    @property
    def smallest_k(self) -> int | None:
        """The fewest records of a group; None if all groups are counted in a population."""
        return min((r.k for r in self.requirements if r.k_map is None), default=None)

    @property
    def warnings(self) -> list[str]:
        return [
            *lone_warnings(self.requirements),
            *population_warnings(self.requirements, self.universe),
            *apart_warnings(self.requirements),
            *together_warnings(self.requirements),
            *covered_warnings(self.requirements),
            *(long_warnings(self.requirements) if self.method == MONDRIAN else []),
            *(refine_warnings(self.requirements) if self.refine == GROUPS else []),
            *self._matching_warnings(),
        ]

    def _matching_warnings(self) -> list[str]:
        """Warns of columns that a recipient may read about a person it finds by its columns."""
        plain = [a for a in self.attributes if not a.in_qid]
        found = []
        for name in self.recipients:
            others = [f"'{a.name}' of {a.party}" for a in plain if a.party != name]
            if others:
                found.append(
                    f"recipients: {name} may learn {', '.join(others)}, in no qid, of people whom "
                    "its own columns single out in the release; no k covers that"
                )
        return found


def parse_integrate(section: Section, common: Common) -> IntegrateJob:
    matching = read_matching(section)
    class_node = section.optional("class")
    class_name = class_node.text() if class_node else None
    method = section.read("method", lambda n: n.choice(SPECIALIZE, MONDRIAN), SPECIALIZE)
    rule = read_score(section, method, class_name)
    if class_node and class_name in matching.columns:
        raise class_node.error("is a column of 'id', which is never released")
    attributes_node = section.required("attributes")
    requirement_node = section.required("requirement")
    names = attributes_node.section().keys()
    requirements = read_requirements(
        requirement_node, names, class_name, lambda node: _referred(node, common), True
    )
    if method == MONDRIAN:
        check_mondrian(section, requirements)
    universe = read_universe(section, common.party_names, requirement_node, requirements)
    in_qid = {name for requirement in requirements for name in requirement.qid}
    suppression_node = section.optional("max_suppression")
    max_suppression = suppression_node.number(0, 0.5) if suppression_node else 0.0
    if suppression_node and max_suppression and any(r.model for r in requirements):
        raise suppression_node.error(
            "is only for requirements on k alone: leaving records out can break a condition on a sensitive column"
        )
    missing = read_missing(section, None)
    sensitive = {name for requirement in requirements for name in requirement.sensitive_columns}
    attributes = []
    taxonomies = TaxonomyFiles(common.files)
    for name, node in attributes_node.section().entries():
        if name in matching.columns:
            raise node.error("is a column of 'id', which is never released")
        if name == class_name:
            raise node.error("is the class, which is released without being listed")
        attributes.append(
            _attribute(name, node, common, taxonomies, name in in_qid, name in sensitive, missing)
        )
        if method != MONDRIAN and node.section().optional("priority") is not None:
            raise node.error("has a priority, which is only for 'method: mondrian'")
        if attributes[-1].party == universe:
            raise node.error(f"is of '{universe}', which holds the population and no records")
    requirements = with_taxonomies(requirement_node, requirements, attributes)
    requirements = tuple(
        _between_holders(node, requirement, attributes)
        for node, requirement in zip(requirement_node.items(), requirements, strict=True)
    )
    job = IntegrateJob(
        **vars(common),
        matching=matching,
        class_name=class_name,
        attributes=tuple(attributes),
        requirements=requirements,
        rule=rule,
        max_suppression=max_suppression,
        adversary=section.read(
            "adversary", lambda n: n.choice("semi-honest", "malicious"), "semi-honest"
        ),
        epsilon=section.read("epsilon", lambda n: n.number(minimum=0), 0.01),
        hide_scores=section.read("hide_scores", Node.boolean, True),
        conditions=section.read("conditions", lambda n: n.choice("shares", "holder"), "shares"),
        recipients=section.read("recipients", lambda n: read_recipients(n, common.party_names), ()),
        slack=read_slack(section, requirements, rule, max_suppression),
        universe=universe,
        method=method,
        refine=read_refine(section, method, requirements),
        tight=read_boxes(section, method),
    )
    if universe is not None:
        check_known_there(attributes_node, requirement_node, requirements, attributes, universe)
    for node, requirement in zip(requirement_node.items(), requirements, strict=True):
        _check_decidable(node, requirement, job)
    groups = math.prod(len(attribute.start[1]) for attribute in job.bounded)
    if groups > MOST_GROUPS and len(job.bound_holders) > 1:
        raise attributes_node.error(
            f"the bounds in at_most make {groups} groups, of which at most {MOST_GROUPS} can be "
            "counted together; mark more general values"
        )
    return job


def _referred(node: Node, common: Common) -> tuple[str, bytes]:
    path = referred_file(node, common.files)
    return path, common.files[path]


def read_score(section: Section, method: str, class_name: str | None) -> str:
    """The score of the method, with what a split says of it."""
    if method == MONDRIAN:
        return read_score_of_cuts(section, class_name)
    node = section.optional("score")
    rule = node.choice(*SCORES) if node else "gain-ratio"
    if RULES[rule].needs_class and class_name is None:
        raise section.error(
            f"the key 'class' is missing; the score '{rule}' needs it, 'discernibility' does not"
        )
    return read_split(section, rule, class_name)


def read_split(section: Section, rule: str, class_name: str | None) -> str:
    """The rule with `split: quantile`, which goes with jobs and tables without a class."""
    node = section.optional("split")
    if node is None or node.choice("even", "quantile") == "even":
        return rule
    if class_name is not None or rule != "discernibility":
        raise node.error(
            "is only for 'score: discernibility' without a class, whose labels say where numbers "
            "are split otherwise"
        )
    return BY_QUANTILE


def _check_decidable(node: Node, requirement: Requirement, job: IntegrateJob) -> None:
    """Refuses a model that cannot be decided on shares, unless the holder sees proposals."""
    model = requirement.model
    if job.cuts_groups and isinstance(model, JointDiversity) and model.by_frequency:
        raise node.error(
            "the sensitive columns of one entry must be at one party where groups are cut; 'method: "
            "specialize' without 'refine: groups' decides joint diversity between two parties"
        )
    if job.conditions == "holder" or model is None or forms_of(model) is not None:
        return
    if concerns_others(requirement, job.sensitive_holders, job.holders):
        owners = {job.sensitive_holders.get(name) for name in requirement.sensitive_columns}
        named = ", ".join(sorted(owner for owner in owners if owner is not None))
        raise node.error(
            f"{model.name} cannot be decided on shares; 'conditions: holder' decides it by showing "
            f"every proposal to {named}, also those that are then rejected"
        )


def _between_holders(
    node: Node, requirement: Requirement, attributes: list[ReleasedAttribute]
) -> Requirement:
    """Joint diversity depends on whole rows; if two parties hold these, frequencies decide it."""
    model = requirement.model
    if not isinstance(model, TupleModel):
        return requirement
    holders = {a.name: a.party for a in attributes if a.name in requirement.sensitive_columns}
    parties = set(holders.values())
    if len(parties) > 2:
        where = ", ".join(f"'{name}' is {party}'s" for name, party in holders.items())
        raise node.error(
            f"the sensitive columns of one entry must be at one party or at two ({where}): whether "
            "they are diverse together is decided by the party that has them, or between two"
        )
    if len(parties) < 2:
        return requirement
    if not isinstance(model, JointDiversity):
        raise node.error(f"{model.name}: the sensitive columns must be at one party")
    return replace(requirement, model=replace(model, by_frequency=True))


def _attribute(
    name: str,
    node: Node,
    common: Common,
    taxonomies: TaxonomyFiles,
    in_qid: bool,
    sensitive: bool,
    default: str | None,
) -> ReleasedAttribute:
    section = node.section()
    party_node = section.required("party")
    party = party_node.text()
    if party not in common.party_names:
        raise party_node.error(f"'{party}' is not among the parties")
    missing = attribute_missing(section, sensitive, default)
    taxonomy_node, range_node = one_of(node, section, ("taxonomy", "range", "flat"))[:2]
    flat = section.read("flat", Node.boolean, False)
    if flat and not in_qid:
        raise node.error("is in no qid and is released unchanged; 'flat' says how to generalize it")
    scale = read_type(section)
    if scale is not None and (taxonomy_node or flat):
        raise node.error("has a type, which only numbers, dates and times can have")
    taxonomy = limits = None
    if taxonomy_node:
        taxonomy = taxonomies.read(taxonomy_node)
        if missing == "value":
            taxonomy = with_gap(taxonomy)
    if range_node:
        scale, limits = read_limits(range_node, scale)
    marks = read_marks(section, name, taxonomy, in_qid)
    priority = section.read("priority", lambda n: n.number(0), 1.0)
    section.close()
    return ReleasedAttribute(
        name, taxonomy, limits, scale, flat, missing, party=party, in_qid=in_qid, at_most=marks,
        priority=priority,
    )  # fmt: skip


def read_marks(
    section: Section, name: str, taxonomy: Taxonomy | None, in_qid: bool
) -> tuple[str, ...]:
    """The values that `at_most` of an attribute names."""
    node = section.optional("at_most")
    if node is None:
        return ()
    if taxonomy is None or not in_qid:
        raise node.error("needs a taxonomy, and an attribute in a qid")
    marks = tuple(node.texts())
    known = set(taxonomy.labels)
    for mark in marks:
        if mark not in known:
            raise node.error(f"'{mark}' is not in the taxonomy of '{name}'")
    return marks
