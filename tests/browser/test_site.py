"""`make docs`: the documents as a site that needs nobody else, and the notebook among them."""

import json
import re
import subprocess
import sys

import pytest

import coterie
from tests import ROOT, forks
from tests.browser.conftest import NEEDS_BROWSER

LOADED = re.compile(
    r"""<(?:script|img|iframe|link rel="stylesheet")[^>]*(?:src|href)="(?:https?:)?//"""
)


@pytest.fixture(scope="module")
def building(tmp_path_factory):
    """The site while it is built, as `make docs` does, and the folder that it is built in."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    started = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    yield started, folder
    if started.poll() is None:
        started.kill()
    started.communicate()


@pytest.fixture(scope="module")
def site(building):
    """The site when it is built: a page that is in no section, or a link that leads nowhere, fails."""
    started, folder = building
    _, errors = started.communicate(timeout=110)
    assert started.returncode == 0, errors
    return folder


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """The name of a kernel for notebooks, forked from a process that has imported Coterie already."""
    folder = tmp_path / "jupyter" / "kernels" / "forked"
    folder.mkdir(parents=True)
    forks.command(folder / "kernel", "ipykernel_launcher")
    spec = {
        "argv": [str(folder / "kernel"), "-f", "{connection_file}"],
        "display_name": "forked",
        "language": "python",
    }
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    return "forked"


def test_the_notebook_runs_from_its_first_cell_to_its_last(building, kernel, tmp_path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(ROOT / "docs/notebook.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=100, kernel_name=kernel, resources=resources).execute()
    shown = [
        output.get("data", {})
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]
    assert sum("text/html" in data for data in shown) >= 3


def test_no_page_loads_anything_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        assert not LOADED.search(page.read_text()), page.name


def test_the_reference_has_every_public_name_with_its_docstring(site):
    text = (site / "api.html").read_text()
    for name in coterie.__all__:
        assert re.search(rf'<h2 [^>]*id="coterie\.[\w.]*\.{name}"', text), name
        first = getattr(coterie, name).__doc__.strip().splitlines()[0]
        assert re.sub(r"`(.*?)`", r"<code>\1</code>", first) in text, name


@NEEDS_BROWSER
def test_the_site_opens_from_files_and_asks_nobody_for_anything(site, browser):
    browser.get((site / "tutorials" / "steward.html").as_uri())
    assert browser.find_element("css selector", "h1").text == "Tutorial: a data steward"
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert all(name.startswith("file:") for name in loaded), loaded


def test_the_notebook_is_kept_without_what_a_run_showed():
    for cell in json.loads((ROOT / "docs/notebook.ipynb").read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
