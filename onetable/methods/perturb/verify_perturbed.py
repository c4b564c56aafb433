"""`coterie verify DIR` for a perturbed table: laws, values, and with the table the noise itself.

From `release.csv`, `noise.json` and the file kept beside them: columns and order, laws that are those
of the file (95 % interval = share of the range), uniform noise within its reach, answers among the
values. With `--data`: as many records, the class as it was, means and variances that the laws give
within six standard errors, and answers as frequent as randomized response makes them.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released
from coterie.base.errors import VerificationError
from coterie.base.text import numbered
from coterie.jobs.data.release_file import check_order, read_release
from coterie.jobs.data.sources import read_table
from coterie.jobs.file.result_file import RESULT, read_json
from coterie.onetable.methods.perturb.keys import Perturbed, PerturbFile
from coterie.onetable.methods.perturb.run import LAWS
from coterie.onetable.released import RELEASE

UNCHECKED = (
    "that the noise is independent of the records, and of the operating system's making",
    "that the release is made of the table: --data names the table",
)
_VARIANCES = {"normal": 1.0, "uniform": 1 / 3}
_LIMIT = 6.0  # standard errors


def verify_perturbed(
    file: PerturbFile, result: Any, folder: Path, data: Path | None
) -> dict[str, Any]:
    path, laws = folder / RELEASE, read_json(folder / LAWS)
    table = read_release(path, file.columns, "the file")
    check_order(table, path)
    records = len(next(iter(table.values())).codes)
    for key, own in (("method", file.method), ("records", records)):
        if result[key] != own:
            raise VerificationError(f"{path}: {key} is {own}, but {RESULT} says {result[key]}")
    if laws["class"] != file.class_name or list(laws["columns"]) != [
        attribute.name for attribute in file.attributes
    ]:
        raise VerificationError(f"{folder / 'noise.json'}: has other columns than the file")
    for attribute in file.attributes:
        _check_column(attribute, table[attribute.name], laws["columns"][attribute.name], folder)
    if data is not None:
        _check_source(file, table, int(result["dropped"]), data)
    return {
        "verdict": f"holds: {numbered(records, 'record')} of which "
        f"{numbered(len(file.attributes), 'column')} can have the noise that the file asks for",
        "unchecked": list(UNCHECKED if data is None else UNCHECKED[:1]),
        "records": records,
    }


def _check_column(attribute: Perturbed, shown: Released, law: Any, folder: Path) -> None:
    where = f"column '{attribute.name}'"
    if attribute.noise is None:
        if law != {"values": list(attribute.values), "keep": attribute.keep}:
            raise VerificationError(f"{folder / 'noise.json'}: {where} has another law")
        strange = [value for value in shown.values if value not in attribute.values]
        if strange:
            raise VerificationError(f"{where}: '{strange[0]}' is not among its values")
        return
    expected = attribute.noise.size
    if (law["law"], law["range"]) != (attribute.noise.law, list(attribute.limits)) or not (
        math.isclose(law["size"], expected, rel_tol=1e-9)
    ):
        raise VerificationError(f"{folder / 'noise.json'}: {where} has another law")
    for value in shown.values:
        number = float(value)
        low, high = attribute.limits[0] - expected, attribute.limits[1] + expected
        slack = 1e-5 * expected
        bounded = attribute.noise.law == "uniform"
        if not math.isfinite(number) or (bounded and not low - slack <= number <= high + slack):
            raise VerificationError(f"{where}: '{value}' is not within reach of its noise")


def _check_source(file: PerturbFile, table: dict[str, Released], dropped: int, data: Path) -> None:
    text = read_table(data, file.columns)
    rows = list(zip(*(text.column(name).to_pylist() for name in file.columns), strict=True))
    width = len(file.attributes)
    kept = [
        row
        for row in rows
        if not file.drop
        or all(
            value is not None and (value != "?" or "?" in attribute.values)
            for attribute, value in zip(file.attributes, row[:width], strict=True)
        )
    ]
    records = len(next(iter(table.values())).codes)
    if (len(kept), len(rows) - len(kept)) != (records, dropped):
        raise VerificationError(
            f"{data}: has {len(kept)} whole records, the release {records} and {dropped} dropped"
        )
    for j, attribute in enumerate(file.attributes):
        shown = table[attribute.name]
        own = [row[j] for row in kept]
        if attribute.noise is None:
            said = np.bincount(shown.codes, minlength=len(shown.values))
            seen = dict(zip(shown.values, said.tolist(), strict=True))
            true = Counter(own)
            for value in attribute.values:
                other = (1 - attribute.keep) / len(attribute.values)
                stays = attribute.keep + other
                mean = true[value] * stays + (records - true[value]) * other
                spread = true[value] * stays * (1 - stays)
                spread += (records - true[value]) * other * (1 - other)
                if abs(seen.get(value, 0) - mean) > _LIMIT * math.sqrt(spread) + 1:
                    raise VerificationError(
                        f"{data}: column '{attribute.name}': '{value}' is not as frequent as its "
                        "law makes it"
                    )
            continue
        x = np.array([float(value) for value in own])
        z = np.array([float(value) for value in shown.values])[shown.codes]
        variance = _VARIANCES[attribute.noise.law] * attribute.noise.size**2
        error = math.sqrt(variance / records)
        if abs(z.mean() - x.mean()) > _LIMIT * error + 1e-5 * attribute.noise.size:
            raise VerificationError(f"{data}: column '{attribute.name}' has another mean")
        # Var(z) - Var(x) - σ² is an average of noise², and twice the covariance of x and y.
        spread = math.sqrt((2 * variance**2 + 4 * variance * float(x.var())) / records)
        if abs(float(z.var()) - float(x.var()) - variance) > _LIMIT * spread + 1e-4 * variance:
            raise VerificationError(f"{data}: column '{attribute.name}' has another variance")
    if file.class_name is not None:
        shown = table[file.class_name]
        if Counter(row[-1] for row in kept) != Counter(
            {v: int((shown.codes == i).sum()) for i, v in enumerate(shown.values)}
        ):
            raise VerificationError(f"{data}: the class is not that of the release")
