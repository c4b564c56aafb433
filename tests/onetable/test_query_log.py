"""Priorities from a log of queries: names in SELECT lists and WHERE clauses, and nothing else."""

import pytest

from coterie.base.errors import DataError
from coterie.onetable.query_log import priorities
from tests.onetable.people import TABLE_FILE, anonymised, write_people

LOG = """\
SELECT Age, "marital-status" FROM people WHERE age > 30 AND Sex = 'Place'; -- Place, Place
select count(*) from people where Age between 20 and 30 group by Sex;
/* Place */ SELECT Stage FROM steps WHERE `Age` = 3 ORDER BY Sex
"""


def test_the_column_asked_for_most_counts_four_times_one_that_nobody_asks_for():
    found = priorities(LOG, ["Age", "Sex", "Place", "marital-status"])
    # Age: once selected, three times in conditions; Sex once; the rest stands in texts and comments.
    assert found == {
        "Age": 4.0,
        "Sex": 1 + 3 / 4,
        "Place": 1.0,
        "marital-status": 1 + 3 / 4,
    }


def test_a_log_that_names_no_attribute_is_an_error():
    with pytest.raises(DataError, match="no query selects by"):
        priorities("SELECT Height FROM trees", ["Age"])


def test_the_table_file_learns_its_priorities(tmp_path):
    write_people(tmp_path)
    (tmp_path / "log.sql").write_text("SELECT Age FROM people WHERE Age > 3")
    learned = anonymised(tmp_path, TABLE_FILE + "queries: log.sql\n")
    told = anonymised(
        tmp_path, TABLE_FILE.replace("range: [17, 90]}", "range: [17, 90], priority: 4}")
    )
    assert learned["utility"] == told["utility"]
    assert learned["priorities"] == {"Age": 4.0, "Place": 1.0, "Sex": 1.0}
