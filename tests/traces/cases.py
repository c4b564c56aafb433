"""What is traced: every kind of job, and the protocols that jobs are made of, on small inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.table.columns import continuous_column
from coterie.anonymity.table.levels import ladder
from coterie.bench._paillier_products import PaillierProducts
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import minindex
from coterie.protocols.integration.dka import dka
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.multiparty.coin_toss import toss
from coterie.protocols.multiparty.secure_maximum import SecureMaximum
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.multiparty.set_union import union
from coterie.protocols.numbers.logarithm import Session, logarithms
from coterie.protocols.numbers.logarithm_settings import Settings
from coterie.protocols.numbers.multiplication import receive_products, send_products
from coterie.protocols.numbers.scalar_product import (
    Sizes,
    TransferProducts,
    scalar_products,
)
from coterie.protocols.numbers.shares import split
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests.jobs.kinds.predict.kept import part
from tests.jobs.loans import JOB_FILE, SIGNS, WITNESSED, loan_folder
from tests.protocols.pairs import KEY

NAMES = ("a", "b", "c")
PEOPLE = 40


# Jobs


def write_people(folder: Path) -> None:
    """Three tables of each party: its own columns, all columns of some people, and its own cells."""
    rng = np.random.default_rng(3)
    columns = {
        "ID": [f"p{i:02}" for i in range(PEOPLE)],
        "Sex": rng.choice(["F", "M"], PEOPLE).tolist(),
        "Job": rng.choice(["x", "y", "z"], PEOPLE).tolist(),
        "Age": rng.integers(18, 80, PEOPLE).tolist(),
        "Class": rng.choice(["N", "Y"], PEOPLE).tolist(),
        "Income": rng.integers(10, 90, PEOPLE).tolist(),
    }
    held = {"a": ["ID", "Sex", "Class"], "b": ["ID", "Job", "Income"], "c": ["ID", "Age"]}
    for at, (party, names) in enumerate(held.items()):
        shown = [i for i in range(PEOPLE) if i % 11 != at]
        for file, kept, rows in (
            (f"{party}.csv", names, shown),
            (f"{party}-part.csv", list(columns)[1:], range(at, PEOPLE, 3)),
        ):
            write_table(folder / file, {name: [columns[name][i] for i in rows] for name in kept})
        cells = {
            name: [
                column[i] if (i + place) % 3 == at or name in ("ID", "Class") else "" for i in shown
            ]
            for place, (name, column) in enumerate(columns.items())
            if name != "Class" or party == "a"
        }
        write_table(folder / f"{party}-cells.csv", cells)


def write_table(path: Path, columns: Mapping[str, Sequence[object]]) -> None:
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")


def job(
    text: str, parties: str = "abc", part: str = "", models: Path | None = None
) -> Callable[[Path], None]:
    """A job of these parties, run in memory with a fixed seed."""

    def run(folder: Path) -> None:
        write_people(folder)
        named = "".join(f"  {name}: {{data: {name}{part}.csv}}\n" for name in parties)
        (folder / "job.yaml").write_text(f"name: trace\nparties:\n{named}{text}")
        simulated(folder / "job.yaml", models)

    return run


def loans(keys: str = "", **fields: Any) -> Callable[[Path], None]:
    return lambda folder: simulated(loan_folder(folder, JOB_FILE + keys, zodiac=SIGNS), **fields)


def simulated(path: Path, models: Path | None = None, **fields: Any) -> None:
    """Runs the job; `fields` change it, and not its text, which parties compare by digests."""
    out = path.parent / "out"
    out.mkdir()
    simulate(replace(load_job(path), **fields), path.parent, out, seed="trace", models=models)


def predicted(kind: str) -> Callable[[Path], None]:
    """A job on people whom a model that the parties have kept classifies."""

    def run(folder: Path) -> None:
        for name in NAMES:
            (folder / "kept" / "parties" / name).mkdir(parents=True)
            part(kind, KEPT, name).write(folder / "kept" / "parties" / name)
        if kind.startswith("mixed-"):
            job(in_cells(PREDICT), part="-cells", models=folder / "kept")(folder)
        else:
            job(PREDICT, models=folder / "kept")(folder)

    return run


ATTRIBUTES = """\
id: ID
class: Class
attributes:
  Sex: {party: a}
  Job: {party: b, values: [x, y, z]}
  Age: {party: c, cuts: [30, 50]}
