"""The tests mirror the rooms; `tests/papers` has the papers' figures, `tests/compose` the containers."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
ADULT = (
    ROOT.parent / "shared/data/adult"
)  # real data beside the project; tests skip where it is absent
