"""`coterie experiment scale`: Figure 12 of paper 1, the time of Algorithm 1 over the records.

Adult enlarged to 50,000 to 200,000 records, k = 50, two parties: AllAttQID is one QID of all 14
attributes, MultiQID the mean of 30 random requirements of 3 to 7 QIDs. As in §7.3 reading and
writing are left out, and the messages are in; both parties are threads of this process, so that the
times of a network are not in (`coterie bench integrate` has them over mTLS). Beside it stands the
time that one round of DkA's encryptions would take, from their number, 2 n (floor(n / k) + 1), and
the rate of this machine: the paper estimates 12.53 days for the whole.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.specialization.specialize import warm_up
from coterie.experiments.census import markdown
from coterie.experiments.secure_data_integration.adult_data import (
    CONTINUOUS,
    NAMES,
    PARTY_A,
    PARTY_B,
    add_data_option,
    adult_folder,
    load_adult,
)
from coterie.experiments.secure_data_integration.enlarged import (
    K,
    Qids,
    load,
    party_run,
    random_qids,
)
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.group import hash_to_group, multiply, random_scalar
from coterie.protocols.primitives.randomness import Random

SIZES = (50_000, 100_000, 150_000, 200_000)
PARTIES = {"p0": PARTY_A, "p1": PARTY_B}
PRINTED = "about 340 s for 200,000 records with AllAttQID; MultiQID takes longer"


class Enlarged:
    """The enlarged table, divided among two parties."""

    def __init__(self, folder: Path, records: int) -> None:
        self.taxonomies = load_adult(folder).taxonomies
        self.columns, self.classes = load(folder, records, NAMES)

    def seconds(self, qids: Qids) -> float:
        """From coded columns to the joint table."""

        def party(channel: Channel) -> int:
            own = {name: self.columns[name] for name in PARTIES[channel.me]}
            begin = party_run(list(PARTIES), qids, own, self.classes, self.taxonomies, CONTINUOUS)
            return len(begin(channel).table.winners)

        started = time.perf_counter()
        run_parties(dict.fromkeys(PARTIES, party))
        return time.perf_counter() - started


def encryptions_a_second() -> float:
    """Of DkA, on this machine: multiplications of group elements by a secret scalar."""
    count = 4000
    elements = hash_to_group(
        np.arange(count * 4, dtype=np.uint64).view(np.uint8).reshape(count, 32)
    )
    scalar = random_scalar(Random())
    started = time.perf_counter()
    multiply(scalar, elements)
    return count / (time.perf_counter() - started)


def figure_12(folder: Path, sizes: tuple[int, ...], requirements: int) -> list[dict[str, Any]]:
    warm_up()
    rate = encryptions_a_second()
    found = []
    for records in sizes:
        table = Enlarged(folder, records)
        table.seconds([list(NAMES)])  # the first run compiles and fills caches
        several = [table.seconds(qids) for qids in random_qids(count=requirements)]
        encryptions = 2 * records * (records // K + 1)
        found.append(
            {
                "records": records,
                "all_attributes": table.seconds([list(NAMES)]),
                "multiple": float(np.mean(several)),
                "multiple_longest": max(several),
                "dka_encryptions": encryptions,
                "dka_days": encryptions / rate / 86400,
            }
        )
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment scale", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="50,000 records, three requirements")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    sizes, count = (SIZES[:1], 3) if options.quick else (SIZES, 30)
    found = figure_12(adult_folder(options.data), sizes, count)
    print(json.dumps(found) if options.json else table(found))
    return 0


def table(found: list[dict[str, Any]]) -> str:
    rows = [
        [f"{e['records']:,}", f"{e['all_attributes']:.3f}", f"{e['multiple']:.3f}",
         f"{e['dka_encryptions']:,}", f"{e['dka_days']:.2f}"]
        for e in found
    ]  # fmt: skip
    head = ["records", "AllAttQID, s", "MultiQID, s", "DkA: encryptions a round", "DkA: days a round"]  # fmt: skip
    return markdown(head, rows) + f"\nprinted: {PRINTED}\n"
