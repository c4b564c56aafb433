"""`make docs`: the documents as a site that needs nobody else, and the notebook among them."""

import json
import re
import subprocess
import sys

import pytest

import coterie
from tests import ROOT
from tests.browser.conftest import NEEDS_BROWSER

LOADED = re.compile(
    r"""<(?:script|img|iframe|link rel="stylesheet")[^>]*(?:src|href)="(?:https?:)?//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built as `make docs` does: a page that is in no section, or a link that leads nowhere, fails."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    return folder


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


def test_the_notebook_runs_from_its_first_cell_to_its_last(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(ROOT / "docs/notebook.ipynb", as_version=4)
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        output.get("data", {})
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]
    assert sum("text/html" in data for data in shown) >= 3


def test_the_notebook_is_kept_without_what_a_run_showed():
    for cell in json.loads((ROOT / "docs/notebook.ipynb").read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
