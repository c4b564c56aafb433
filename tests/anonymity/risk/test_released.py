"""The risk of a release, by all columns and by each qid."""

import pytest

from coterie.anonymity.risk.released import release_risk
from tests.anonymity.risk.people import ROWS, codes_of


def test_each_qid_is_safer_than_all_columns_together():
    columns = dict(zip(("age", "sex", "state"), codes_of(ROWS), strict=True))
    risk = release_risk(columns, [["sex"], ["sex", "state"], ["sex"]])
    assert (risk["prosecutor"], risk["marketer"], risk["uniques"]) == (1, 1, 5)
    sex, both = risk["by_qid"]
    assert (sex["qid"], sex["prosecutor"], sex["marketer"]) == (["sex"], 0.5, 0.4)
    assert (both["qid"], both["uniques"], both["marketer"]) == (["sex", "state"], 3, 0.8)


def test_pycanon_counts_the_same():
    pandas = pytest.importorskip("pandas")
    pycanon = pytest.importorskip("pycanon.anonymity")
    frame = pandas.DataFrame(ROWS, columns=["age", "sex", "state"])
    risk = release_risk({"sex": codes_of(ROWS)[1]}, [["sex"]])
    assert pycanon.k_anonymity(frame, ["sex"]) == 1 / risk["prosecutor"]


def test_a_release_without_records_puts_nobody_at_risk():
    assert release_risk({}, [])["prosecutor"] == 0
