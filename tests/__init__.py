"""The tests mirror the rooms; `tests/papers` has the papers' figures, `tests/compose` the containers."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
# Real data beside the project; tests are skipped where it is absent.
ADULT = ROOT.parent / "shared/data/adult"
