"""Opens the audit log of a state folder, for the server and for commands that work without one.

Whoever opens it first after an upgrade, or after a backup was restored, has the log say so: from then on
other books are expected than the lines before have heads of.
"""

from __future__ import annotations

import logging

from coterie.party.books.audit import AuditLog
from coterie.party.books.state_folder import bring_forward
from coterie.party.config import PartyConfig
from coterie.party.steward.backup import restored_from

AUDIT = "audit.log"
log = logging.getLogger("coterie.party")


def opened_audit(config: PartyConfig) -> AuditLog:
    """The audit log of a state folder, which must be taken and is brought to this version."""
    before, after = bring_forward(config.state)
    backup = restored_from(config.state)
    same = not backup and before == after
    audit = AuditLog(config.state / AUDIT, config.audit_head, check_books=same)
    if backup:
        audit.note("state restored", backup=backup)
    if before != after:
        log.info("%s: brought from version %d to %d", config.state, before, after)
        audit.note("state brought forward", before=before, after=after)
    return audit
