"""How many records would match under each proposed rule: counted with everybody's columns at hand.

Only a simulation has them. A party server sees its own columns alone; `hygiene` tells its steward
what it finds there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from coterie.base.errors import CoterieError
from coterie.jobs.matching.hygiene import Finding, mends, profile
from coterie.jobs.matching.identifiers import Matching, identifier_texts
from coterie.jobs.matching.rules import Rule

_MOST_COMPARED = 400_000  # identifiers of all parties together


def would_match(matching: Matching, tables: Mapping[str, pa.Table]) -> dict[str, Any]:
    """What the parties' columns show, and the rules under which more records would match.

    The rules `trim`, `lower` and `number` are tried even if no party finds anything: each
    party may be consistent alone, in its own way. The answer is empty if there is nothing to say.
    """
    if sum(table.num_rows for table in tables.values()) > _MOST_COMPARED:
        return {}
    findings = {
        party: profile(table, matching.columns, matching.normalise)
        for party, table in tables.items()
    }
    now = _common(matching, tables)
    better = []
    for finding in _tries(matching, [one for found in findings.values() for one in found]):
        assert finding.rule is not None  # noqa: S101
        name = finding.column
        rules = {**matching.normalise, name: (*matching.normalise.get(name, ()), finding.rule)}
        size = _common(replace(matching, normalise=rules), tables)
        if size is not None and now is not None and (size != now or finding.count):
            better.append({"rule": finding.proposal, "records": size})
    told = {party: [one.line() for one in found] for party, found in findings.items() if found}
    return {"found": told, "would_match": better} if told or better else {}


def _tries(matching: Matching, findings: Sequence[Finding]) -> list[Finding]:
    """One finding for each rule that is worth trying; what several parties find is tried once."""
    tried = {one.proposal: one for one in findings if one.rule is not None}
    for column in matching.columns:
        known = {rule.name for rule in matching.normalise.get(column, ())}
        for rule in ("trim", "lower", "number"):
            if not mends(rule) & known:
                own = Finding(column, "", 0, Rule(rule))
                tried.setdefault(own.proposal, own)
    return list(tried.values())


def _common(matching: Matching, tables: Mapping[str, pa.Table]) -> int | None:
    """How many identifiers all tables have; None where a table cannot be read by the rules."""
    common: set[str] | None = None
    for name, table in tables.items():
        try:
            texts = set(identifier_texts(matching, table, name).to_pylist())
        except CoterieError:
            return None
        common = texts if common is None else common & texts
    return len(common or ())
