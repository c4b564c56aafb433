"""A party's policy. Everything that the policy does not list is refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coterie.base.errors import RefusedError
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.needs import Groups, Matched, Needs
from coterie.jobs.kinds.registry import KINDS
from coterie.party.settings import Repeat

_SPENT = ("epsilon", "delta")


@dataclass(frozen=True)
class Budget:
    """How much epsilon and delta jobs with noise may spend together within so many days."""

    epsilon: Fraction
    delta: Fraction
    days: int


@dataclass(frozen=True)
class Policy:
    """The `policy` of a party file. The default permits nothing."""

    coordinators: frozenset[str] = frozenset()
    analysts: tuple[frozenset[str], ...] = ()  # coordinators that are one analyst
    kinds: frozenset[str] = frozenset()
    peers: frozenset[str] = frozenset()
    use: frozenset[str] = frozenset()
    release: frozenset[str] = frozenset()
    raw: frozenset[str] = frozenset()
    ids: frozenset[frozenset[str]] = frozenset()  # each one identifier, of one column or several
    classes: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()  # partners that may get exact answers about joined columns
    together: str = "ask"
    largest_peer_set: int = 100_000_000
    smallest_k: int | None = None
    smallest_k_map: int | None = None  # None: no group is counted in a population
    most_owed: float | None = None
    consent: str = "manual"
    explain: str = "nothing"
    examinations: int = 100
    descriptions: int = 10  # ways in which an analyst may describe a column within a year
    reveal: str = "intersection"
    servers: frozenset[str] | None = None  # None: this party is one of them
    conditions: str = "shares"
    zeros: bool = False
    slack: bool = False
    boxes: str = "regions"  # or "tight": whether releases may show exact ends of numbers
    scores: str = "hidden"
    silent: bool = True  # whether jobs may use silent transfers
    recipients: frozenset[str] = frozenset()  # besides the coordinator
    purposes: frozenset[str] | None = None  # None: any purpose, and jobs without one
    budget: Budget | None = None  # None: no job with noise
    repeat: Repeat | None = None  # None: each job is judged alone
    models: str = "none"  # keep: jobs may keep models; shared: any coordinator may use them
    predictions: int = 20  # jobs that may use a kept model
    output: str = "auto"
    answer_within: float = 86400.0  # seconds for the steward, while a job waits


def judge_coordinator(policy: Policy, coordinator: str) -> list[str]:
    """Why this coordinator may not propose anything at all; empty if it may."""
    return _missing("coordinators", "the coordinator", [coordinator], policy.coordinators)


def same_analyst(policy: Policy, coordinator: str) -> frozenset[str]:
    """The coordinators that the policy counts as one analyst with this one; itself among them."""
    return frozenset({coordinator}).union(*(g for g in policy.analysts if coordinator in g))


def judge_examinations(policy: Policy, coordinator: str, lately: int) -> list[str]:
    """Why this coordinator may not have the data checked again.

    `lately` counts the checks for the coordinator's analyst within the last hour.

    Each answer about the data reveals a little, so that many answers reveal much.
    """
    if lately < policy.examinations:
        return []
    return [
        f"policy.examinations is {policy.examinations}, and jobs were examined {lately} times "
        f"for '{coordinator}' within an hour"
    ]


@dataclass(frozen=True)
class Rule:
    """A rule of the policy beside a job: what the policy says, what the job wants, and why not."""

    key: str
    policy: Any
    job: Any  # None, False or empty where the job wants nothing that the rule is about
    refusals: Sequence[str] = ()  # none where the party's books decide (`party.preflight`)

    @property
    def touched(self) -> bool:
        return bool(self.job or self.refusals)


def judge(policy: Policy, job: Job, party: str, coordinator: str) -> list[str]:
    """Every reason for which `party` refuses the job; empty if the policy permits it."""
    try:
        needs = KINDS[job.kind].needs(job, party)
    except RefusedError as error:  # the kind declares nothing, so nothing can be permitted
        return [str(error)]
    return [r for rule in rules(policy, job, needs, party, coordinator) for r in rule.refusals]


def rules(policy: Policy, job: Job, needs: Needs, party: str, coordinator: str) -> list[Rule]:
    """Every rule by which jobs are judged: `judge` refuses by them, and `party show` names them."""
    others = [name for name in job.party_names if name != party]
    purpose = "" if policy.purposes is None else job.purpose
    return [
        _listed("coordinators", "the coordinator", [coordinator], policy.coordinators),
        _listed("kinds", "the kind", [job.kind], policy.kinds),
        Rule("purposes", policy.purposes, purpose, _judge_purpose(policy, job.purpose)),
        _listed("peers", "the party", others, policy.peers),
        *_matching_rules(policy, needs.matching, len(job.party_names)),
        *_column_rules(policy, needs),
        *_answer_rules(policy, needs, party, others),
        *_group_rules(policy, needs.groups),
        *_lasting_rules(policy, needs, others),
    ]


def _matching_rules(policy: Policy, matching: Matched, parties: int) -> list[Rule]:
    reveal, pad_to = matching.reveal, matching.pad_to
    brought = None if reveal is None else pad_to or "what each peer announces"
    return [
        Rule("columns.id", policy.ids, matching.by, _judge_ids(policy, matching.by)),
        Rule("reveal", policy.reveal, reveal, _judge_matching(policy, reveal, parties)),
        Rule("largest_peer_set", policy.largest_peer_set, brought, _judge_padding(policy, pad_to)),
    ]


def _column_rules(policy: Policy, needs: Needs) -> list[Rule]:
    columns = needs.columns
    no_class = _judge_class(policy, needs)
    # A party without the permission leaves the class out where it can: it touches no rule then.
    label = columns.label if no_class or columns.label in policy.classes else None
    return [
        _listed("columns.use", "the column", columns.used, policy.use),
        _listed("columns.release", "the column", columns.released, policy.release),
        Rule("columns.raw", policy.raw, columns.raw, _judge_raw(policy, columns.raw)),
        Rule("columns.class", policy.classes, label and [label], no_class),
        Rule("columns.drop", policy.drop, columns.dropped, judge_drop(policy, columns.dropped)),
    ]


def _answer_rules(policy: Policy, needs: Needs, party: str, others: Sequence[str]) -> list[Rule]:
    answers = needs.answers
    servers = frozenset({party}) if policy.servers is None else policy.servers
    # Recipients must be permitted, because what they get depends on this party's columns.
    getting = [*dict.fromkeys([*answers.recipients, *answers.predicted_for])]
    foreign = [name for name in getting if name != party]
    return [
        Rule("servers", servers, answers.servers, _judge_servers(policy, answers.servers, party)),
        Rule("exact", policy.exact, answers.exact and others, _judge_exact(policy, needs, others)),
        _listed("recipients", "the recipient", foreign, policy.recipients),
    ]


def _group_rules(policy: Policy, groups: Groups) -> list[Rule]:
    """The rules about groups; a flag of the job is named by the value that its key has."""
    smallest, k_map = groups.smallest, groups.k_map
    return [
        Rule("smallest_k", policy.smallest_k, smallest, _judge_groups(policy, smallest)),
        Rule("smallest_k_map", policy.smallest_k_map, k_map, _judge_k_map(policy, k_map)),
        # Entries that each hide people may leave lines that are unique when all columns are known.
        _flag(
            Rule("together", policy.together, groups.together and "several entries"),
            policy.together != "refuse",
            "is 'refuse', and the job's requirement has several entries, none of which has all "
            "columns: the columns of a line may be unique together. One entry with all of them is "
            "permitted",
        ),
        # A rejected proposal reveals more than the release.
        _flag(
            Rule("conditions", policy.conditions, groups.proposals and "holder"),
            policy.conditions == "holder",
            f"is '{policy.conditions}', and the job shows proposals to the holders of sensitive "
            "columns ('conditions: holder')",
        ),
        _flag(
            Rule("zeros", policy.zeros, groups.zeros and "show"),
            policy.zeros,
            "does not permit 'zeros: show', which the job asks for",
        ),
        # The slack is the size of a group that the release does not show.
        _flag(
            Rule("slack", policy.slack, groups.slack and "tell"),
            policy.slack,
            "does not permit 'slack: tell', which the job asks for",
        ),
        # Tight boxes end at exact values of people.
        _flag(
            Rule("boxes", policy.boxes, groups.exact_ends and "tight"),
            policy.boxes == "tight",
            "does not permit 'boxes: tight', which the job asks for; the line to write is "
            "'boxes: tight'",
        ),
        # A partner that writes the class reads a column out of scores of what is not carried out.
        _flag(
            Rule("scores", policy.scores, groups.scores and "shown"),
            policy.scores == "shown",
            "is 'hidden', and the job says 'hide_scores: false', by which partners learn scores of "
            "columns that the release does not show. Leave the key out of the job; or, to permit "
            "it, write 'scores: shown' under policy",
        ),
    ]


def _lasting_rules(policy: Policy, needs: Needs, others: Sequence[str]) -> list[Rule]:
    """The rules about what adds up over jobs, which the party's books decide besides."""
    answers, repeat = needs.answers, policy.repeat
    asked = sorted(answers.counted) or (
        "a class of each person" if answers.predicted_for else "who is common"
    )
    known = repeat and (f"k {repeat.k}, within {repeat.window / 86400:g} days, {repeat.on}")
    noise = answers.noise and [
        f"{name} {float(n):g}" for name, n in zip(_SPENT, answers.noise, strict=True)
    ]
    owed = answers.contributes and policy.most_owed is not None and others
    return [
        Rule("most_owed", policy.most_owed, owed),
        Rule("budget", policy.budget, noise, _judge_budget(policy.budget, answers.noise)),
        Rule("repeat", known, repeat and needs.tells and asked, _judge_repeat(policy, needs)),
        Rule("models", policy.models, answers.keeps or answers.model, _judge_models(policy, needs)),
        Rule("predictions", policy.predictions, answers.model),
    ]


