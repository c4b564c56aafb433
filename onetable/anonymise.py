"""`coterie anonymise TABLE.yaml --out DIR`: makes an anonymous release of one table."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coterie import __version__
from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.methods import Settings, anonymise
from coterie.anonymity.risk.released import release_risk
from coterie.anonymity.specialization.specialize import Requirement, suppression_limit
from coterie.anonymity.utility.measures import utility_lines
from coterie.base.text import first_names, numbered
from coterie.jobs.data.released.together import together_claimed
from coterie.jobs.kinds.integrate.release_table import Coded, write_parquet, write_release
from coterie.jobs.run.archive import save_job
from coterie.onetable.prepare import Prepared, named_in_errors, prepare
from coterie.onetable.table_file import MethodFile, TableFile

RELEASE, PARQUET, RESULT = "release.csv", "release.parquet", "result.json"


def anonymise_file(file: TableFile) -> tuple[Prepared, Anonymized, dict[str, Any]]:
    """Reads, anonymises and measures a table; writes nothing."""
    begun = time.perf_counter()
    prepared = prepare(file)
    read = time.perf_counter()
    with named_in_errors(file.source):
        answer, result = anonymise_prepared(file, prepared)
    done = time.perf_counter()
    result["seconds"] = {"read": round(read - begun, 3), "anonymise": round(done - read, 3)}
    result["job"] = about_job(file)
    return prepared, answer, result


def about_job(file: TableFile | MethodFile) -> dict[str, str]:
    """Which file made a release, and when."""
    return {
        "digest": file.digest,
        "version": __version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def anonymise_prepared(file: TableFile, prepared: Prepared) -> tuple[Anonymized, dict[str, Any]]:
    """The release, and the content of `result.json`."""
    table = prepared.table
    settings = Settings(file.cost, file.score, file.class_name, file.mondrian, file.quantiles)
    most = suppression_limit(file.max_suppression, table.records)
    answer = anonymise(file.method, table, file.requirements, most, settings)
    return answer, {
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


def write_result(
    file: TableFile,
    prepared: Prepared,
    answer: Anonymized,
    result: dict[str, Any],
    out: Path,
    parquet: bool = False,
) -> None:
    """Writes the release, then the result: a folder with a result has a whole release."""
    columns = release_columns(file, prepared, answer)
    write_release(columns, out / RELEASE)
    if parquet:
        write_parquet(columns, out / PARQUET)
    save_job(file, out)
    (out / RESULT).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def release_columns(file: TableFile, prepared: Prepared, answer: Anonymized) -> dict[str, Coded]:
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


def lines(result: dict[str, Any], out: Path) -> list[str]:
    """The result in a few lines for a person."""
    gone = f", {result['suppressed']:,} suppressed" if result["suppressed"] else ""
    dropped = f", {result['dropped']:,} dropped for missing values" if result["dropped"] else ""
    found = [f"{result['method']}: {numbered(result['records'], 'record')}{gone}{dropped}"]
    found += [
        f"  k={entry['k']} on {first_names(entry['qid'])}: smallest group {entry['smallest']} "
        f"of {entry['groups']:,}"
        for entry in result["anonymity"]
    ]
    risk = result["risk"]
    found.append(
        f"  risk to be found: highest {risk['prosecutor']:.3g}, mean {risk['marketer']:.3g}"
    )
    found += [f"  {line}" for line in utility_lines(result["utility"])]
    entries = [Requirement(tuple(entry["qid"]), entry["k"]) for entry in result["anonymity"]]
    together = together_claimed(entries, result["records"], risk)
    if together is not None and together.exposed:
        found.append(f"  not promised: {together.sentence}")
    return [*found, f"release: {out / RELEASE}", f"result: {out / RESULT}"]
