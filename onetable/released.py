"""What any release of one table leaves: its files, then `result.json`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from coterie import __version__
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.utility.measures import utility_lines
from coterie.base.text import first_names, numbered
from coterie.jobs.data.released.together import together_claimed
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.kinds.integrate.release_table import Coded, write_parquet, write_release
from coterie.jobs.run.archive import save_job
from coterie.onetable.table_file import MethodFile, TableFile

RELEASE, PARQUET = "release.csv", "release.parquet"
F = TypeVar("F", bound=TableFile | MethodFile)


@dataclass(frozen=True)
class Made(ABC, Generic[F]):
    """A release that is whole and measured, and not yet written."""

    file: F
    result: dict[str, Any]  # the content of `result.json`

    @abstractmethod
    def lines(self, out: Path) -> list[str]:
        """The result in a few lines for a person."""

    @abstractmethod
    def write_tables(self, out: Path, parquet: bool) -> None:
        """Writes all files but the result."""

    def write(self, out: Path, parquet: bool = False) -> None:
        """Writes the release, then the result: a folder with a result has a whole release."""
        self.write_tables(out, parquet)
        save_job(self.file, out)
        (out / RESULT).write_text(json.dumps(self.result, indent=1) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class MadeOfColumns(Made[F]):
    """A release in memory: one table."""

    columns: Mapping[str, Coded]

    def write_tables(self, out: Path, parquet: bool) -> None:
        write_release(self.columns, out / RELEASE)
        if parquet:
            write_parquet(self.columns, out / PARQUET)


def about_job(file: TableFile | MethodFile) -> dict[str, str]:
    """Which file made a release, and when."""
    return {
        "digest": file.digest,
        "version": __version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def choices(file: TableFile) -> list[str]:
    """What was chosen for a table without a table file; the result says the rest."""
    unchanged = [a.name for a in file.attributes if not a.in_qid]
    return [
        *(
            [f"left out, as identifiers: {first_names(file.identifiers)}"]
            if file.identifiers
            else []
        ),
        *([f"released unchanged, in no qid: {first_names(unchanged)}"] if unchanged else []),
    ]


def generalized_lines(result: dict[str, Any], out: Path) -> list[str]:
    """A result that generalizes values in a few lines for a person."""
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
    found += [f"release: {out / RELEASE}", f"result: {out / RESULT}"]
    return [*found, *([f"report: {page}"] if (page := out / "report.html").exists() else [])]
