"""Two parties, a first and a second one, with an engine each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.numbers.inner_product import PaillierEngine, TransferEngine
from coterie.protocols.numbers.paillier import PrivateKey, generate
from coterie.protocols.primitives.randomness import Random

BITS = 768
KEY = generate(Random("pairs"), BITS)
ENGINES = ("paillier", "transfer")


def engine_of(
    channel: Channel, first: bool, kind: str, seed: Any, key: PrivateKey = KEY
) -> PaillierEngine | TransferEngine:
    rng = Random(f"{seed} {first}")
    peer = channel.peers[0]
    if kind == "paillier":
        return PaillierEngine(channel, peer, first, rng, key.bits, None if first else key)
    return TransferEngine(channel, peer, first, rng)


def run_pair(
    first: Callable[[Channel], Any], second: Callable[[Channel], Any], **options: Any
) -> tuple[Any, Any]:
    """What each of the two returns."""
    results = run_parties({"alice": first, "bob": second}, **options)
    return results["alice"], results["bob"]


def run_engines(
    kind: str,
    first: Callable[[Any, Random], Any],
    second: Callable[[Any, Random], Any],
    seed: Any = 0,
    key: PrivateKey = KEY,
    **options: Any,
) -> tuple[Any, Any]:
    """As `run_pair`, each party with an engine and a generator."""

    def with_engine(function: Callable[[Any, Random], Any], is_first: bool) -> Any:
        def run(channel: Channel) -> Any:
            engine = engine_of(channel, is_first, kind, seed, key)
            return function(engine, Random(f"{seed} {is_first} inputs"))

        return run

    return run_pair(with_engine(first, True), with_engine(second, False), **options)
