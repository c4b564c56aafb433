"""What a mutant is: a step whose purpose is to hide something, removed or weakened."""

from __future__ import annotations

from dataclasses import dataclass

HIDING = "tests/protocols/test_hiding.py"
JOBS = "tests/jobs/test_views.py"
VIEWS = "tests/protocols/test_views.py"


@dataclass(frozen=True)
class Mutant:
    """A file, a snippet that stands in it once, what to put in its place, the tests that fail then."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Harmless:
    """A step that is weaker in this way, and why nobody learns more by it."""

    name: str
    file: str
    old: str
    new: str
    reason: str


def view(scene: str, watched: str) -> str:
    return f"{VIEWS}::test_nobody_can_tell_the_others_secrets_apart[{scene}-{watched}]"


def job(name: str, watched: str) -> str:
    return f"{JOBS}::test_a_job_does_not_show_the_others_records[{watched}-{name}]"


def hiding(test: str) -> str:
    return f"{HIDING}::test_{test}"


def mutant(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(name, file, old, new, tests)
