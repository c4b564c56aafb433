"""`coterie verify DIR` for the release of one table: does it satisfy its table file?

Everything is counted again from `release.csv` and the table file kept beside it, by code that
shares nothing with the algorithms:

* the columns are the attributes, then the class, and nothing else; rows are in sorted order;
* a value of an attribute in a qid is a value of its taxonomy, or a number or an interval of its
  range; no value lies above the bounds in `at_most`; a method that recodes whole columns shows no
  two values of which one contains the other, as a local one may;
* an attribute in no qid has values that its taxonomy or its range allows;
* every requirement holds, and the smallest groups are those that `result.json` names;
* no more records were suppressed than the file allows, and the discernibility and the risk are those
  claimed.

With the table itself at hand, `verify_source` checks more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import check_risk, group_numbers
from coterie.anonymity.models.privacy import TupleModel
from coterie.base.arrays import Ints
from coterie.base.text import numbered
from coterie.jobs.data.release_file import check_order, check_requirements, in_words, read_release
from coterie.jobs.data.released.together import Together, together_counted
from coterie.onetable.checks.numbers import check_discernibility, check_numbers
from coterie.onetable.checks.parquet import check_parquet
from coterie.onetable.checks.values import check_values
from coterie.onetable.methods.generalizing.method import Generalizing
from coterie.onetable.methods.generalizing.verify_source import check_source, shown_times
from coterie.onetable.methods.generalizing.verify_stored import verify_stored
from coterie.onetable.released import RELEASE
from coterie.onetable.table_file import TableFile

UNCHECKED = (
    "that the release is made of the table, and how much it keeps of it: --data names the table"
)
_LARGE = 1 << 25  # bytes of a release that is not read as a whole


def verify_generalized(
    method: Generalizing, file: TableFile, result: Any, folder: Path, data: Path | None
) -> dict[str, Any]:
    path = folder / RELEASE
    if _is_large(method, file, result, path):  # the other checks have it in memory
        found = verify_stored(method, file, result, path, data)
    else:
        found = _verify(method, file, result, path, data)
    together: Together | None = found.pop("together")
    exposed = together is not None and together.exposed
    return {
        "verdict": "; ".join(
            [
                f"holds: {numbered(found['records'], 'record')}, sorted so that their order tells "
                "nothing",
                *map(in_words, found["requirements"]),
                *([together.clause] if together and not exposed else []),
            ]
        ),
        "not_promised": [together.sentence] if together and exposed else [],
        "unchecked": [UNCHECKED if data is None else "whether each record is in its own group"],
        **found,
        **({"together": together.facts} if together else {}),
    }


def _is_large(method: Generalizing, file: TableFile, result: Any, path: Path) -> bool:
    """Whether a release is checked slice by slice: it was made so, or its file is large."""
    if not method.in_pieces(file):
        return False
    if any(isinstance(requirement.model, TupleModel) for requirement in file.requirements):
        return False
    return bool(result.get("on_disk")) or (path.is_file() and path.stat().st_size > _LARGE)


def _verify(
    method: Generalizing, file: TableFile, result: Any, path: Path, data: Path | None
) -> dict[str, Any]:
    table = read_release(path, file.columns, "the table file")
    check_parquet(table, path.with_suffix(".parquet"))
    records = len(next(iter(table.values())).codes)
    suppressed = check_numbers(file, result, records, path)
    check_order(table, path)
    for attribute in file.attributes:
        check_values(attribute, table[attribute.name].values, path, method.is_local(file))
    requirements = check_requirements(
        file.requirements, result["anonymity"], table, "the table file"
    )
    qids = [attribute.name for attribute in file.attributes if attribute.in_qid]
    method.check_shown(file, result, lambda name: shown_times(table[name]))
    method.check_rows(file, result, table)
    sizes: Ints = np.zeros(1, np.int64)
    if records:
        sizes = np.bincount(group_numbers([table[name] for name in qids]))
    check_discernibility(result, sizes, records, suppressed)
    check_risk(table, result, qids, [requirement.qid for requirement in file.requirements])
    found = {
        "records": records,
        "suppressed": suppressed,
        "requirements": requirements,
        "together": together_counted(file.requirements, sizes),
    }
    if data is not None:
        shown = {name: shown_times(column) for name, column in table.items()}
        found["measures"] = check_source(method, file, result, shown, data)
    return found
