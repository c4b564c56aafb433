"""What a scene is, and what most of them are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.protocols.numbers.shares import Ring

TWO = ("alice", "bob")
THREE = ("ann", "bob", "cat")
SERVERS = ("ann", "bob")
JOINT_ORDER = (
    "intersection: common records",
    "intersection: pairwise overlaps",
    "job: digests of what was told to all",
)
R64 = Ring(1 << 64)


@dataclass(frozen=True)
class Scene:
    """`world(watched, number)` gives the parties; `watched` are those that receive something."""

    name: str
    protocols: tuple[str, ...]
    world: Callable[[str, int], dict[str, Any]]
    watched: tuple[str, ...]
    runs: int = 2
    shares: bool = False
    drawn: tuple[str, ...] = field(default=())


SCENES: list[Scene] = []


def scene(protocols: str, watched: tuple[str, ...], **options: Any) -> Callable[[Any], Any]:
    def note(world: Any) -> Any:
        name = options.pop("name", None) or world.__name__
        SCENES.append(Scene(name, tuple(protocols.split()), world, watched, **options))
        return world

    return note


def two(first: Callable[..., Any], second: Callable[..., Any]) -> dict[str, Any]:
    return dict(zip(TWO, (first, second), strict=True))


def secret(watched: str, me: str, world: int, low: int, high: int, own: int) -> int:
    """The watched party's own number, and for the others one that depends on the world."""
    return own if me == watched else (low, high)[world]


def words(value: int, count: int = 200) -> Any:
    return np.full(count, value, np.uint64)
