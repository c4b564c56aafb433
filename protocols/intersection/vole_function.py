"""An oblivious pseudorandom function: the receiver evaluates it at its own values, the sender anywhere.

Rindal and Schoppmann, "VOLE-PSI" (EUROCRYPT 2021, eprint 2021/266), section 3, the malicious variant, over
the store of Raghuraman and Rindal (CCS 2022, eprint 2022/320; `binned_store`).

In: at the receiver different tags of 128 bits, in a store that gives each tag x its hash B(x). Out: a
function F of 256 bits, which the receiver has at its tags and the sender can compute at any tag.

    F(y) = H(decode(K, y) ^ delta B(y) ^ w, y)      at the sender
    F(x) = H(decode(c, x) ^ w, x)                   at the receiver

for the products c = b ^ a delta of `transfer.vole` and K = b ^ (store ^ a) delta = c ^ store delta. A store
that holds B(x) makes both equal, and at any other tag F(y) depends on delta, which the receiver lacks. B is
AES with the tag fed forward under a key that the job's salt gives, H is BLAKE2b.

Adversary: malicious, static, in the random oracle model for H and the ideal cipher model for B. A receiver
can only choose its tags: the words that it sends fix a store, and it knows F at a tag if that store
gives B of the tag, which it can arrange for as many tags as there are words (at most 1.34 for each tag that
it announced, and 103 more). It learns nothing of F elsewhere. A sender learns nothing of the tags, and can make no use of false trees (`transfer.vole`). w is drawn by both: the sender commits to its
part before it knows the receiver's and shows it when the store is fixed, so that no question to H
before that serves anybody. Without w and y in H the protocol would be for curious parties alone.

Messages:
    sender -> receiver    32 bytes: SHA-256 of the sender's part of w
    receiver <-> sender   the products (`transfer.vole`), one for each word of the store
    receiver -> sender    16 and 32 bytes: the seed of the store, the receiver's part of w
    receiver -> sender    the words of the store under a: 16 bytes each
    sender -> receiver    32 bytes: its part of w
The receiver sends the words before the sender has shown that its trees were right, because a does not depend
on these; what it makes of c leaves it after that only. Cost for a million tags: 20.5 MB and those of
the products; two AES, a few products of GF(2^128) and one hash for each tag at either side.

    receiver  FunctionReceiver(channel, peer, rng)  set_up()  fix(places, words)  outputs(tags)
    sender    FunctionSender(channel, peer, rng)    set_up()  fix(count)  outputs(tags, salt), piece by piece
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from coterie.base.arrays import Blocks, Words
from coterie.protocols.intersection.binned_store import SEED_BYTES, Places, encode, shape_for
from coterie.protocols.intersection.store_equations import times
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.stream import cut, receive_pieces
from coterie.protocols.primitives import sodium
from coterie.protocols.primitives.blocks import spread
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.vole import VoleReceiver, VoleSender

STEP = "function"
_SHARE = 32  # bytes of each party's part of w
_PIECE = 1 << 16


def hashed(tags: Blocks, salt: bytes) -> Blocks:
    """B of every tag, under the salt that all parties drew together."""
    return spread(hashlib.sha256(b"coterie function\0" + salt).digest()[:16], tags)


def store_of(tags: Blocks, salt: bytes, rng: Random) -> tuple[Places, Blocks]:
    """The store that a receiver fixes, with one peer or with several."""
    return encode(shape_for(len(tags)), tags, hashed(tags, salt), rng)


def _joint(sender: bytes, receiver: bytes) -> Blocks:
    digest = hashlib.sha256(b"coterie function, both\0" + sender + receiver).digest()
    return np.frombuffer(digest[:16], np.uint64)


def _finished(values: Blocks, tags: Blocks) -> Words:
    """H of every value and its tag: four words."""
    both = np.concatenate([values, tags], axis=1).view(np.uint8)
    return sodium.row_digests(both, 32).view(np.uint64)


class FunctionReceiver:
    """The side with the store."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        self._channel, self._peer, self._rng = channel, peer, rng

    def set_up(self) -> None:
        with self._channel.step(STEP):
            self._commitment = self._channel.recv_bytes(self._peer, 32, "commitment of a sender")
        self._vole = VoleReceiver(self._channel, self._peer, self._rng)

    def fix(self, places: Places, words: Blocks) -> None:
        """Sends the store, hidden."""
        a, self._c = self._vole.receive(len(words))
        self._places, self._share = places, self._rng.bytes(_SHARE)
        with self._channel.step(STEP):
            self._channel.send(self._peer, places.seed, self._share)
            for start in range(0, len(words), _PIECE):
                part = slice(start, start + _PIECE)
                self._channel.send(self._peer, words[part] ^ a[part])
                self._channel.progress(min(part.stop, len(words)), len(words))

    def outputs(self, tags: Blocks) -> Words:
        """F of every tag of the store, of shape (n, 4)."""
        self._vole.check()
        with self._channel.step(STEP):
            share = self._channel.recv_bytes(self._peer, _SHARE, "part of a joint number")
            if hashlib.sha256(share).digest() != self._commitment:
                raise self._channel.fault(
                    self._peer, "showed another part of a joint number than it committed to"
                )
        return _finished(self._places.decode(self._c) ^ _joint(share, self._share), tags)


class FunctionSender:
    """The side that can evaluate any tag."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        self._channel, self._peer, self._rng = channel, peer, rng

    def set_up(self) -> None:
        self._share = self._rng.bytes(_SHARE)
        with self._channel.step(STEP):
            self._channel.send(self._peer, hashlib.sha256(self._share).digest())
        self._vole = VoleSender(self._channel, self._peer, self._rng)

    def fix(self, tags: Blocks, count: int) -> None:
        """Receives the store of the `count` tags that the receiver announced."""
        shape = shape_for(count)
        key = self._vole.send(shape.words)
        self._vole.prove()
        with self._channel.step(STEP):
            what = "seed of a store and part of a joint number"
            seed, share = self._channel.recv_list(self._peer, 2, what)
            seed = self._channel.check_bytes(self._peer, seed, SEED_BYTES, what)
            share = self._channel.check_bytes(self._peer, share, _SHARE, what)
            places = Places(shape, seed, tags)
            done = 0
            for piece in receive_pieces(self._channel, self._peer, len(key), 2, np.uint64):
                key[done : done + len(piece)] ^= times(piece, self._vole.delta)
                done += len(piece)
                self._channel.progress(done, len(key))
            self._channel.send(self._peer, self._share)
        self._tags = tags
        self._values = places.decode(key) ^ _joint(self._share, share)

    def outputs(self, salt: bytes) -> Iterator[Words]:
        """F of every tag, piece by piece."""
        hidden = hashed(self._tags, salt)
        pieces = (cut(array, _PIECE) for array in (self._values, hidden, self._tags))
        for values, part, tags in zip(*pieces, strict=True):
            yield _finished(values ^ times(part, self._vole.delta), tags)
