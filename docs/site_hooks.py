"""What `make docs` adds to the pages of docs/: the root's own pages, and the notebook as a page."""

from __future__ import annotations

import atexit
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
_OUTSIDE = {"index.md": "README.md"} | {n: n for n in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")}  # fmt: skip
_NOTEBOOK = "notebook"


@event_priority(100)  # before the plugin reads its own settings
def on_config(config: Any) -> Any:
    """Has the reference read the few modules that it is about, and not all of the package."""
    folder = Path(tempfile.mkdtemp(prefix="coterie-reference-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [str(_documented(folder))]
    return config


def _documented(folder: Path) -> Path:
    """A copy of the package that has the modules named in api.md, and those that lead to them."""
    named = re.findall(r"^::: (coterie\.[\w.]+)\.\w+$", (ROOT / "docs/api.md").read_text(), re.M)
    for module in named:
        *packages, name = module.split(".")
        for depth in range(1, len(packages) + 1):
            _copy(Path(*packages[:depth], "__init__.py"), folder)
        _copy(Path(*packages, f"{name}.py"), folder)
    return folder


def _copy(source: Path, folder: Path) -> None:
    (folder / source).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / source, folder / source)


def on_files(files: Files, config: Any) -> Files:
    for page, source in _OUTSIDE.items():
        files.append(File.generated(config, page, content=_inside((ROOT / source).read_text())))
    notebook = json.loads((ROOT / "docs" / f"{_NOTEBOOK}.ipynb").read_text())
    files.append(File.generated(config, f"{_NOTEBOOK}.md", content=notebook_page(notebook)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to the sources become plain text: the site has no sources."""
    text = re.sub(
        r"\[([^\]]+)\]\((?:\.\./)+(?:protocols|anonymity|jobs|party)/[^)]*\)", r"\1", markdown
    )
    return re.sub(r"\]\((?:\.\./)+(CONTRIBUTING|CHANGELOG|SECURITY)\.md", r"](\1.md", text) if page.file.src_uri.count("/") == 0 else text  # fmt: skip


def _inside(text: str) -> str:
    """A page of the root as a page of the site: its links to docs/ and to other pages of the root."""
    text = re.sub(r"\]\(docs/", "](", text)
    text = text.replace("](README.md", "](index.md")
    return re.sub(r"\[([^\]]+)\]\((?:NOTICE|LICENSE)\)", r"\1", text)


def notebook_page(notebook: dict[str, Any]) -> str:
    """The cells of a notebook in order; code as blocks of Python."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join(parts) + "\n"
