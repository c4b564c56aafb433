"""Mondrian on a real Dask cluster of two worker processes gives the release of one machine."""

import json

import pytest

from coterie.__main__ import run
from coterie.onetable.methods.generalizing.large import anonymise_large
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.mondrian.cluster_pieces import Cluster
from coterie.onetable.methods.reading import load_table_file
from tests.onetable.people import TABLE_FILE, rows, write_people


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as running:
        running.wait_for_workers(2)
        yield running.scheduler_address.replace("tcp://", "dask://")


@pytest.mark.parametrize(
    "text", [TABLE_FILE, TABLE_FILE + "cuts: relaxed\n"], ids=["strict", "relaxed"]
)
def test_two_workers_release_what_one_machine_does(tmp_path, monkeypatch, cluster, text):
    monkeypatch.setattr("coterie.anonymity.table.stored.SLICE", 20)  # so that there are chunks
    homes = set()

    class Watched(Cluster):
        def pieces(self, rules, records):
            made = super().pieces(rules, records)
            places = self.client.who_has([chunk for piece in made for chunk in piece._chunks])
            homes.update(home for held in places.values() for home in held)
            return made

    monkeypatch.setattr("coterie.onetable.methods.mondrian.method.Cluster", Watched)
    path = write_people(tmp_path, text, rows(60))
    file = load_table_file(path)
    expected = anonymise_file(file).result
    with anonymise_large(file, 10**8, cluster, most=25) as large:
        assert large.result["anonymity"] == expected["anonymity"]
        assert large.result["parts"] == expected["parts"]
        (tmp_path / "far").mkdir()
        large.write(tmp_path / "far")
    assert run(["anonymise", str(path), "--out", str(tmp_path / "near")]) == 0
    near, far = (tmp_path / name / "release.csv" for name in ("near", "far"))
    assert near.read_bytes() == far.read_bytes()
    assert len(homes) == 2


def test_the_command_names_a_cluster(tmp_path, capsys, cluster):
    path = write_people(tmp_path)
    out = str(tmp_path / "out")
    assert run(["anonymise", str(path), "--out", out, "--compute", cluster, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 40
    assert run(["verify", out]) == 0
