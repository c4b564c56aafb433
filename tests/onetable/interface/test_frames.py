"""`coterie.anonymise` on frames in memory."""

import csv
import importlib
from collections import Counter

import pyarrow as pa
import pytest

import coterie
from coterie.base.errors import DataError, UsageError
from tests.onetable.people import PLACES, rows

pd = pytest.importorskip("pandas", reason="pandas is not installed")

PATHS = [line.split(";") for line in PLACES.splitlines()]


def people() -> pa.Table:
    names = ["ID", "Age", "Place", "Sex", "Ill", "Class"]
    columns = dict(zip(names, map(list, zip(*rows(), strict=True)), strict=True))
    columns["Age"] = [int(age) for age in columns["Age"]]
    return pa.table(columns)


def test_a_frame_gives_the_release_that_the_command_gives(tmp_path):
    from tests.onetable.people import anonymised

    release = coterie.anonymise(
        people(), qid=["Age", "Place", "Sex"], k=3, taxonomies={"Place": PATHS}, sensitive="Ill",
        l=2, class_name="Class", drop=["ID"],
    )  # fmt: skip
    anonymised(tmp_path)
    with (tmp_path / "out/release.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert sorted(map(str, release.table.to_pylist())) == sorted(map(str, lines))
    assert release.utility.entropy_loss == release.result["utility"]["entropy_loss"]


def test_groups_and_risk_are_those_of_the_table():
    release = coterie.anonymise(people(), ["Age", "Sex"], 4, drop=["ID"])
    shown = Counter((row["Age"], row["Sex"]) for row in release.table.to_pylist())
    assert {(g["Age"], g["Sex"]): g["records"] for g in release.groups.to_pylist()} == shown
    assert release.risk["prosecutor"] == 1 / min(shown.values())
    assert release.risk["marketer"] == len(shown) / 40
    assert release.risk["uniques"] == 0
    assert "<table>" in release._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_others_give_the_same_release(library):
    frame = importlib.import_module(library).DataFrame(people().to_pydict())
    given = {"taxonomies": {"Place": PATHS}, "sensitive": "Ill", "l": 2, "drop": ["ID"]}
    ours, theirs = (
        coterie.anonymise(table, ["Age", "Place", "Sex"], 3, **given) for table in (people(), frame)
    )
    assert theirs.table.equals(ours.table)
    assert theirs.utility == ours.utility


def test_quantiles_of_a_frame():
    release = coterie.anonymise(
        people().select(["Age", "Ill"]), ["Age"], 10, method="quantiles", clusters="median"
    )
    assert release.result["quantiles"]["Age"]["groups"] == release.groups.num_rows == 4
    with pytest.raises(UsageError, match="has 2 columns"):
        coterie.anonymise(people(), ["Age", "Sex"], 10, method="quantiles", drop=["ID"])
    with pytest.raises(UsageError, match="by must be one of value"):
        coterie.anonymise(people(), ["Age"], 10, clusters="sampled", by="rank")


def test_frames_of_others_with_gaps_dates_and_categories():
    pandas, polars = (importlib.import_module(name) for name in ("pandas", "polars"))
    born = ["1980-01-02", "1981-05-06", "1990-07-08", "1991-02-03"] * 3
    town = ["a", "b", "a", "b"] * 3
    age = [30.0, None, 41.0, 52.5] * 3
    frames = [
        pandas.DataFrame(
            {"Born": pandas.to_datetime(born), "Town": pandas.Categorical(town), "Age": age}
        ),
        polars.DataFrame({"Born": born, "Town": town, "Age": age}).with_columns(
            polars.col("Born").str.to_date(), polars.col("Town").cast(polars.Categorical)
        ),
    ]
    for frame in frames:
        assert coterie.inspect(frame)["columns"][2]["missing"] == 3
        with pytest.raises(DataError, match=r"'Age'.*no value"):
            coterie.anonymise(frame, ["Born", "Town", "Age"], 3)
        release = coterie.anonymise(frame, ["Born", "Town", "Age"], 3, missing="value")
        assert release.groups.column("records").to_pylist() == [3, 3, 3, 3]


def test_anything_with_the_arrow_interface_will_do():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            return people().__arrow_c_stream__(requested_schema)

    assert coterie.anonymise(Frame(), ["Age"], 5, drop=["ID"]).table.num_rows == 40


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"qid": ["Agee"]}, DataError, "no column 'Agee'; did you mean 'Age'"),
        ({"k": 41}, DataError, "fewer than the k = 41"),
        ({"k": 0}, UsageError, "k must be at least 1"),
        ({"method": "magic"}, UsageError, "method must be one of"),
        ({"frame": [1, 2]}, UsageError, "no Arrow interface"),
        ({"spell": 3}, UsageError, "takes no argument 'spell'"),
    ],
)
def test_mistakes_are_one_line(arguments, error, told):
    with pytest.raises(error, match=told):
        coterie.anonymise(
            **({"frame": people(), "qid": ["Age"], "k": 2, "drop": ["ID"]} | arguments)
        )


