"""A party server that kills itself, as `kill -9` does, before or after it has written a booking.

    python -m tests.party.mortal_ledger PARTY.yaml before|after NUMBER

counts the bookings in the ledger from 1.
"""

from __future__ import annotations

import os
import signal
import sys

from coterie.__main__ import run
from coterie.party.books.ledger_lines import Booking, LedgerFile


def mortal(when: str, number: int) -> None:
    """Has this process die at the booking."""
    append = LedgerFile.append
    seen = 0

    def die(file: LedgerFile, line: object) -> None:
        nonlocal seen
        seen += isinstance(line, Booking)
        if when == "before" and seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
        append(file, line)  # type: ignore[arg-type]
        if when == "after" and seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    LedgerFile.append = die  # type: ignore[method-assign]


if __name__ == "__main__":
    mortal(sys.argv[2], int(sys.argv[3]))
    sys.exit(run(["party", "serve", sys.argv[1], "--json"]))
