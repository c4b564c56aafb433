"""What is left of the budgets for jobs with noise: `party check`, `party ledger` and `party show`."""

from __future__ import annotations

from typing import Any

from coterie.party.books.charges import Charges, Spent, number
from coterie.party.config import PartyConfig
from coterie.party.policy import Budget


def budgets_of(config: PartyConfig) -> dict[str | None, tuple[Budget, Spent]]:
    """Every table that has a budget, by name, and what all tables have spent of it."""
    charges = Charges(config.state)
    policies = {None: config.policy} | {name: policy for name, (_, policy) in config.tables.items()}
    return {
        name: (policy.budget, charges.spent(policy.budget))
        for name, policy in policies.items()
        if policy.budget is not None
    }


def budget_facts(config: PartyConfig) -> list[dict[str, Any]]:
    """The budgets as `party ledger --json` prints them."""
    return [
        {
            "table": name,
            "days": budget.days,
            "epsilon": float(budget.epsilon),
            "delta": float(budget.delta),
            "spent": {"epsilon": float(spent.epsilon), "delta": float(spent.delta)},
        }
        for name, (budget, spent) in budgets_of(config).items()
    ]


def budget_lines(config: PartyConfig) -> list[str]:
    """The budgets for a person, a line each."""
    return [
        f"budget{f' of table {name!r}' if name else ''}: {spent.in_words(budget)}"
        for name, (budget, spent) in budgets_of(config).items()
    ]


def budget_rule(config: PartyConfig, noise: tuple[Any, Any] | None) -> list[dict[str, Any]]:
    """The rule of the policy that a job with noise touches, with what is spent so far."""
    budget = config.policy.budget
    if noise is None or budget is None:
        return []
    words = Charges(config.state).spent(budget).in_words(budget)
    asked = f"epsilon {number(noise[0])} and delta {number(noise[1])}"
    return [{"rule": "budget", "policy": words, "job": asked}]
