"""A circuit to garble, and a garbler and an evaluator to run it."""

from coterie.protocols.circuits.arithmetic import Builder
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random


def pair(garbler, evaluator, **options):
    """Both roles on a fresh session; what each function returned."""
    result = run_parties(
        {
            "anna": lambda channel: garbler(Garbler(channel, "bela", Random("anna"))),
            "bela": lambda channel: evaluator(Evaluator(channel, "anna", Random("bela"))),
        },
        **options,
    )
    return result["anna"], result["bela"]


def comparison(width=8):
    builder = Builder()
    x, y = builder.input("x", width), builder.input("y", width)
    builder.output("less", [builder.less(x, y)])
    builder.output("sum", builder.add(x, y, width + 1))
    return builder.build()
