"""Tables whose cells are divided among the parties at random, for tests of `partition: mixed`."""

import csv

import numpy as np

PARTIES = ("lender", "bank", "card")


def write_mixed(folder, table, keys, attributes, parties=PARTIES, whole=(), spoil=None, seed=5):
    """The job and every party's table; columns of `whole` lie at the first party alone.

    `spoil(cells)` may change which party holds which cell: by column an array of (party, record).
    """
    rng = np.random.default_rng(seed)
    records = len(table["ID"])
    columns = [name for name in table if name not in ("ID", *whole)]
    cells = {}
    for name in columns:
        holder = rng.integers(0, len(parties), records)
        cells[name] = np.arange(len(parties))[:, None] == holder
    if spoil is not None:
        spoil(cells)
    for at, party in enumerate(parties):
        order = rng.permutation(records)
        own = ["ID", *columns, *(whole if at == 0 else ())]
        with (folder / f"{party}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(own)
            for i in order:
                writer.writerow(
                    [table[n][i] if n not in cells or cells[n][at, i] else "" for n in own]
                )
            writer.writerow(
                [f"stranger {party}"]
                + [""] * (len(columns))
                + ["Y"] * (len(own) - 1 - len(columns))
            )
    named = "\n".join(f"  {party}: {{data: {party}.csv}}" for party in parties)
    path = folder / "job.yaml"
    path.write_text(
        f"name: mixed\nparties:\n{named}\nid: ID\npartition: mixed\n{attributes}\n{keys}"
    )
    return path
