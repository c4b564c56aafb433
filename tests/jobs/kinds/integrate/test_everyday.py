"""Everyday data in an integrate job: missing values, dates, flat attributes, other spellings."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie.anonymity.specialization.specialize import Labels, Requirement, specialize
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.scales import DATE
from coterie.anonymity.table.taxonomy import flat_taxonomy, taxonomy_of
from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.pages.markup import element
from coterie.jobs.results.folder import summary
from tests.jobs.pages.reading import Reading

N = 200
JOB = """\
kind: integrate
name: everyday
parties:
  clinic: {data: clinic.csv}
  insurer: {data: insurer.csv}
  shop: {data: shop.csv}
id: ID
class: Class
attributes:
  Sex: {party: clinic, taxonomy: Sex.csv}
  Born: {party: clinic, range: [1930-01-01, 2010-12-31]}
  Pay: {party: insurer, range: [0, 100]}
  Town: {party: shop, flat: true}
requirement:
  - {qid: [Sex, Born], k: 5}
  - {qid: [Pay], k: 5}
  - {qid: [Town], k: 5}
"""
COLUMNS = {
    "clinic": ["ID", "Sex", "Born", "Class"],
    "insurer": ["ID", "Pay"],
    "shop": ["ID", "Town"],
}
SEXES = [("F", "any"), ("M", "any")]


def people(seed=3):
    rng = np.random.default_rng(seed)
    days = np.datetime64("1930-01-01") + rng.integers(0, 29_000, N)
    pay = rng.integers(0, 101, N)
    label = np.where((pay > 40) ^ (rng.random(N) < 0.2), "Y", "N")
    return {
        "ID": [f"p{i:03}" for i in range(N)],
        "Sex": rng.choice(["F", "M"], N).tolist(),
        "Born": [str(day) for day in days],
        "Pay": [str(value) for value in pay],
        "Town": rng.choice(["Ulm", "Bonn", "Kiel"], N).tolist(),
        "Class": label.tolist(),
    }


def write(path, table, names, delimiter=","):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(names)
        writer.writerows(zip(*(table[name] for name in names), strict=True))


def folder_of(folder, table=None, job=JOB):
    table = table or people()
    for party, names in COLUMNS.items():
        write(folder / f"{party}.csv", table, names)
    (folder / "Sex.csv").write_text("F;any\nM;any\n")
    path = folder / "job.yaml"
    path.write_text(job)
    return path


def run(folder, table=None, job=JOB):
    path = folder_of(folder, table, job)
    out = folder / "out"
    out.mkdir()
    result = simulate(load_job(path), folder, out)
    with (out / "release.csv").open(newline="") as file:
        return result, list(csv.DictReader(file)), out


def empty(table, name, rows, gap=""):
    column = list(table[name])
    for row in rows:
        column[row] = gap
    return {**table, name: column}


def in_one_table(table, missing_pay=False):
    """The reference: the same columns in one house, records in their own order."""
    gaps = np.array([value in ("", "?") for value in table["Pay"]]) if missing_pay else None
    columns = [
        categorical_column("Sex", table["Sex"], taxonomy_of(SEXES)),
        continuous_column(
            "Born",
            table["Born"],
            (DATE.read("1930-01-01"), DATE.read("2010-12-31")),
            scale=DATE,
        ),
        continuous_column("Pay", table["Pay"], (0, 100), gaps=gaps),
        categorical_column("Town", table["Town"], flat_taxonomy(table["Town"])),
    ]
    names = sorted(set(table["Class"]))
    classes = Labels(np.array([names.index(v) for v in table["Class"]], np.uint8), tuple(names))
    wanted = [Requirement(("Sex", "Born"), 5), Requirement(("Pay",), 5), Requirement(("Town",), 5)]
    return specialize(columns, classes, wanted)


def agrees(result, single):
    assert result["cut"] == single.cut
    assert [(w["attribute"], w["value"], w["children"]) for w in result["winners"]] == [
        (w.attribute, w.value, list(w.children)) for w in single.winners
    ]


def test_dates_are_generalized_to_intervals_of_dates_as_in_one_table(tmp_path):
    table = people()
    result, rows, out = run(tmp_path, table)
    agrees(result, in_one_table(table))
    borns = result["cut"]["Born"]
    assert len(borns) > 2
    assert borns[0].startswith("[1930-01-01, 19")
    assert borns[0].endswith(")")
    assert borns[-1].endswith(", 2010-12-31]")
    assert {row["Born"] for row in rows} <= set(borns)
    assert verify(out)["verdict"].startswith("holds")


def test_a_flat_attribute_shows_the_value_or_a_star(tmp_path):
    result, rows, _ = run(tmp_path)
    assert result["cut"]["Town"] == ["Bonn", "Kiel", "Ulm"]
    assert {row["Town"] for row in rows} == {"Bonn", "Kiel", "Ulm"}
    (tmp_path / "b").mkdir()
    result, rows, out = run(tmp_path / "b", job=JOB.replace("[Town], k: 5", "[Town], k: 150"))
    assert {row["Town"] for row in rows} == {"*"}
    assert verify(out)["verdict"].startswith("holds")
    told = [entry for entry in result["opened"] if entry["what"] == "integrate: flat domains"]
    assert told[0]["to"] == ["clinic", "insurer", "shop"]


def test_missing_numbers_stand_beside_the_intervals_as_in_one_table(tmp_path):
    table = empty(people(), "Pay", range(40), "?")
    job = JOB.replace("range: [0, 100]", "range: [0, 100], missing: value")
    result, rows, out = run(tmp_path, table, job)
    agrees(result, in_one_table(table, missing_pay=True))
    first = next(w for w in result["winners"] if w["attribute"] == "Pay")
    assert first["value"] == "[0, 100] or ?"
    assert first["children"][2] == "?"
    assert sum(row["Pay"] == "?" for row in rows) == 40
    assert verify(out)["verdict"].startswith("holds")


def test_too_few_missing_numbers_are_not_shown_apart(tmp_path):
    job = JOB.replace("range: [0, 100]", "range: [0, 100], missing: value")
    _result, rows, out = run(tmp_path, empty(people(), "Pay", [7, 9]), job)
    assert {row["Pay"] for row in rows} == {"[0, 100] or ?"}
    assert verify(out)["verdict"].startswith("holds")


def test_missing_numbers_whose_span_the_job_leaves_open(tmp_path):
    job = JOB.replace("range: [0, 100]", "missing: value").replace(
        "range: [1930-01-01, 2010-12-31]", "type: date"
    )
    table = empty(people(), "Pay", range(40))
    result, _, out = run(tmp_path, table, job)
    first = next(w for w in result["winners"] if w["attribute"] == "Pay")
    lowest, highest = (f([int(v) for v in table["Pay"] if v]) for f in (min, max))
    assert first["value"] == f"[{lowest}, {highest}] or ?"
    assert result["cut"]["Born"][0].startswith(f"[{min(table['Born'])}, ")
    assert verify(out)["verdict"].startswith("holds")


def test_missing_categories_are_a_leaf_under_the_root(tmp_path):
    table = empty(empty(people(), "Sex", range(30)), "Town", range(20, 60))
    job = JOB.replace("[Sex, Born], k: 5}", "[Sex], k: 5}\n  - {qid: [Born], k: 5}")
    result, rows, out = run(tmp_path, table, job + "missing: value\n")
    assert result["cut"]["Sex"] == ["F", "M", "?"]
    assert result["cut"]["Town"] == ["Bonn", "Kiel", "Ulm", "?"]
    assert sum(row["Town"] == "?" for row in rows) == 40
    assert verify(out)["verdict"].startswith("holds")


def test_rows_are_dropped_before_the_intersection_and_listed_for_their_steward_alone(tmp_path):
    table = empty(empty(people(), "Pay", [3, 5]), "Sex", [5, 9])
    result, rows, out = run(tmp_path, table, JOB + "missing: drop\n")
    assert result["records"] == len(rows) == N - 3
    lists = {p.parent.name: p.read_text().split() for p in (out / "parties").glob("*/dropped.csv")}
    assert {name: [line.split(",")[0] for line in text[4:]] for name, text in lists.items()} == {
        "clinic": ["6", "10"],
        "insurer": ["4", "6"],
    }
    assert "dropped" not in json.dumps(result)
    assert verify(out)["verdict"].startswith("holds")


def test_after_dropping_errors_name_the_rows_of_the_table_as_read(tmp_path):
    table = {**empty(people(), "Pay", [3, 5])}
    table["Pay"][10] = "101"
    with pytest.raises(DataError, match="row 11: column 'Pay': '101' is outside the range"):
        run(tmp_path, table, JOB + "missing: drop\n")


@pytest.mark.parametrize("name", ["Pay", "Sex", "Born", "Town"])
def test_missing_values_are_an_error_unless_the_job_says_more(tmp_path, name):
    table = empty(people(), name, range(71))
    words = rf"rows 1, 2, 3, 4, 5 and 66 more: column '{name}' has no value \(71 of 200 rows"
    with pytest.raises(DataError, match=words):
        run(tmp_path, table)


@pytest.mark.parametrize("missing", ["value", "drop"])
def test_class_and_identifiers_stay_strict(tmp_path, missing):
    for name in ("Class", "ID"):
        place = tmp_path / name
        place.mkdir()
        with pytest.raises(DataError, match=f"row 4: column '{name}' has no value"):
            run(place, empty(people(), name, [3]), f"{JOB}missing: {missing}\n")


def test_a_plain_attribute_with_gaps_leaves_as_it_is_unless_the_job_says_more(tmp_path):
    job = JOB.replace("  - {qid: [Town], k: 5}\n", "").replace("flat: true", "")
    table = empty(people(), "Town", [1, 2])
    for missing, shown in (("", ""), (", missing: value", "?")):
        place = tmp_path / f"x{len(missing)}"
        place.mkdir()
        _, rows, out = run(place, table, job.replace("party: shop, ", f"party: shop{missing}"))
        assert sum(row["Town"] == shown for row in rows) == 2
        assert verify(out)["verdict"].startswith("holds")
    (tmp_path / "e").mkdir()
    with pytest.raises(DataError, match="rows 2, 3: column 'Town' has no value"):
        run(tmp_path / "e", table, job.replace("party: shop, ", "party: shop, missing: error"))


def refusal(job):
    with pytest.raises(UsageError) as caught:
        parse_job(job, {"Sex.csv": b"F;any\nM;any\n"}, "job.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("flat: true", "flat: true, range: [1, 2]", "has both a range and 'flat'"),
        ("flat: true", "flat: true, type: date", "has a type, which only numbers"),
        ("  - {qid: [Town], k: 5}\n", "", "is in no qid and is released unchanged"),
        ("range: [0, 100]", "missing: never", "must be one of error, value, drop"),
        ("range: [0, 100]", "type: money", "must be one of number, date, datetime, time"),
        ("k: 5}\n  - {qid: [Pay], k: 5}", "k: 5, sensitive: Pay, l: 2}", "makes no group diverse"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(old, new, error):
    job = JOB.replace(old, new)
    if "diverse" in error:
        job = job.replace("range: [0, 100]", "missing: value")
    assert job != JOB
    assert error in refusal(job)


def test_a_decimal_comma_and_dates_of_the_source_are_read_as_it_declares(tmp_path):
    table = people()
    plain, _, _ = run(tmp_path, table)
    place = tmp_path / "spelt"
    place.mkdir()
    spelt = {
        **table,
        "Pay": [f"{value},0" for value in table["Pay"]],
        "Born": [".".join(reversed(day.split("-"))) for day in table["Born"]],
    }
    job = JOB.replace("data: clinic.csv", 'data: {csv: clinic.csv, dates: "%d.%m.%Y"}').replace(
        "data: insurer.csv", 'data: {csv: insurer.csv, delimiter: ";", decimal: ","}'
    )
    path = folder_of(place, spelt, job)
    write(place / "insurer.csv", spelt, COLUMNS["insurer"], ";")
    (place / "out").mkdir()
    result = simulate(load_job(path), place, place / "out")
    assert result["cut"] == plain["cut"]


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("Pay", "much", "'much' is not a number; give it a taxonomy, or 'flat: true'"),
        ("Pay", "12,5", 'say how its source writes numbers: data: {csv: FILE, decimal: ","}'),
        ("Pay", "1.234,5", 'data: {csv: FILE, decimal: ",", thousands: "."}'),
        ("Pay", "2020-01-31", "say 'type: date' of the attribute"),
        ("Born", "31.01.1990", 'as in data: {csv: FILE, dates: "%d.%m.%Y"}'),
        ("Born", "1990-01-31 12:00:00", "say 'type: datetime'"),
    ],
)
def test_a_value_of_another_form_gets_a_hint_that_its_holder_alone_sees(
    tmp_path, name, value, hint
):
    table = people()
    table[name][17] = value
    with pytest.raises(DataError) as caught:
        run(tmp_path, table)
    assert f"row 18: column '{name}': '{value}' is not " in str(caught.value)
    assert hint in str(caught.value)
    # The folder's name has numbers of its own.
    general = caught.value.message(rows=False).replace(str(tmp_path), "")
    assert value not in general
    assert "18" not in general
    # Which hint it is would tell about the value.
    assert general.endswith("or give it a 'type', or its source a 'decimal' mark")


def test_another_delimiter_is_guessed_from_the_header(tmp_path):
    table = people()
    path = folder_of(tmp_path, table)
    write(tmp_path / "shop.csv", table, COLUMNS["shop"], ";")
    with pytest.raises(DataError) as caught:
        simulate(load_job(path), tmp_path, tmp_path)
    assert str(caught.value).endswith(
        "shop.csv: no columns 'ID', 'Town'; its one column is 'ID;Town': if the values are divided "
        "by ';', say data: {csv: FILE, delimiter: \";\"}"
    )
    assert caught.value.message(rows=False).endswith("shop.csv: no columns 'ID', 'Town'")


def test_a_simulation_reads_every_source_of_a_party_file(tmp_path):
    import duckdb

    table = people()
    plain, _, _ = run(tmp_path, table)
    place = tmp_path / "sources"
    place.mkdir()
    job = JOB.replace("clinic.csv", "{duckdb: clinic.duckdb, query: SELECT * FROM people}").replace(
        "insurer.csv", "{parquet: insurer.data}"
    )
    path = folder_of(place, table, job)
    with duckdb.connect(str(place / "clinic.duckdb")) as connection:
        clinic = pa.table({name: table[name] for name in COLUMNS["clinic"]})
        connection.execute("CREATE TABLE people AS SELECT * FROM clinic")
        assert clinic.num_rows == N
    insurer = {"ID": table["ID"], "Pay": [int(value) for value in table["Pay"]]}
    pq.write_table(pa.table(insurer), place / "insurer.data")
    (place / "out").mkdir()
    assert simulate(load_job(path), place, place / "out")["cut"] == plain["cut"]


def test_a_password_in_a_job_file_would_be_sent_to_everybody():
    job = JOB.replace("shop.csv", '{postgresql: "postgresql://me:secret@db/x", table: t}')
    told = refusal(job)
    assert "a job file is sent to every party" in told
    assert "secret" not in told


def test_a_released_gap_that_the_job_does_not_know_is_found(tmp_path):
    job = JOB.replace("range: [0, 100]", "range: [0, 100], missing: value")
    _, _, out = run(tmp_path, empty(people(), "Pay", range(40)), job)
    kept = out / "job" / "job.yaml"
    kept.write_text(JOB)
    with pytest.raises(VerificationError, match="column 'Pay'"):
        verify(out)


def test_the_values_told_do_not_say_which_of_them_common_records_have(tmp_path):
    table = people()
    path = folder_of(tmp_path, table)
    with (tmp_path / "shop.csv").open("a") as file:
        file.write("elsewhere,Rom\n")
    (tmp_path / "out").mkdir()
    result = simulate(load_job(path), tmp_path, tmp_path / "out")
    assert result["records"] == N
    assert result["cut"]["Town"] == ["Bonn", "Kiel", "Rom", "Ulm"]


@pytest.mark.parametrize(
    ("towns", "words"),
    [
        (["*"] * N, "which 'flat: true' uses; give 'Town' a taxonomy"),
        (["x" * 201] * N, "is too long"),
    ],
)
def test_flat_values_that_cannot_be_told_are_refused_before_anything_leaves(tmp_path, towns, words):
    with pytest.raises(DataError, match=words):
        run(tmp_path, {**people(), "Town": towns})


def lines_of(folder, table=None, job=JOB):
    result, rows, out = run(folder, table, job)
    return result, rows, out, summary(load_job(folder / "job.yaml"), result, out)


def test_the_summary_says_loudly_what_shows_nothing_and_what_leaves_as_it_is(tmp_path):
    job = JOB.replace("[Town], k: 5", "[Town], k: 150").replace("  - {qid: [Pay], k: 5}\n", "")
    _, rows, _, lines = lines_of(tmp_path, job=job)
    assert {row["Town"] for row in rows} == {"*"}
    loud = next(line for line in lines if line.startswith("  FULLY GENERALISED: "))
    assert "Town: every record shows the same" in loud
    assert "  RELEASED UNCHANGED: Pay: part of no qid, so no k protects them" in lines


def test_the_share_of_detail_is_counted_from_the_released_values(tmp_path):
    result, rows, out, lines = lines_of(tmp_path)
    edges = [value.strip("[])").split(", ") for value in (row["Pay"] for row in rows)]
    shown = sum(1 - (float(high) - float(low)) / 100 for low, high in edges) / N
    assert result["detail"]["Pay"] == pytest.approx(shown, abs=1e-5)
    assert result["detail"]["Town"] == 1
    values = len(result["cut"]["Pay"])
    assert f"  Pay: {shown:.0%} of its detail kept, {values} values" in lines
    parts = KINDS["integrate"].report(load_job(tmp_path / "job.yaml"), Claim(result), out)
    drawn = " ".join(Reading(str(element("div", *part.content))).words for part in parts)
    assert all(f"{name} {share:.0%}" in drawn for name, share in result["detail"].items())
    told = json.loads((out / "result.json").read_text())
    told["detail"]["Pay"] = 0.999
    (out / "result.json").write_text(json.dumps(told))
    with pytest.raises(VerificationError, match="of the detail of 'Pay' is kept, the release"):
        verify(out)


def test_the_summary_counts_suppressed_records(tmp_path):
    table = people()
    table["Sex"][:2] = ["X", "X"]
    job = JOB.replace("[Sex, Born], k: 5}", "[Sex], k: 5}\n  - {qid: [Born], k: 5}")
    path = folder_of(tmp_path, table, job + "max_suppression: 0.05\n")
    (tmp_path / "Sex.csv").write_text("F;any\nM;any\nX;any\n")
    (tmp_path / "out").mkdir()
    result = simulate(load_job(path), tmp_path, tmp_path / "out")
    assert result["suppressed"] >= 2
    lines = summary(load_job(path), result, tmp_path / "out")
    share = result["suppressed"] / N
    assert f"  SUPPRESSED: {result['suppressed']:,} records, {share:.1%} of all" in lines


def test_the_summary_says_what_every_model_has_reached(tmp_path):
    job = JOB.replace("  - {qid: [Pay], k: 5}\n", "").replace(
        "[Sex, Born], k: 5", "[Sex, Born], k: 5, sensitive: Pay, l: 2, t: 0.9"
    )
    _, rows, out, lines = lines_of(tmp_path, job=job)
    groups = {}
    for row in rows:
        groups.setdefault((row["Sex"], row["Born"]), set()).add(row["Pay"])
    fewest = min(map(len, groups.values()))
    found = next(line for line in lines if line.startswith("  k=5 on Sex, Born"))
    assert f" reached {fewest:g}" in found
    assert found.count(" reached ") == 2
    told = json.loads((out / "result.json").read_text())
    first = next(iter(told["reached"][0]))
    told["reached"][0][first] += 1
    (out / "result.json").write_text(json.dumps(told))
    with pytest.raises(VerificationError, match="requirement 1 says it reached"):
        verify(out)


def test_the_measures_of_a_job_are_the_same_in_every_run(tmp_path):
    table, found = people(), []
    for name, order in (("a", np.arange(N)), ("b", np.random.default_rng(8).permutation(N))):
        (tmp_path / name).mkdir()
        rows = {column: [values[at] for at in order] for column, values in table.items()}
        result, _, _ = run(tmp_path / name, rows, JOB + "max_suppression: 0.2\n")
        found.append((result["utility"], result["alone"]))
    assert found[0] == found[1]


def test_whole_numbers_as_pandas_writes_them_are_the_values_of_a_taxonomy(tmp_path):
    table = people()
    table["Town"] = [f"{['Ulm', 'Bonn', 'Kiel'].index(town)}.0" for town in table["Town"]]
    path = folder_of(tmp_path, table, JOB.replace("flat: true", "taxonomy: Town.csv"))
    (tmp_path / "Town.csv").write_text("0;low;any\n1;low;any\n2;high;any\n")
    (tmp_path / "out").mkdir()
    result = simulate(load_job(path), tmp_path, tmp_path / "out")
    assert result["cut"]["Town"] == ["0", "1", "2"]
    assert verify(tmp_path / "out")["verdict"].startswith("holds")
