"""What an inspection is asked for: how sure, how much memory, and what is to be masked."""

from __future__ import annotations

from dataclasses import dataclass

from coterie.anonymity.risk.masks import MEASURES, Measure
from coterie.base.errors import UsageError
from coterie.base.sizes import half_of_the_memory

_BYTES = 128  # memory that the grouping of a record takes


@dataclass(frozen=True)
class Settings:
    population: int | None = None
    alpha: float = 0.2
    epsilon: float = 0.001
    delta: float = 0.01
    mask: tuple[Measure, float] | None = None
    k: int = 10
    seed: int | None = None
    sensitive: tuple[str, ...] = ()  # columns for which revealing rules are sought
    memory: int | None = None  # bytes that may be used; by default half of the machine's

    @property
    def budget(self) -> int:
        return half_of_the_memory() if self.memory is None else self.memory

    @property
    def most(self) -> int:
        """Records that are grouped in memory at a time; codes take the other half."""
        return max(self.budget // (2 * _BYTES), 1)


def read_mask(text: str) -> tuple[Measure, float]:
    """`separation=0.8` or `distinct=0.5`."""
    name, _, number = text.partition("=")
    for measure in MEASURES:
        if name == measure:
            try:
                beta = float(number)
            except ValueError:
                break
            if 0 < beta <= 1:
                return measure, beta
            break
    raise UsageError(f"--mask: '{text}' is not as in separation=0.8 or distinct=0.5")


def check(settings: Settings) -> None:
    for name, value in (("alpha", settings.alpha), ("epsilon", settings.epsilon),
                        ("delta", settings.delta)):  # fmt: skip
        if not 0 < value < 1:
            raise UsageError(f"{name} must be between 0 and 1, not {value:g}")
    if settings.k < 1:
        raise UsageError("k must be at least 1")