"""
KEPT = {
    "Sex": ("a", ["F", "M"], []),
    "Job": ("b", ["x", "y", "z"], []),
    "Age": ("c", ["<30", "[30, 50)", ">=50"], [30.0, 50.0]),
}
PREDICT = """\
kind: predict
id: ID
model: risk
recipients: [a, c]
attributes: {Sex: {party: a}, Job: {party: b}, Age: {party: c}}
"""


def in_cells(predict: str) -> str:
    """The same job on people each of whose cells lies at any one party."""
    for name in NAMES:
        predict = predict.replace(f"{{party: {name}}}", "{}")
    return f"{predict}partition: mixed\n"


POOLED = """\
partition: horizontal
attributes: {Sex: {values: [F, M]}, Job: {values: [x, y, z]}, Age: {cuts: [30, 50]}}
"""
CELLS = """\
partition: mixed
id: ID
class: Class
attributes: {Sex: {values: [F, M]}, Job: {values: [x, y, z]}}
"""
# Jobs that are also interrupted (`tests/jobs/run/resumed_jobs.py`): their texts, and their tables.
DIVIDED: dict[str, tuple[str, str]] = {
    "regress vertical logistic": (
        "kind: regress\nid: ID\nmodel: logistic\noutcome: Class\nfeatures: [Job, Age]\n"
        "penalty: 1\niterations: 2\nminimum: 3\nattributes:\n  Class: {party: a, values: [N, Y]}\n"
        "  Job: {party: b, values: [x, y, z]}\n  Age: {party: c, range: [0, 100]}\n",
        "",
    ),
    "regress vertical with noise": (
        "kind: regress\nid: ID\nmodel: ridge\noutcome: Age\nfeatures: [Sex, Job]\nattributes:\n"
        "  Sex: {party: a, values: [F, M]}\n  Job: {party: b, values: [x, y, z]}\n"
        "  Age: {party: c, range: [0, 100]}\nnoise: {epsilon: 1, delta: 1e-6}\n",
        "",
    ),
    "cluster vertical with noise": (
        "kind: cluster\nid: ID\nclusters: 2\niterations: 2\nminimum: 1\nattributes:\n"
        "  Income: {party: b, range: [0, 100]}\n  Age: {party: c, range: [0, 100]}\n"
        "noise: {epsilon: 20}\n",
        "",
    ),
    "cluster vertical": (
        "kind: cluster\nid: ID\nclusters: 3\niterations: 2\nminimum: 3\nattributes:\n"
        "  Income: {party: b, range: [0, 100]}\n  Age: {party: c, range: [0, 100]}\n",
        "",
    ),
    "count mixed": (f"kind: count\n{CELLS}tables: [[Sex, Job]]\nminimum: 3\n", "-cells"),
    "tree mixed": (f"kind: tree\n{CELLS}max_depth: 1\nminimum: 3\n", "-cells"),
    "bayesnet mixed": (f"kind: bayesnet\n{CELLS}minimum: 3\n", "-cells"),
    "naive bayesnet mixed": (f"kind: bayesnet\n{CELLS}structure: naive\nkeep: risk\n", "-cells"),
    "aggregate mixed": (
        "kind: aggregate\npartition: mixed\nid: ID\nby: [Sex]\nmeasures: [{count: true}, {mean: Age}]\n"
        "attributes: {Sex: {values: [F, M]}, Age: {range: [0, 120]}}\nminimum: 3\n",
        "-cells",
    ),
}

# Two further keys of a job on the loans, which then is one of cuts.
MONDRIAN = "method: mondrian\nboxes: tight\n"

JOBS: dict[str, Callable[[Path], None]] = {
    "intersect ring": job("kind: intersect\nid: ID\nprotocol: ring\n", "ab"),
    "intersect oprf": job("kind: intersect\nid: ID\nprotocol: oprf\n", "ab"),
    "intersect ring, three parties": job("kind: intersect\nid: ID\nprotocol: ring\n"),
    "intersect oprf, three parties": job("kind: intersect\nid: ID\nprotocol: oprf\n"),
    "intersect pairwise": job("kind: intersect\nid: ID\nprotocol: ring\nreveal: pairwise\n"),
    "integrate": loans(hide_scores=False),
    "integrate malicious": loans("adversary: malicious\n", hide_scores=False),
    "integrate hide_scores": loans("hide_scores: true\n"),
    "integrate slack": loans("slack: tell\n", hide_scores=False),
    "integrate mondrian": loans(MONDRIAN),
    "integrate refine columns": loans("refine: columns\n"),
    "integrate refine groups": loans("refine: groups\n"),
    "integrate with a witness": lambda folder: simulated(
        loan_folder(folder, WITNESSED, zodiac=SIGNS), hide_scores=False
    ),
    "count": job(f"kind: count\n{ATTRIBUTES}tables: [[Sex, Job], [Age, Class]]\nminimum: 5\n"),
    "count horizontal": job(
        f"kind: count\n{POOLED}tables: [[Sex, Job]]\nminimum: 5\n", part="-part"
    ),
    "aggregate": job(
        "kind: aggregate\nid: ID\nattributes:\n  Sex: {party: a}\n  Job: {party: b, values: [x, y, z]}\n"
        "  Age: {party: c, range: [0, 120]}\nby: [Sex, Job]\n"
        "measures: [{count: true}, {mean: Age}, {variance: Age}]\n"
    ),
    "aggregate with noise": job(
        "kind: aggregate\nid: ID\nattributes:\n  Sex: {party: a, values: [F, M]}\n"
        "  Job: {party: b, values: [x, y, z]}\n  Age: {party: c, range: [0, 120]}\n"
        "by: [Sex, Job]\nmeasures: [{count: true}, {mean: Age}]\nnoise: {epsilon: 1, delta: 1e-6}\n"
    ),
    "aggregate horizontal": job(
        f"kind: aggregate\n{POOLED}by: [Sex, Job]\nmeasures: [{{sum: Age}}]\n", part="-part"
    ),
    "tree": job(f"kind: tree\n{ATTRIBUTES}max_depth: 1\nminimum: 5\n"),
    "regress": job(
        "kind: regress\npartition: horizontal\nmodel: logistic\noutcome: Class\nfeatures: [Age, Sex]\n"
        "attributes: {Sex: {values: [F, M]}, Class: {values: [N, Y]}}\nminimum: 3\n",
        part="-part",
    ),
    "regress vertical": job(
        "kind: regress\nid: ID\nmodel: ridge\noutcome: Age\nfeatures: [Sex, Job]\nattributes:\n"
        "  Sex: {party: a, values: [F, M]}\n  Job: {party: b, values: [x, y, z]}\n"
        "  Age: {party: c, range: [0, 100]}\nminimum: 1\n",
    ),
    "cluster": job(
        "kind: cluster\npartition: horizontal\nattributes: {Age: {}}\nclusters: 2\nminimum: 3\n",
        part="-part",
    ),
    "bayesnet": job(f"kind: bayesnet\n{ATTRIBUTES}minimum: 5\n"),
    "bayesnet naive": job(
        f"kind: bayesnet\n{ATTRIBUTES}structure: naive\nparameters: true\nkeep: risk\nminimum: 5\n"
    ),
    "predict by a tree": predicted("tree"),
    "predict by a naive net": predicted("bayesnet"),
    "predict by a net": predicted("net"),
    "predict by a net, mixed": predicted("mixed-net"),
    "rules": job(
        f"kind: rules\n{ATTRIBUTES.replace('class: Class', '')}support: 0.1\nconfidence: 0.6\n"
    ),
    "rules horizontal": job(f"kind: rules\n{POOLED}support: 0.1\nconfidence: 0.6\n", part="-part"),
    "identify": job(
        "kind: identify\nid: ID\nattributes: {Sex: {party: a}, Job: {party: b}, Age: {party: c}}\n"
    ),
    **{name: job(text, part=part) for name, (text, part) in DIVIDED.items()},
}

# Jobs whose floating-point sums differ in their last bits from one model of processor to the next: of
# these only the numbers of messages and bytes are compared.
ROUNDED = {"regress", "regress vertical logistic"}


# Protocols


def transfer(folder: Path) -> None:
    choices = Random("choices").bits(50)
    messages = Random("messages").array((2, 50, 16), np.uint8)
    run_parties(
        {
            "a": lambda channel: Sender(channel, "b", Random("a")).send(*messages),
            "b": lambda channel: Receiver(channel, "a", Random("b")).receive(choices, 16),
        }
    )


def silent_transfers(folder: Path) -> None:
    choices = Random("choices").bits(200_000)
    run_parties(
        {
            "a": lambda channel: Sender(channel, "b", Random("a")).correlated(200_000),
            "b": lambda channel: Receiver(channel, "a", Random("b")).correlated(choices),
        }
    )


def garbled(folder: Path) -> None:
    shares = [np.array([[5, 9, 2], [1, 1, 0]], np.uint64), np.zeros((2, 3), np.uint64)]
    run_parties(
        {
            "a": lambda channel: minindex(Garbler(channel, "b", Random("a")), shares[0], 256),
            "b": lambda channel: minindex(Evaluator(channel, "a", Random("b")), shares[1], 256),
        }
    )


def products(folder: Path) -> None:
    run_parties(
        {
            "a": lambda c: send_products(Sender(c, "b", Random("a")), [3, 4], 1 << 64, 64),
            "b": lambda c: receive_products(Receiver(c, "a", Random("b")), [5, 6], 1 << 64, 64),
        }
    )


def scalar(paillier: bool) -> Callable[[Path], None]:
    sizes = Sizes(6, 3, 1, (0, 1), (0, 9))
    values = {"a": np.arange(18).reshape(6, 3) % 2, "b": np.arange(6).reshape(6, 1)}

    def party(name: str) -> Callable[..., object]:
        def work(channel):
            rng, many = Random(name), name == "a"
            made = (
                PaillierProducts(
                    channel, channel.peers[0], many, rng, KEY.bits, KEY if many else None
                )
                if paillier
                else TransferProducts(channel, channel.peers[0], many, rng)
            )
            return scalar_products(made, sizes, values[name], rng)

        return work

    return lambda folder: run_parties({name: party(name) for name in values})


def logarithm(evaluation: str) -> Callable[[Path], None]:
    settings = Settings(8, 3)
    shares = split(settings.input_ring, [1, 7, 100], Random("shares"))

    def party(name: str, first: bool) -> Callable[..., object]:
        def work(channel):
            rng = Random(name)
            key = None if first else KEY
            session = Session(channel, channel.peers[0], first, rng, evaluation, KEY.bits, key)
            session.prepare(settings, 3)
            return logarithms(session, settings, shares[0 if first else 1], rng)

        return work

    return lambda folder: run_parties({"a": party("a", True), "b": party("b", False)})


def together(work: Callable[..., object]) -> Callable[[Path], None]:
    """Three parties, each with its place and a generator of its own."""

    def party(name: str) -> Callable[..., object]:
        return lambda channel: work(channel, NAMES.index(name), Random(name))

    return lambda folder: run_parties({name: party(name) for name in NAMES})


def generalised(folder: Path) -> None:
    def party(name: str, values: list[int]) -> Callable[..., object]:
        table = [ladder(continuous_column("number", [str(value) for value in values]))]
        return lambda channel: dka(channel, "a", table, 2, Random(name))

    run_parties({"a": party("a", [1, 2, 3, 4]), "b": party("b", [7, 7, 8, 9])})


PROTOCOLS: dict[str, Callable[[Path], None]] = {
    "oblivious transfer": transfer,
    "silent transfers": silent_transfers,
    "garbled minimum": garbled,
    "products by transfer": products,
    "scalar products by Paillier": scalar(True),
    "scalar products by transfer": scalar(False),
    "logarithm by transfer": logarithm("transfer"),
    "logarithm by Paillier": logarithm("paillier"),
    "coin toss": together(lambda c, at, rng: toss(c, NAMES, rng)),
    "secure sum": together(
        lambda c, at, rng: SecureSum(c, NAMES, rng).modular(np.array([at, 5], np.uint64))
    ),
    "secure maximum": together(
        lambda c, at, rng: SecureMaximum(c, NAMES, rng).argmax(np.array([at, 5], np.uint64))
    ),
    "set union": together(lambda c, at, rng: union(c, NAMES, {b"x", b"%d" % at}, rng, longest=29)),
    "DkA": generalised,
}
CASES = JOBS | PROTOCOLS
