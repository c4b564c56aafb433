"""`coterie reconstruct`: distributions from a release and its laws alone."""

import json

import numpy as np
import pytest

from coterie.__main__ import run
from coterie.onetable.methods.perturb.keys import load_perturb_file
from coterie.onetable.methods.perturb.reconstruct import Settings, reconstruct_folder
from coterie.onetable.methods.perturb.run import perturb_file
from tests.onetable.methods.perturb.people import rows, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noisy")
    file = load_perturb_file(write(folder, people=rows(4_000)))
    noisy = perturb_file(file, np.random.default_rng(2).bytes)
    (folder / "out").mkdir()
    noisy.write(folder / "out")
    return folder


def test_estimates_are_near_the_truth(folder):
    found = reconstruct_folder(folder / "out", Settings(bins=12))
    age = found["columns"]["Age"]
    true = np.histogram([int(row[1]) for row in rows(4_000)], age["edges"])[0] / 4_000
    assert np.abs(np.array(age["shares"]) - true).sum() < 0.25
    assert age["agrees"]
    smokes = found["columns"]["Smokes"]
    yes = np.mean([row[3] == "yes" for row in rows(4_000)])
    assert smokes["values"] == ["yes", "no"]
    assert smokes["shares"][0] == pytest.approx(yes, abs=0.05)


def test_classes_have_distributions_of_their_own_and_a_classifier(folder, capsys):
    words = ["reconstruct", str(folder / "out"), "--by-class", "--json", "--bins", "12"]
    assert run([*words, "--classify", str(folder / "people.csv")]) == 0
    found = json.loads(capsys.readouterr().out)
    old, young = (found["classes"][name]["Age"]["shares"] for name in ("old", "young"))
    assert np.dot(old, np.arange(12)) > np.dot(young, np.arange(12)) + 3
    assert found["classified"]["records"] == 4_000
    assert found["classified"]["right"] > 0.85 > found["classified"]["most_frequent"]
    assert run(["reconstruct", str(folder / "out"), "--method", "bayes"]) == 0
    assert "quartiles" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("noise.json", lambda t: "", "not JSON"),
        ("noise.json", lambda t: "[" * 100_000, "not JSON"),
        ("noise.json", lambda t: t.replace('"normal"', '"laplace"'), "is not a file of laws"),
        ("noise.json", lambda t: '{"columns": {}, "class": null}', "is not a file of laws"),
        ("noise.json", lambda t: t.replace('"Age"', '"Years"'), "has the columns"),
        ("noise.json", lambda t: t.replace('"yes"', '"ja"'), "is not among the values"),
        ("release.csv", lambda t: t.replace('"old"', '"999999"', 1), None),
        ("release.csv", lambda t: t.splitlines()[0] + "\n", "the table has no records"),
        ("release.csv", lambda t: t.splitlines()[0] + '\n"x","1","yes","old"\n', "not a number"),
        ("release.csv", lambda t: t.splitlines()[0] + '\n"nan","1","yes","old"\n', "not finite"),
        ("release.csv", lambda t: t.splitlines()[0] + '\n"1","1e9","yes","old"\n', "cannot reach"),
    ],
)
def test_a_spoilt_folder_is_one_line(folder, tmp_path, capsys, name, change, message):
    for file in ("noise.json", "release.csv"):
        text = (folder / "out" / file).read_text()
        (tmp_path / file).write_text(change(text) if file == name else text)
    code = run(["reconstruct", str(tmp_path)])
    error = capsys.readouterr().err
    if message is None:
        assert code == 0
    else:
        assert code in (2, 3, 8)
        assert message in error
        assert error.count("\n") == 1


def test_a_folder_without_laws_and_a_table_without_the_columns_are_named(folder, tmp_path, capsys):
    assert run(["reconstruct", str(tmp_path)]) == 2
    assert "is it the result of perturb?" in capsys.readouterr().err
    (tmp_path / "other.csv").write_text("Age,Class\n30,old\n")
    assert run(["reconstruct", str(folder / "out"), "--classify", str(tmp_path / "other.csv")]) == 3
    assert "no columns 'Income', 'Smokes'" in capsys.readouterr().err
