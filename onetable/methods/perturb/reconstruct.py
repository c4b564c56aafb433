"""`coterie reconstruct DIR`: distributions before the noise, from a release and its laws alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released
from coterie.anonymity.randomization.naive_bayes import NaiveBayes, bin_numbers
from coterie.anonymity.randomization.noise import LAWS, Noise
from coterie.anonymity.randomization.reconstruction import (
    Reconstruction,
    maximise,
    reconstruct,
)
from coterie.anonymity.randomization.response import response_matrix
from coterie.anonymity.table.columns import NUMBERS_ONLY, continuous_column, encode_text
from coterie.base.arrays import Array, Floats, Mask
from coterie.base.errors import DataError, UsageError
from coterie.base.text import numbered
from coterie.jobs.data.release_file import read_release
from coterie.jobs.data.sources import read_table
from coterie.onetable.methods.perturb.keys import Perturbed
from coterie.onetable.methods.perturb.run import LAWS as FILE
from coterie.onetable.released import RELEASE


@dataclass(frozen=True)
class Settings:
    method: str = "em"
    bins: int = 40
    by_class: bool = False


def read_laws(folder: Path) -> tuple[list[Perturbed], str | None]:
    """The columns of a release and their laws."""
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; is it the result of perturb?") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: not JSON") from None
    try:
        columns = [_law(str(name), entry) for name, entry in content["columns"].items()]
        name = content["class"]
        if not columns or not (name is None or isinstance(name, str)):
            raise ValueError("no columns")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: is not a file of laws ({error})") from None
    return columns, name


def _law(name: str, entry: Any) -> Perturbed:
    if "law" not in entry:
        values, keep = tuple(map(str, entry["values"])), float(entry["keep"])
        if len(set(values)) != len(values) or len(values) < 2 or not 0 < keep < 1:
            raise ValueError(f"the values of '{name}'")
        return Perturbed(name, values=values, keep=keep)
    low, high = map(float, entry["range"])
    size = float(entry["size"])
    if entry["law"] not in LAWS or not (low < high and 0 < size < np.inf):
        raise ValueError(f"the law of '{name}'")
    return Perturbed(name, (low, high), Noise(entry["law"], size))


def reconstruct_folder(
    folder: Path, settings: Settings, tried: Path | None = None
) -> dict[str, Any]:
    """The estimated distribution of every column, and how well a classifier of them does."""
    columns, class_name = read_laws(folder)
    path = folder / RELEASE
    names = [column.name for column in columns]
    release = read_release(path, names if class_name is None else [*names, class_name], FILE)
    records = len(release[names[0]].codes)
    if not records:
        raise DataError(f"{path}: the table has no records")
    if (settings.by_class or tried) and class_name is None:
        raise UsageError(f"{folder}: the release has no class")
    values = {column.name: _values(column, release[column.name], path) for column in columns}
    everybody = np.ones(records, bool)
    found: dict[str, Any] = {
        "records": records,
        "method": settings.method,
        "columns": {
            column.name: _described(
                column, _estimate(column, values, everybody, settings), settings
            )
            for column in columns
        },
    }
    if class_name is None or not (settings.by_class or tried):
        return found
    classes = release[class_name]
    parts = {
        name: {
            column.name: _estimate(column, values, classes.codes == number, settings)
            for column in columns
        }
        for number, name in enumerate(classes.values)
    }
    if settings.by_class:
        found["classes"] = {
            name: {c.name: _described(c, part[c.name], settings) for c in columns}
            for name, part in parts.items()
        }
    if tried is not None:
        model = NaiveBayes(
            np.bincount(classes.codes, minlength=len(classes.values)),
            [np.stack([part[c.name].shares for part in parts.values()]) for c in columns],
        )
        found["classified"] = _classified(
            model, columns, classes.values, class_name, tried, settings
        )
    return found


def _values(column: Perturbed, shown: Released, path: Path) -> Array:
    """The noisy numbers, or the codes of the answers."""
    where = f"{path}: column '{column.name}'"
    if column.noise is None:
        number = {value: i for i, value in enumerate(column.values)}
        for value in shown.values:
            if value not in number:
                raise DataError(f"{where}: '{value}' is not among the values of {FILE}")
        return np.array([number[value] for value in shown.values], np.int64)[shown.codes]
    try:
        numbers = np.array([float(value) for value in shown.values], np.float64)
    except ValueError:
        raise DataError(f"{where}: has a value that is not a number") from None
    if not np.isfinite(numbers).all():
        raise DataError(f"{where}: has a value that is not finite")
    if column.noise.law == "uniform":
        reach = column.noise.size * (1 + 1e-5)
        low, high = column.limits[0] - reach, column.limits[1] + reach
        if ((numbers < low) | (numbers > high)).any():
            raise DataError(f"{where}: has a value that its noise cannot reach")
    return numbers[shown.codes]


def edges_of(column: Perturbed, bins: int) -> Floats:
    return np.linspace(*column.limits, bins + 1)


def _estimate(
    column: Perturbed, values: dict[str, Array], rows: Mask, settings: Settings
) -> Reconstruction:
    own = values[column.name][rows]
    if column.noise is not None:
        return reconstruct(own, column.noise, edges_of(column, settings.bins), settings.method)
    counts = np.bincount(own, minlength=len(column.values))
    return maximise(response_matrix(len(column.values), column.keep), counts)


def _described(column: Perturbed, found: Reconstruction, settings: Settings) -> dict[str, Any]:
    places: dict[str, Any] = (
        {"edges": edges_of(column, settings.bins).tolist()}
        if column.noise is not None
        else {"values": list(column.values)}
    )
    return places | {
        "shares": found.shares.tolist(),
        "iterations": found.iterations,
        "chi_square": found.chi_square,
        "degrees": found.degrees,
        "agrees": found.agrees,
        "log_likelihood": found.likelihoods[-1],
    }


def _classified(
    model: NaiveBayes,
    columns: list[Perturbed],
    classes: tuple[str, ...],
    class_name: str,
    tried: Path,
    settings: Settings,
) -> dict[str, Any]:
    """How often the classifier is right on records without noise."""
    text = read_table(tried, [*(column.name for column in columns), class_name])
    if not text.num_rows:
        raise DataError(f"{tried}: the table has no records")
    codes: list[Array] = []
    for column in columns:
        if column.noise is not None:
            read = continuous_column(
                column.name,
                text.column(column.name),
                column.limits,
                str(tried),
                otherwise=NUMBERS_ONLY,
            )
            codes.append(bin_numbers(read.values, edges_of(column, settings.bins))[read.codes])
            continue
        raw, found = encode_text(column.name, text.column(column.name), str(tried))
        for value in found:
            if value not in column.values:
                raise DataError(f"{tried}: column '{column.name}': '{value}' is not in {FILE}")
        codes.append(np.array([column.values.index(value) for value in found])[raw])
    raw, found = encode_text(class_name, text.column(class_name), str(tried))
    number = np.array([classes.index(v) if v in classes else -1 for v in found])[raw]
    right = model.predict(codes) == number
    most = int(model.records.argmax())
    return {
        "records": text.num_rows,
        "right": float(right.mean()),
        "most_frequent": float((number == most).mean()),
    }


def lines(found: dict[str, Any]) -> list[str]:
    """The estimate in a few lines for a person: the middle half of numbers, the largest shares."""
    text = [f"reconstruct: {numbered(found['records'], 'record')}, by {found['method']}"]
    for name, entry in found["columns"].items():
        shares = np.array(entry["shares"])
        ended = "" if entry["agrees"] else "; does not agree with the noise yet"
        if "edges" in entry:
            edges, below = np.array(entry["edges"]), np.append(0, np.cumsum(shares))
            quarters = np.interp([0.25, 0.5, 0.75], below, edges)
            what = "quartiles " + ", ".join(f"{quarter:.4g}" for quarter in quarters)
        else:
            order = np.argsort(-shares)[:5]
            what = ", ".join(f"{entry['values'][i]} {shares[i]:.1%}" for i in order)
        text.append(f"  {name}: {what} ({numbered(entry['iterations'], 'iteration')}{ended})")
    if "classified" in found:
        entry = found["classified"]
        text.append(
            f"naive Bayes: right for {entry['right']:.1%} of {numbered(entry['records'], 'record')}; the most "
            f"frequent class for {entry['most_frequent']:.1%}"
        )
    return text
