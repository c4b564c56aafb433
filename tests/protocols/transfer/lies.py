"""A party that follows a protocol but for what it changes in its own messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coterie.protocols.messaging.channel import Channel


def lying(channel: Channel, change: Callable[[list[Any]], list[Any]]) -> Channel:
    """The channel, which passes every message of several values through `change`."""
    honest = channel.send

    def send(peer: str, *values: Any) -> None:
        honest(peer, *(change(list(values)) if len(values) > 1 else values))

    channel.send = send  # type: ignore[method-assign]
    return channel
