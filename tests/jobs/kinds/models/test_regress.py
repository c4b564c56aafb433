"""Models as jobs: what they answer, what they refuse, what a result must be like."""

import itertools
import json
import re

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from coterie.base.errors import CoterieError, DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import lines, verify
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.kinds.models.regress import promise_of
from coterie.jobs.kinds.models.regress_report import coefficient_plot, report_model
from coterie.jobs.kinds.models.verify_regress import ClaimedModel, ModelPromise, verify_model
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.pages.charts import WIDTH
from coterie.jobs.pages.markup import element
from tests.jobs.kinds.models.people import features, horizontal_job, people, run, write
from tests.jobs.pages.reading import Reading

statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
FEATURES = "features: [Age, Income, Job]\n"
ATTRIBUTES = "attributes: {Job: {values: [A, B, C]}, Ill: {values: ['no', 'yes']}}\n"
JOBS_ONLY = "attributes: {Job: {values: [A, B, C]}}\n"
LOGISTIC = f"model: logistic\noutcome: Ill\n{FEATURES}{ATTRIBUTES}"
LINEAR = f"model: linear\noutcome: Cost\n{FEATURES}{JOBS_ONLY}"


COX = f"model: cox\ntime: Days\nevent: Died\n{FEATURES}{JOBS_ONLY}"


def values(result, what="value"):
    return [entry[what] for entry in result["coefficients"].values()]


def test_a_logistic_job_gives_the_model_of_all_records(tmp_path):
    table = people()
    path = horizontal_job(tmp_path, LOGISTIC, table)
    result = run(path)
    x, y = features(table), (table["Ill"] == "yes").astype(float)
    due = statsmodels.Logit(y, statsmodels.add_constant(x)).fit(disp=0, tol=1e-14)
    assert list(result["coefficients"]) == ["Age", "Income", "Job=B", "Job=C"]
    np.testing.assert_allclose(values(result), due.params[1:], rtol=1e-6)
    np.testing.assert_allclose(values(result, "error"), due.bse[1:], rtol=1e-6)
    assert result["intercept"] == pytest.approx(due.params[0], rel=1e-6)
    assert result["intercept_error"] == pytest.approx(due.bse[0], rel=1e-6)
    assert result["records"] == len(y)
    opened = {entry["what"]: entry["times"] for entry in result["opened"]}
    assert opened["regress: sums of an iteration"] == result["iterations"]
    assert opened["statistics: whether a sum would be over few records"] == 1
    verdict = verify(tmp_path / "out")
    assert "logistic model of 4 coefficients from 240 records" in lines(verdict)[0]
    page = str(KINDS["regress"].report(load_job(path), _claim(result), tmp_path / "out"))
    assert "The coefficients and how certain they are" in page
    assert "Job=C" in page
    [part] = KINDS["regress"].report(load_job(path), _claim(result), tmp_path / "out")
    words = Reading(str(element("div", *part.content))).words
    assert "The outcome is Ill = yes , as against no" in words
    assert "which has no coefficient: Job=A" in words


def test_a_linear_job_gives_the_model_of_all_records(tmp_path):
    table = people()
    result = run(horizontal_job(tmp_path, LINEAR, table))
    due = statsmodels.OLS(table["Cost"], statsmodels.add_constant(features(table))).fit()
    np.testing.assert_allclose(values(result), due.params[1:], rtol=1e-7)
    np.testing.assert_allclose(values(result, "error"), due.bse[1:], rtol=1e-7)
    assert result["measures"]["r_squared"] == pytest.approx(due.rsquared, abs=1e-9)
    summary = KINDS["regress"].summary(load_job(tmp_path / "job.yaml"), _claim(result))
    assert summary[0].startswith("linear model of Cost, 2 iterations: r squared")
    assert len(summary) == 6


def _claim(result):
    return Claim(json.loads(json.dumps(result)))