def _judge_purpose(policy: Policy, purpose: str) -> list[str]:
    if policy.purposes is None or purpose in policy.purposes:
        return []
    if not purpose:
        return ["policy.purposes lists what jobs may be for, and the job has no 'purpose'"]
    return _missing("purposes", "the purpose", [purpose], policy.purposes)


def _judge_raw(policy: Policy, raw: Collection[str]) -> list[str]:
    """A column that leaves unchanged needs a permission of its own, because no k protects it."""
    names = ", ".join(f"'{name}'" for name in raw if name not in policy.raw)
    if not names:
        return []
    return [f"policy.columns.raw does not list {names}, which the job releases unchanged"]


def _judge_matching(policy: Policy, revealed: str | None, parties: int) -> list[str]:
    """Matching that reveals pairwise overlaps needs a permission, with more than two parties."""
    if revealed is None or revealed == "intersection":
        return []
    if revealed == "pairwise" and (parties < 3 or policy.reveal == "pairwise"):
        return []
    return [f"policy.reveal is '{policy.reveal}', and the job reveals '{revealed}'"]


def _judge_ids(policy: Policy, by: Collection[str]) -> list[str]:
    """People are matched by what the steward calls an identifier, and by nothing else.

    A column that is part of the identifier is guessed value by value by a partner that brings every
    person with every value. A part of a composite identifier is another identifier.
    """
    if not by or frozenset(by) in policy.ids:
        return []
    names = ", ".join(by)
    line = names if len(by) == 1 else f"[{names}]"
    return [
        f"policy.columns.id does not list {line} as an identifier; where it identifies people, write "
        f"'id: [{line}]' under policy.columns"
    ]


