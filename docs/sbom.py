"""`make sbom`: a list of everything that Coterie needs to run, with versions, licences and hashes.

Written as CycloneDX 1.5 (JSON) from the packages of this environment: those that pyproject.toml names
and whatever these need in turn. A package's hash is the SHA-256 of its list of files with the hash of
each, as the installer wrote it down (RECORD), so that it tells whether two machines run the same code;
files of which the installer noted no hash are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""extra\s*==\s*["']""")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _wanted(requirement: str) -> str | None:
    """The name in a requirement that holds here; None for one of an extra, or of another system."""
    text, _, marker = requirement.partition(";")
    if _EXTRA.search(marker):
        return None
    if marker.strip():
        from packaging.markers import Marker

        if not Marker(marker).evaluate():
            return None
    found = _NAME.match(text.strip())
    return _normal(found[0]) if found else None


def dependencies(roots: list[str]) -> dict[str, metadata.Distribution]:
    """The packages that these requirements mean, and those that they need in turn."""
    found: dict[str, metadata.Distribution] = {}
    left = [name for root in roots if (name := _wanted(root))]
    while left:
        name = left.pop()
        if name in found:
            continue
        found[name] = metadata.distribution(name)
        left += [need for line in found[name].requires or [] if (need := _wanted(line))]
    return dict(sorted(found.items()))


def licence(package: metadata.Distribution) -> str:
    """What the package says of its licence: an expression, a text of one line, or its classifiers."""
    said = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    if said and "\n" not in said and len(said) < 100:
        return said
    listed = package.metadata.get_all("Classifier") or []
    names = [line.split(" :: ")[-1] for line in listed if line.startswith("License ::")]
    return " AND ".join(names) or (said.splitlines()[0] if said else "unknown")


def digest(package: metadata.Distribution) -> str:
    """Of all files of the package, as the installer noted them."""
    total = hashlib.sha256()
    for file in sorted(package.files or [], key=str):
        if file.hash is not None:
            total.update(f"{file} {file.hash.mode}={file.hash.value}\n".encode())
    return total.hexdigest()


def bill(roots: list[str]) -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": project["name"],
                "version": metadata.version("coterie"),
            }
        },
        "components": [
            {
                "type": "library",
                "name": name,
                "version": package.version,
                "purl": f"pkg:pypi/{name}@{package.version}",
                "licenses": [{"license": {"name": licence(package)}}],
                "hashes": [{"alg": "SHA-256", "content": digest(package)}],
            }
            for name, package in dependencies(roots).items()
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, help="where the list is written")
    target = parser.parse_args().file
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    made = bill(list(project["dependencies"]))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(made, indent=1) + "\n")
    print(f"{target}: {len(made['components'])} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
