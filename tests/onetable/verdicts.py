"""What `coterie verify` says of a release in the folder `out`, and releases that are spoilt."""

from __future__ import annotations

from pathlib import Path

from coterie.__main__ import run


def verdict(folder: Path, capsys, *options: str) -> tuple[int, str]:
    """The exit code and the first line."""
    capsys.readouterr()
    code = run(["verify", str(folder / "out"), *options])
    return code, capsys.readouterr().out.splitlines()[0]


def spoil_last(folder: Path, new: dict[int, str]) -> None:
    """Puts values in the place of those of the last record, by column; the rows stay sorted."""
    path = folder / "out/release.csv"
    lines = path.read_text().splitlines()
    last = lines[-1].split(",")
    for at, value in new.items():
        last[at] = value
    path.write_text("\n".join([lines[0], *sorted([*lines[1:-1], ",".join(last)])]) + "\n")
