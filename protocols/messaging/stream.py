"""Sends a long array in pieces, whose size the sender chooses without effect on the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from coterie.base.arrays import Array
from coterie.protocols.messaging.channel import Channel


def cut(array: Array, size: int) -> Iterator[Array]:
    for start in range(0, len(array), size):
        yield array[start : start + size]


def receive_pieces(
    channel: Channel,
    peer: str,
    count: int,
    width: int,
    dtype: Any = np.uint8,
    on_piece: Callable[[int], None] = lambda done: None,
) -> Iterator[Array]:
    """The pieces of an array of shape (count, width), each checked when it arrives."""
    done = 0
    while done < count:
        what = f"array of {np.dtype(dtype)} of shape (n, {width})"
        piece = channel.recv_array(peer, dtype, (None, width), what)
        if not len(piece):
            raise channel.fault(peer, f"sent an array of shape {piece.shape}")
        done += len(piece)
        if done > count:
            raise channel.fault(peer, f"sent more than the {count} elements due")
        on_piece(done)
        yield piece


def receive_array(
    channel: Channel, peer: str, count: int, width: int, dtype: Any = np.uint8
) -> Array:
    """The whole array of shape (count, width), from its pieces."""
    out = np.empty((count, width), dtype)
    done = 0
    for piece in receive_pieces(channel, peer, count, width, dtype):
        out[done : done + len(piece)] = piece
        done += len(piece)
    return out


def send_array(channel: Channel, peer: str, array: Array, size: int) -> None:
    for piece in cut(array, size):
        channel.send(peer, piece)