def _judge_class(policy: Policy, needs: Needs) -> list[str]:
    """The class leaves as it is, record by record, so it needs a permission of its own.

    A party without the permission does not bring the class. It refuses where the job cannot do
    without it, and where its policy permits the column elsewhere: such a policy was written before
    this rule, or its steward has to say which of the two is meant.
    """
    label = needs.columns.label
    if label is None or label in policy.classes:
        return []
    if not needs.columns.owes and label not in policy.use & policy.release:
        return []
    return [
        f"policy.columns.class does not list '{label}', which the job makes its class: all parties "
        f"would learn it of every common person. To permit it, write 'class: [{label}]' under "
        "policy.columns"
    ]


def judge_drop(policy: Policy, dropped: Collection[str]) -> list[str]:
    """Partners can tell who of their own people was left out, so that they learn it by name."""
    return [
        f"policy.columns.drop does not list '{name}', by whose values the job leaves people out "
        f"('missing: drop', or 'max_suppression'): partners would learn by name who has no value, or "
        f"a rare one. To permit it, write 'drop: [{name}]' under policy.columns; 'missing: value', "
        "where the kind has it, leaves nobody out"
        for name in dropped
        if name not in policy.drop
    ]


def _judge_padding(policy: Policy, pad_to: int | None) -> list[str]:
    """Padding may not hide a set that is larger than a peer may bring."""
    if pad_to is None or pad_to <= policy.largest_peer_set:
        return []
    return [
        f"policy.largest_peer_set is {policy.largest_peer_set}, and 'pad_to: {pad_to}' lets a peer "
        "bring more identifiers than that"
    ]


