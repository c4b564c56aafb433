from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Ask(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESERVE: _ClassVar[Ask]
    RELEASE: _ClassVar[Ask]
    BEGIN: _ClassVar[Ask]
    INQUIRE: _ClassVar[Ask]
RESERVE: Ask
RELEASE: Ask
BEGIN: Ask
INQUIRE: Ask

class Reservation(_message.Message):
    __slots__ = ("session", "ask", "wait")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    session: str
    ask: Ask
    wait: float
    def __init__(self, session: _Optional[str] = ..., ask: _Optional[_Union[Ask, str]] = ..., wait: _Optional[float] = ...) -> None: ...

class Reserved(_message.Message):
    __slots__ = ("granted", "place", "finished")
    GRANTED_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    granted: bool
    place: int
    finished: bool
    def __init__(self, granted: _Optional[bool] = ..., place: _Optional[int] = ..., finished: _Optional[bool] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("session", "step", "sequence", "size", "chunk", "padding", "heartbeat", "farewell")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    PADDING_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    FAREWELL_FIELD_NUMBER: _ClassVar[int]
    session: str
    step: str
    sequence: int
    size: int
    chunk: bytes
    padding: bytes
    heartbeat: bool
    farewell: Farewell
    def __init__(self, session: _Optional[str] = ..., step: _Optional[str] = ..., sequence: _Optional[int] = ..., size: _Optional[int] = ..., chunk: _Optional[bytes] = ..., padding: _Optional[bytes] = ..., heartbeat: _Optional[bool] = ..., farewell: _Optional[_Union[Farewell, _Mapping]] = ...) -> None: ...

class Farewell(_message.Message):
    __slots__ = ("failed", "error", "step", "culprit", "exit_code", "for_good")
    FAILED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CULPRIT_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    FOR_GOOD_FIELD_NUMBER: _ClassVar[int]
    failed: bool
    error: str
    step: str
    culprit: str
    exit_code: int
    for_good: bool
    def __init__(self, failed: _Optional[bool] = ..., error: _Optional[str] = ..., step: _Optional[str] = ..., culprit: _Optional[str] = ..., exit_code: _Optional[int] = ..., for_good: _Optional[bool] = ...) -> None: ...

class SessionRef(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: str
    def __init__(self, session: _Optional[str] = ...) -> None: ...

class Parting(_message.Message):
    __slots__ = ("session", "farewell")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    FAREWELL_FIELD_NUMBER: _ClassVar[int]
    session: str
    farewell: Farewell
    def __init__(self, session: _Optional[str] = ..., farewell: _Optional[_Union[Farewell, _Mapping]] = ...) -> None: ...

class Parted(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Received(_message.Message):
    __slots__ = ("session", "digest")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    session: str
    digest: str
    def __init__(self, session: _Optional[str] = ..., digest: _Optional[str] = ...) -> None: ...
