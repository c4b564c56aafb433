"""The base class of kinds of job: one declaration that all other parts of Coterie use.

`jobs.kinds.registry` lists the kinds. Each is one module or folder with a subclass of `Kind`, which
is generic in its job and in a party's prepared data. Its members, in the order of a job's life:

    files     the keys of the job file that refer to other files, which travel with the job
    leaves    the files and folders that a job may leave in a result folder
    parse     the kind's own keys, made into a typed job
    needs     everything that a party's policy checks; a kind that declares nothing is refused
    told_of   what others learn of a party's table by this kind, in plain words for its steward
    prepare   reads the party's own table and sends nothing; raises `DataError`
    recall    adds what the party has kept of an earlier job, if the kind uses it; sends nothing
    run       the joint computation, through the channel
    reporters the parties whose results are the result of the job, if not all parties
    preview   what a party would release, for its steward to look at before it goes out
    assemble  at the coordinator, from what the parties released; returns the files that it wrote
    appraise  what the coordinator counts itself in what the parties released
    measure   what a simulation, which has all tables, measures besides
    check_received  what a recipient checks in the finished result, if a job has recipients
    summary   the result in a few lines for a person
    report    the result as a page shows it
    check     whether opened numbers can be what the job promises; every party, before it tells them on
    verify    checks a finished result again, with code that shares nothing with the computation

The same code runs at a party server and in `coterie simulate`. The registry holds a kind as an
`AnyKind`, which takes any job and checks that it is one of the kind's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeAlias, TypeVar

import pyarrow as pa

from coterie.base.errors import RefusedError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kept_models import Models
from coterie.jobs.kinds.needs import Declared, Needs
from coterie.jobs.pages.page import Part
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random

J = TypeVar("J", bound=Job)
P = TypeVar("P")
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"


@dataclass(frozen=True)
class Verdict:
    """What a verification found. A check that fails raises a `VerificationError` instead.

    `holds` has a clause for each check, `unchecked` one for each thing that a reader might believe
    to be checked but that cannot be checked here; `facts` are for machines.
    """

    holds: Sequence[str]
    unchecked: Sequence[str]
    facts: Mapping[str, Json]


class Kind(ABC, Generic[J, P]):
    """A kind of job whose jobs are `J` and whose prepared data is `P`."""

    about: ClassVar[str]  # the result of a job of this kind, in one sentence
    files: ClassVar[Sequence[str]]  # such as "attributes.*.taxonomy"; `*` matches any key
    leaves: ClassVar[Sequence[str]]  # names that `assemble` may write, at the top of the folder
    opens: ClassVar[Sequence[str]] = ()  # parts of openings besides the kind's own
    delivers: ClassVar[Sequence[str]] = ()  # those of `leaves` that a job's recipients get
    job_type: type[J]
    data_type: type[P]

    @abstractmethod
    def parse(self, section: Section, common: Common) -> J:
        """Reads the kind's own keys; the caller refuses what is left."""

    @abstractmethod
    def needs(self, job: J, party: str) -> Needs:
        """What the job needs from one party."""

    def told_of(self, job: J, party: str) -> Sequence[str]:
        """What others learn of this party's table besides what `needs` implies, a sentence each.

        The sentences are for the party's steward, who is addressed by "your".
        """
        return ()

    @abstractmethod
    def prepare(self, job: J, party: str, table: pa.Table, source: str) -> P:
        """Checks and encodes this party's columns. `source` is the table's name in errors."""

    def recall(self, job: J, party: str, prepared: P, models: Models) -> P:
        """What `prepare` made, together with what the party has kept of an earlier job."""
        return prepared

    @abstractmethod
    def run(
        self, job: J, prepared: P, channel: Channel, rng: Random, workspace: Workspace
    ) -> Mapping[str, Json]:
        """Runs the computation; returns the content of `result.json`, the same at every party."""

    def reporters(self, job: J) -> Sequence[str]:
        """The parties whose results are equal, and are the result of the job."""
        return job.party_names

    def preview(self, job: J, party: str, released: Path) -> Mapping[str, Json]:
        """What the files in `released` say, for the party's own steward; the result is shown beside."""
        return {}

    @abstractmethod
    def assemble(self, job: J, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes the result's files from each party's released folder; returns their paths in
        `out`.
        """

    def appraise(self, job: J, released: Mapping[str, Path]) -> Mapping[str, Json]:
        """What the coordinator adds to `result.json`, from what it has been given anyway."""
        return {}

    @abstractmethod
    def summary(self, job: J, result: Claim) -> Sequence[str]:
        """Lines for a person about `result.json`, besides records, traffic and files."""

    def check_received(self, job: J, party: str, kept: Path, folder: Path) -> Sequence[str]:
        """What holds of the finished files in `folder`, by what the recipient `party` kept of its
        run.
        """
        raise RefusedError(f"a job of the kind '{job.kind}' has no recipients")

    @abstractmethod
    def report(self, job: J, result: Claim, folder: Path) -> Sequence[Part]:
        """The kind's own parts of the report, from a result folder; each says if it is public."""

    def measure(self, job: J, exhibits: Mapping[str, Mapping[str, object]]) -> Mapping[str, Json]:
        """What a simulation, which has all tables, adds to `result.json`."""
        return {}

    def check(self, job: J, result: Claim) -> None:
        """Raises VerificationError if a number of the result cannot be what the job promises.

        Every party calls it before it tells the coordinator the result: a server that lies about a
        share must not get its number any further.
        """

    @abstractmethod
    def verify(self, job: J, result: Claim, folder: Path) -> Verdict:
        """Checks the result folder against what the job promises."""


class AnyKind(ABC):
    """A kind as the registry stores it. The methods are those of `Kind`, for any job."""

    about: str
    files: Sequence[str]
    leaves: Sequence[str]
    delivers: Sequence[str]
    opens: Sequence[str]

    @abstractmethod
    def parse(self, section: Section, common: Common) -> Job: ...

    @abstractmethod
    def needs(self, job: Job, party: str) -> Declared:
        """As `Kind.needs`; raises `RefusedError` if the kind leaves something out."""

    @abstractmethod
    def told_of(self, job: Job, party: str) -> Sequence[str]: ...

    @abstractmethod
    def prepare(self, job: Job, party: str, table: pa.Table, source: str) -> object: ...

    @abstractmethod
    def recall(self, job: Job, party: str, prepared: object, models: Models) -> object: ...

    @abstractmethod
    def run(
        self, job: Job, prepared: object, channel: Channel, rng: Random, workspace: Workspace
    ) -> Mapping[str, Json]: ...

    @abstractmethod
    def reporters(self, job: Job) -> Sequence[str]: ...

    @abstractmethod
    def preview(self, job: Job, party: str, released: Path) -> Mapping[str, Json]: ...

    @abstractmethod
    def assemble(self, job: Job, released: Mapping[str, Path], out: Path) -> Sequence[str]: ...

    @abstractmethod
    def check_received(self, job: Job, party: str, kept: Path, folder: Path) -> Sequence[str]: ...

    @abstractmethod
    def appraise(self, job: Job, released: Mapping[str, Path]) -> Mapping[str, Json]: ...

    @abstractmethod
    def summary(self, job: Job, result: Claim) -> Sequence[str]: ...

    @abstractmethod
    def report(self, job: Job, result: Claim, folder: Path) -> Sequence[Part]: ...

    @abstractmethod
    def measure(
        self, job: Job, exhibits: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Json]: ...

    @abstractmethod
    def check(self, job: Job, result: Claim) -> None: ...

    @abstractmethod
    def verify(self, job: Job, result: Claim, folder: Path) -> Verdict: ...


def registered(kind: Kind[J, P]) -> AnyKind:
    """The kind as the registry stores it."""
    return _Registered(kind)


class _Registered(AnyKind, Generic[J, P]):
    def __init__(self, kind: Kind[J, P]) -> None:
        self._kind = kind
        self.about, self.files, self.leaves = kind.about, tuple(kind.files), tuple(kind.leaves)
        self.delivers, self.opens = tuple(kind.delivers), tuple(kind.opens)

    def _own(self, job: Job) -> J:
        if not isinstance(job, self._kind.job_type):
            raise TypeError(f"a job of kind '{job.kind}' was given to {type(self._kind).__name__}")
        return job

    def _data(self, job: Job, prepared: object) -> P:
        if not isinstance(prepared, self._kind.data_type):
            raise TypeError(f"{type(prepared).__name__} is not what kind '{job.kind}' prepares")
        return prepared

    def parse(self, section: Section, common: Common) -> Job:
        return self._own(self._kind.parse(section, common))

    def needs(self, job: Job, party: str) -> Declared:
        declared: object = self._kind.needs(self._own(job), party)
        if isinstance(declared, Needs):
            columns, matching = declared.columns, declared.matching
            groups, answers = declared.groups, declared.answers
            if columns and matching and groups and answers:
                return Declared(columns, matching, groups, answers)
        raise RefusedError(
            f"the kind '{job.kind}' does not declare what its jobs need of a party, "
            "and what nobody can judge is refused"
        )

    def told_of(self, job: Job, party: str) -> Sequence[str]:
        return self._kind.told_of(self._own(job), party)

    def prepare(self, job: Job, party: str, table: pa.Table, source: str) -> object:
        return self._kind.prepare(self._own(job), party, table, source)

    def recall(self, job: Job, party: str, prepared: object, models: Models) -> object:
        return self._kind.recall(self._own(job), party, self._data(job, prepared), models)

    def run(
        self, job: Job, prepared: object, channel: Channel, rng: Random, workspace: Workspace
    ) -> Mapping[str, Json]:
        data = self._data(job, prepared)
        return self._kind.run(self._own(job), data, channel, rng, workspace)

    def reporters(self, job: Job) -> Sequence[str]:
        return self._kind.reporters(self._own(job))

    def preview(self, job: Job, party: str, released: Path) -> Mapping[str, Json]:
        return self._kind.preview(self._own(job), party, released)

    def assemble(self, job: Job, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        left = self._kind.assemble(self._own(job), released, out)
        if undeclared := {path.split("/")[0] for path in left} - set(self.leaves):
            raise TypeError(f"the kind '{job.kind}' left {min(undeclared)} without declaring it")
        return left

    def check_received(self, job: Job, party: str, kept: Path, folder: Path) -> Sequence[str]:
        return self._kind.check_received(self._own(job), party, kept, folder)

    def appraise(self, job: Job, released: Mapping[str, Path]) -> Mapping[str, Json]:
        return self._kind.appraise(self._own(job), released)

    def summary(self, job: Job, result: Claim) -> Sequence[str]:
        return self._kind.summary(self._own(job), result)

    def report(self, job: Job, result: Claim, folder: Path) -> Sequence[Part]:
        return self._kind.report(self._own(job), result, folder)

    def measure(self, job: Job, exhibits: Mapping[str, Mapping[str, object]]) -> Mapping[str, Json]:
        return self._kind.measure(self._own(job), exhibits)

    def check(self, job: Job, result: Claim) -> None:
        self._kind.check(self._own(job), result)

    def verify(self, job: Job, result: Claim, folder: Path) -> Verdict:
        return self._kind.verify(self._own(job), result, folder)
