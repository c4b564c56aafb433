"""Models with noise: what one person changes, what is drawn, what comes out, what is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import kstest, laplace, norm

from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.models.noisy import REACH, ProductNoise, cluster_scales, product_queries
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.results.folder import summary
from coterie.protocols.aggregates.noise import Noise, Query
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.joint_products import in_steps, joint_sums
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers
from tests.jobs.kinds.models import test_cluster, test_regress
from tests.jobs.kinds.models.people import features, people, run

statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
LAPLACE = Noise(Fraction(2), Fraction(0))
GAUSSIAN = Noise(Fraction(2), Fraction(1, 1000))
BOTH = pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
STRONG = "noise: {epsilon: 20, delta: 0.001}\n"


def triangle(row):
    """What one record adds to every sum: the products of its columns, and the columns."""
    whole = [*row, 1]
    return [whole[i] * whole[j] for i in range(len(whole)) for j in range(i + 1)]


def test_no_neighbours_differ_by_more_than_the_queries_say_and_some_by_as_much():
    """Any two values of one record, in three columns of which the second is of zeros and ones."""
    ends = (-REACH, -REACH // 3, 0, 1, REACH)
    rows = [triangle(r) for r in product(ends, (-REACH, REACH), ends)]
    queries = product_queries([False, True, False])
    assert len(queries) == len(rows[0]) == 10
    apart = np.ptp(np.array(rows, dtype=object), axis=0)
    assert apart.tolist() == [0 if query is None else query.change(1) for query in queries]


@BOTH
def test_the_whole_promise_is_spent_over_all_sums_and_no_more(noise):
    queries = [q for q in product_queries([False, True, False, False]) if q is not None]
    scales = ProductNoise(noise, [False, True, False, False])._scales
    if noise.delta:
        spent = sum(Fraction(q.change(1) * s.bottom, s.top) ** 2 / 2 for q, s in zip(queries, scales, strict=True))  # fmt: skip
        due = noise.rho
    else:
        spent = sum(Fraction(q.change(1) * s.bottom, s.top) for q, s in zip(queries, scales, strict=True))  # fmt: skip
        due = noise.epsilon
    assert due * Fraction(999, 1000) < spent <= due


@BOTH
def test_the_promise_of_clusters_is_spent_over_all_iterations_and_no_more(noise):
    """A record moves from one cluster to another, with other values, in every iteration."""
    reaches, iterations = [8192, 300], 7
    scales = cluster_scales(noise, reaches, 3, iterations, 1000, 1 << 39)
    queries = [Query(1, 1), Query(-8192, 8192), Query(-300, 300)]
    rows = list(product(range(3), (-1, 0, 1), (-1, 0, 1)))
    spent, most = Fraction(0), [Fraction(0)] * 3
    for one, other in product(rows, rows):
        tables = []
        for home, *signs in (one, other):
            table = np.zeros((3, 3), int)
            table[home] = [1, signs[0] * 8192, signs[1] * 300]
            tables.append(table)
        apart = np.abs(tables[0] - tables[1])
        for at in range(3):
            change = int((apart[:, at] ** 2).sum() if noise.delta else apart[:, at].sum())
            most[at] = max(most[at], Fraction(change))
    for at, scale in enumerate(scales):
        size = Fraction(scale.top, scale.bottom)
        spent += iterations * (most[at] / (2 * size**2) if noise.delta else most[at] / size)
    assert len(queries) == len(scales)
    due = noise.rho if noise.delta else noise.epsilon
    assert due * Fraction(999, 1000) < spent <= due


@BOTH
def test_sums_of_products_have_both_draws_and_one_server_faces_a_whole_one(noise):
    names, width, records = ("a", "b", "c"), 36, 12
    held = {"a": [*range(12)], "b": [*range(12, 24)], "c": [*range(24, 36)]}
    table = np.random.default_rng(3).uniform(-1, 1, (records, width))
    steps = in_steps(table, [(-1, 1)] * width, REACH)

    def party(channel):
        rng = Random(f"{channel.me} {noise.mechanism}")
        hidden = HiddenCounts(channel, names, ("a", "b"), rng.fork("decide"))
        drawn = ProductNoise(noise, [False] * width).drawn(hidden, rng.fork("noise"))
        mine = held[channel.me]
        found = joint_sums(
            Transfers(channel, rng.fork("transfers")), names, held, table[:, mine], steps[:, mine],
            records, None, lambda: DataError("few"), rng.fork("products"), lambda: drawn, REACH,
        )  # fmt: skip
        return found, drawn

    found = run_same(names, party)
    whole = np.column_stack([steps, np.ones(records, int)]).astype(object)
    left = np.array(found["c"][0], dtype=object) - whole.T @ whole
    left = left[np.tril_indices(width + 1)].astype(np.int64)
    assert found["c"][1] is None
    unknown = left - found["a"][1].astype(np.int64)  # to server a
    assert np.array_equal(unknown, found["b"][1].astype(np.int64))
    queries = product_queries([False] * width)
    number = len(queries) - 1
    size = number * 2 / float(noise.epsilon)
    if noise.delta:
        size = (number * 4 / (2 * float(noise.rho))) ** 0.5
    shape = norm if noise.delta else laplace
    across = [at for at, query in enumerate(queries) if query == Query(-(REACH**2), REACH**2)]
    for server in "ab":
        drawn = found[server][1].astype(np.int64)[across] / REACH**2 / size
        assert kstest(drawn, shape.cdf).pvalue > 1e-4
    assert left[-1] == 0
    assert np.count_nonzero(left) >= number - 2


def noisy_regress(folder, table, more, model="linear"):
    path = test_regress.vertical_job(folder, model, table)
    text = path.read_text().replace("[0, 1000000]", "[0, 120000]").replace("[-500, 500]", "[-50, 300]")  # fmt: skip
    path.write_text(text + more)
    return path


def repeated(times):
    return {name: np.tile(column, times) for name, column in people().items()}


def test_a_noisy_model_is_near_that_of_statsmodels_and_says_that_it_has_noise(tmp_path):
    table = repeated(25)
    path = noisy_regress(tmp_path, table, STRONG)
    result = run(path)
    due = statsmodels.OLS(table["Cost"], statsmodels.add_constant(features(table))).fit()
    halves = np.array(
        [60, 60_000, 0.5, 0.5]
    )  # of the ranges: what a coefficient does to the outcome
    apart = (test_regress.values(result) - due.params[1:]) * halves
    assert np.abs(apart).max() < 0.05 * 175
    assert result["measures"]["r_squared"] == pytest.approx(due.rsquared, abs=0.05)
    assert test_regress.values(result, "error") == [None] * 4
    assert result["noise"]["epsilon"] == 20
    assert result["noise"]["added"] == 0
    opened = {entry["what"] for entry in result["opened"]}
    assert "regress: sums of products with noise" in opened
    assert not opened & {"regress: sums of products of columns", "statistics: whether a sum would be over few records"}  # fmt: skip
    assert "noise" in "".join(verify(tmp_path / "out")["unchecked"])
    job = load_job(path)
    lines = KINDS["regress"].summary(job, claim(result))
    assert "discrete Gaussian noise for epsilon 20, delta 0.001" in lines
    page = str(KINDS["regress"].report(job, claim(result), tmp_path / "out"))
    assert "Noise was added" in page
    other = {**result, "noise": {**result["noise"], "epsilon": 0.1}}
    with pytest.raises(VerificationError, match="another promise"):
        KINDS["regress"].summary(job, claim(other))


def claim(result):
    return Claim(result)


def test_a_rare_value_does_not_end_a_noisy_job_since_that_would_tell_of_it(tmp_path):
    table = repeated(1)
    table["Job"] = np.where(np.arange(len(table["Job"])) < 1, "C", "B")
    table["Cost"] = np.where(np.arange(len(table["Job"])) < 1, 99.0, 0.0)
    result = run(noisy_regress(tmp_path, table, "noise: {epsilon: 0.5}\n", "ridge"))
    assert all(np.isfinite(value) for value in test_regress.values(result))
    assert result["noise"]["added"] > 0


def test_noisy_clusters_are_near_the_middles_and_say_that_they_have_noise(tmp_path):
    rng = np.random.default_rng(2)
    middles = np.array([[-12.0, -10.0], [12.0, -9.0], [1.0, 13.0]])
    home = np.repeat(np.arange(3), (300, 400, 500))
    points = np.round(middles[home] + rng.normal(size=(1200, 2)), 3)
    table = {"Age": points[:, 0], "Tall": points[:, 1]}
    path = test_cluster.divided(tmp_path, table, STRONG)
    result = run(path)
    due = sorted(((points[home == c].mean(axis=0).tolist()), int((home == c).sum())) for c in range(3))  # fmt: skip
    np.testing.assert_allclose(result["centres"], [centre for centre, _ in due], atol=0.6)
    np.testing.assert_allclose(result["sizes"], [size for _, size in due], atol=20)
    assert result["sizes"] != [size for _, size in due]
    opened = {entry["what"]: entry["times"] for entry in result["opened"]}
    assert opened["cluster: sums and sizes with noise"] == 4
    assert not opened.keys() & {"cluster: sums and sizes of divided columns", "cluster: which cells are large", "statistics: mean and deviation of columns"}  # fmt: skip
    assert "noise" in "".join(verify(tmp_path / "out")["unchecked"])
    job = load_job(path)
    assert "sizes do not add up" in "".join(summary(job, result, tmp_path / "out"))
    with pytest.raises(VerificationError, match="within the ranges"):
        KINDS["cluster"].summary(job, claim({**result, "centres": [[99.0, 0.0]] * 3}))
    with pytest.raises(VerificationError, match="another promise"):
        KINDS["cluster"].summary(job, claim({**result, "noise": {"epsilon": 1.0, "delta": 0.0}}))


@pytest.mark.parametrize("seed", "abc")
def test_a_noisy_centre_at_the_end_of_a_range_blames_nobody(tmp_path, seed):
    """The steps of the shorter range end beyond it, and much noise moves a centre to that end."""
    table = {"Age": np.array([-20.0, 20.0] * 10), "Tall": np.array([-7.0, 9.0] * 10)}
    path = test_cluster.divided(tmp_path, table, "minimum: 1\nnoise: {epsilon: 0.01}\n")
    path.write_text(
        path.read_text().replace(
            "Tall: {party: bank, range: [-20, 20]", "Tall: {party: bank, range: [-7.3, 9.3]"
        )
    )
    (tmp_path / "out").mkdir()
    result = simulate(load_job(path), tmp_path, tmp_path / "out", seed=seed)
    assert all(-20 <= age <= 20 and -7.3 <= tall <= 9.3 for age, tall in result["centres"])


def test_a_party_needs_a_budget_and_no_word_for_exact_answers(tmp_path):
    job = load_job(noisy_regress(tmp_path, people(), "noise: {epsilon: 1, delta: 1e-6}\n"))
    needs = KINDS["regress"].needs(job, "bank")
    assert (needs.answers.exact, needs.answers.counted, needs.columns.released) == (False, {}, ())
    assert needs.answers.noise == (Fraction(1), Fraction(1, 10**6))
    plain = KINDS["regress"].needs(load_job(test_regress.vertical_job(tmp_path, "linear", people())), "bank")  # fmt: skip
    assert plain.answers.exact
    assert plain.answers.noise is None


@pytest.mark.parametrize("model", ["logistic", "svm"])
def test_models_without_noise_say_so(tmp_path, model):
    path = test_regress.vertical_job(tmp_path, model, people(), "Ill", "values: ['no', 'yes']")
    path.write_text(path.read_text() + "noise: {epsilon: 1}\n")
    with pytest.raises(UsageError, match=f"job.yaml:16: noise: a '{model}' model has no noise"):
        load_job(path)


def test_noise_is_for_columns_at_different_parties(tmp_path):
    keys = f"{test_regress.LINEAR}\nnoise: {{epsilon: 1}}"
    with pytest.raises(UsageError, match=r"noise.*'partition: vertical'"):
        load_job(test_regress.horizontal_job(tmp_path, keys))


def test_noise_without_room_and_values_outside_the_range_are_errors(tmp_path):
    with pytest.raises(UsageError, match="larger epsilon or fewer iterations"):
        cluster_scales(Noise(Fraction(1, 1000), Fraction(0)), [8192] * 60, 4, 100, 10, 1 << 39)
    table = people() | {"Cost": np.full(240, 301.0)}
    with pytest.raises(DataError, match="301"):
        run(noisy_regress(tmp_path, table, STRONG))
