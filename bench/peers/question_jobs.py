"""Whole jobs of `coterie bench questions`: their files, their tables, and peers on the pooled table.

A party prepares its table (columns of text, as a CSV file gives them) and runs the job, with the
code of a party's server from the kind down. A peer has all records in one place, which the parties
have not; its figures are for comparison, and its answer is what the parties' is checked against.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.base.arrays import Array, Floats
from coterie.bench._spent import Meter, Spent
from coterie.experiments.secure_data_integration.adult_data import load_adult

FEATURES = 20
PENALTY = 100  # of ridge regression
TRAINING = 30_162  # complete records of Adult's training part, which come first
CENTRES = np.array([[-4.0, 0.0, 3.0], [0.0, 4.0, -3.0], [4.0, -4.0, 0.0], [5.0, 5.0, 5.0]])
CATEGORICAL = (
    "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex",
    "native-country",
)  # fmt: skip


def job_party(channel: Any, names: list[str], argument: Mapping[str, Any]) -> dict[str, Any]:
    """One party's part of a job, measured after a small one has compiled what there is to compile."""
    from coterie.jobs.data.workspace import Workspace
    from coterie.jobs.kinds.job_file import parse_job
    from coterie.jobs.kinds.registry import KINDS
    from coterie.protocols.primitives.randomness import Random

    job = parse_job(argument["job"], argument.get("files", {}))
    kind = KINDS[job.kind]
    meter = Meter(channel)

    def work(table: pa.Table) -> Any:
        prepared = kind.prepare(job, channel.me, table, "bench")
        with tempfile.TemporaryDirectory(prefix="coterie-bench-") as folder:
            workspace = Workspace(Path(folder) / "run")
            workspace.create()
            return kind.run(job, prepared, meter.channel, Random(), workspace)

    work(argument["small"])
    found, spent = meter.measure(lambda: work(argument["table"]))
    return meter.report(found, spent)


def job_text(kind: str, names: Sequence[str], keys: str) -> str:
    """A job file; addresses are part of it, and nobody connects to them."""
    parties = "".join(f"  {name}: {{address: 'localhost:7000'}}\n" for name in names)
    return f"kind: {kind}\nname: bench\nparties:\n{parties}{keys}"


def as_text(columns: Mapping[str, Array]) -> pa.Table:
    """Columns as a CSV file gives them."""
    return pa.table({name: pa.array(column).cast(pa.string()) for name, column in columns.items()})


def in_parts(columns: Mapping[str, Array], parties: int) -> list[dict[str, Array]]:
    """The records of each party, where all have the same columns."""
    places = np.array_split(np.arange(len(next(iter(columns.values())))), parties)
    return [{name: column[rows] for name, column in columns.items()} for rows in map(_span, places)]


def _span(places: Array) -> slice:
    return slice(int(places[0]), int(places[-1]) + 1)


