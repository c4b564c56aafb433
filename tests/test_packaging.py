"""What a wheel and an sdist hold, and that one package is all that an installation leaves."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests import ROOT

ROOMS = sorted({path.parent.name for path in ROOT.glob("*/__init__.py")} - {"coterie", "tests"})
FRONT = {"__init__.py", "__main__.py", "py.typed"}
SKIPPED = shutil.ignore_patterns(".venv", ".git", ".*_cache", "__pycache__", "build", "*.egg-info")


def command(*arguments: object, folder: Path, path: Path | None = None) -> str:
    """The output of a command in a folder, where only `path` is added to Python's own path."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COTERIE"))}
    environment |= {"PYTHONPATH": str(path)} if path else {}
    done = subprocess.run(
        list(map(str, arguments)), cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the wheel and the sdist, made of a copy of the checkout."""
    pytest.importorskip("setuptools", "77", reason="setuptools is not installed")
    folder = tmp_path_factory.mktemp("build")
    source = folder / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=SKIPPED)
    backend = "import setuptools.build_meta as b; b.build_sdist('..'); b.build_wheel('..')"
    command(sys.executable, "-c", backend, folder=source)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    [path] = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that the wheel is installed into, without what it depends on."""
    pytest.importorskip("pip", reason="pip is not installed")
    place = tmp_path_factory.mktemp("installed")
    pip = ("pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile")
    command(sys.executable, "-m", *pip, "--target", place, wheel, folder=place)
    return place


@pytest.fixture
def careless(tmp_path):
    """A user's folder whose own modules have the names of Coterie's rooms."""
    for room in ROOMS:
        (tmp_path / f"{room}.py").write_text(f"raise RuntimeError('the user\\'s own {room}.py')\n")
    for room in ("bench", "party"):
        (tmp_path / f"{room}.py").unlink()
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("raise RuntimeError('the user\\'s own')\n")
    return tmp_path


def test_a_wheel_has_one_package_and_every_module_of_every_room(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"coterie"}
    modules = {
        f"coterie/{path.relative_to(ROOT)}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
    }
    assert modules | {f"coterie/{name}" for name in FRONT} <= names


def test_an_sdist_has_plain_files_where_a_checkout_has_links(built):
    [path] = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    assert not [member.name for member in members if member.issym() or member.islnk()]
    names = {member.name.partition("/")[2] for member in members if member.isfile()}
    for room in ROOMS:
        assert f"coterie/{room}/__init__.py" in names


def test_the_sdist_gives_the_wheel_again(built, wheel, tmp_path):
    [path] = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # 3.11.2 has none yet
        archive.extractall(tmp_path)
    [source] = tmp_path.iterdir()
    command(
        sys.executable,
        "-c",
        "import setuptools.build_meta as b; b.build_wheel('..')",
        folder=source,
    )
    [again] = tmp_path.glob("*.whl")
    assert set(zipfile.ZipFile(again).namelist()) == set(zipfile.ZipFile(wheel).namelist())


def test_the_command_ignores_a_users_own_modules(installed, careless):
    script = installed / "bin" / "coterie"
    text = command(sys.executable, script, "bench", folder=careless, path=installed)
    assert "intersect" in text.split()


@pytest.mark.parametrize("arguments", [["--help"], ["bench"], ["experiment"], ["party", "--help"]])
def test_python_m_coterie_ignores_a_users_own_modules(installed, careless, arguments):
    command(sys.executable, "-m", "coterie", *arguments, folder=careless, path=installed)


def test_a_notebook_beside_a_users_own_modules_imports_every_room(installed, careless):
    """A notebook has its folder first on the path: '' as the first entry."""
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__")
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if not path.name.startswith("_psi")
    ]
    text = "import sys, importlib; assert sys.path[0] == ''; import coterie\n"
    text += f"assert coterie.__file__.startswith({str(installed)!r}), coterie.__file__\n"
    text += f"for name in {modules!r}: importlib.import_module('coterie.' + name)\n"
    command(sys.executable, "-c", text, folder=careless, path=installed)


def test_a_room_cannot_be_imported_under_a_second_name():
    for room in ROOMS:
        done = subprocess.run(
            [sys.executable, "-c", f"import {room}"], cwd=ROOT, capture_output=True, text=True
        )
        assert f"this folder is the package coterie.{room}" in done.stderr


def test_ruff_sees_each_file_once():
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    ruff = shutil.which("ruff", path=beside)
    if ruff is None:
        pytest.skip("ruff is not installed")
    listed = command(ruff, "check", "--show-files", folder=ROOT).split()
    files = [Path(name).resolve() for name in listed]
    assert len(files) == len(set(files)) > 300


def test_mypy_sees_each_file_once():
    pytest.importorskip("mypy", reason="mypy is not installed")
    text = "from mypy import main; print(*(s.path for s in main.process_options([])[0]), sep='\\n')"
    sources = command(sys.executable, "-c", text, folder=ROOT, path=ROOT).split()
    files = [Path(name).resolve() for name in sources]
    assert len(files) == len(set(files)) > 200


def test_pytest_collects_no_test_through_the_links():
    assert not list((ROOT / "coterie").rglob("test_*.py"))
