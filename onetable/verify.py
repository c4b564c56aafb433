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

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from coterie.anonymity.models.audit import Released, check_risk, group_numbers
from coterie.anonymity.models.privacy import TupleModel
from coterie.base.arrays import Ints
from coterie.base.errors import DataError, VerificationError
from coterie.base.text import first_names, numbered
from coterie.jobs.data.release_file import (
    check_order,
    check_requirements,
    in_words,
    read_release,
)
from coterie.jobs.data.released.together import Together, together_counted
from coterie.jobs.data.sources import read_table
from coterie.jobs.file.document import read_document
from coterie.jobs.file.result_file import RESULT, read_json
from coterie.jobs.run.archive import saved_path
from coterie.onetable.anatomy.verify import check_anatomy
from coterie.onetable.checks.numbers import check_discernibility, check_numbers
from coterie.onetable.checks.values import check_values
from coterie.onetable.condense.keys import CONDENSE
from coterie.onetable.condense.verify import verify_condensed
from coterie.onetable.large.verify import verify_stored
from coterie.onetable.quantiles.verify import check_groups
from coterie.onetable.table_file import TableFile, load_table_file
from coterie.onetable.verify_source import check_source, shown_times

RELEASE = "release.csv"
UNCHECKED = (
    "that the release is made of the table, and how much it keeps of it: --data names the table"
)
_LARGE = 1 << 25  # bytes of a release that is not read as a whole
LOCAL = ("mondrian", "cluster")  # methods that may release one value in several ways


def is_table_result(folder: Path) -> bool:
    """Whether a result folder came from a table file rather than from a job."""
    path = saved_path(folder)
    return read_document(path.read_text(encoding="utf-8"), str(path)).optional("kind") is None


def verify_table(folder: Path, data: Path | None = None) -> dict[str, Any]:
    """The checks that hold; raises a `VerificationError` for the first that does not."""
    file = load_table_file(saved_path(folder))
    result = read_json(folder / RESULT)
    try:
        if file.method == CONDENSE:
            return verify_condensed(file, result, folder / RELEASE, data)
        if file.method == "anatomy":
            return _verify_anatomy(file, result, folder, data)
        if _is_large(file, result, folder / RELEASE):  # the other checks have it in memory
            found = verify_stored(file, result, folder / RELEASE, data)
        else:
            found = _verify(file, result, folder / RELEASE, data)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise VerificationError(
            f"{folder / RESULT}: not the result of such a table file ({error})"
        ) from None
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
        "job": "table",
        "kind": f"anonymise ({file.method})",
        "digest": file.digest,
        **found,
        **({"together": together.facts} if together else {}),
    }


def _is_large(file: TableFile, result: Any, path: Path) -> bool:
    """Whether a release is checked slice by slice: it was made so, or its file is large."""
    if file.method not in ("mondrian", "quantiles") or file.quantiles.by == "rank":
        return False
    if any(isinstance(requirement.model, TupleModel) for requirement in file.requirements):
        return False
    return bool(result.get("on_disk")) or (path.is_file() and path.stat().st_size > _LARGE)


def _verify_anatomy(
    file: TableFile, result: Any, folder: Path, data: Path | None
) -> dict[str, Any]:
    found, unchecked = check_anatomy(file, result, folder, data)
    _check_parquet(found.columns, folder / "release.parquet")
    for attribute in file.attributes:
        if attribute.in_qid:  # published as it is, like a column in no qid
            plain = replace(attribute, in_qid=False)
            shown = found.columns[attribute.name].values
            check_values(plain, shown, folder / RELEASE, local=True)
    return {
        "verdict": "; ".join(
            [
                f"holds: {numbered(found.records, 'record')} in groups of at least "
                f"{min(one['smallest'] for one in found.requirements):,}",
                *dict.fromkeys(name for one in found.requirements for name in one["models"]),
                f"published without any change: {first_names(found.raw)}",
            ]
        ),
        "unchecked": unchecked,
        "job": "table",
        "kind": "anonymise (anatomy)",
        "digest": file.digest,
        "records": found.records,
        "suppressed": 0,
        "requirements": found.requirements,
    }


def _verify(file: TableFile, result: Any, path: Path, data: Path | None) -> dict[str, Any]:
    table = read_release(path, file.columns, "the table file")
    _check_parquet(table, path.with_suffix(".parquet"))
    records = len(next(iter(table.values())).codes)
    suppressed = check_numbers(file, result, records, path)
    check_order(table, path)
    local = file.method in LOCAL or (file.method == "quantiles" and file.quantiles.by == "rank")
    for attribute in file.attributes:
        check_values(attribute, table[attribute.name].values, path, local)
    requirements = check_requirements(
        file.requirements, result["anonymity"], table, "the table file"
    )
    qids = [attribute.name for attribute in file.attributes if attribute.in_qid]
    for name in qids if file.method == "quantiles" else ():
        check_groups(name, shown_times(table[name]), result["quantiles"][name])
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
        found["measures"] = check_source(file, result, shown, data)
    return found


def _check_parquet(table: Mapping[str, Released], path: Path) -> None:
    """The Parquet file, where there is one, has the same rows."""
    if not path.exists():
        return
    try:
        other = read_table(path, list(table))
    except DataError as error:
        raise VerificationError(str(error)) from None
    for name, column in table.items():
        own = [column.values[code] for code in column.codes.tolist()]
        if own != pc.fill_null(other.column(name), "").to_pylist():
            raise VerificationError(f"{path}: column '{name}' is not that of {RELEASE}")
