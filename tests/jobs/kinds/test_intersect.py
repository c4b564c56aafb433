"""`kind: intersect` from job file to common.csv; spilling, resuming, and a real Dask cluster."""

import csv
import shutil
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import coterie.protocols.intersection.intersect
from coterie.base.errors import DataError, EnvironmentFaultError, RefusedError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.matching.executors import DaskExecutor, executor_for
from coterie.jobs.matching.folder_store import FolderStore
from coterie.jobs.run.party_run import run_party
from coterie.protocols.messaging.memory import MemoryNetwork
from coterie.protocols.primitives import cipher, group
from coterie.protocols.primitives.executor import LocalPool
from coterie.protocols.primitives.randomness import Random
from tests.coordinator.support import coterie as command
from tests.protocols.wrappers import Fault, Faulty, KilledError

JOB = """\
kind: intersect
name: people
parties:
  lender: {data: a.csv}
  bank: {data: b.csv}
id: ID
"""


def simulate(text: str, tables: dict[str, pa.Table], folder: Path, wrap=lambda t: t, **space):
    """Runs the parties in threads, as `coterie simulate` does; the errors they ended with."""
    job = parse_job(text, {})
    kind = KINDS["intersect"]
    prepared = {name: kind.prepare(job, name, tables[name], name) for name in job.party_names}
    network = MemoryNetwork(job.party_names)
    ended: dict[str, BaseException] = {}

    def party(name: str) -> None:
        workspace = Workspace(folder / name / "run", **space)
        workspace.create()
        try:
            transport = wrap(network.transport(name))
            run_party(job, prepared[name], transport, "s", Random(name), workspace)
        except BaseException as error:
            ended[name] = error
            network.leave(name, f"stopped: {error}")
        else:
            network.leave(name, "has finished and sends nothing more")

    threads = [threading.Thread(target=party, args=(name,)) for name in job.party_names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


def common(folder: Path, name: str) -> list[str]:
    with (folder / name / "run" / "kept" / "common.csv").open(newline="") as file:
        return [",".join(row) for row in csv.reader(file)]


def table(*values: str, **others: list[str]) -> pa.Table:
    return pa.table({"ID": list(values), **others})


def test_each_party_finds_its_own_records_in_the_order_of_its_table(tmp_path):
    tables = {"lender": table("c", "A ", "b", "x"), "bank": table("B", "y", "a", "C")}
    assert not simulate(JOB + "normalise: [trim, lower]\n", tables, tmp_path)
    assert common(tmp_path, "lender") == ["ID", "c", "A ", "b"]
    assert common(tmp_path, "bank") == ["ID", "B", "a", "C"]


def test_with_several_columns_all_must_agree(tmp_path):
    tables = {
        "lender": table("1", "2", "3", Born=["1990", "1991", "1992"]),
        "bank": table("1", "2", "3", Born=["1990", "1999", "1992"]),
    }
    assert not simulate(JOB.replace("id: ID", "id: [ID, Born]"), tables, tmp_path)
    assert common(tmp_path, "bank") == ["ID,Born", "1,1990", "3,1992"]


def test_repeats_are_refused_or_left_out_before_anything_is_sent(tmp_path):
    tables = {"lender": table("a", "b", "a"), "bank": table("a", "b", "c")}
    with pytest.raises(DataError, match="lender: column 'ID': row 3 repeats 1"):
        simulate(JOB, tables, tmp_path)
    assert not simulate(JOB + "deduplicate: first\n", tables, tmp_path)
    assert common(tmp_path, "lender") == ["ID", "a", "b"]


@pytest.mark.parametrize("protocol", ["ring", "oprf"])
def test_buckets_are_spilled_to_the_party_and_resumed_from_there(tmp_path, monkeypatch, protocol):
    monkeypatch.setattr(
        coterie.protocols.intersection.intersect, "buckets_for", lambda size, room: 5
    )
    ids = [str(i) for i in range(600)]
    tables = {"lender": table(*ids[:400]), "bank": table(*ids[200:])}
    text = JOB + f"protocol: {protocol}\n"

    def killed(transport):
        dies = transport.me == "bank"
        return (
            Faulty(transport, Fault("kill-after", 35 if protocol == "ring" else 30))
            if dies
            else transport
        )

    ended = simulate(text, tables, tmp_path, killed, memory=16_000_000)
    assert isinstance(ended["bank"], KilledError)
    for name in tables:
        [kept] = (tmp_path / name / "resume").iterdir()
        assert (kept / "checkpoint").exists()
        assert (kept / "common-0").exists()
        assert kept.stat().st_mode & 0o077 == 0
    assert not simulate(text, tables, tmp_path, memory=16_000_000)
    assert common(tmp_path, "lender") == ["ID", *ids[200:400]]
    assert common(tmp_path, "bank") == ["ID", *ids[200:400]]
    assert not any((tmp_path / name / "resume").exists() for name in tables)


def test_a_store_that_cannot_be_written_is_a_named_error(tmp_path):
    (tmp_path / "file").write_text("")
    store = FolderStore(tmp_path / "file" / "inside")
    with pytest.raises(EnvironmentFaultError, match="inside: Not a directory"):
        store.append("digests-0", b"x")


def test_a_store_keeps_replaces_and_forgets(tmp_path):
    store = FolderStore(tmp_path / "a" / "b")
    assert store.read("checkpoint") is None
    store.append("rows-3", b"one")
    store.append("rows-3", b"two")
    store.replace("checkpoint", b"first")
    store.replace("checkpoint", b"second")
    assert (store.read("rows-3"), store.read("checkpoint")) == (b"onetwo", b"second")
    store.remove("rows-3")
    store.remove("rows-3")
    store.remove("checkpoint")
    store.close()
    assert not (tmp_path / "a").exists()
    with pytest.raises(ValueError, match="not a name"):
        store.read("../secret")


def test_a_store_that_is_cleared_holds_nothing_more(tmp_path):
    store = FolderStore(tmp_path / "job")
    store.clear()
    assert not (tmp_path / "job").exists()
    store.append("rows-3", b"one")
    (tmp_path / "job" / "new").write_bytes(b"of a run that fell while it wrote")
    store.clear()
    assert not list((tmp_path / "job").iterdir())
    store.close()
    assert not (tmp_path / "job").exists()


def test_two_runs_of_one_job_at_a_time_do_not_share_a_folder(tmp_path):
    first, second = (FolderStore(tmp_path / "job", session) for session in ("one", "two"))
    first.append("rows-0", b"mine")
    assert second.read("rows-0") is None
    second.append("rows-0", b"other")
    assert first.read("rows-0") == b"mine"
    for store in (first, second):
        store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["job"]  # nobody resumes the other
    again = FolderStore(tmp_path / "job", "three")
    assert again.read("rows-0") == b"mine"
    again.close()


# Where bulk operations run.


def test_a_job_cannot_send_a_partys_keys_where_the_party_does_not_permit():
    for permitted in ("local", "dask://mine:1"):
        with (
            pytest.raises(RefusedError, match="bank: does not permit 'compute: dask://theirs:1'"),
            executor_for("dask://theirs:1", permitted, "bank"),
        ):
            pass
    with executor_for("local", "local", "bank") as executor:
        assert isinstance(executor, LocalPool)


def test_a_cluster_that_is_not_there_is_a_named_error(monkeypatch):
    monkeypatch.setattr("coterie.jobs.matching.executors._SECONDS", 1)
    with pytest.raises(
        EnvironmentFaultError, match=r"compute: dask://127\.0\.0\.1:9 cannot be reached"
    ):
        DaskExecutor("dask://127.0.0.1:9")


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as running:
        yield running.scheduler_address.replace("tcp://", "dask://")


def test_a_cluster_of_two_workers_gives_what_the_local_pool_gives(cluster):
    values = Random(1).array((300, 16), np.uint8)
    pieces = [values[at : at + 50] for at in range(0, 300, 50)]
    executor = DaskExecutor(cluster)
    try:
        for function, key in (
            (cipher.hash_and_encrypt, cipher.random_key(Random(2))),
            (group.hash_and_multiply, group.random_scalar(Random(2))),
        ):
            far = list(executor.map(function, key, iter(pieces)))
            near = list(LocalPool().map(function, key, iter(pieces)))
            assert len(far) == 6
            assert all((a == b).all() for a, b in zip(far, near, strict=True))
        bad = values.repeat(2, axis=1)
        with pytest.raises(group.InvalidElementError):
            list(executor.map(group.multiply, group.random_scalar(Random(2)), [bad]))
    finally:
        executor.close()


def test_an_intersect_job_runs_on_a_cluster(cluster, tmp_path):
    ids = [str(i) for i in range(120)]
    tables = {"lender": table(*ids[:80]), "bank": table(*ids[40:])}
    text = JOB + f"protocol: ring\ncompute: {cluster}\n"
    assert not simulate(text, tables, tmp_path, compute="any")
    assert common(tmp_path, "bank") == ["ID", *ids[40:80]]
    ended = simulate(text, tables, tmp_path / "refused")
    assert isinstance(ended["lender"], RefusedError)


def test_the_lists_of_a_simulation_are_verified_against_the_size(job, tmp_path):
    out = tmp_path / "out"
    command("simulate", job, "--out", out)
    assert verify(out)["verdict"].startswith("holds: the number of common records is 3; ")
    own = out / "parties" / "bank" / "common.csv"
    whole = own.read_text()
    for damaged, reason in [
        (whole + '"2"\n', "has 4 rows, but result.json says 3"),
        (whole + whole.splitlines()[-1] + "\n", "names a record twice"),
        (whole.replace("ID", "Name"), "has the columns Name"),
        ("", "not a CSV file"),
    ]:
        own.write_text(damaged)
        with pytest.raises(VerificationError, match=reason):
            verify(out)
    own.unlink()
    with pytest.raises(VerificationError, match=r"bank/common\.csv: No such file"):
        verify(out)


def test_without_the_lists_the_verdict_says_that_they_were_not_checked(job, tmp_path):
    out = tmp_path / "out"
    command("simulate", job, "--out", out)
    shutil.rmtree(out / "parties")
    done = command("verify", out)
    assert "not checked: the lists of common records, which stay with the parties" in done.out
