"""Opens the audit log of a state folder, for the server and for commands that work without one.

Whoever opens it first after a backup was restored has the log say so: from then on other books are
expected than the lines before have heads of.
"""

from __future__ import annotations

from coterie.party.books.audit import AuditLog
from coterie.party.books.heads import BROUGHT_FORWARD, STATE_RESTORED
from coterie.party.books.state_folder import require_version
from coterie.party.config import PartyConfig
from coterie.party.steward.backup import restored_from

AUDIT = "audit.log"


def opened_audit(config: PartyConfig) -> AuditLog:
    """The audit log of a state folder, which must be taken."""
    forward = require_version(config.state)
    backup = restored_from(config.state)
    audit = AuditLog(config.state / AUDIT, config.audit_head, check_books=not (backup or forward))
    if forward:
        audit.note(BROUGHT_FORWARD, rows=forward["rows"], passed_over=forward["passed_over"])
        audit.lose(forward["lost"])
    if backup:
        audit.note(STATE_RESTORED, backup=backup)
    return audit
