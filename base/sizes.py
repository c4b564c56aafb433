"""Numbers of bytes as people write them, and the memory of this machine."""

from __future__ import annotations

import os
import re

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
LEAST = 16 * 10**6  # bytes; no budget of memory is smaller


def read_bytes(text: str) -> int:
    """A number of bytes, such as `512MB` or `4GB`; a `ValueError` says what is wrong."""
    match = re.fullmatch(r"([0-9]{1,18})\s*([KMGT]?B?)", text.upper())
    unit = match[2] if match else ""
    factor = _UNITS.get(unit if unit.endswith("B") or not unit else unit + "B")
    if not match or factor is None:
        raise ValueError(f"must be a size such as 512MB or 4GB, not '{text}'")
    size = int(match[1]) * factor
    if size < LEAST:
        raise ValueError("must be at least 16MB")
    return size


def half_of_the_memory() -> int:
    """The budget of memory, in bytes, if the user gives none."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
