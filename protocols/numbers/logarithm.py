"""The secure natural logarithm of Lindell and Pinkas, with the corrected scaling.

Paper 2, third article, whose sections are cited below; after Lindell and Pinkas, "Privacy
preserving data mining" (J. Cryptology 2002). Two parties hold shares of positive integers x of at
most N bits, modulo any agreed number, and get shares of ln x, scaled by a public number, in
`Settings.output_ring`. Nobody learns x, its size or its logarithm. All functions take vectors.

x = 2^n (1 + eps) with -1/4 <= eps < 1/2, so ln x = n ln 2 + ln(1 + eps). Let L = lcm(2 … k),
σ = 2^(Nk) L, and F the integers modulo 2^l with 2^l >= 2^(Nk + 2k + log2 N) (§3).

1. A garbled circuit (`logarithm_circuits.phase_one`) makes shares of eps 2^N and of n in F.
   If some x is 0 or too long, both learn that (of the whole vector, nothing more) and stop.
2. With α1 + α2 = eps 2^N, the first party expands P(α1 + y) for
   P(y) = Σ_{i=1..k} (-1)^(i-1) 2^(N(k-i)) (L/i) y^i, which is σ times the Taylor polynomial of
   ln(1 + eps), and the second evaluates it at α2 obliviously (`protocols.numbers.polynomial`, by
   Paillier or by oblivious transfer). The leading coefficient is public, so that term needs no
   protocol. P needs no division: with σ = 2^N L, as Lindell and Pinkas wrote, 2^(N(i-1)) would have
   to divide (eps 2^N)^i, which it does not, and the result would be noise (§3).
3. The shares of n are multiplied by round(σ ln 2): an integer, since σ is so large that the
   fraction of §4 falls below the last digit. No table of logarithms is in the circuit.
4. `scaling` turns the scale σ into 2^scale_bits: "exact" by a second, small circuit (§4),
   "autonomous" without (§5), which leaks with probability below 2^-40 and for which F is 40 bits
   larger; "none" leaves σ.

The first party adds to the sum the middle of the Taylor polynomial's error, a public constant,
which halves the largest error. `error_bound` proves for each setting how far a result can be from
ln x.

Each party learns nothing but the flag of step 1. Adversary: semi-honest, as for garbling and both
evaluations; a cheating party can make results wrong, and a cheating garbler can garble a circuit
that reveals x. The protocol is for two parties; in larger groups two servers, on which the parties
agree, hold the shares and compute for all.

Messages: one to agree on the settings; one run of the circuit (about 320 AND gates a number, 32
bytes each, and 16 bytes for each bit of the second party's share); one instance of a circuit of 255
gates for each 256 flags; k-1 columns of inner products; one run of about 130 AND gates. Rounds: 6,
whatever the number of values (up to `BATCH` at once). `protocols.numbers.inner_product` has the
rest.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from coterie.base.arrays import Array, Floats
from coterie.base.errors import DataError, UsageError
from coterie.protocols.circuits.boolean import Circuit, from_bits, to_bits
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import same_value
from coterie.protocols.numbers import scaling
from coterie.protocols.numbers.inner_product import PaillierEngine, TransferEngine, least_key_bits
from coterie.protocols.numbers.logarithm_circuits import FLAGS, WithX, phase_one, quick, some_flag
from coterie.protocols.numbers.logarithm_settings import Settings, error_bound, quick_error
from coterie.protocols.numbers.paillier import DEFAULT_BITS, KeySizeError, PrivateKey
from coterie.protocols.numbers.polynomial import (
    evaluate_coefficients,
    evaluate_points,
    powers,
    shift_argument,
)
from coterie.protocols.numbers.shares import Ring, product
from coterie.protocols.primitives.randomness import Random

Evaluation = Literal["paillier", "transfer"]
BATCH = 1 << 13  # instances that are garbled in one run

FLAG = declare(
    "logarithm: flag",
    what="Whether some number of a vector is longer than agreed or, where zeros are refused, 0; not which one, nor how many.",
    to="the two servers",
    why="The logarithm of such a number would be wrong; the job then ends.",
)


__all__ = [
    "Logarithms",
    "OutOfDomainError",
    "Session",
    "Settings",
    "error_bound",
    "logarithms",
    "logarithms_with_x",
    "quick_error",
    "quick_logarithms",
    "x_times_logarithms",
]


class OutOfDomainError(DataError):
    """Some number is 0 or has more bits than agreed, so that it has no logarithm here."""


@dataclass(frozen=True)
class Logarithms:
    """This party's shares in `ring` of ln x times `scale`, with an error of at most `error_bound`."""

    share: Array
    ring: Ring
    scale: int
    error_bound: float

    def values(self, opened: Array) -> Floats:
        """Opened values as numbers."""
        return np.array([int(v) / self.scale for v in self.ring.signed(opened)])

    def texts(self, opened: Array) -> list[str]:
        """Opened values as text for a person to read, each with its error bound."""
        return [f"{value:.6g} ± {self.error_bound:.2g}" for value in self.values(opened)]