def test_a_cox_job_gives_the_model_of_all_records_on_the_joined_times(tmp_path):
    table = people()
    path = horizontal_job(tmp_path, COX, table)
    result = run(path)
    ends = [step["time"] for step in result["survival"]]
    assert min(step["events"] for step in result["survival"]) >= 5
    cell = np.searchsorted(ends, table["Days"]).astype(float)
    due = statsmodels.PHReg(cell, features(table), table["Died"], ties="breslow").fit(disp=0)
    np.testing.assert_allclose(values(result), due.params, rtol=1e-6)
    np.testing.assert_allclose(values(result, "error"), due.bse, rtol=1e-6)
    assert result["intercept"] is None
    assert 0.6 < result["measures"]["concordance"] < 0.8
    verify(tmp_path / "out")
    page = str(KINDS["regress"].report(load_job(path), _claim(result), tmp_path / "out"))
    assert "who have had no event" in page
    told = verify_model(promise_of(load_job(tmp_path / "job.yaml")), _claim(result)).lines()
    widest = max(b - a for a, b in itertools.pairwise([0.0, *ends]))
    start, end = re.search(r"widest from (\S+) to (\S+):", "\n".join(told)).groups()
    assert float(end) - float(start) == pytest.approx(widest)
    step = {**result["survival"][0], "events": 4}
    changed = {**result, "survival": [step, *result["survival"][1:]]}
    with pytest.raises(VerificationError, match="at least 5"):
        KINDS["regress"].summary(load_job(path), _claim(changed))


def test_a_grid_of_the_job_is_kept_to(tmp_path):
    result = run(horizontal_job(tmp_path, COX + "grid: {step: 50, end: 200}\nminimum: 1\n"))
    assert [step["time"] for step in result["survival"]] == [50, 100, 150, 200]


def vertical_job(folder, model, table, outcome="Cost", about="range: [-500, 500]"):
    held = {"lender": ["Age"], "bank": ["Income", "Job"], "card": [outcome]}
    count = len(table["Age"])
    for party, names in held.items():
        order = np.random.default_rng(len(party)).permutation(count)
        own = {"ID": [f"p{i}" for i in order]} | {n: [table[n][i] for i in order] for n in names}
        write(folder / f"{party}.csv", own)
    parties = "".join(f"  {party}: {{data: {party}.csv}}\n" for party in held)
    path = folder / "job.yaml"
    path.write_text(
        f"kind: regress\nname: test\nparties:\n{parties}id: ID\nmodel: {model}\noutcome: {outcome}\n{FEATURES}"
        "attributes:\n  Age: {party: lender, range: [0, 120]}\n  Income: {party: bank, range: [0, 1000000]}\n"
        f"  Job: {{party: bank, values: [A, B, C]}}\n  {outcome}: {{party: card, {about}}}\n"
    )  # fmt: skip
    return path


def test_a_vertical_linear_job_gives_the_model_of_the_joined_columns(tmp_path):
    table = people()
    result = run(vertical_job(tmp_path, "linear", table))
    due = statsmodels.OLS(table["Cost"], statsmodels.add_constant(features(table))).fit()
    np.testing.assert_allclose(values(result), due.params[1:], rtol=1e-3)
    np.testing.assert_allclose(values(result, "error"), due.bse[1:], rtol=1e-3)
    assert result["records"] == len(table["Age"])
    verify(tmp_path / "out")


