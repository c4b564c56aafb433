"""`coterie perturb TABLE.yaml --out DIR`: noise on every column, and what the noise really hides.

The release has the noisy values in sorted rows, and `noise.json` the laws, with which anybody may
reconstruct distributions. `result.json` has what attacks on this very table find, which rests on the
true values and stays in the house.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.anonymity.randomization.attacks import (
    linear_guess,
    mean_error,
    narrowed,
    projection,
)
from coterie.anonymity.randomization.response import epsilon, guessed_right, respond
from coterie.anonymity.table.columns import NUMBERS_ONLY, continuous_column, encode_text
from coterie.anonymity.table.scales import declared_form, number_text
from coterie.base.arrays import Array, Floats, Ints
from coterie.base.errors import DataError
from coterie.base.randomness import SYSTEM, Bytewise
from coterie.base.text import numbered
from coterie.jobs.data.missing import gaps_of, refuse_gaps
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.kinds.integrate.release_table import Coded
from coterie.onetable.methods.perturb.keys import Perturbed, PerturbFile
from coterie.onetable.released import RELEASE, MadeOfColumns, about_job

LAWS = "noise.json"
_FINE = 1e6  # steps of the written values in a 95 % interval
_DROP = "say 'missing: drop' to leave such rows out"


@dataclass(frozen=True)
class Noisy(MadeOfColumns[PerturbFile]):
    """A release and its laws."""

    laws: dict[str, Any]

    def lines(self, out: Path) -> list[str]:
        return lines(self.result, out)

    def write_tables(self, out: Path, parquet: bool) -> None:
        super().write_tables(out, parquet)
        (out / LAWS).write_text(json.dumps(self.laws, indent=1) + "\n", encoding="utf-8")


def perturb_file(file: PerturbFile, source: Bytewise = SYSTEM) -> Noisy:
    """Reads and perturbs the table of a file; writes nothing."""
    begun = time.perf_counter()
    text, dropped = _read(file)
    columns: dict[str, Coded] = {}
    true: dict[str, Floats] = {}
    shown: dict[str, Floats] = {}
    answers: dict[str, tuple[Ints, Ints]] = {}
    for attribute in file.attributes:
        values = _true_values(attribute, text, str(file.source))
        if attribute.noise is not None:
            noisy = values + attribute.noise.draw(len(values), source)
            noisy = np.round(noisy, decimals(attribute.noise.interval)) + 0.0
            true[attribute.name], shown[attribute.name] = values, noisy
            found, codes = np.unique(noisy, return_inverse=True)
            columns[attribute.name] = Coded(codes, [number_text(v) for v in found.tolist()])
        else:
            said = respond(values, len(attribute.values), attribute.keep, source)
            answers[attribute.name] = values, said
            columns[attribute.name] = Coded(said, attribute.values)
    if file.class_name is not None:
        codes, names = encode_text(file.class_name, text.column(file.class_name), str(file.source))
        columns[file.class_name] = Coded(codes, names)
    perturbed = time.perf_counter()
    measured = {**_attacked(file, true, shown), **_answered(file, answers)}
    result = {
        "method": file.method,
        "records": text.num_rows,
        "dropped": dropped,
        "attributes": {name: measured[name] for name in file.columns if name in measured},
        "seconds": {
            "perturb": round(perturbed - begun, 3),
            "attack": round(time.perf_counter() - perturbed, 3),
        },
        "job": about_job(file),
    }
    return Noisy(file, result, columns, laws_of(file))


def _read(file: PerturbFile) -> tuple[pa.Table, int]:
    text = file.source.read(file.columns)
    if not text.num_rows:
        raise DataError(f"{file.source}: the table has no records")
    if not file.drop:
        return text, 0
    gaps = [gaps_of(text.column(a.name), a.values) for a in file.attributes]
    stays = ~np.logical_or.reduce(gaps)
    if not stays.any():
        raise DataError(f"{file.source}: every row lacks a value, so that none is left")
    return text.filter(pa.array(stays)), int((~stays).sum())


def _true_values(attribute: Perturbed, text: pa.Table, source: str) -> Array:
    column = text.column(attribute.name)
    refuse_gaps(column, attribute.values, attribute.name, source, _DROP)
    if attribute.noise is not None:
        read = continuous_column(
            attribute.name, column, attribute.limits, source, spelling=spelling_of(text),
            otherwise=NUMBERS_ONLY,
        )  # fmt: skip
        values: Array = read.values[read.codes]
        return values
    codes, found = encode_text(attribute.name, column, source)
    number = {value: i for i, value in enumerate(attribute.values)}
    found = [declared_form(value, number) for value in found]
    for code, value in enumerate(found):
        if value not in number:
            raise DataError(
                "{column}: {value} is not among its 'values'",
                file=source,
                column=attribute.name,
                rows=[int((codes == code).argmax()) + 1],
                value=value,
            )
    return np.array([number[value] for value in found], np.int64)[codes]


def decimals(interval: float) -> int:
    """Decimals that are far finer than the noise; those of a float might reveal more."""
    return max(0, math.ceil(-math.log10(interval / _FINE)))


def laws_of(file: PerturbFile) -> dict[str, Any]:
    """The content of `noise.json`: what whoever uses the release must know."""
    found: dict[str, Any] = {}
    for a in file.attributes:
        if a.noise is not None:
            found[a.name] = {"law": a.noise.law, "size": a.noise.size, "range": list(a.limits)}
        else:
            found[a.name] = {"values": list(a.values), "keep": a.keep}
    return {"columns": found, "class": file.class_name}


def _attacked(
    file: PerturbFile, true: dict[str, Floats], shown: dict[str, Floats]
) -> dict[str, dict[str, Any]]:
    """What is left of the advertised intervals: 3.92 times the error of the best guess, at most."""
    if not true:
        return {}
    x, z = (np.stack(list(part.values()), axis=1) for part in (true, shown))
    own = [a for a in file.attributes if a.noise is not None]
    deviations = np.array([a.noise.deviation for a in own if a.noise is not None])
    errors = {
        "linear_guess": mean_error(x, linear_guess(z, deviations)),
        "projection": mean_error(x, projection(z, deviations)),
    }
    found = {}
    for j, attribute in enumerate(own):
        noise = attribute.noise
        assert noise is not None  # noqa: S101
        best = min(float(error[j]) for error in errors.values())
        found[attribute.name] = {
            "law": noise.law,
            "size": noise.size,
            "interval": noise.interval,
            "noise_error": float(mean_error(x[:, j], z[:, j])),
            **{f"{name}_error": float(error[j]) for name, error in errors.items()},
            "found_interval": min(noise.interval, 3.92 * best),
            "narrowed": narrowed(z[:, j], noise, attribute.limits),
        }
    return found


def _answered(
    file: PerturbFile, answers: dict[str, tuple[Ints, Ints]]
) -> dict[str, dict[str, Any]]:
    found = {}
    for attribute in file.attributes:
        if attribute.name in answers:
            true, said = answers[attribute.name]
            values, keep = len(attribute.values), attribute.keep
            found[attribute.name] = {
                "keep": keep,
                "epsilon": epsilon(values, keep),
                "guessed_right": guessed_right(true, said, values, keep),
                "guessed_without": float(np.bincount(true).max() / len(true)),
            }
    return found


def lines(result: dict[str, Any], out: Path) -> list[str]:
    """The result in a few lines for a person."""
    dropped = f", {result['dropped']:,} dropped for missing values" if result["dropped"] else ""
    found = [f"perturb: {numbered(result['records'], 'record')}{dropped}"]
    for name, entry in result["attributes"].items():
        if "law" in entry:
            found.append(
                f"  {name}: {entry['law']} noise, 95 % interval {entry['interval']:.4g} wide as "
                f"advertised; all columns together leave {entry['found_interval']:.4g}"
            )
            if entry["law"] == "uniform":
                found.append(
                    f"    the range leaves {entry['narrowed']:.1%} of the people less than half of it"
                )
        else:
            found.append(
                f"  {name}: kept with {entry['keep']:g}, epsilon {entry['epsilon']:.2f}; guessed "
                f"right for {entry['guessed_right']:.1%} (without the answers "
                f"{entry['guessed_without']:.1%})"
            )
    return [*found, f"release: {out / RELEASE}", f"laws: {out / LAWS}", f"result: {out / RESULT}"]
