"""Things by name that are imported when they are first looked up.

A registry names each thing by its place, such as `coterie.jobs.kinds.intersect:INTERSECT`, so that
whoever uses one of them does not wait for the others.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


def at_place(place: str) -> Any:
    """The attribute of a module that `module:attribute` names."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


class Registry(MutableMapping[str, T], Generic[T]):
    """`places` by name; `made` makes an entry of what is found there, once."""

    def __init__(self, places: Mapping[str, str], made: Callable[[Any], T] | None = None) -> None:
        self._places = dict(places)
        self._made = made or (lambda found: cast("T", found))
        self._entries: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            self._entries[name] = self._made(at_place(self._places[name]))
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._entries

    def __setitem__(self, name: str, entry: T) -> None:
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._places, **self._entries})

    def __len__(self) -> int:
        return len({**self._places, **self._entries})
