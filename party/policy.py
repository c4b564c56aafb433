"""A party's policy. Everything that the policy does not list is refused."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from coterie.base.errors import RefusedError
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.kind import Needs
from coterie.jobs.kinds.registry import KINDS
from coterie.party.operator.settings import Repeat


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
    kinds: frozenset[str] = frozenset()
    peers: frozenset[str] = frozenset()
    use: frozenset[str] = frozenset()
    release: frozenset[str] = frozenset()
    raw: frozenset[str] = frozenset()
    smallest_k: int | None = None
    smallest_k_map: int | None = None  # None: no group is counted in a population
    most_owed: float | None = None
    consent: str = "manual"
    explain: str = "columns"
    examinations: int = 100
    reveal: str = "intersection"
    servers: frozenset[str] | None = None  # None: any parties
    conditions: str = "shares"
    zeros: bool = False
    slack: bool = False
    recipients: frozenset[str] = frozenset()  # besides the coordinator
    purposes: frozenset[str] | None = None  # None: any purpose, and jobs without one
    budget: Budget | None = None  # None: no job with noise
    repeat: Repeat | None = None  # None: each job is judged alone
    models: str = "none"  # keep: jobs may keep models; shared: any coordinator may use them
    output: str = "auto"
    answer_within: float = 86400.0  # seconds for the steward, while a job waits


def judge_coordinator(policy: Policy, coordinator: str) -> list[str]:
    """Why this coordinator may not propose anything at all; empty if it may."""
    return _missing("coordinators", "the coordinator", [coordinator], policy.coordinators)


def judge_examinations(policy: Policy, coordinator: str, lately: int) -> list[str]:
    """Why this coordinator may not have the data checked again.

    `lately` counts the checks for this coordinator within the last hour.

    Each answer about the data reveals a little, so that many answers reveal much.
    """
    if lately < policy.examinations:
        return []
    return [
        f"policy.examinations is {policy.examinations}, and jobs were examined {lately} times "
        f"for '{coordinator}' within an hour"
    ]


def judge(policy: Policy, job: Job, party: str, coordinator: str) -> list[str]:
    """Every reason for which `party` refuses the job; empty if the policy permits it."""
    try:
        needs = KINDS[job.kind].needs(job, party)
    except RefusedError as error:  # the kind declares nothing, so nothing can be permitted
        return [str(error)]
    others = [name for name in job.party_names if name != party]
    return [
        *judge_coordinator(policy, coordinator),
        *_missing("kinds", "the kind", [job.kind], policy.kinds),
        *_judge_purpose(policy, job.purpose),
        *_missing("peers", "the party", others, policy.peers),
        *_missing("columns.use", "the column", needs.used, policy.use),
        *_missing("columns.release", "the column", needs.released, policy.release),
        *_judge_raw(policy, needs.raw),
        *_judge_matching(policy, needs.matching, len(job.party_names)),
        *_judge_servers(policy, needs.servers),
        *_judge_recipients(policy, needs.recipients, party),
        *_judge_groups(policy, needs.smallest_group),
        *_judge_k_map(policy, needs.smallest_k_map),
        *_judge_conditions(policy, needs.shows_proposals),
        *_judge_zeros(policy, needs.zeros),
        *_judge_slack(policy, needs.slack),
        *_judge_budget(policy.budget, needs.noise),
        *_judge_repeat(policy, needs),
        *_judge_models(policy, needs),
        *_judge_recipients(policy, needs.predicted_for, party),
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
    return [f"policy.columns.raw does not list {names}, which the job releases as it is"]


def _judge_matching(policy: Policy, revealed: str | None, parties: int) -> list[str]:
    """Matching that reveals pairwise overlaps needs a permission, with more than two parties."""
    if revealed is None or revealed == "intersection":
        return []
    if revealed == "pairwise" and (parties < 3 or policy.reveal == "pairwise"):
        return []
    return [f"policy.reveal is '{policy.reveal}', and the job reveals '{revealed}'"]


def _judge_servers(policy: Policy, servers: Collection[str]) -> list[str]:
    """The servers must be permitted, because together they could read all shared data."""
    if policy.servers is None:
        return []
    return _missing("servers", "the server", servers, policy.servers)


def _judge_recipients(policy: Policy, recipients: Collection[str], party: str) -> list[str]:
    """Recipients must be permitted, because the result has this party's columns."""
    others = [name for name in recipients if name != party]
    return _missing("recipients", "the recipient", others, policy.recipients)


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


def _judge_conditions(policy: Policy, shows_proposals: bool) -> list[str]:
    """Showing proposals needs a permission: a rejected one reveals more than the release."""
    if not shows_proposals or policy.conditions == "holder":
        return []
    return [
        f"policy.conditions is '{policy.conditions}', and the job shows proposals to the holders of "
        "sensitive columns ('conditions: holder')"
    ]


def _judge_zeros(policy: Policy, zeros: bool) -> list[str]:
    if policy.zeros or not zeros:
        return []
    return ["policy.zeros does not permit 'zeros: show', which the job asks for"]


def _judge_slack(policy: Policy, slack: bool) -> list[str]:
    """The slack is the size of a group that the release does not show: by permission only."""
    if policy.slack or not slack:
        return []
    return ["policy.slack does not permit 'slack: tell', which the job asks for"]


def _judge_budget(budget: Budget | None, noise: tuple[Fraction, Fraction] | None) -> list[str]:
    """A job may not spend more than the whole budget; what is left of it the ledger knows."""
    if noise is None:
        return []
    if budget is None:
        return [f"policy.budget is not set, and the job spends epsilon {float(noise[0]):g} of it"]
    return [
        f"policy.budget.{name} is {float(most):g}, and the job spends {float(wanted):g}"
        for name, most, wanted in zip(
            ("epsilon", "delta"), (budget.epsilon, budget.delta), noise, strict=True
        )
        if wanted > most
    ]


def _judge_repeat(policy: Policy, needs: Needs) -> list[str]:
    """Jobs can only be compared where people are known again."""
    if policy.repeat is None or policy.repeat.id or needs.identified_by or not needs.counted:
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
        for what, name in (("keeps", needs.keeps), ("uses", needs.model))
        if name is not None
    ]


def _missing(rule: str, what: str, wanted: Collection[str], allowed: Collection[str]) -> list[str]:
    return [
        f"policy.{rule} does not list {what} '{name}'" for name in wanted if name not in allowed
    ]