def test_the_interface_is_found_under_its_name_only_when_asked_for():
    assert "anonymise" in dir(coterie)
    with pytest.raises(AttributeError):
        coterie.nothing_of_the_kind  # noqa: B018


def test_several_sensitive_columns_are_bounded_together():
    rows = {
        "age": [20, 21, 22, 23, 70, 71, 72, 73],
        "ill": ["heart", "heart", "flu", "stomach", "flu", "heart", "stomach", "gout"],
        "cure": ["pill", "knife", "drip", "drip", "knife", "drip", "pill", "rest"],
    }
    two = coterie.anonymise(pa.table(rows), ["age"], 4, sensitive=["ill", "cure"], l=2)
    three = coterie.anonymise(pa.table(rows), ["age"], 4, sensitive=["ill", "cure"], l=3)
    assert (two.groups.num_rows, three.groups.num_rows) == (2, 1)
    with pytest.raises(UsageError, match="'t' bounds one sensitive column"):
        coterie.anonymise(pa.table(rows), ["age"], 4, sensitive=["ill", "cure"], l=2, t=0.3)


def test_closeness_over_a_taxonomy_takes_that_of_the_sensitive_column():
    rows = {"age": [20, 21, 70, 71], "ill": ["flu", "ulcer", "cough", "gastritis"]}
    tree = [["flu", "lungs", "*"], ["cough", "lungs", "*"], ["ulcer", "stomach", "*"],
            ["gastritis", "stomach", "*"]]  # fmt: skip
    given = {"sensitive": "ill", "t": 0.3, "distance": "taxonomy"}
    found = coterie.anonymise(pa.table(rows), ["age"], 2, taxonomies={"ill": tree}, **given)
    assert found.groups.num_rows == 2
    assert (
        coterie.anonymise(pa.table(rows), ["age"], 2, sensitive="ill", t=0.3).groups.num_rows == 1
    )
    with pytest.raises(UsageError, match="needs a taxonomy of the sensitive attribute"):
        coterie.anonymise(pa.table(rows), ["age"], 2, **given)


def test_a_column_that_tells_all_records_apart_is_refused_unless_it_is_kept():
    told = "column 'ID' has a different value in every record.*drop=\\['ID'\\].*keep=\\['ID'\\]"
    with pytest.raises(DataError, match=told):
        coterie.anonymise(people(), ["Age"], 5)
    assert "ID" in coterie.anonymise(people(), ["Age"], 5, keep=["ID"]).table.column_names
    assert "ID" not in coterie.anonymise(people(), ["Age"], 5, drop=["ID"]).table.column_names
    assert coterie.anonymise(people(), ["Age"], 5, sensitive="ID", l=2, drop=["Ill"]).risk


def test_one_column_may_be_named_without_a_list_and_k_is_a_number():
    frame = pd.DataFrame({"Visits": [1, 2, 3, 4] * 5, "Ill": ["a", "b"] * 10})
    assert coterie.anonymise(frame, qid="Visits", k=5).result["anonymity"][0]["qid"] == ["Visits"]
    for wrong in ("10", 2.5, True, None):
        with pytest.raises(UsageError, match="k must be a whole number"):
            coterie.anonymise(frame, qid=["Visits"], k=wrong)


def test_a_release_is_saved_and_becomes_a_pandas_frame(tmp_path):
    frame = pd.DataFrame({"Visits": [1, 2, 3, 4] * 5, "Ill": ["a", "b"] * 10})
    release = coterie.anonymise(frame, qid="Visits", k=5)
    release.save(tmp_path / "release.csv")
    release.save(tmp_path / "release.parquet")
    assert release.to_pandas().equals(pd.read_parquet(tmp_path / "release.parquet"))
    assert release.to_pandas().astype(str).equals(pd.read_csv(tmp_path / "release.csv", dtype=str))
    with pytest.raises(UsageError, match=r"must end in \.csv or \.parquet"):
        release.save(tmp_path / "release.doc")
