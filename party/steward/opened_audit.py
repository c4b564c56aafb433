"""Opens the audit log of a state folder, for the server and for commands that work without one.

Whoever opens it first after a backup was restored has the log say so: from then on other books are
expected than the lines before have heads of.
"""

from __future__ import annotations

from typing import Any

from coterie.base.errors import CoterieError
from coterie.base.text import one_line
from coterie.party.books.audit import AuditLog
from coterie.party.books.audit_check import verify
from coterie.party.books.heads import BROUGHT_FORWARD, SEALED, STATE_RESTORED
from coterie.party.books.state_folder import require_version, take
from coterie.party.config import PartyConfig
from coterie.party.steward.backup import restored_from
from coterie.party.store.database import database, use_key

AUDIT = "audit.log"


def opened_audit(config: PartyConfig) -> AuditLog:
    """The audit log of a state folder, which must be taken."""
    use_key(config.state, config.books_key)
    forward = require_version(config.state)
    backup = restored_from(config.state)
    audit = AuditLog(config.state / AUDIT, config.audit_head, check_books=not (backup or forward))
    if forward:
        audit.note(BROUGHT_FORWARD, rows=forward["rows"], passed_over=forward["passed_over"])
        audit.lose(forward["lost"])
    if backup:
        audit.note(STATE_RESTORED, backup=backup)
    return audit


def seal_books(config: PartyConfig, person: str) -> dict[str, Any]:
    """Seals whatever is in the books with the present key; whether they were as they had been sealed."""
    state = config.state
    with take(state):
        require_version(state)
        verified = any(_is_whole(config, key) for key in (b"", config.books_key))
        use_key(state, config.books_key)
        database(state).reseal()
        audit = AuditLog(state / AUDIT, config.audit_head, check_books=False)
        facts = {"keyed": bool(config.books_key), "verified": verified}
        audit.note(SEALED, person=one_line(person), **facts)
        audit.close()
    return facts


def _is_whole(config: PartyConfig, key: bytes) -> bool:
    use_key(config.state, key)
    try:
        return verify(config.state / AUDIT, config.audit_head).books
    except CoterieError:
        return False
