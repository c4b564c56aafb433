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

The same code runs at a party server and in `coterie simulate`. The registry holds each kind behind a
guard, which takes any job and checks that it is one of the kind's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from coterie.base.errors import RefusedError
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.needs import Needs

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.jobs.data.workspace import Workspace
    from coterie.jobs.kinds.kept_models import Models
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
    to be checked but that cannot be checked here, `not_promised` one for each thing that a reader
    might believe to be promised; `facts` are for machines.
    """

    holds: Sequence[str]
    unchecked: Sequence[str]
    facts: Mapping[str, Json]
    not_promised: Sequence[str] = ()


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

    def compare(self, job: J, exhibits: Mapping[str, Mapping[str, object]]) -> Mapping[str, Json]:
        """What a simulation adds to `result.json` on request: how other keys of the job would do."""
        return {}

    def check(self, job: J, result: Claim) -> None:
        """Raises VerificationError if a number of the result cannot be what the job promises.

        Every party calls it before it tells the coordinator the result: a server that lies about a
        share must not get its number any further.
        """

    @abstractmethod
    def verify(self, job: J, result: Claim, folder: Path) -> Verdict:
        """Checks the result folder against what the job promises."""


AnyKind: TypeAlias = "Kind[Job, object]"


def registered(kind: Kind[J, P]) -> AnyKind:
    """The kind as the registry stores it: it takes any job, and refuses one of another kind."""
    return cast("AnyKind", _Guard(kind))


class _Guard:
    """Stands before a kind, and checks what goes in and out of its methods."""

    _PREPARED: ClassVar = {
        "run": 0,
        "recall": 1,
    }  # where these have the prepared data, after the job

    def __init__(self, kind: Kind[J, P]) -> None:
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._kind, name)
        if name == "parse" or not callable(member) or isinstance(member, type):
            return member
        return partial(self._call, name, member)

    def _call(self, name: str, member: Callable[..., Any], job: Job, *rest: Any) -> Any:
        kind = self._kind
        if not isinstance(job, kind.job_type):
            raise TypeError(f"a job of kind '{job.kind}' was given to {type(kind).__name__}")
        if name in self._PREPARED and not isinstance(rest[self._PREPARED[name]], kind.data_type):
            prepared = type(rest[self._PREPARED[name]]).__name__
            raise TypeError(f"{prepared} is not what kind '{job.kind}' prepares")
        made = member(job, *rest)
        if name == "needs" and (not isinstance(made, Needs) or made.undeclared):
            raise RefusedError(
                f"the kind '{job.kind}' does not declare what its jobs need of a party, "
                "and what nobody can judge is refused"
            )
        if name == "assemble" and (
            undeclared := {path.split("/")[0] for path in made} - set(kind.leaves)
        ):
            raise TypeError(f"the kind '{job.kind}' left {min(undeclared)} without declaring it")
        return made
