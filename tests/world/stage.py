"""The organisations of a world before it begins: certificates, party files, tables and jobs.

They are made once in a process, because no world changes them.
"""

from __future__ import annotations

import copy
import csv
import functools
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from coterie.jobs.file.job import Job
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.books.models import ModelFolder
from coterie.party.config import PartyConfig, load_party
from coterie.trust.identity import Identity
from tests.jobs.kinds.predict.kept import part
from tests.jobs.run.resumed_jobs import LOANS, OF_MODELS, PEOPLE, write_job
from tests.party.authority import Authority
from tests.traces.cases import DIVIDED, KEPT
from tests.world.kind import NAME
from tests.world.tasks import EPOCH

COORDINATORS = ("carol", "dora")
_CHEAP = ("alba", "birk", "cedar")
_PAID = {"alba": (3, 5, 8), "birk": (20, 30), "cedar": (17, 4, 40, 26)}
_DEADLINES = {"interval": 0.5, "deadline": 2.0}
UNSTARTED = 12.0  # seconds after which a server gives up a job that nobody begins
_LIMITS = {"unstarted": UNSTARTED, "reserved": 3}


class Stage:
    """Parties and coordinators for jobs of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._scratch = tempfile.TemporaryDirectory(prefix="stage-")
        self._folder = Path(self._scratch.name)
        self._content: dict[str, Any] = {}
        self._files: Mapping[str, bytes] = {}
        self.names: Sequence[str] = _CHEAP
        tables = self._write_cheap() if kind == NAME else self._write_real()
        self.addresses = {name: f"{name}:7000" for name in self.names}
        authority = Authority(self._folder / "certs")
        self.identities: dict[str, Identity] = {
            name: authority.identity(name) for name in (*self.names, *COORDINATORS)
        }
        self._authority = authority
        self._contents = {name: self._file(name, tables[name]) for name in self.names}
        self._configs = {name: self._config(name) for name in self.names}

    def _write_cheap(self) -> dict[str, Path]:
        tables = {}
        for name, values in _PAID.items():
            tables[name] = self._folder / f"{name}.csv"
            tables[name].write_text("Paid\n" + "".join(f"{value}\n" for value in values))
        self._content = {"kind": NAME, "name": "paid", "column": "Paid", "minimum": 2}
        self._content["unit"] = "unit.txt"
        self._files = {"unit.txt": b"EUR\n"}
        return tables

    def _write_real(self) -> dict[str, Path]:
        data = self._folder / "data"
        data.mkdir()
        job = write_job(self.kind, data)
        self.names = job.party_names
        self._content = yaml.safe_load(job.text)
        self._files = dict(job.files)
        _, _, part = {**PEOPLE, **OF_MODELS}.get(self.kind, ("", "", ""))
        return {name: data / f"{name}{part}.csv" for name in self.names}

    def _file(self, name: str, table: Path) -> dict[str, Any]:
        """What the party file says."""
        with table.open() as file:
            header = next(csv.reader(file))
        return {
            "name": name,
            "listen": self.addresses[name],
            "tls": {
                "certificate": f"certs/{name}.crt",
                "key": f"certs/{name}.key",
                "authority": "certs/ca.crt",
            },
            "peers": {o: {"address": a} for o, a in self.addresses.items() if o != name},
            "data": {"csv": str(table)},
            "state": "state",
            "memory": "64MB",
            "heartbeat": _DEADLINES,
            "limits": _LIMITS,
            "policy": {
                "coordinators": list(COORDINATORS),
                "kinds": [self._content["kind"]],
                "peers": [other for other in self.names if other != name],
                "columns": {
                    "id": ["ID"],
                    "class": ["Class"],
                    "use": header,
                    "release": [column for column in header if column != "ID"],
                    "raw": [column for column in header if column == "Zodiac"],
                    "drop": list(header),
                },
                "exact": [other for other in self.names if other != name],
                "servers": list(self.names),
                "together": "allow",
                "scores": "shown",
                "boxes": "tight",
                "smallest_k": 2,
                "smallest_k_map": 2,
                "conditions": "holder",
                "slack": True,
                "models": "keep",
                "recipients": [other for other in self.names if other != name],
                "consent": "auto",
                "examinations": 1000,
                "budget": {"epsilon": 100},
            },
        }

    def _config(self, name: str) -> PartyConfig:
        path = self._folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(self._contents[name], sort_keys=False))
        return load_party(path)

    def write_file(self, name: str, folder: Path, state: Path, changed: Mapping[str, Any]) -> Path:
        """A party file of one world, which may change while the world is played.

        `changed`: `manual` and `running` as in `config`; `memory`; `coordinators`; `renewed`: whether
        the party has its next certificate; `broken`: whether nobody can read the file.
        """
        source = self._certificate(name, renewed=changed.get("renewed", False))
        for ending in (".crt", ".key"):
            target = folder / f"{name}{ending}"
            target.touch(0o600)
            target.write_bytes(source.with_suffix(ending).read_bytes())
        coordinators = tuple(changed.get("coordinators", COORDINATORS))
        text = self._text(
            name,
            os.path.relpath(state, folder),
            changed.get("memory", ""),
            changed["running"],
            "manual" if changed["manual"] else "auto",
            coordinators,
        )
        path = folder / f"{name}.yaml"
        path.write_text(text + ("listen: [\n" if changed.get("broken") else ""))
        return path

    @functools.cache  # noqa: B019 - a process has few stages
    def _text(
        self,
        name: str,
        state: str,
        memory: str,
        running: int,
        consent: str,
        coordinators: tuple[str, ...],
    ) -> str:
        """The text of a party file, the same in all worlds: writing and reading YAML takes long."""
        content = copy.deepcopy(self._contents[name])
        content["tls"] = {
            "certificate": f"{name}.crt",
            "key": f"{name}.key",
            "authority": str(self._folder / "certs" / "ca.crt"),
        }
        content["state"] = state
        content["memory"] = memory or content["memory"]
        content["limits"]["running"] = running
        content["policy"]["consent"] = consent
        content["policy"]["coordinators"] = list(coordinators)
        return str(yaml.safe_dump(content, sort_keys=False))

    @functools.cache  # noqa: B019 - a process has few stages
    def _certificate(self, name: str, renewed: bool) -> Path:
        if renewed:
            return self._authority.issue(name, file=f"{name}-renewed")
        return self._folder / "certs" / f"{name}.crt"

    def config(self, name: str, state: Path, manual: bool, running: int) -> PartyConfig:
        """The party file of one world."""
        return replace(self._set(name, manual, running), state=state)

    @functools.cache  # noqa: B019 - a process has few stages
    def _set(self, name: str, manual: bool, running: int) -> PartyConfig:
        made = self._configs[name]
        policy = replace(made.policy, consent="manual" if manual else "auto")
        return replace(made, policy=policy, limits=replace(made.limits, running=running))

    @functools.lru_cache(maxsize=64)  # noqa: B019 - a process has few stages
    def job(self, parties: tuple[str, ...], recipients: tuple[str, ...] = ()) -> Job:
        """The job among some of the parties, some of which may receive its result."""
        entries = {
            name: {**(self._content.get("parties") or {}).get(name, {}), "address": address}
            for name, address in self.addresses.items()
            if name in parties
        }
        content = {**self._content, "parties": entries}
        if recipients:
            content["recipients"] = list(recipients)
        return parse_job(yaml.safe_dump(content, sort_keys=False), self._files)

    def put_models(self, root: Path) -> None:
        """Lets the parties have kept the models before by which a job classifies people."""
        if self._content["kind"] != "predict":
            return
        for name in self.names:
            left = root / f"{name}-left"
            left.mkdir()
            kept = part(self._content["model"], KEPT, name, name=self._content["model"])
            kept.write(left)
            (root / name).mkdir(mode=0o700)
            folder = ModelFolder(root / name, lambda: EPOCH)
            folder.take(left, COORDINATORS[0], "0" * 32)

    @property
    def keeps(self) -> str | None:
        """The name of the model that a finished job lets every party keep."""
        return self._content.get("keep")

    def expected(self, parties: Sequence[str]) -> dict[str, Any]:
        """What the release of the cheap kind must say."""
        values = [value for name in parties for value in _PAID[name]]
        return {"records": len(values), "total": sum(values)}


@functools.cache
def stage_of(kind: str) -> Stage:
    return Stage(kind)


# Of the jobs of divided columns and cells, which go the same way between servers, the quick ones.
_LONG = DIVIDED.keys() - {"cluster vertical", "count mixed", "aggregate mixed"}
REAL = (*(name for name in PEOPLE if name not in _LONG), *OF_MODELS, *LOANS)
