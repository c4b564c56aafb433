"""The message that reports an error: to the party's log, to the coordinator and to the peers.

A party that ends with an error sends its peers a `Farewell`, from which each peer makes the error
that it ends with itself. Text from a peer is shortened to one printable line. An error in a party's
own data is not sent to the peers, who may not see that data. The party itself reports it to the
coordinator: that its columns do not fit, and more only if its policy says `explain: columns` or
`explain: rows`, because the coordinator has chosen what they must fit. What an error has
`inside` goes to the party's own log alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from coterie.base.errors import (
    INTERNAL,
    CancelledError,
    CoterieError,
    DataError,
    EnvironmentFaultError,
    PeerError,
    PeerFaultError,
    PeerLostError,
    PeerRevokedError,
    RefusedError,
)
from coterie.base.text import one_line
from coterie.protocols.messaging.opening import declare, tell
from coterie.protos.peers_pb2 import Farewell

FAREWELL = declare(
    "answer: farewell",
    what="That this party has ended a job, at which step, whom it blames and why; where its own data is to blame, that its data cannot be used and no more.",
    to="the peers of the job",
    why="The peers end the job, too, and know whom to ask.",
)

EXPLAINED = ("nothing", "columns", "rows")  # what `policy.explain` may be, the least first
UNEXPLAINED = (
    "its data does not fit this job; its data owner sees in the party's log where and why, and may "
    "permit such answers by 'explain: columns' in the policy"
)

# From a slash that begins a word to the last slash before a colon or an apostrophe.
_FOLDERS = re.compile(r"(?<![^\s'(])/(?:[^/:']+/)*(?=[^/:'\s])")


def exit_code_of(error: BaseException) -> int:
    return error.exit_code if isinstance(error, CoterieError) else INTERNAL


def describe(error: BaseException) -> str:
    """The line for the party's own logs, which contains no value of the table."""
    inside = error.inside if isinstance(error, CoterieError) else ""
    return _outside(error) + (f" [{one_line(inside)}]" if inside else "")


def _outside(error: BaseException) -> str:
    """The line as others than the party itself may see it, if they may see rows."""
    if isinstance(error, CoterieError):
        return one_line(error.message(rows=True) if isinstance(error, DataError) else str(error))
    # The text of an unforeseen error may contain data.
    return f"internal error ({type(error).__name__}); the server's log has the details"


def without_folders(text: str) -> str:
    """The text with each absolute path shortened to the name of its file."""
    return _FOLDERS.sub("", text)


def describe_to_coordinator(error: BaseException, explain: str) -> str:
    """The line for the coordinator, by `policy.explain`."""
    if explain == "nothing" and isinstance(error, DataError) and error.of_columns:
        return UNEXPLAINED
    if explain == "rows" or not isinstance(error, DataError):
        return without_folders(_outside(error))
    outline = error.message(rows=False)
    hint = "" if outline == error.message(rows=True) else " (the row is in the party's log)"
    return without_folders(one_line(outline)) + hint


def culprit_of(error: BaseException, me: str) -> str:
    return error.peer if isinstance(error, PeerError) else me


def farewell_for(error: BaseException, me: str, step: str) -> Farewell:
    """The message to the peers when this party ends with an error."""
    if isinstance(error, PeerError):
        reason, step = error.reason, error.step or step
    elif isinstance(error, DataError):
        reason = "its data cannot be used"
    else:
        reason = without_folders(_outside(error))
    return Farewell(
        failed=True,
        error=tell(FAREWELL, one_line(reason)),
        step=step,
        culprit=culprit_of(error, me),
        exit_code=exit_code_of(error),
        for_good=isinstance(error, PeerError) and error.for_good,
    )


def error_from(farewell: Farewell, sender: str, names: Collection[str]) -> CoterieError:
    """The error that a party ends with after `sender` has sent this farewell."""
    reason, step = one_line(farewell.error), one_line(farewell.step)
    if farewell.exit_code == CancelledError.exit_code:
        if reason.startswith(f"{sender}: "):
            return CancelledError(reason)
        passed_on = reason.startswith(tuple(f"{name}: " for name in names))
        return CancelledError(f"{reason}, says {sender}" if passed_on else f"{sender}: {reason}")
    culprit = farewell.culprit if farewell.culprit in names else sender
    # Added even if the text already names a source: that is only the sender's claim.
    said = "" if culprit == sender else f", says {sender}"
    kinds: tuple[type[PeerError], ...] = (PeerFaultError, PeerLostError, PeerRevokedError)
    for kind in kinds:
        if farewell.exit_code == kind.exit_code:
            error = kind(culprit, step, reason + said)
            error.said_by = sender if said else ""
            error.for_good = farewell.for_good
            return error
    stopped = PeerLostError(sender, step, f"stopped: {reason}")
    stopped.for_good = farewell.exit_code != EnvironmentFaultError.exit_code
    stopped.refused = farewell.exit_code == RefusedError.exit_code
    return stopped
