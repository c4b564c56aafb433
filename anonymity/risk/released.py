"""The risk of a release: by all its quasi-identifiers together, and by each qid alone.

A requirement promises something for those who know one qid. Somebody who knows the columns of several
may find more, which the figure for all of them shows. Definitions, cost and errata:
`reidentification`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.anonymity.risk.grouping import group_sizes
from coterie.anonymity.risk.reidentification import risk_of
from coterie.base.arrays import Codes


def release_risk(columns: Mapping[str, Codes], qids: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What `result.json` says under `risk`; `columns` are the released ones in a qid."""
    records = len(next(iter(columns.values()))) if columns else 0
    different = list(dict.fromkeys(tuple(qid) for qid in qids))
    whole = risk_of(group_sizes(list(columns.values()), records)).as_dict()
    return {
        **whole,
        "by_qid": [
            {
                "qid": list(qid),
                **risk_of(group_sizes([columns[name] for name in qid], records)).as_dict(),
            }
            for qid in different
        ],
    }
