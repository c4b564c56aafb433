from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATE_UNSPECIFIED: _ClassVar[State]
    WAITING: _ClassVar[State]
    ACCEPTED: _ClassVar[State]
    REFUSED: _ClassVar[State]
    RUNNING: _ClassVar[State]
    FINISHED: _ClassVar[State]
    FAILED: _ClassVar[State]
    CANCELLED: _ClassVar[State]
    QUEUED: _ClassVar[State]
STATE_UNSPECIFIED: State
WAITING: State
ACCEPTED: State
REFUSED: State
RUNNING: State
FINISHED: State
FAILED: State
CANCELLED: State
QUEUED: State

class DescribeRequest(_message.Message):
    __slots__ = ("job_yaml", "files")
    class FilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    JOB_YAML_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    job_yaml: str
    files: _containers.ScalarMap[str, bytes]
    def __init__(self, job_yaml: _Optional[str] = ..., files: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class Check(_message.Message):
    __slots__ = ("name", "ok", "detail")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OK_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    name: str
    ok: bool
    detail: str
    def __init__(self, name: _Optional[str] = ..., ok: _Optional[bool] = ..., detail: _Optional[str] = ...) -> None: ...

class Description(_message.Message):
    __slots__ = ("party", "version", "unix_time", "checks", "wire", "configuration")
    PARTY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    UNIX_TIME_FIELD_NUMBER: _ClassVar[int]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    WIRE_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    party: str
    version: str
    unix_time: float
    checks: _containers.RepeatedCompositeFieldContainer[Check]
    wire: int
    configuration: Configuration
    def __init__(self, party: _Optional[str] = ..., version: _Optional[str] = ..., unix_time: _Optional[float] = ..., checks: _Optional[_Iterable[_Union[Check, _Mapping]]] = ..., wire: _Optional[int] = ..., configuration: _Optional[_Union[Configuration, _Mapping]] = ...) -> None: ...

class Configuration(_message.Message):
    __slots__ = ("digest", "since", "refused")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    digest: str
    since: float
    refused: str
    def __init__(self, digest: _Optional[str] = ..., since: _Optional[float] = ..., refused: _Optional[str] = ...) -> None: ...

class Proposal(_message.Message):
    __slots__ = ("job_id", "job_yaml", "files", "unix_time")
    class FilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_YAML_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    UNIX_TIME_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    job_yaml: str
    files: _containers.ScalarMap[str, bytes]
    unix_time: float
    def __init__(self, job_id: _Optional[str] = ..., job_yaml: _Optional[str] = ..., files: _Optional[_Mapping[str, bytes]] = ..., unix_time: _Optional[float] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("state", "reason", "exit_code", "records", "resumable", "unix_time", "wire")
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    RESUMABLE_FIELD_NUMBER: _ClassVar[int]
    UNIX_TIME_FIELD_NUMBER: _ClassVar[int]
    WIRE_FIELD_NUMBER: _ClassVar[int]
    state: State
    reason: str
    exit_code: int
    records: int
    resumable: bool
    unix_time: float
    wire: int
    def __init__(self, state: _Optional[_Union[State, str]] = ..., reason: _Optional[str] = ..., exit_code: _Optional[int] = ..., records: _Optional[int] = ..., resumable: _Optional[bool] = ..., unix_time: _Optional[float] = ..., wire: _Optional[int] = ...) -> None: ...

class Approval(_message.Message):
    __slots__ = ("job_id", "yes", "reason", "person", "about")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    YES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PERSON_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    yes: bool
    reason: str
    person: str
    about: str
    def __init__(self, job_id: _Optional[str] = ..., yes: _Optional[bool] = ..., reason: _Optional[str] = ..., person: _Optional[str] = ..., about: _Optional[str] = ...) -> None: ...

class JobRef(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class Started(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Cancellation(_message.Message):
    __slots__ = ("job_id", "reason", "person")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PERSON_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    reason: str
    person: str
    def __init__(self, job_id: _Optional[str] = ..., reason: _Optional[str] = ..., person: _Optional[str] = ...) -> None: ...

class Cancelled(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Event(_message.Message):
    __slots__ = ("state", "step", "done", "total", "sent_bytes", "received_bytes", "seconds", "error", "exit_code", "culprit", "place", "sent_to", "waits")
    class SentToEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    SENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    CULPRIT_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    SENT_TO_FIELD_NUMBER: _ClassVar[int]
    WAITS_FIELD_NUMBER: _ClassVar[int]
    state: State
    step: str
    done: int
    total: int
    sent_bytes: int
    received_bytes: int
    seconds: float
    error: str
    exit_code: int
    culprit: str
    place: int
    sent_to: _containers.ScalarMap[str, int]
    waits: str
    def __init__(self, state: _Optional[_Union[State, str]] = ..., step: _Optional[str] = ..., done: _Optional[int] = ..., total: _Optional[int] = ..., sent_bytes: _Optional[int] = ..., received_bytes: _Optional[int] = ..., seconds: _Optional[float] = ..., error: _Optional[str] = ..., exit_code: _Optional[int] = ..., culprit: _Optional[str] = ..., place: _Optional[int] = ..., sent_to: _Optional[_Mapping[str, int]] = ..., waits: _Optional[str] = ...) -> None: ...

class FileChunk(_message.Message):
    __slots__ = ("path", "data", "last", "job_id")
    PATH_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    path: str
    data: bytes
    last: bool
    job_id: str
    def __init__(self, path: _Optional[str] = ..., data: _Optional[bytes] = ..., last: _Optional[bool] = ..., job_id: _Optional[str] = ...) -> None: ...

class Delivered(_message.Message):
    __slots__ = ("digest", "holds", "same")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    SAME_FIELD_NUMBER: _ClassVar[int]
    digest: str
    holds: _containers.RepeatedScalarFieldContainer[str]
    same: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, digest: _Optional[str] = ..., holds: _Optional[_Iterable[str]] = ..., same: _Optional[_Iterable[str]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("after",)
    AFTER_FIELD_NUMBER: _ClassVar[int]
    after: str
    def __init__(self, after: _Optional[str] = ...) -> None: ...

class JobList(_message.Message):
    __slots__ = ("jobs", "more")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[JobSummary]
    more: bool
    def __init__(self, jobs: _Optional[_Iterable[_Union[JobSummary, _Mapping]]] = ..., more: _Optional[bool] = ...) -> None: ...

class PruneRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ModelRef(_message.Message):
    __slots__ = ("name", "person")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PERSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    person: str
    def __init__(self, name: _Optional[str] = ..., person: _Optional[str] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class JobSummary(_message.Message):
    __slots__ = ("job_id", "name", "kind", "coordinator", "state", "detail", "job_yaml", "place", "proposed", "since", "held")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COORDINATOR_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    JOB_YAML_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    name: str
    kind: str
    coordinator: str
    state: State
    detail: str
    job_yaml: str
    place: int
    proposed: float
    since: float
    held: str
    def __init__(self, job_id: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[str] = ..., coordinator: _Optional[str] = ..., state: _Optional[_Union[State, str]] = ..., detail: _Optional[str] = ..., job_yaml: _Optional[str] = ..., place: _Optional[int] = ..., proposed: _Optional[float] = ..., since: _Optional[float] = ..., held: _Optional[str] = ...) -> None: ...
