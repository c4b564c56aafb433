"""Priorities learned from a file of queries: which columns people ask for.

Xiong, Rangachari, "Towards application-oriented data anonymization" (P3DM 2008), section 4.2: the
weight of an attribute is how often it stands in the SELECT lists and WHERE clauses of a query log,
divided by the largest such number. Only names are looked for; no query is run. Texts in quotation marks
and comments are left aside, so that a value with the name of a column does not count.

A weight is from 0 to 1. Erratum: the article adds weights to the score of a cut, so that weights of 0
and 1 exhaust one attribute before the others are looked at. Here a priority multiplies the score, and a
weight w becomes the priority 1 + 3 w: the column asked for most counts four times as much as one that
nobody asks for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coterie.base.errors import DataError

MOST = 4.0
_ASIDE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.S)
_SELECTED = re.compile(r"\bselect\b(.*?)\bfrom\b", re.S | re.I)
_CONDITIONS = re.compile(
    r"\bwhere\b(.*?)(?=\bgroup\s+by\b|\border\s+by\b|\bhaving\b|\blimit\b|\bunion\b|\bselect\b|;|\Z)",
    re.S | re.I,
)


def priorities(text: str, names: Sequence[str], source: str = "queries") -> dict[str, float]:
    """A priority for every name; an error if no query names any of them."""
    plain = _ASIDE.sub(" ", text)
    parts = [match[1] for pattern in (_SELECTED, _CONDITIONS) for match in pattern.finditer(plain)]
    counts = {name: sum(_occurs(name, part) for part in parts) for name in names}
    most = max(counts.values(), default=0)
    if not most:
        raise DataError(f"{source}: no query selects by, or asks for, an attribute of the table")
    return {name: 1 + (MOST - 1) * count / most for name, count in counts.items()}


def _occurs(name: str, part: str) -> int:
    """How often the name stands alone, or in double quotes, backticks or brackets."""
    edge = r"[\w-]" if "-" in name else r"\w"
    pattern = rf"(?<!{edge}){re.escape(name)}(?!{edge})"
    return len(re.findall(pattern, part, re.I))
