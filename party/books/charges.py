"""What jobs with noise have spent of the party's budget, and how often kept models were used.

Both are lines of the ledger.

Answers with noise of differential privacy add up: two answers of epsilon 1 say as much of a person as
one of epsilon 2. `policy.budget` bounds the sums of epsilon and of delta over the last so many days.
A job is charged before it sends anything, on the disk, and once, however often it goes on after
interruptions. It stays charged however it ends, because what its peers have seen by then is not known
here. A question that is asked again is another job, draws other noise, and is charged again. A person
may stand in several tables of the party, so what is charged to one of them counts against the budget
of each.

A line of the ledger stays for ever; since every charge is at least 0.001, the budget itself bounds
how many there are.

A kept model answers about people whose columns the asker may have invented, so that every job that
uses it tells more of its cells: `policy.predictions` bounds how many jobs do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from coterie.base.errors import RefusedError
from coterie.jobs.file.job import Job
from coterie.party.books.ledger_lines import Charge, LedgerFile, Use
from coterie.party.policy import Budget

_DAY = 86_400.0
_charging = threading.Lock()  # a state folder has one server; its jobs are charged one by one


@dataclass(frozen=True)
class Spent:
    """The sums of what was charged within the days of a budget."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def refusals(self, budget: Budget, asked: tuple[Fraction, Fraction]) -> list[str]:
        """Why the budget does not suffice, without saying what earlier jobs have spent of it."""
        return [
            f"policy.budget.{name} has less left than the {number(wanted)} that the job spends"
            for name, spent, most, wanted in (
                ("epsilon", self.epsilon, budget.epsilon, asked[0]),
                ("delta", self.delta, budget.delta, asked[1]),
            )
            if wanted and spent + wanted > most
        ]

    def in_words(self, budget: Budget) -> str:
        return (
            f"epsilon {number(self.epsilon)} of {number(budget.epsilon)} and delta "
            f"{number(self.delta)} of {number(budget.delta)} are spent within {budget.days} days"
        )


class Charges:
    """The charges of one party; each names its table, the table without a name is None."""

    def __init__(self, state: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = LedgerFile(state)
        self._clock = clock

    def spent(self, budget: Budget) -> Spent:
        """What was charged to any table; a charge in the future counts, since a clock may be wrong."""
        oldest = self._clock() - budget.days * _DAY
        epsilon = delta = Fraction(0)
        for charge in self._charges():
            when = datetime.fromisoformat(charge.time).timestamp()
            if when >= oldest:
                epsilon += Fraction(charge.epsilon)
                delta += Fraction(charge.delta)
        return Spent(epsilon, delta)

    def charge(
        self,
        job_id: str,
        job: Job,
        table: str | None,
        budget: Budget,
        asked: tuple[Fraction, Fraction],
        again: bool = False,
    ) -> bool:
        """Charges a job before it begins; False if it was charged before. RefusedError if too little is left.

        With `again` a job is charged a second time, and refused a third.
        """
        with _charging:
            before = sum(charge.job == job_id for charge in self._charges())
            if before and not again:
                return False
            if before > 1:
                raise RefusedError(
                    "the job was interrupted twice after its noise was drawn; propose it again"
                )
            spent = self.spent(budget)
            if refusals := spent.refusals(budget, asked):
                error = RefusedError("; ".join(refusals))
                error.inside = spent.in_words(budget)
                raise error
            epsilon, delta = map(str, asked)
            self._file.append(Charge(job_id, job.name, self._now(), table or "", epsilon, delta))
        return True

    def uses(self, made_by: str) -> int:
        """How many jobs have used the model that this job made."""
        return len({use.job for use in self._uses() if use.made_by == made_by})

    def use(self, job_id: str, model: str, made_by: str, most: int) -> None:
        """Notes that a job uses a model, once, before it begins; RefusedError beyond the `most` uses."""
        with _charging:
            if any(use.job == job_id for use in self._uses()):
                return
            if refusals := too_often(model, self.uses(made_by), most):
                raise RefusedError(refusals[0])
            self._file.append(Use(job_id, model, made_by, self._now()))

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")

    def _uses(self) -> list[Use]:
        return [line for line in self._file.read() if isinstance(line, Use)]

    def _charges(self) -> list[Charge]:
        return [line for line in self._file.read() if isinstance(line, Charge)]


def too_often(model: str, uses: int, most: int) -> list[str]:
    """Why a model is not used once more."""
    if uses < most:
        return []
    return [
        f"policy.predictions is {most}, and as many jobs have used the model '{model}'; its data "
        "owner may permit more, or have a new model made"
    ]


def number(value: Fraction) -> str:
    return f"{float(value):g}"