def people(records: int) -> dict[str, Array]:
    """Twenty features, an outcome of two values, a number, and times until an event."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(records, FEATURES)).round(4)
    eta = x @ (rng.normal(size=FEATURES) / 4)
    chance = 1 / (1 + np.exp(-eta))
    return {
        **{f"x{at}": x[:, at] for at in range(FEATURES)},
        "ill": (rng.random(records) < chance).astype(np.int64),
        "cost": (eta + rng.normal(size=records)).round(3),
        "days": np.ceil(rng.exponential(300 * np.exp(-eta / 2))).clip(1, 1000).astype(np.int64),
        "died": (rng.random(records) < 0.7).astype(np.int64),
    }


def points(records: int) -> dict[str, Array]:
    """Four clusters of different sizes in three dimensions."""
    rng = np.random.default_rng(2)
    home = rng.choice(len(CENTRES), records, p=[0.4, 0.3, 0.2, 0.1])
    found = (CENTRES[home] + rng.normal(size=(records, 3))).clip(-15, 15).round(3)
    return {f"x{at}": found[:, at] for at in range(3)}


def adult(folder: Path, records: int | None) -> dict[str, Array]:
    """The categorical columns of the complete training records of Adult, and their numbers."""
    table = load_adult(folder).table.slice(0, min(records or TRAINING, TRAINING))
    found = {name: np.array(table[name].to_pylist()) for name in CATEGORICAL}
    return {"ID": np.arange(len(table)).astype(str), **found}


def timed(work: Callable[[], Any]) -> tuple[Any, Spent]:
    used, start = time.process_time(), time.perf_counter()
    found = work()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return found, {"seconds": seconds, "cpu_seconds": used, "sent_bytes": 0}


def pooled_model(
    model: str, table: Mapping[str, Array], features: int = FEATURES
) -> tuple[Floats, Spent] | None:
    """The coefficients by scikit-learn or statsmodels; None where neither can."""
    if importlib.util.find_spec("sklearn") is None:
        return None
    x = np.stack([table[f"x{at}"] for at in range(features)], axis=1)
    if model == "cox":
        return None  # on the joined times, which the job's result names: `pooled_cox`
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    learner = {
        "linear": LinearRegression(),
        "ridge": Ridge(PENALTY),
        "logistic": LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky"),
        "svm": LinearSVC(dual=False, tol=1e-8),
    }[model]
    outcome = "cost" if model in ("linear", "ridge") else "ill"
    fitted, spent = timed(lambda: learner.fit(x, table[outcome]))
    return np.ravel(fitted.coef_), spent


def pooled_cox(table: Mapping[str, Array], ends: Sequence[float]) -> tuple[Floats, Spent] | None:
    """Cox's model by statsmodels, on the joined times of the parties' result."""
    if importlib.util.find_spec("statsmodels") is None:
        return None
    from statsmodels.duration.hazard_regression import PHReg

    x = np.stack([table[f"x{at}"] for at in range(FEATURES)], axis=1)
    cell = np.searchsorted(ends, table["days"]).astype(float)
    model = PHReg(cell, x, table["died"], ties="breslow")
    fitted, spent = timed(lambda: model.fit(disp=0))
    return fitted.params, spent


def pooled_sums(
    table: Mapping[str, Array], by: Sequence[str], column: str
) -> tuple[list[list[int]], Spent] | None:
    """Numbers of records and sums of every group by DuckDB, in the order of the groups."""
    if importlib.util.find_spec("duckdb") is None:
        return None
    import duckdb

    joined = pa.table(dict(table))
    keys = ", ".join(by)
    asked = f"SELECT count(*), sum({column}) FROM joined GROUP BY {keys} ORDER BY {keys}"
    with duckdb.connect() as base:
        base.register("joined", joined)
        rows, spent = timed(lambda: base.execute(asked).fetchall())
    return [[int(row[at]) for row in rows] for at in range(2)], spent


def pooled_clusters(table: Mapping[str, Array]) -> tuple[Floats, Spent] | None:
    """The centres by scikit-learn, from as many starts as it takes by default."""
    if importlib.util.find_spec("sklearn") is None:
        return None
    from sklearn.cluster import KMeans

    x = np.stack(list(table.values()), axis=1)
    fitted, spent = timed(lambda: KMeans(len(CENTRES), n_init=10, random_state=0).fit(x))
    return np.array(sorted(fitted.cluster_centers_.tolist())), spent


def pooled_rules(
    table: Mapping[str, Array], support: float, confidence: float, longest: int
) -> tuple[set[Any], Spent] | None:
    """The rules by mlxtend, each as its two sides."""
    if importlib.util.find_spec("mlxtend") is None:
        return None
    import pandas as pd
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    columns = {
        (name, value): table[name] == value
        for name in CATEGORICAL
        for value in sorted(set(table[name]))
    }
    frame = pd.DataFrame(dict(enumerate(columns.values())))
    items = list(columns)

    def work() -> set[Any]:
        sets = fpgrowth(frame, min_support=support, max_len=longest)
        rules = association_rules(sets, metric="confidence", min_threshold=confidence)
        sides = zip(rules["antecedents"], rules["consequents"], strict=True)
        return {tuple(frozenset(items[at] for at in side) for side in both) for both in sides}

    return timed(work)