def test_a_vertical_logistic_job_gives_the_model_of_the_joined_columns_to_the_stated_bound(
    tmp_path,
):
    table = people()
    path = vertical_job(tmp_path, "logistic\niterations: 6", table, "Ill", "values: ['no', 'yes']")
    result = run(path)
    y = (table["Ill"] == "yes").astype(float)
    due = statsmodels.Logit(y, statsmodels.add_constant(features(table))).fit(disp=0, tol=1e-14)
    apart = (np.array(values(result)) - due.params[1:]) / due.bse[1:]
    assert np.abs(apart).max() <= result["measures"]["approximation"] + 1e-4 < 0.1
    np.testing.assert_allclose(values(result, "error"), due.bse[1:], rtol=0.03)
    area = roc_auc_score(y, features(table) @ due.params[1:])
    measures = result["measures"]
    assert set(measures) == {"log_likelihood", "approximation", "auc", "auc_error"}
    assert abs(measures["auc"] - area) <= measures["auc_error"] < 0.01
    assert "logistic model of 4 coefficients" in lines(verify(tmp_path / "out"))[0]
    opened = {entry["what"]: entry["times"] for entry in result["opened"]}
    assert opened["regress: coefficients after steps on shares"] == 1
    assert opened["regress: whether all scores are in range"] == 1
    assert "regress: sums of an iteration" not in opened
    page = str(KINDS["regress"].report(load_job(path), _claim(result), tmp_path / "out"))
    assert "standard errors from that of the exact model" in page
    changed = {**result, "measures": {**result["measures"], "approximation": -1}}
    with pytest.raises(VerificationError, match="between 0 and inf"):
        KINDS["regress"].summary(load_job(path), _claim(changed))


def test_a_vertical_job_that_would_tell_of_a_few_people_ends_before_any_sum(tmp_path):
    table = people()
    table["Job"] = np.where(np.arange(len(table["Job"])) < 3, "C", table["Job"])
    table["Job"] = np.where((np.arange(len(table["Job"])) >= 3) & (table["Job"] == "C"), "B", table["Job"])  # fmt: skip
    with pytest.raises(DataError, match="fewer than 5 records, but some"):
        run(vertical_job(tmp_path, "ridge", table))


def test_other_models_of_divided_columns_are_refused_with_a_reason(tmp_path):
    with pytest.raises(UsageError, match="only 'linear', 'ridge' and 'logistic'"):
        load_job(vertical_job(tmp_path, "svm", people()))


def test_a_model_that_would_tell_of_a_few_people_ends_before_any_sum(tmp_path):
    table = people()
    table["Job"] = np.where(np.arange(len(table["Job"])) < 3, "C", "B")
    with pytest.raises(DataError, match="fewer than 5 records, but some"):
        run(horizontal_job(tmp_path, LOGISTIC, table))
    table["Job"] = np.where(np.arange(len(table["Job"])) % 9 == 0, "C", "B")
    with pytest.raises(DataError, match="'Job=C' follows from the other columns"):
        run(horizontal_job(tmp_path, LOGISTIC, table))


@pytest.mark.parametrize("rows", [3, 14])
def test_too_few_records_are_named(tmp_path, rows):
    table = {name: column[:rows] for name, column in people().items()}
    with pytest.raises(DataError, match="records are too few: a model of 4 coefficients needs 15"):
        run(horizontal_job(tmp_path, LINEAR, table))


def test_a_party_whose_values_are_others_stops_the_job_before_it_begins(tmp_path):
    table = people()
    table["Ill"] = np.where(np.arange(len(table["Ill"])) == 200, "Yes", table["Ill"])
    with pytest.raises(DataError, match=r"card\.csv: row 41: column 'Ill': 'Yes' is not among"):
        run(horizontal_job(tmp_path, LOGISTIC, table))


def test_two_parties_are_warned_of_each_others_sums(tmp_path):
    job = load_job(horizontal_job(tmp_path, LINEAR, names=("lender", "bank")))
    assert "each learns the other's sums" in job.warnings[0]
    assert not load_job(horizontal_job(tmp_path, LINEAR)).warnings


