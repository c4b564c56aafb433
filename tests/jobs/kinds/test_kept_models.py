"""A party's part of a model: what is in its file, and files that cannot be used."""

import json
import stat

import pytest

from coterie.base.errors import DataError, UsageError
from coterie.jobs.kinds import kept_models
from coterie.jobs.kinds.kept_models import FILE, NoModels, ResultModels, read_model
from tests.jobs.kinds.predict.kept import part

ATTRIBUTES = {
    "Sex": ("lender", ["F", "M"], []),
    "Job": ("bank", ["x", "y", "z"], []),
    "Age": ("bank", ["<30", "[30, 50)", ">=50"], [30.0, 50.0]),
}


KINDS = ["tree", "bayesnet", "net"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_is_read_as_it_was_written_by_its_party_alone(kind, tmp_path):
    for party in ("lender", "bank"):
        model = part(kind, ATTRIBUTES, party)
        model.write(tmp_path)
        path = tmp_path / FILE
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert read_model(path.read_bytes(), "here") == model
        assert set(model.own) == {n for n, entry in ATTRIBUTES.items() if entry[0] == party}
        path.unlink()


def test_parties_have_one_digest_of_one_model_and_others_of_others():
    digests = {part("tree", ATTRIBUTES, party).digest for party in ("lender", "bank")}
    assert len(digests) == 1
    assert part("tree", ATTRIBUTES, "bank", run="another").digest not in digests
    assert part("bayesnet", ATTRIBUTES, "bank").digest not in digests


def test_a_tree_uses_what_it_tests_and_a_net_everything():
    model = part("tree", ATTRIBUTES, "bank")
    assert model.used == ("Sex", "Job", "Age")
    model.tree["branches"][1] = {"label": 0}
    assert model.used == ("Sex", "Job")
    assert part("bayesnet", ATTRIBUTES, "bank").used == ("Sex", "Job", "Age")


def test_a_net_uses_what_the_class_depends_on_and_what_depends_on_it():
    families = {"Class": ("Sex",), "Age": ("Class",)}
    assert part("net", ATTRIBUTES, "bank", families=families).used == ("Sex", "Age")
    assert part("net", ATTRIBUTES, "bank", families={}).used == ()


def test_shares_of_a_table_lie_at_two_parties_and_its_counts_at_none():
    """The class depends on columns of both; the age on the lender's column and the class."""
    parts = [part("net", ATTRIBUTES, party).net for party in ("lender", "bank")]
    for net in parts:
        assert net.tables == {}
        assert set(net.shares) == {"Class", "Age"}
    assert parts[0].shares["Class"] != parts[1].shares["Class"]
    alone = {"Job": ("Class", "Age"), "Sex": ("Class",)}
    lender, bank = (part("net", ATTRIBUTES, p, families=alone).net for p in ("lender", "bank"))
    assert (set(lender.tables), set(bank.tables)) == ({"Sex"}, {"Job"})
    assert lender.shares == bank.shares == {}


@pytest.mark.parametrize(
    "damage",
    [
        lambda c: c["shares"].pop("Age"),
        lambda c: c["shares"]["Age"].pop(),
        lambda c: c["shares"]["Age"].append(7),
        lambda c: c["shares"]["Age"].__setitem__(0, 1 << 40),
        lambda c: c["shares"]["Age"].__setitem__(0, -1),
        lambda c: c["tables"].update(Job=[1] * 6),
        lambda c: c["shared"]["parents"].update(Job=["Sex"]),
        lambda c: c["shared"]["parents"].update(Job=["Class", "Class"]),
        lambda c: c["shared"]["parents"].update(Class=["Zodiac"]),
        lambda c: c["shared"].update(servers=["bank", "bank"]),
        lambda c: c["shared"].update(servers=["bank", "nobody"]),
        lambda c: c["shared"].update(servers=["bank"]),
        lambda c: c["shared"].update(parents=["Class"]),
        lambda c: c.pop("tables"),
    ],
)
def test_a_damaged_part_of_a_net_is_named_and_not_used(damage, tmp_path):
    part("net", ATTRIBUTES, "bank").write(tmp_path)
    content = json.loads((tmp_path / FILE).read_bytes())
    read_model(json.dumps(content).encode(), "there")
    damage(content)
    with pytest.raises(DataError, match="there: is not a readable part of a model"):
        read_model(json.dumps(content).encode(), "there")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "damage",
    [
        lambda c: c.pop("own"),
        lambda c: c["shared"].update(classes=["N"]),
        lambda c: c["shared"].update(kind="count"),
        lambda c: c["shared"].update(name="../x"),
        lambda c: c["shared"].update(tree={"label": 7}),
        lambda c: c["shared"].update(tree={"attribute": "Sex", "branches": []}),
        lambda c: c["own"]["Job"].update(values=["x"]),
        lambda c: c["own"]["Job"].update(numbers=[0, 0, 1], counts=[[1], [1], [1]]),
        lambda c: c["own"]["Job"].update(scale="colour"),
        lambda c: c["own"].update(Zodiac=c["own"]["Job"]),
        lambda c: c["shared"].update(attributes=[]),
    ],
)
def test_a_damaged_part_is_named_and_not_used(kind, damage, tmp_path):
    part(kind, ATTRIBUTES, "bank").write(tmp_path)
    content = json.loads((tmp_path / FILE).read_bytes())
    damage(content)
    with pytest.raises(DataError, match="there: is not a readable part of a model"):
        read_model(json.dumps(content).encode(), "there")


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_model_at_all_is_named(data):
    with pytest.raises(DataError, match="readable"):
        read_model(data, "there")


def test_a_part_of_a_later_version_is_named(tmp_path):
    part("tree", ATTRIBUTES, "bank").write(tmp_path)
    content = json.loads((tmp_path / FILE).read_bytes())
    content["shared"]["version"] = 2
    with pytest.raises(DataError, match="a model of version 2, not 1"):
        read_model(json.dumps(content).encode(), "there")


def test_a_part_that_is_too_large_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_models, "LARGEST", 100)
    with pytest.raises(DataError, match="a kept one has at most 100"):
        part("tree", ATTRIBUTES, "bank").write(tmp_path)
    assert not (tmp_path / FILE).exists()


def test_a_simulation_finds_a_model_by_name_in_an_earlier_result(tmp_path):
    folder = tmp_path / "parties" / "bank"
    folder.mkdir(parents=True)
    model = part("tree", ATTRIBUTES, "bank")
    model.write(folder)
    assert ResultModels(tmp_path, "bank").find("risk") == model
    with pytest.raises(UsageError, match="the model there is 'risk', not 'other'"):
        ResultModels(tmp_path, "bank").find("other")
    with pytest.raises(UsageError, match="name the result folder of a simulated job"):
        ResultModels(tmp_path, "lender").find("risk")
    with pytest.raises(DataError, match="no model 'risk' is kept here"):
        NoModels().find("risk")
