"""The page of an inspection says what `--json` says, in sentences."""

from tests.coordinator.support import coterie
from tests.jobs.pages.reading import Reading


def test_the_page_has_the_verdict_and_the_numbers_of_the_result(tmp_path):
    rows = "".join(f"{n % 7},{n % 5},{n % 2}\n" for n in range(70))
    (tmp_path / "t.csv").write_text("a,b,c\n" + rows)
    page = tmp_path / "t.html"
    done = coterie(
        "inspect", tmp_path / "t.csv", "--population", 1000, "--mask", "separation=0.8",
        "--columns", "a,b,c", "--html", page, "--json",
    )  # fmt: skip
    found, words = done.json, Reading(page.read_text()).words
    assert f"combination of values: {found['risk']['uniques']:,} of 70." in words
    for column in found["columns"]:
        assert f"{column['name']} {column['type']} {column['distinct']}" in words
    for title in ("In the whole population", "What to withhold", "The risk, if all"):
        assert title in words


def test_a_table_without_unique_records_is_not_called_anonymous(tmp_path):
    (tmp_path / "t.csv").write_text("a\n" + "x\ny\n" * 5)
    page = tmp_path / "t.html"
    assert coterie("inspect", tmp_path / "t.csv", "--html", page).code == 0
    assert "which does not make a table anonymous" in Reading(page.read_text()).words
