"""What transfers send, computed from the description of their batches."""

from __future__ import annotations


def transfer_bytes(*calls: int) -> int:
    """From receiver to sender, for calls of so many transfers in one session, without framing."""
    made = left = total = 0
    for count in calls:
        need = -(-count // 8) * 8
        total += need // 8  # the choices
        while need:
            if not left:
                useful = max(need, min(made, 1 << 13))
                rows = min(1 << 16, -(-(useful + 128) // 1024) * 1024)
                total += 31 * rows // 8 + 129 * 16
                left = rows - 128
                made += left
            used = min(need, left)
            left, need = left - used, need - used
    return total
