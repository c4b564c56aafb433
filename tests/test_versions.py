"""This version and the last landed one compute together, or say both versions of the wire.

The last landed version is a wheel built from git, in a folder of its own. COTERIE_OLDER names another
commit to compare with.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from coterie.protos import jobs_pb2 as pb
from tests import ROOT

ROOMS = [path.parent for path in ROOT.glob("*/__init__.py")]
CALLS = "coterie/protos/jobs_pb2_grpc.py"


def git(*words):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True)
    if done.returncode:
        pytest.skip(f"no history of git here: {done.stderr.decode().strip()}")
    return done.stdout


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """A folder with what the wheel of the last landed version installs."""
    pytest.importorskip("setuptools", "77", reason="setuptools is not installed")
    commit = os.environ.get("COTERIE_OLDER")
    if not commit:
        head, before = git("rev-parse", "HEAD", "HEAD~1").decode().split()
        landed = subprocess.run(
            ["git", "merge-base", "HEAD", "origin/main"], cwd=ROOT, capture_output=True, text=True
        ).stdout.strip()
        commit = landed if landed and landed != head else before
    folder = tmp_path_factory.mktemp("older")
    source, installed = folder / "source", folder / "installed"
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit))) as archive:
        archive.extraction_filter = getattr(tarfile, "tar_filter", None)  # 3.11.2 has none yet
        archive.extractall(source)
    code = "import setuptools.build_meta as b; b.build_wheel('..')"
    subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    lend_compiled_loops(installed / "coterie")
    return installed


def lend_compiled_loops(folder):
    """Gives the older version the machine code of this one, if no file with compiled loops differs.

    It would compile the same, for a third of a minute. Numba takes what it finds if the file has the
    time of the one that was compiled.
    """
    lent = [path.relative_to(ROOT) for room in ROOMS for path in room.rglob("__pycache__/*.nb[ic]")]
    files = {path.parents[1] / f"{path.name.split('.')[0]}.py" for path in lent}
    files |= {path.relative_to(ROOT) for path in (ROOT / "protocols" / "primitives").glob("*.py")}
    if any(text_of(folder / file) != text_of(ROOT / file) for file in files):
        return
    for file in files:
        shutil.copystat(ROOT / file, folder / file)
    for path in lent:
        (folder / path.parent).mkdir(exist_ok=True)
        shutil.copy(ROOT / path, folder / path)


def text_of(path):
    return path.read_bytes() if path.exists() else None


def wire_of(folder):
    text = (folder / "coterie" / "jobs" / "run" / "party_run.py").read_text()
    return int(re.search(r"^WIRE = (\d+)", text, re.MULTILINE)[1])


def spawn(houses, name, folder):
    """The server of a party, run from these files."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from coterie.__main__ import main; sys.exit(main())"
    words = [sys.executable, "-c", code, str(folder), "party", "serve", str(houses.path(name))]
    log = (houses.folder / f"{name}.log").open("w")
    process = subprocess.Popen([*words, "--json"], stdout=subprocess.PIPE, stderr=log, text=True)
    houses.stack.callback(process.communicate)
    houses.stack.callback(process.kill)
    assert process.stdout.readline(), (houses.folder / f"{name}.log").read_text()
    return process


# The bank leads the queue, and the lender comes last in it.
@pytest.mark.parametrize("old", ["bank", "lender"])
def test_a_party_of_the_last_version_computes_with_this_one(houses, older, old):
    spawn(houses, old, older)
    for name in houses.names:
        if name != old:
            houses.serve(name)
    coordinator = houses.coordinator()
    for way in ("queue", "start"):
        job_id, decisions = coordinator.propose(houses.job())
        assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
        for name in houses.names:
            known = name != old or "/Queue'" in (older / CALLS).read_text()
            getattr(coordinator, way if known else "start")(job_id, [name])
        ends = {name: coordinator.end(job_id, name) for name in houses.names}
        if wire_of(older) == wire_of(ROOT):
            assert {end.state for end in ends.values()} == {pb.FINISHED}, (way, ends)
        else:
            assert any("of the wire" in end.error for end in ends.values()), (way, ends)
