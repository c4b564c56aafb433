"""Every command line in the README and the documents is run, word for word, or has a reason why not."""

import os
import re
import subprocess
import time

import pytest

from tests import ROOT, forks

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ELSEWHERE = {
    r"make \w+( .*)?": "what .ci/run calls, and a test would call itself",
    r"docker.*": "tests/compose/test_documented_lines.py",
    r"python -m tests\.world\..*": "tests/world/test_world.py plays the same worlds",
    r"git clone .*": "needs the address of a repository",
    r"python -m venv peers .*": "installs peers that want other versions of the dependencies",
    r"coterie bench .*--peers .*": "needs these peers",
    r"coterie bench (--runs .*|tables)": "tests/bench: on small inputs, with saved results",
    r"pip install .*": "tests/test_packaging.py installs the package",
}


def commands(page):
    """The command lines in a page's code blocks, without comments and prompts."""
    found = []
    for block in page.read_text().split("\n```")[1::2]:
        language, _, body = block.partition("\n")
        for line in body.splitlines() if language in ("", "sh", "console") else []:
            text = re.sub(r"\s+#.*$", "", line.removeprefix("$ ")).strip()
            if re.match(r"(coterie|make|docker|docker-compose|pip|python|git) ", text):
                found.append(text)
    return found


def documented():
    return {text: page.name for page in PAGES for text in commands(page)}


def elsewhere(text):
    return any(re.fullmatch(pattern, text) for pattern in ELSEWHERE)


RUN = [text for text in documented() if not elsewhere(text)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A desk with a job, an analyst's identity and a bank's party file, beside running servers."""
    folder = tmp_path_factory.mktemp("documented")
    programs = folder / "programs"
    programs.mkdir()
    forks.command(programs / "coterie")
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    desk = folder / "demo" / "bank"  # a party file stands beside its certificate and its table

    def run(text, place=desk):
        return subprocess.run(
            ["bash", "-c", text],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    made = run("coterie demo --prepare-only --people 200 --out demo", folder)
    assert made.returncode == 0, made.stderr
    (desk / "job.yaml").write_text((desk.parent / "analyst" / "job.yaml").read_text())
    (desk / "bank.yaml").write_text((desk / "party.yaml").read_text())
    (desk / "people.yaml").write_text(
        "data: people.csv\nid: ID\nattributes:\n  Job: {taxonomy: taxonomies/Job.csv}\n"
        "requirement:\n  - {qid: [Job], k: 10}\n"
    )
    (desk / "numbers.yaml").write_text(
        "data: people.csv\nmethod: condense\nk: 20\nid: ID\nattributes:\n  Salary: {range: [18, 121]}\n"
    )
    (desk / "noise.yaml").write_text(
        "data: people.csv\nmethod: perturb\nid: ID\nclass: Education\nattributes:\n"
        "  Salary: {range: [18, 121], noise: 50%}\n"
    )
    (desk / "baskets.csv").write_text("Bread,Beer\n" + "1,1\n" * 9 + "1,\n,1\n" * 3)
    (desk / "baskets.yaml").write_text(
        "data: baskets.csv\nmethod: hide-rules\nattributes: [Bread, Beer]\nsupport: 0.2\n"
        'confidence: 0.5\nhide:\n  - {if: {Bread: "1"}, then: {Beer: "1"}}\n'
    )
    (desk / "taxonomies").symlink_to("../analyst/taxonomies")
    (desk / "analyst").symlink_to("../analyst")
    servers = [
        forks.start(
            ["-m", "coterie", "party", "serve", folder / "demo" / name / "party.yaml"],
            env=environment,
        )
        for name in ("lender", "bank", "card")
    ]
    try:
        for name in ("lender", "bank", "card"):
            file = folder / "demo" / name / "party.yaml"
            end = time.monotonic() + 60
            while run(f"coterie party health --config {file}").returncode:
                assert time.monotonic() < end, f"{name} does not serve"
                time.sleep(0.3)
        yield run
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(20)


def test_every_command_line_is_run_or_has_a_reason():
    texts = documented()
    assert len(RUN) >= 10
    unused = [pattern for pattern in ELSEWHERE if not any(re.fullmatch(pattern, t) for t in texts)]
    assert [p for p in unused if not p.startswith("pip")] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_documented_lines_work(shell, tmp_path):
    """In the order of the pages; lines about a new authority have a folder of their own."""
    for text in RUN:
        fresh = text.startswith("coterie certs")
        if fresh:
            done = shell(text, tmp_path)
        else:
            if "--out" in text:
                out = re.search(r"--out (\S+)", text)[1]
                shell(f"rm -rf {out}")
            if "authority/analyst" in text:
                shell("mkdir -p authority && ln -sfn ../../analyst authority/analyst")
            done = shell(text)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
