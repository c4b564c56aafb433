"""The party files of a world, and how they change while it is played.

Only a party whose file changes has a file of its own: reading one is slow, and no other world needs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.party.config import PartyConfig, load_party
from tests.world.stage import COORDINATORS, Stage

_CHANGES: dict[str, dict[str, Any]] = {
    "memory": {"memory": "65MB"},
    "certificate": {"renewed": True},
    "coordinators": {"coordinators": list(COORDINATORS[:1])},
    "broken": {"broken": True},
}


class PartyFiles:
    def __init__(self, script: dict[str, Any], stage: Stage, root: Path) -> None:
        self._stage = stage
        self._root = root
        self._running = script.get("running", 4)
        self._manual = set(script.get("manual", ()))
        self._said: dict[str, dict[str, Any]] = {}
        self._broken: set[str] = set()  # parties whose file cannot be read now
        self.refused: set[str] = set()  # parties that must have noted this
        for step in script["steps"]:
            if step.get("do") == "reload" and step["party"] not in self._said:
                self._said[step["party"]] = {}
                self._write(step["party"])

    def config(self, name: str) -> PartyConfig:
        """What the server of a party finds when it starts."""
        if name in self._said:
            return load_party(self._root / f"{name}.yaml")
        return self._stage.config(name, self._root / name, name in self._manual, self._running)

    def newest(self, name: str) -> PartyConfig | None:
        """The file that a server must work under at the end; None if it never changed."""
        return self.config(name) if name in self._said else None

    def change(self, name: str, what: str) -> None:
        self._said[name].update(_CHANGES[what])
        if what == "broken":
            self._broken.add(name)
        self._write(name)

    def mend(self) -> list[str]:
        """Makes all files readable; the parties whose file was not."""
        mended = sorted(self._broken)
        for name in mended:
            del self._said[name]["broken"]
            self._write(name)
        self._broken.clear()
        return mended

    def _write(self, name: str) -> None:
        facts = {"manual": name in self._manual, "running": self._running, **self._said[name]}
        self._stage.write_file(name, self._root, self._root / name, facts)
