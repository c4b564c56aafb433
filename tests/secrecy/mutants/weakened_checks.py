"""Weakened checks: that look at half of the values, or at half of each."""

from __future__ import annotations

MUTANTS = []
