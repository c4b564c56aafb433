"""What the documents say is so: every exit code, dependency, key and example."""

import re
import tomllib

import pytest

from coterie.base import errors
from coterie.jobs.data.sources import parse_source
from coterie.jobs.file.document import Section, read_document
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.config import load_party
from tests import ROOT
from tests.coordinator.support import coterie

DOCS = ROOT / "docs"
TAXONOMY = b"Female;Any\nMale;Any\n"


def blocks(path, language="yaml"):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)


def jobs_in(path):
    return [block for block in blocks(path) if block.startswith("kind:")]


@pytest.mark.parametrize(
    "text", [*jobs_in(DOCS / "job-file.md"), *jobs_in(ROOT / "README.md")], ids=lambda t: t[6:15]
)
def test_every_job_in_the_documents_is_one(text):
    files = dict.fromkeys(re.findall(r"taxonomy: ([\w/.]+)", text), TAXONOMY)
    assert parse_job(text, files).kind in KINDS


def test_every_kind_has_an_example():
    kinds = {re.match(r"kind: (\w+)", text)[1] for text in jobs_in(DOCS / "job-file.md")}
    assert kinds == set(KINDS)


def test_every_kind_is_described_as_it_declares_itself():
    text = (DOCS / "job-file.md").read_text()
    for name, kind in KINDS.items():
        leaves = ", ".join(f"`{left}`" for left in kind.leaves) or "no file"
        assert f"| `{name}` | {kind.about} | {leaves} |" in text


def test_every_key_that_a_job_may_have_is_described(monkeypatch):
    asked = set()
    optional = Section.optional

    def noted(section, key):
        asked.add(key)
        return optional(section, key)

    monkeypatch.setattr(Section, "optional", noted)
    for text in jobs_in(DOCS / "job-file.md"):
        files = dict.fromkeys(re.findall(r"taxonomy: ([\w/.]+)", text), TAXONOMY)
        parse_job(text, files)
    text = "".join((DOCS / name).read_text() for name in ("job-file.md", "privacy-models.md"))
    described = set(re.findall(r"[`.{ ]([a-z_]+)[`:]", text))
    assert asked - described == set()


def test_every_data_key_in_the_documents_is_one(tmp_path):
    found = [block for block in blocks(DOCS / "job-file.md") if block.startswith("data:")]
    assert len(found) == 7
    for block in found:
        parse_source(read_document(block, "party.yaml").required("data"), tmp_path)


def test_the_party_file_of_the_readme_is_one(tmp_path):
    [text] = [block for block in blocks(ROOT / "README.md") if block.startswith("name: bank")]
    (tmp_path / "party.yaml").write_text(text)
    coterie("certs", "init", tmp_path / "authority")
    coterie("certs", "issue", "bank", "--dir", tmp_path / "authority")
    for path in (tmp_path / "authority" / "bank").iterdir():
        path.rename(tmp_path / path.name)
    config = load_party(tmp_path / "party.yaml")
    assert config.policy.consent == "manual"


def test_every_exit_code_has_a_paragraph():
    text = (DOCS / "exit-codes.md").read_text()
    classes = [
        item
        for item in vars(errors).values()
        if isinstance(item, type) and issubclass(item, errors.CoterieError)
    ]
    for item in classes:
        if item in (errors.CoterieError, errors.PeerError):  # only their kinds are raised
            continue
        if item is errors.PeerRevokedError:  # it has the code of certificates
            continue
        assert f"| {item.exit_code} | `{item.__name__}` |" in text
        assert f"## {item.exit_code}: {item.__name__}" in text
    for code in (errors.INTERNAL, errors.INTERRUPTED):
        assert f"| {code} | |" in text
        assert f"## {code}\n" in text


def test_exit_codes_are_told_apart():
    codes = [
        item.exit_code
        for item in vars(errors).values()
        if isinstance(item, type)
        and issubclass(item, errors.CoterieError)
        and "exit_code" in vars(item)
        and item is not errors.PeerRevokedError  # it has the code of certificates
    ]
    assert len(set(codes)) == len(codes)


def test_every_dependency_has_a_reason_and_two_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (DOCS / "dependencies.md").read_text()
    extras = [item for items in project["optional-dependencies"].values() for item in items]
    for item in [*project["dependencies"], *extras]:
        if item.startswith("coterie["):
            continue
        name = re.match(r"[\w.-]+", item)[0]
        assert f"`{name}`" in text, name
        assert re.search(r">=[\d.]+,<\d", item), item


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda path: path.name
)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda path: path.name
)
def test_commands_in_the_documents_exist(path):
    for block in re.findall(r"```\n(.*?)```", path.read_text(), re.DOTALL):
        for line in block.splitlines():
            words = line.split("#")[0].split()
            if words[:1] != ["coterie"]:
                continue
            options = [word for word in words if word.startswith("--")]
            names = [word for word in words[1:3] if re.fullmatch(r"[a-z-]*[a-z]", word)]
            help_text = coterie(
                *names[:2] if names[0] in ("certs", "party") else names[:1], "--help"
            )
            assert help_text.code == 0, line
            assert all(option in help_text.out for option in options), line
