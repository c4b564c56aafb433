"""Differences between the clocks of two machines, in words."""

from __future__ import annotations

LARGEST_SKEW = 60.0  # seconds


def skew_in_words(seconds: float) -> str:
    """How far a clock is ahead of, or behind, another; to be followed by the other."""
    size = abs(seconds)
    much = f"{size:.1f} s" if size < 600 else f"{size / 3600:.1f} hours"
    much = f"{size / 86400:.0f} days" if size > 172_800 else much
    return f"{much} {'ahead of' if seconds > 0 else 'behind'}"
