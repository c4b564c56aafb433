"""The list of what Coterie needs to run names every package, with a licence and a hash."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata

from tests import ROOT


def bill(tmp_path):
    target = tmp_path / "sbom.json"
    command = [sys.executable, ROOT / "docs" / "sbom.py", target]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return json.loads(target.read_text())


def test_every_dependency_and_what_it_needs_is_listed_with_licence_and_hash(tmp_path):
    made = bill(tmp_path)
    listed = {part["name"]: part for part in made["components"]}
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.match(r"[A-Za-z0-9._-]+", line)[0].lower().replace("_", "-") for line in wanted}
    assert names <= set(listed)
    assert {"cffi", "pycparser"} & set(listed)  # of cryptography, which pyproject.toml names
    assert "pytest" not in listed
    for name, part in listed.items():
        assert part["version"] == metadata.version(name)
        assert part["licenses"][0]["license"]["name"] not in ("", "unknown", "UNKNOWN"), name
        assert re.fullmatch(r"[0-9a-f]{64}", part["hashes"][0]["content"])


def test_a_hash_is_of_the_list_of_files_that_the_installer_wrote(tmp_path):
    """Computed from RECORD by hand."""
    [part] = [p for p in bill(tmp_path)["components"] if p["name"] == "click"]
    record = metadata.distribution("click").read_text("RECORD")
    files = sorted(line.rsplit(",", 2)[:2] for line in record.splitlines() if ",sha256=" in line)
    text = "".join(f"{name} {value}\n" for name, value in files)
    assert part["hashes"][0]["content"] == hashlib.sha256(text.encode()).hexdigest()
