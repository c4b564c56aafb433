"""The names that a party, a coordinator and a job may have.

A name appears in certificates, addresses and file names and on terminals, so it is short, has no
space and no path separator, and begins with a letter or a digit.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_JOB_ID = re.compile(r"[0-9a-f]{32}")
RULE = "letters, digits, '_', '.', '-', at most 64"


def is_name(text: str) -> bool:
    """Whether a party, a coordinator or a job may have this name."""
    return _NAME.fullmatch(text) is not None


def is_job_id(text: str) -> bool:
    """Whether this is the number that a coordinator gives a job: 128 random bits in hex digits."""
    return _JOB_ID.fullmatch(text) is not None