class Session:
    """The state that two parties keep between logarithms: garbling session and evaluation engine."""

    def __init__(
        self,
        channel: Channel,
        peer: str,
        first: bool,
        rng: Random,
        evaluation: Evaluation = "transfer",
        key_bits: int = DEFAULT_BITS,
        key: PrivateKey | None = None,
        garbling: Garbler | Evaluator | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Runs the base transfers, and for Paillier sends the second party's key, old or new.

        An existing garbling session between the two, with `first` as its garbler, can be passed. If
        the session's settings are given, a key size without room for them is refused before a key
        is generated.
        """
        self.channel, self.peer, self.first = channel, peer, first
        if evaluation not in ("paillier", "transfer"):
            raise UsageError(f"logarithm: evaluation '{evaluation}' is not paillier or transfer")
        if settings is not None and evaluation == "paillier" and settings.terms > 1:
            least = least_key_bits(settings.ring, settings.terms - 1)
            if key_bits < least:
                raise KeySizeError(
                    f"logarithm: {settings.bits} bits and {settings.terms} terms need a Paillier "
                    f"key of {least} bits, not {key_bits}"
                )
        with channel.step("set up"):
            if garbling is None:
                role = Garbler if first else Evaluator
                garbling = role(channel, peer, rng)
            elif isinstance(garbling, Garbler) != first:
                raise UsageError("the first party garbles and the second evaluates")
            self.garbling: Garbler | Evaluator = garbling
            self.engine: PaillierEngine | TransferEngine
            if evaluation == "paillier":
                self.engine = PaillierEngine(channel, peer, first, rng, key_bits, key)
            else:
                self.engine = TransferEngine(channel, peer, first, rng, garbling.transfers)

    def prepare(
        self,
        settings: Settings,
        count: int,
        executor: Executor | None = None,
        with_product: bool = False,
    ) -> None:
        """The offline part: makes randomizers for `count` logarithms, if Paillier evaluates.

        `with_product` is for `x_times_logarithms`.
        """
        if not isinstance(self.engine, PaillierEngine):
            return
        needed = 0
        if settings.terms > 1:
            needed = self.engine.needed(settings.ring, count, settings.terms - 1)
        if with_product:
            needed += self.engine.needed(settings.output_ring, count, 2)
        self.engine.randomizers.prepare(needed, executor)

    def run(self, circuit: Circuit, inputs: dict[str, Any], reveal: Any) -> dict[str, Any]:
        return dict(self.garbling.run(circuit, inputs, reveal))


def logarithms(session: Session, settings: Settings, x: Array, rng: Random) -> Logarithms:
    """Shares of ln x from shares of x, a vector in `settings.input_ring`."""
    result, _ = _logarithms(session, settings, x, rng, with_x="no")
    return result


def x_times_logarithms(session: Session, settings: Settings, x: Array, rng: Random) -> Logarithms:
    """Shares of x ln x, by a shared product; the error bound is that of the largest x."""
    if settings.bits * settings.scale << settings.bits >= settings.output_ring.modulus // 2:
        raise UsageError(
            f"x ln x for {settings.bits} bits at scale {settings.scale} overflows shares modulo "
            f"{settings.output_ring.modulus}: a smaller scale is needed"
        )
    result, again = _logarithms(session, settings, x, rng, with_x="as it is")
    assert again is not None  # noqa: S101 for the type checker
    with session.channel.step("x ln x"):
        share = product(session.engine, result.ring, again, result.share, rng)
    bound = result.error_bound * ((1 << settings.bits) - 1)
    return Logarithms(share, result.ring, result.scale, bound)


def logarithms_with_x(
    session: Session, settings: Settings, x: Array, rng: Random
) -> tuple[Logarithms, Array]:
    """Shares of ln x, and in the same ring shares of x itself (of 1 for a 0 that counts as 1)."""
    result, again = _logarithms(session, settings, x, rng, with_x="positive")
    assert again is not None  # noqa: S101 for the type checker
    return result, again


def _logarithms(
    session: Session, settings: Settings, x: Array, rng: Random, with_x: WithX
) -> tuple[Logarithms, Array | None]:
    ring = settings.ring
    _check_shares(settings, x)
    with session.channel.step("logarithm"):
        _check_room(session, settings)
        _agree(session, settings.announcement(len(x)))
        circuit = phase_one(
            settings.input_modulus, settings.bits, ring.bits, settings.zero_as_one, with_x
        )
        names = ["eps", "n"] if with_x == "no" else ["eps", "n", "x"]
        parts = _phase_one(session, circuit, names, settings.input_ring, ring, x, rng)
        correction = _correction(session, settings, parts["eps"], rng)
        share = ring.add(ring.scale(parts["n"], settings.main_factor), correction)
        if session.first:
            share = ring.add(share, ring.array([settings.centre]))
        share = _rescaled(session, settings, share, rng)
        again = parts.get("x")
        if again is not None and settings.output_ring != ring:
            # Shares modulo a power of two are reduced modulo a smaller one.
            again = settings.output_ring.array(again)
    result = Logarithms(share, settings.output_ring, settings.scale, settings.error_bound)
    return result, again


def _check_shares(settings: Settings, x: Array) -> None:
    if x.ndim != 1 or (x.size and not 0 <= int(x.min()) <= int(x.max()) < settings.input_modulus):
        raise UsageError(
            f"logarithm: the shares are not a vector of numbers below {settings.input_modulus}"
        )


def _check_room(session: Session, settings: Settings) -> None:
    """Raises before any work if the engine cannot hold F."""
    if isinstance(session.engine, PaillierEngine) and settings.terms > 1:
        session.engine.slots(settings.ring, settings.terms - 1)


def _agree(session: Session, mine: list[Any]) -> None:
    channel, peer = session.channel, session.peer
    channel.send(peer, mine)
    theirs = channel.recv_list(peer, len(mine), "settings of a logarithm")
    for value, other in zip(mine, theirs, strict=True):
        if not same_value(other, value):
            raise channel.fault(
                peer, f"takes logarithms of {other!r:.60} where {value!r} is agreed"
            )


def _phase_one(
    session: Session,
    circuit: Circuit,
    names: list[str],
    source: Ring,
    ring: Ring,
    x: Array,
    rng: Random,
) -> dict[str, Array]:
    """This party's shares of the circuit's outputs; raises if a flag is set."""
    parts: dict[str, list[Array]] = {name: [ring.zeros(0)] for name in names}
    flags = [np.zeros(0, np.uint8)]
    reveal = {**dict.fromkeys(names, "evaluator"), "flag": "shares"}
    for start in range(0, len(x), BATCH):
        bits = to_bits(x[start : start + BATCH], source.bits)
        if session.first:
            drawn = {name: ring.random(len(bits), rng) for name in names}
            mine = {f"first {name}": to_bits(drawn[name], ring.bits) for name in names}
            out = session.run(circuit, {"x1": bits, **mine}, reveal)
        else:
            out = session.run(circuit, {"x2": bits}, reveal)
            drawn = {name: ring.array(from_bits(out[name])) for name in names}
        flags.append(out["flag"][:, 0])
        for name in names:
            parts[name].append(drawn[name])
        session.channel.progress(start + len(bits), len(x))
    _refuse_flagged(session, np.concatenate(flags))
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def _refuse_flagged(session: Session, flags: Array) -> None:
    """Raises at both parties if any XOR-shared flag is set; reveals nothing else."""
    name = "first flags" if session.first else "second flags"
    while len(flags):
        rows = np.zeros((-(-len(flags) // FLAGS), FLAGS), np.uint8)
        rows.reshape(-1)[: len(flags)] = flags
        last = len(rows) == 1
        out = session.run(some_flag(), {name: rows}, "both" if last else "shares")
        flags = out["flag"][:, 0]
        if last:
            session.channel.open(FLAG, flags, to=(session.channel.me, session.peer))
            break
    if flags.any():
        raise OutOfDomainError(
            "logarithm: at least one number is 0 or longer than agreed; which one stays hidden"
        )


def _correction(session: Session, settings: Settings, eps: Array, rng: Random) -> Array:
    """Shares of σ T_k(eps)."""
    ring, terms, engine = settings.ring, settings.terms, session.engine
    coefficients = settings.coefficients()
    if session.first:
        rows = shift_argument(ring, coefficients, eps)
        return evaluate_coefficients(engine, ring, rows[:, :terms], rng)
    leading = ring.scale(powers(ring, eps, terms)[:, -1], coefficients[-1])
    return ring.add(leading, evaluate_points(engine, ring, eps, terms - 1, rng))


def _rescaled(session: Session, settings: Settings, share: Array, rng: Random) -> Array:
    if settings.scaling == "none":
        return share
    factor = Fraction(settings.scale, settings.sigma)
    # With this offset, ln x + 1 is positive whatever the error; times factor it is an integer.
    offset = settings.sigma
    source, target = settings.ring, settings.output_ring
    with session.channel.step("scaling"):
        if settings.scaling == "exact":
            return scaling.scale_exactly(
                session.garbling, source, target, share, factor, rng, offset
            )
        largest = settings.sigma * (settings.bits + 2)
        return scaling.scale_autonomously(
            session.channel,
            session.peer,
            session.first,
            source,
            target,
            share,
            factor,
            rng,
            largest,
            offset,
        )


def quick_logarithms(
    session: Session, settings: Settings, x: Array, rng: Random, fraction: int = 4
) -> Logarithms:
    """Shares of log2 x, truncated as in §6: one circuit, no second phase, less precise.

    Results are scaled by 2^fraction; `settings` gives the bits, the input modulus and the treatment
    of zeros. The error bound is that of `quick_error`; all errors have the same sign.
    """
    if not 0 <= fraction <= 32:
        raise UsageError(f"logarithm: a fraction of {fraction} bits, not 0 to 32")
    ring = Ring(1 << 64)
    _check_shares(settings, x)
    with session.channel.step("quick logarithm"):
        _agree(session, [*settings.announcement(len(x)), f"{fraction} bits of fraction"])
        circuit = quick(
            settings.input_modulus, settings.bits, ring.bits, settings.zero_as_one, fraction
        )
        parts = _phase_one(session, circuit, ["log2"], settings.input_ring, ring, x, rng)
    bound = quick_error(settings.bits, fraction)[1]
    return Logarithms(parts["log2"], ring, 1 << fraction, bound)
