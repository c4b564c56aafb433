"""The scenes of the view tests, by what they belong to; tests/protocols/test_views.py plays them."""

from tests.protocols.scenes import (
    aggregates,
    circuits,
    integration,
    intersection,
    models,
    mondrian,
    multiparty,
    numbers,
    statistics,
)
from tests.protocols.scenes.form import SCENES, Scene

__all__ = [
    "SCENES",
    "Scene",
    "aggregates",
    "circuits",
    "integration",
    "intersection",
    "models",
    "mondrian",
    "multiparty",
    "numbers",
    "statistics",
]
