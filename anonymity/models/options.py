"""The keys of a `requirement` entry that bound a sensitive attribute, as a privacy model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coterie.anonymity.models.privacy import (
    AlphaAnonymity,
    Closeness,
    ConfidenceBounding,
    CostCloseness,
    DistinctDiversity,
    DivergenceCloseness,
    EntropyDiversity,
    ExponentialDiversity,
    JointDiversity,
    Model,
    RecursiveDiversity,
    TaxonomyCloseness,
    Together,
    TupleModel,
)
from coterie.anonymity.table.taxonomy import Taxonomy

OPTIONS = ("l", "diversity", "c", "alpha", "confidence", "t", "distance", "order", "costs", "most")
DISTANCES = ("variational", "ordered", "kl", "taxonomy", "costs")


def model_from_options(options: Mapping[str, Any]) -> Together:
    """The sensitive part of a `requirement` entry: numbers, texts and, for `confidence`, a mapping.

    Raises `ValueError` with one line that names the key. docs/privacy-models.md explains each key.
    `k` is not among the keys, because it needs no sensitive values.
    """
    for key in options:
        if key not in OPTIONS:
            raise ValueError(f"unknown key '{key}'")
    if "most" in options:
        raise ValueError("'most' has a meaning with several sensitive columns only")
    models: list[Model] = []
    for key, needed in (
        ("diversity", "l"),
        ("c", "l"),
        ("distance", "t"),
        ("order", "t"),
        ("costs", "t"),
    ):
        if key in options and needed not in options:
            raise ValueError(f"'{key}' has no meaning without '{needed}'")
    if "l" in options:
        models.append(_diversity(options))
    if "alpha" in options:
        models.append(AlphaAnonymity(_number(options, "alpha")))
    if "confidence" in options:
        bounds = options["confidence"]
        if not isinstance(bounds, Mapping):
            raise ValueError("'confidence' must be a mapping from sensitive values to shares")
        models.append(ConfidenceBounding({str(v): _number(bounds, v) for v in bounds}))
    if "t" in options:
        models.append(_closeness(options))
    if not models:
        raise ValueError("'sensitive' needs one of l, alpha, confidence, t")
    return Together(tuple(models))


def with_taxonomy(model: Model | None, taxonomy: Taxonomy | None) -> Model | None:
    """The model with the taxonomy of its sensitive attribute, along which it may measure.

    Raises `ValueError` if the model needs a taxonomy and there is none.
    """
    if not isinstance(model, Together):
        return model
    parts = []
    for part in model.models:
        if isinstance(part, TaxonomyCloseness):
            if taxonomy is None:
                raise ValueError("'distance: taxonomy' needs a taxonomy of the sensitive attribute")
            part = replace(part, taxonomy=taxonomy)
        parts.append(part)
    return Together(tuple(parts))


def joint_model_from_options(columns: Sequence[str], options: Mapping[str, Any]) -> TupleModel:
    """The sensitive part of an entry whose `sensitive` is a list: joint or exponential diversity."""
    for key in options:
        if key not in ("l", "most", "diversity"):
            raise ValueError(
                f"'{key}' bounds one sensitive column: it needs an entry of its own for each"
            )
    if "l" not in options:
        raise ValueError("several sensitive columns need 'l'")
    kind = options.get("diversity", "joint")
    if kind not in ("joint", "exponential"):
        raise ValueError(
            f"'diversity' of several sensitive columns must be one of joint, exponential, not '{kind}'"
        )
    if "most" in options and kind == "exponential":
        raise ValueError("'most' is only for joint diversity")
    number = _number(options, "l")
    most = options.get("most", {})
    if not isinstance(most, Mapping):
        raise ValueError("'most' must be a mapping from sensitive columns to whole numbers")
    limits = {str(name): _number(most, name) for name in most}
    for key, value in {"l": number, **limits}.items():
        if value != int(value):
            raise ValueError(f"'{key}' must be a whole number for {kind} diversity, not {value:g}")
    if kind == "exponential":
        return ExponentialDiversity(int(number), tuple(columns))
    return JointDiversity(
        int(number), tuple(columns), {name: int(limit) for name, limit in limits.items()}
    )


def _closeness(options: Mapping[str, Any]) -> Model:
    """t-closeness; `with_taxonomy` adds the taxonomy later, and `costs` are a table already read."""
    distance, t = options.get("distance", "variational"), _number(options, "t")
    if distance not in DISTANCES:
        raise ValueError(f"'distance' must be one of {', '.join(DISTANCES)}, not '{distance}'")
    if ("costs" in options) != (distance == "costs"):
        raise ValueError("'costs' and 'distance: costs' go together")
    order = options.get("order")
    if order and distance != "ordered":
        raise ValueError("order has a meaning with 'distance: ordered' only")
    if distance == "kl":
        return DivergenceCloseness(t)
    if distance == "taxonomy":
        return TaxonomyCloseness(t)
    if distance == "costs":
        return CostCloseness(t, options["costs"])
    return Closeness(t, distance, tuple(map(str, order)) if order else None)


def _diversity(options: Mapping[str, Any]) -> Model:
    kind = options.get("diversity", "distinct")
    if kind not in ("distinct", "entropy", "recursive"):
        raise ValueError(f"'diversity' must be one of distinct, entropy, recursive, not '{kind}'")
    if ("c" in options) != (kind == "recursive"):
        raise ValueError("'c' and 'diversity: recursive' go together")
    number = _number(options, "l")
    if kind == "entropy":
        return EntropyDiversity(number)
    if number != int(number):
        raise ValueError(f"'l' must be a whole number for {kind} diversity, not {number:g}")
    if kind == "distinct":
        return DistinctDiversity(int(number))
    return RecursiveDiversity(_number(options, "c"), int(number))


def _number(options: Mapping[str, Any], key: str) -> float:
    value = options[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"'{key}' must be a number, not '{value}'")
    return float(value)
