"""`coterie.Job`: a job built in code, or read from its file.

    job = coterie.Job.read("job.yaml")
    job = coterie.Job(
        kind="integrate", name="loans", parties={"bank": {}, "lender": {}}, id="ID",
        attributes={"Job": {"party": "bank", "taxonomy": [["Cook", "Any"], ["Nurse", "Any"]]}, ...},
        requirement=[{"qid": ["Job"], "k": 10}],
    )

The arguments are the keys of a job file, and a mistake is the same error; `class_` stands for the key
`class`, which Python reserves. A taxonomy may be a list of leaf-to-root paths; it becomes a file of the
job. Numbers of NumPy and tuples are as good as plain numbers and lists.
"""

from __future__ import annotations

import html
import keyword
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import yaml

from coterie.base.errors import UsageError
from coterie.jobs.file.job import Job as TypedJob
from coterie.jobs.kinds.job_file import load_job, parse_job


class Job:
    """A job of any kind. `text` is its job file and `files` are the files that it refers to."""

    def __init__(self, /, **keys: Any) -> None:
        document = {_key(name): _plain(value) for name, value in keys.items()}
        files: dict[str, bytes] = {}
        attributes = document.get("attributes")
        for name, options in attributes.items() if isinstance(attributes, dict) else ():
            if isinstance(options, dict) and isinstance(options.get("taxonomy"), list | tuple):
                path = f"taxonomies/{len(files) + 1}.csv"
                files[path] = _taxonomy(str(name), options["taxonomy"])
                options["taxonomy"] = path
        try:
            text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        except yaml.YAMLError as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"job: has a value that no job file can hold: {reason}") from None
        self.typed: TypedJob = parse_job(text, files)
        self.folder = Path()  # to which the names of its data files are relative

    @classmethod
    def read(cls, path: str | Path) -> Job:
        """The job in a file, with the files that it refers to."""
        job = cls.__new__(cls)
        job.typed = load_job(Path(path))
        job.folder = Path(path).parent
        return job

    @property
    def kind(self) -> str:
        return self.typed.kind

    @property
    def name(self) -> str:
        return self.typed.name

    @property
    def parties(self) -> tuple[str, ...]:
        return self.typed.party_names

    @property
    def text(self) -> str:
        return self.typed.text

    @property
    def files(self) -> Mapping[str, bytes]:
        return self.typed.files

    @property
    def warnings(self) -> list[str]:
        """What `coterie simulate` and `coterie run` would warn of."""
        return list(self.typed.warnings)

    def save(self, path: str | Path) -> Path:
        """Writes the job file, and the files that it refers to beside it."""
        path = Path(path)
        for name, data in self.files.items():
            (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
            (path.parent / name).write_bytes(data)
        path.write_text(self.text, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p><pre>{html.escape(self.text)}</pre>"

    def __repr__(self) -> str:
        return f"Job({self.kind} '{self.name}' of {', '.join(self.parties)})"


def _key(name: str) -> str:
    """The key of a job file that an argument stands for."""
    short = name.removesuffix("_")
    return short if keyword.iskeyword(short) else name


def _plain(value: Any) -> Any:
    """A copy of a value in the types that a job file has."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    return str(value) if isinstance(value, PurePath) else value


def _taxonomy(name: str, paths: Any) -> bytes:
    """The file of a taxonomy; values that its separator or a line break would divide are refused."""
    lines = []
    for path in paths:
        if not isinstance(path, list | tuple) or not all(isinstance(value, str) for value in path):
            raise UsageError(
                f"attributes.{name}.taxonomy: must be a file, or a list of paths of texts"
            )
        if any(character in value for value in path for character in ';"\n\r'):
            raise UsageError(
                f"attributes.{name}.taxonomy: a value has a semicolon, a quote or a line break"
            )
        lines.append(";".join(path) + "\n")
    return "".join(lines).encode()
