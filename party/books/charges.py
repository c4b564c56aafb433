"""What jobs with noise have spent of a table's budget: lines of the ledger.

Answers with noise of differential privacy add up: two answers of epsilon 1 say as much of a person as
one of epsilon 2. `policy.budget` bounds the sums of epsilon and of delta over the last so many days.
A job is charged before it sends anything, on the disk, and once, however often it goes on after
interruptions. It stays charged however it ends, because what its peers have seen by then is not known
here. A question that is asked again is another job, draws other noise, and is charged again.

A line of the ledger stays for ever; since every charge is at least 0.001, the budget itself bounds
how many there are.
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
from coterie.party.books.ledger_lines import FILE, Charge, LedgerFile
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
    """The charges of one party's tables, by name; the table without a name is None."""

    def __init__(self, state: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = LedgerFile(state / FILE)
        self._clock = clock

    def spent(self, table: str | None, budget: Budget) -> Spent:
        """What was charged to the table; a charge in the future counts, since a clock may be wrong."""
        oldest = self._clock() - budget.days * _DAY
        epsilon = delta = Fraction(0)
        for charge in self._charges():
            when = datetime.fromisoformat(charge.time).timestamp()
            if charge.table == (table or "") and when >= oldest:
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
    ) -> bool:
        """Charges a job before it begins; False if it was charged before. RefusedError if too little is left."""
        with _charging:
            if any(charge.job == job_id for charge in self._charges()):
                return False
            spent = self.spent(table, budget)
            if refusals := spent.refusals(budget, asked):
                error = RefusedError("; ".join(refusals))
                error.inside = spent.in_words(budget)
                raise error
            now = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
            epsilon, delta = map(str, asked)
            self._file.append(Charge(job_id, job.name, now, table or "", epsilon, delta))
        return True

    def _charges(self) -> list[Charge]:
        return [line for line in self._file.read() if isinstance(line, Charge)]


def number(value: Fraction) -> str:
    return f"{float(value):g}"
