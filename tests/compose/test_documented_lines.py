"""The lines about containers in README.md and docs/operations.md, word for word, on a real engine."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest

from coterie.coordinator.demo.ports import free_ports
from coterie.party.desk.connection import Operator
from coterie.party.desk.desk import Desk
from tests import ROOT
from tests.compose.engine import DOCKER, IMAGE, compose_command
from tests.coordinator.run.test_live_page import Reader

pytestmark = [pytest.mark.compose, pytest.mark.timeout(900)]
LEFT_OUT = (
    ".git",
    ".venv",
    "demo-out",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    "build",
    "*.egg-info",
)


def lines(page):
    """The shell blocks of a page in which docker-compose stands."""
    blocks = (ROOT / page).read_text().split("```")[1::2]
    return [block.lstrip("\n") for block in blocks if "\ndocker-compose up" in block]


@pytest.fixture
def shell(image, tmp_path):
    """Runs lines in a copy of the project, with the engine's own client first on the path."""
    project = tmp_path / "project"
    shutil.copytree(ROOT, project, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "docker").symlink_to(DOCKER)
    name = f"coterie-lines-{os.getpid()}"
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "COMPOSE_PROJECT_NAME": name,
        "COTERIE_IMAGE": IMAGE,
    }

    def run(text, **more):
        return subprocess.run(
            ["bash", "-ec", text],
            cwd=project,
            env={**environment, **more},
            capture_output=True,
            text=True,
            timeout=600,
        )

    run.project = project
    yield run
    run("docker-compose down --volumes --remove-orphans -t 3 || docker compose down --volumes -t 3")


def test_the_pages_have_the_same_lines():
    assert lines("README.md") == lines("docs/operations.md")
    assert len(lines("README.md")) == 1


def test_the_lines_leave_the_result_on_the_host(shell):
    [text] = lines("README.md")
    done = shell(text, COTERIE_PEOPLE="1000")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    [copied] = re.findall(r"docker cp .*? ([\w-]+)$", text, re.M)
    result = json.loads((shell.project / copied / "result.json").read_text())
    assert result["records"] > 300
    assert (shell.project / copied / "release.csv").is_file()
    again = shell(text.splitlines()[0], COTERIE_PEOPLE="1000")
    assert again.returncode == 0, again.stdout[-3000:] + again.stderr[-3000:]
    other = shell(text.splitlines()[0], COTERIE_PEOPLE="1200")
    assert other.returncode != 0
    assert "the volumes hold 1000 people" in other.stdout + other.stderr


def test_the_plugin_takes_the_same_lines(shell):
    if compose_command()[-1] != "compose":
        pytest.skip("the compose plugin (v2) is not installed here")
    [text] = lines("README.md")
    done = shell(text.replace("docker-compose", "docker compose"), COTERIE_PEOPLE="1000")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_a_desk_on_the_host_reaches_a_server_in_its_container(shell):
    page = (ROOT / "docs/party.md").read_text()
    [file] = [b for b in page.split("```yaml\n")[1:] if b.startswith("# docker-compose.desk.yml")]
    [port] = free_ports(1)
    override = file.split("```")[0].replace("127.0.0.1:7000:", f"127.0.0.1:{port}:")
    (shell.project / "docker-compose.desk.yml").write_text(override)
    [start] = re.findall(r"`(docker-compose -f docker-compose.yml [^`]*) up …`", page)
    [copy] = re.findall(r"`(docker cp [^`]* bank-files)`", page)
    done = shell(f"{start} up -d --no-build bank\n{copy}", COTERIE_PEOPLE="200")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    end = time.monotonic() + 120
    served = f"serves at 127.0.0.1:{port}"
    with (
        Operator(shell.project / "bank-files/party.yaml", f"127.0.0.1:{port}") as operator,
        Desk(operator, "Ada") as desk,
    ):
        reader = Reader(desk.link)
        while served not in (parts := reader.get("view")["parts"])["health"]:
            assert time.monotonic() < end, parts["health"]
            time.sleep(0.5)
    assert "is not on this machine" in parts["audit"]
