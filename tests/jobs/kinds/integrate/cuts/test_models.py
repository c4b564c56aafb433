"""Every privacy model in jobs that cut groups: the release is that of the joined table."""

import csv
import json

import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.results.verify import verify
from coterie.jobs.kinds.job_file import load_job
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.reading import load_table_file
from tests.jobs.kinds.integrate.test_integrate_models import BY_HOLDER, MODELS, run, write

MORE = {
    "exponential": {"sensitive": ["Disease", "Days"], "l": 2, "diversity": "exponential"},
    "divergence": {"sensitive": "Disease", "t": 0.5, "distance": "kl"},
    "costs": {"sensitive": "Disease", "t": 0.4, "distance": "costs", "costs": "costs.csv"},
}
HELD = {*BY_HOLDER, *MORE}
CUTS = {"mondrian": "method: mondrian\n", "refine": "refine: groups\n"}


def alone(folder, name, method):
    tables = []
    for party in ("north", "south", "clinic"):
        with (folder / f"{party}.csv").open() as file:
            tables.append({row["ID"]: row for row in csv.DictReader(file)})
    joined = [tables[0][i] | tables[1][i] | tables[2][i] for i in tables[0]]
    with (folder / "all.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(joined[0]))
        writer.writeheader()
        writer.writerows(joined)
    keys = "".join(f", {k}: {json.dumps(v)}" for k, v in (MODELS | MORE)[name].items())
    (folder / "table.yaml").write_text(
        f"data: all.csv\n{method}id: ID\nclass: Class\nattributes:\n"
        "  Town: {taxonomy: Town.csv}\n  Age: {range: [0, 100]}\n  Disease: {keep: false}\n"
        f"  Days: {{}}\nrequirement:\n  - {{qid: [Town, Age], k: 5{keys}}}\n"
    )
    out = folder / "alone"
    out.mkdir()
    anonymise_file(load_table_file(folder / "table.yaml")).write(out)
    return out


@pytest.mark.parametrize("name", [*MODELS, *MORE])
@pytest.mark.parametrize("cut", CUTS)
def test_the_joint_release_with_a_model_is_that_of_one_table(tmp_path, name, cut):
    more = CUTS[cut] + ("conditions: holder\n" if name in HELD else "hide_scores: false\n")
    out, result = run(tmp_path / "job", (MODELS | MORE)[name], more)
    method = (
        "method: mondrian\nrule: width\n"
        if cut == "mondrian"
        else "method: specialize\nrefine: groups\n"
    )
    other = alone(tmp_path / "job", name, method)
    assert (out / "release.csv").read_bytes() == (other / "release.csv").read_bytes()
    assert len(result["tree"]) > 1 or cut == "refine"
    assert verify(out)["verdict"].startswith("holds")


@pytest.mark.parametrize("name", ["distinct", "recursive", "ordered"])
@pytest.mark.parametrize("more", ["", "adversary: malicious\nepsilon: 9\n"])
def test_cuts_are_the_same_however_a_condition_is_decided(tmp_path, name, more):
    keys = "method: mondrian\n" + more
    out, result = run(tmp_path / "shares", MODELS[name], keys)
    other, again = run(tmp_path / "other", MODELS[name], keys + "conditions: holder\n")
    assert (out / "release.csv").read_bytes() == (other / "release.csv").read_bytes()
    assert result["tree"] == again["tree"]
    told = [{entry["what"] for entry in one["opened"]} for one in (result, again)]
    assert [("integrate: proposal" in one) for one in told] == [False, True]


@pytest.mark.parametrize("cut", CUTS)
def test_columns_of_two_holders_are_refused_with_what_to_do(tmp_path, cut):
    path = write(tmp_path / "job", {"sensitive": ["Disease", "Days"], "l": 2})
    text = path.read_text().replace("Days: {party: clinic}", "Days: {party: south}")
    path.write_text(text + CUTS[cut] + "conditions: holder\n")
    with pytest.raises(UsageError, match="must be at one party where groups are cut"):
        load_job(path)