HEAD = "kind: regress\nname: t\nparties: {a: {}, b: {}, c: {}}\npartition: horizontal\n"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("outcome: y\nfeatures: [x]\n", "'model' is missing"),
        ("model: forest\noutcome: y\nfeatures: [x]\n", "model"),
        ("model: linear\noutcome: y\nfeatures: []\n", "list of different columns"),
        ("model: linear\noutcome: y\nfeatures: [x, x]\n", "list of different columns"),
        ("model: linear\noutcome: y\nfeatures: [x, y]\n", "is the outcome"),
        ("model: linear\noutcome: y\nfeatures: [x]\npenalty: 1\n", "model: ridge"),
        ("model: svm\noutcome: y\nfeatures: [x]\npenalty: 0\n", "above 0"),
        ("model: linear\noutcome: y\nfeatures: [x]\niterations: 1\n", "iterations"),
        ("model: cox\ntime: t\nfeatures: [x]\n", "'event' is missing"),
        ("model: cox\ntime: x\nevent: e\nfeatures: [x]\n", "is the outcome"),
        ("model: cox\ntime: e\nevent: e\nfeatures: [x]\n", "both the time and the event"),
        ("model: cox\ntime: t\nevent: e\nfeatures: [x]\ngrid: [3, 2]\n", "ascending"),
        ("model: cox\ntime: t\nevent: e\nfeatures: [x]\ngrid: {step: 1, end: 900}\n", "512 steps"),
        ("model: linear\noutcome: y\nfeatures: [x]\nid: ID\n", "records are not matched"),
        ("model: linear\noutcome: y\nfeatures: [x]\nservers: [a]\n", "two different parties"),
        ("model: linear\noutcome: y\nfeatures: [x]\nattributes: {y: {values: [a, b]}}\n", "numbers"),
    ],
)  # fmt: skip
def test_a_job_that_makes_no_sense_is_an_error_of_its_line(keys, says):
    with pytest.raises(UsageError, match=says):
        parse_job(HEAD + keys, {})


@pytest.mark.parametrize(
    "change",
    [
        {"records": 4},
        {"model": "ridge"},
        {"intercept": None},
        {"iterations": 26},
        {"settled": False},
        {"measures": {}},
        {"measures": {"r_squared": 1.5, "residual_deviation": 1}},
        {"coefficients": {}},
        {
            "coefficients": {
                n: {"value": 1, "error": -1} for n in ("Age", "Income", "Job=B", "Job=C")
            }
        },
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_result_that_the_job_does_not_allow_is_refused(tmp_path, change):
    run(horizontal_job(tmp_path, LINEAR))
    path = tmp_path / "out" / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises((VerificationError, CoterieError)):
        verify(tmp_path / "out")


def test_a_file_of_coefficients_that_was_changed_is_refused(tmp_path):
    run(horizontal_job(tmp_path, LINEAR))
    path = tmp_path / "out" / "coefficients.csv"
    assert path.read_text().splitlines()[0] == "column,value,standard error"
    path.write_text(path.read_text().replace("Age,", "Age,9"))
    with pytest.raises(VerificationError, match="other coefficients"):
        verify(tmp_path / "out")


def test_rows_without_a_value_are_left_out_where_the_job_says_so(tmp_path):
    table = people()
    table["Age"] = np.where(np.arange(len(table["Age"])) % 10 == 0, "", table["Age"].astype(str))
    with pytest.raises(DataError, match="has no value"):
        run(horizontal_job(tmp_path, LINEAR, table))
    keys = LINEAR.replace("attributes: {", "attributes: {Age: {missing: drop}, ")
    assert run(horizontal_job(tmp_path, keys, table))["records"] == 216


def test_a_model_without_errors_has_no_empty_columns_for_them():
    promise = ModelPromise("svm", "Ill", ("Age",), 2, 5, 10, (), outcomes=("no", "yes"))
    model = ClaimedModel(promise, 40, (9.0,), (None,), 0.5, None, 3, {}, True)
    [part] = report_model(model)
    shown = Reading(str(element("div", *part.content)))
    assert [a.get("data-head") for tag, a in shown.tags if tag == "td"] == [
        "column",
        "coefficient",
    ] * 2


def test_the_drawing_of_coefficients_has_every_interval_whole():
    promise = ModelPromise("linear", "Cost", ("Age", "Job=B"), 2, 5, 10, ())
    model = ClaimedModel(promise, 40, (9.0, -0.5), (1.0, 1.0), None, None, 3, {}, True)
    lines = [shape for shape in coefficient_plot(model).content if shape.tag == "line"]
    ends = [float(dict(line.attributes)[end]) for line in lines for end in ("x1", "x2")]
    assert len(ends) == 6  # zero, and two intervals
    assert max(ends) <= WIDTH
