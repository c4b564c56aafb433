"""`coterie experiment all --out DIR`: every experiment, and one page with the inventory and pictures.

Each experiment leaves its files in a folder of its own. The page has the inventory, the committed
figures beside those that were found, and what each experiment printed. An experiment that cannot
run (its data is not at hand) is named with its reason. The exit code is 8 if a figure differs.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import itertools
import json
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError, EnvironmentFaultError, UsageError
from coterie.base.registry import at_place
from coterie.experiments.printed.committed import FIGURES, Figure
from coterie.experiments.printed.rows import ROWS, SOURCES, STATES
from coterie.experiments.secure_data_integration.adult_data import add_data_option
from coterie.jobs.pages.markup import Content, element
from coterie.jobs.pages.page import Opinion, Part, State, folded, note, page, table

DIFFERS = 8  # the exit code of a verification that fails
# The options that each experiment takes beside --json.
OPTIONS: dict[str, tuple[str, ...]] = {
    "adult": ("data", "out", "quick"),
    "constrained": ("data", "out", "quick"),
    "crowd": ("data",),
    "deviation": ("data", "out", "quick"),
    "diversity": ("data", "out", "quick"),
    "folds": ("data",),
    "keys": ("data", "quick"),
    "lattices": ("data", "out", "quick"),
    "noise": ("data",),
    "payoffs": ("quick",),
    "priorities": ("data", "out", "quick"),
    "random-kernel": (),
    "scale": ("data", "quick"),
}


def run_one(name: str, data: Path | None, out: Path, quick: bool) -> Any:
    """The JSON that the experiment prints; its files are in `out`."""
    from coterie.experiments.registry import EXPERIMENTS

    given = ["--json"]
    if "data" in OPTIONS[name] and data is not None:
        given += ["--data", str(data)]
    if "out" in OPTIONS[name]:
        given += ["--out", str(out)]
    if "quick" in OPTIONS[name] and quick:
        given.append("--quick")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        at_place(EXPERIMENTS[name])(given)
    return json.loads(printed.getvalue())


def compared(results: dict[str, Any]) -> list[tuple[Figure, float, bool]]:
    """The committed figures of the experiments that ran: what was found, and whether it agrees."""
    found = []
    for figure in FIGURES:
        if figure.experiment in results:
            value = figure.found(results[figure.experiment])
            if value is not None:
                found.append((figure, value, abs(value - figure.value) <= figure.within))
    return found


def written(results: dict[str, Any], failed: dict[str, str], out: Path) -> str:
    """The page."""
    checks = compared(results)
    wrong = [figure.what for figure, _, agrees in checks if not agrees]
    lines: list[Content] = [
        f"{len(results)} experiments ran; {len(checks) - len(wrong)} of {len(checks)} committed figures were found again."
    ]
    asked = sum(figure.experiment in results for figure in FIGURES)
    if len(checks) < asked:
        lines.append(f"{asked - len(checks)} figures are of sizes that this run left out.")
    lines += [f"{name} did not run: {reason}" for name, reason in failed.items()]
    lines += [f"differs: {what}" for what in wrong]
    state: State = "violated" if wrong else "unchecked" if failed else "holds"
    title = "Some figures differ" if wrong else "The figures are those that are committed"
    parts = [_inventory(), _figures(checks), *(_one(name, out) for name in results)]
    return page("The papers' numbers", ["every experiment, one page"], Opinion(state, title, lines), parts, pictures=True)  # fmt: skip


def _inventory() -> Part:
    content: list[Content] = []
    for number, title in SOURCES.items():
        content.append(element("h3", f"{number}. {title}"))
        rows: list[list[Content]] = [
            [row.item, STATES[row.state], row.printed, row.ours, _breakable(row.place), row.note]
            for row in ROWS
            if row.source == number
        ]
        content.append(table(["what", "state", "printed", "here", "shown by", "why not exactly"], rows))  # fmt: skip
    return Part("Everything that is printed", content, public=True)


def _breakable(place: str) -> Content:
    """A path that may be broken over lines, so that it leaves the other columns their width."""
    return element("span", place, style="overflow-wrap:anywhere")


def _figures(checks: list[tuple[Figure, float, bool]]) -> Part:
    rows: list[list[Content]] = [
        [f.experiment, f.what, f"{f.value:,.5g}", f"{value:,.5g}", "yes" if agrees else "no"]
        for f, value, agrees in checks
    ]
    head = ["experiment", "figure", "committed", "found now", "agrees"]
    return Part("Committed figures", [table(head, rows, (2, 3))], public=True)


def _one(name: str, out: Path) -> Part:
    """The tables and pictures that an experiment left."""
    content: list[Content] = []
    for picture in sorted((out / name).glob("*.svg")):
        drawn = base64.b64encode(picture.read_bytes()).decode("ascii")
        source = f"data:image/svg+xml;base64,{drawn}"
        content.append(
            element("img", src=source, alt=f"{name}: {picture.stem}", style="width:100%")
        )
    files = sorted((out / name).glob("*.md"))
    for file in files:
        content += _read(file.read_text(encoding="utf-8"))
    text = (out / name / "result.json").read_text(encoding="utf-8")
    content.append(folded("What it printed", element("pre", text[:20_000])))
    return Part(name, content or [note("no files")], public=True)


def _read(text: str) -> list[Content]:
    """The headings, tables and paragraphs of a small Markdown file."""
    content: list[Content] = []
    for table_lines, group in itertools.groupby(text.splitlines(), lambda at: at.startswith("|")):
        lines = [line.strip() for line in group if line.strip()]
        if table_lines:
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            content.append(table(list(rows[0]), [list[Content](row) for row in rows[2:]]))
            continue
        content += [
            element("h3", line.lstrip("# ")) if line.startswith("#") else note(line)
            for line in lines
        ]
    return content


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie experiment all", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, required=True, help="a folder that is not there yet")
    parser.add_argument("--quick", action="store_true", help="the small sizes, where there are any")
    parser.add_argument("--only", metavar="NAMES", help="these experiments, separated by commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    names = options.only.split(",") if options.only else sorted(OPTIONS)
    for name in names:
        if name not in OPTIONS:
            raise UsageError(f"--only: no experiment '{name}'; there are: {', '.join(OPTIONS)}")
    if options.out.exists():
        raise UsageError(f"{options.out}: exists already; choose another --out")
    results: dict[str, Any] = {}
    failed: dict[str, str] = {}
    for name in names:
        folder = options.out / name
        try:
            folder.mkdir(parents=True)
            results[name] = run_one(name, options.data, folder, options.quick)
            (folder / "result.json").write_text(json.dumps(results[name], indent=1) + "\n")
        except OSError as error:
            raise EnvironmentFaultError(f"{folder}: {error.strerror}") from None
        except CoterieError as error:
            failed[name] = str(error)
    (options.out / "index.html").write_text(written(results, failed, options.out), encoding="utf-8")
    wrong = [figure.what for figure, _, agrees in compared(results) if not agrees]
    summary = {"ran": sorted(results), "failed": failed, "differ": wrong, "page": "index.html"}
    print(json.dumps(summary) if options.json else f"{options.out / 'index.html'}: {len(results)} experiments, {len(failed)} did not run, {len(wrong)} figures differ")  # fmt: skip
    return DIFFERS if wrong else 0
