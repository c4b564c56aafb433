"""The report on one table's release has its measures with a meaning each."""

import json

from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import element
from coterie.onetable.methods.generalizing.report import report_generalized
from coterie.onetable.methods.reading import load_table_file
from tests.coordinator.support import coterie
from tests.jobs.pages.reading import Reading


def test_every_measure_has_its_value_and_a_sentence(tmp_path):
    rows = "".join(f"{20 + n % 9}\n" for n in range(40))
    (tmp_path / "people.csv").write_text("Age\n" + rows)
    path = tmp_path / "table.yaml"
    path.write_text(
        "data: people.csv\nattributes:\n  Age: {range: [20, 30]}\nrequirement:\n  - {qid: [Age], k: 5}\n"
    )
    assert coterie("anonymise", path, "--out", tmp_path / "out").code == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    parts = {
        p.title: p
        for p in report_generalized(load_table_file(path), Claim(result), tmp_path / "out")
    }
    words = Reading(str(element("div", *parts["What the release costs"].content))).words
    for name in ("discernibility", "normalised_width", "precision", "entropy_loss"):
        value = result["utility"][name]
        shown = f"{value:,}" if name == "discernibility" else f"{value:,.4g}"
        assert f"{name.replace('_', ' ')} {shown} " in words
    assert not parts["How the table was made"].public