def _judge_servers(policy: Policy, servers: Collection[str], party: str) -> list[str]:
    """The servers must be permitted, because together they could read all shared data."""
    if policy.servers is not None:
        others = [name for name in servers if name != party]
        return _missing("servers", "the server", others, policy.servers)
    if not servers or party in servers:
        return []
    names = ", ".join(servers)
    return [
        f"policy.servers is not set, and {party} is not one of the job's servers ({names}), which "
        f"could read all shares together. To permit it, write 'servers: [{names}]' under policy"
    ]


def _judge_exact(policy: Policy, needs: Needs, others: Collection[str]) -> list[str]:
    """A partner that chooses its own columns, or invents rows, reads this party's out of answers."""
    if not needs.answers.exact:
        return []
    missing = [name for name in others if name not in policy.exact]
    if not missing:
        return []
    names = ", ".join(missing)
    way = "ask for 'noise' where the kind has it"
    if needs.answers.noise is not None:
        way = "leave out 'partition: mixed' and 'missing: drop', by which noise does not hide gaps"
    return [
        f"policy.exact does not list {names}, and the job gives exact answers that combine data "
        f"of theirs with this party's. To permit it, write 'exact: [{names}]' under policy, or {way}"
    ]


def asks_about_together(policy: Policy, needs: Needs) -> bool:
    """Whether the steward must say yes to columns that may be unique together."""
    return needs.groups.together and policy.together == "ask"


def _judge_groups(policy: Policy, smallest: int | None) -> list[str]:
    if smallest is None or (policy.smallest_k is not None and smallest >= policy.smallest_k):
        return []
    rule = "not set" if policy.smallest_k is None else str(policy.smallest_k)
    return [f"policy.smallest_k is {rule}, and the job releases groups of {smallest}"]


def _judge_k_map(policy: Policy, smallest: int | None) -> list[str]:
    """Groups that a population hides need a permission: a record may be alone in its group."""
    if smallest is None or (
        policy.smallest_k_map is not None and smallest >= policy.smallest_k_map
    ):
        return []
    rule = "not set" if policy.smallest_k_map is None else str(policy.smallest_k_map)
    return [
        f"policy.smallest_k_map is {rule}, and the job releases groups that {smallest} people of a "
        "population share, and perhaps one record"
    ]


def _judge_budget(budget: Budget | None, noise: tuple[Fraction, Fraction] | None) -> list[str]:
    """A job may not spend more than the whole budget; what is left of it the ledger knows."""
    if noise is None:
        return []
    if budget is None:
        return [f"policy.budget is not set, and the job spends epsilon {float(noise[0]):g} of it"]
    return [
        f"policy.budget.{name} is {float(most):g}, and the job spends {float(wanted):g}"
        for name, most, wanted in zip(_SPENT, (budget.epsilon, budget.delta), noise, strict=True)
        if wanted > most
    ]


def _judge_repeat(policy: Policy, needs: Needs) -> list[str]:
    """Jobs can only be compared where people are known again."""
    if policy.repeat is None or policy.repeat.id or needs.matching.by or not needs.answers.counted:
        return []
    return [
        "policy.repeat names no 'id', without which people of a job that matches no records cannot "
        "be known again"
    ]


def _judge_models(policy: Policy, needs: Needs) -> list[str]:
    """A model outlives its job, so that keeping one and using one need a permission."""
    if policy.models != "none":
        return []
    return [
        f"policy.models is 'none', and the job {what} the model '{name}'"
        for what, name in (("keeps", needs.answers.keeps), ("uses", needs.answers.model))
        if name is not None
    ]


def _listed(key: str, what: str, wanted: Collection[str], allowed: frozenset[str]) -> Rule:
    """A rule that lists what it permits."""
    return Rule(key, allowed, wanted, _missing(key, what, wanted, allowed))


def _flag(rule: Rule, permitted: bool, refusal: str) -> Rule:
    """A rule about something that the job does or does not do."""
    refused = [f"policy.{rule.key} {refusal}"] if rule.job and not permitted else []
    return replace(rule, refusals=refused)


def _missing(rule: str, what: str, wanted: Collection[str], allowed: Collection[str]) -> list[str]:
    return [
        f"policy.{rule} does not list {what} '{name}'" for name in wanted if name not in allowed
    ]
