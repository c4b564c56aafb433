"""A release of one table that generalizes values, made in memory."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.risk.released import release_risk
from coterie.anonymity.specialization.specialize import suppression_limit
from coterie.jobs.kinds.integrate.release_table import Coded
from coterie.onetable.methods.registry import generalizing
from coterie.onetable.prepare import Prepared, named_in_errors
from coterie.onetable.released import MadeOfColumns, about_job, generalized_lines
from coterie.onetable.table_file import TableFile


@dataclass(frozen=True)
class Generalized(MadeOfColumns[TableFile]):
    answer: Anonymized

    def lines(self, out: Path) -> list[str]:
        return generalized_lines(self.result, out)


def anonymise_file(file: TableFile) -> Generalized:
    """Reads, anonymises and measures a table; writes nothing."""
    begun = time.perf_counter()
    prepared = generalizing(file.method).prepared(file)
    read = time.perf_counter()
    with named_in_errors(file.source):
        made = anonymise_prepared(file, prepared)
    done = time.perf_counter()
    made.result["seconds"] = {"read": round(read - begun, 3), "anonymise": round(done - read, 3)}
    made.result["job"] = about_job(file)
    return made


def anonymise_prepared(file: TableFile, prepared: Prepared) -> Generalized:
    """The release of a table that has been read."""
    table = prepared.table
    most = suppression_limit(file.max_suppression, table.records)
    answer = generalizing(file.method).anonymised(file, table, most)
    result = {
        "method": file.method,
        "records": len(answer.kept),
        "suppressed": answer.suppressed,
        "dropped": prepared.dropped,
        "anonymity": answer.anonymity(file.requirements),
        "risk": release_risk(
            {name: column.codes for name, column in answer.columns.items()},
            [requirement.qid for requirement in file.requirements],
        ),
        "utility": answer.utility_by_use(file.class_name).as_dict(),
        **answer.details,
        **({"priorities": dict(table.priority)} if len(set(table.priority.values())) > 1 else {}),
    }
    return Generalized(file, result, _columns(file, prepared, answer), answer)


def _columns(file: TableFile, prepared: Prepared, answer: Anonymized) -> dict[str, Coded]:
    """The columns of the release, in its order."""
    columns = {}
    for name in file.columns:
        if name in answer.columns:
            shown = answer.columns[name]
            columns[name] = Coded(shown.codes, shown.labels)
        else:
            plain = prepared.plain[name].take(answer.kept)
            columns[name] = Coded(plain.codes, plain.values)
    return columns
