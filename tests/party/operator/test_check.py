"""`coterie party check`: what is wrong with a party file, before anyone proposes a job."""

import json

import pytest

from coterie.__main__ import run
from coterie.party.operator.check import examine
from tests.party.authority import Authority
from tests.party.houses import Houses


def check(houses, name="bank"):
    return list(examine(houses.path(name)))


def about(checks, subject, name=None):
    [found] = [c for c in checks if c.subject == subject and name in (None, c.name)]
    return found


def test_all_is_well_when_everybody_serves(houses):
    houses.authority.issue("ada")
    houses.write("bank", operators={"ada": {"certificate": "certs/ada.crt"}})
    houses.serve_all()
    found = check(houses)
    assert {c.state for c in found} == {"ok"}
    assert [c.subject for c in found] == [
        "file", "tls", "operators", "state", "server", "data", "policy", "peer", "peer"
    ]  # fmt: skip
    assert about(found, "data").detail == f"{houses.folder / 'bank.csv'}: 20 records with ID"
    assert about(found, "policy").detail == "intersect to analyst, at once"
    assert "proves to be 'card' and serves" in about(found, "peer", "card").detail


def test_a_server_s_key_that_approves_is_a_warning(houses):
    found = about(check(houses), "operators")
    assert found.state == "warning"
    assert "anybody with the server's key may approve jobs" in found.detail


def test_nothing_is_made(houses):
    found = check(houses)
    assert about(found, "state").detail == f"{houses.state('bank')}, will be made"
    assert not houses.state("bank").exists()


def test_a_peer_that_does_not_serve_is_a_warning(houses):
    houses.serve("lender")
    found = check(houses)
    assert about(found, "peer", "lender").state == "ok"
    card = about(found, "peer", "card")
    assert (card.state, card.exit_code) == ("warning", 0)
    assert card.detail == f"127.0.0.1:{houses.ports['card']}: connection refused"


def test_a_peer_that_is_someone_else_is_an_error(houses, tmp_path):
    place = Authority(tmp_path / "strangers").issue("card")
    houses.write(
        "card",
        tls={
            "certificate": str(place),
            "key": str(place.with_suffix(".key")),
            "authority": str(place.with_name("ca.crt")),
        },
    )
    houses.serve("card")
    card = about(check(houses), "peer", "card")
    assert (card.state, card.exit_code) == ("failed", 11)
    assert card.detail.endswith("its certificate is not the expected one")


def columns(**lists):
    return {"columns": {"class": []} | lists}


PROBLEMS = {
    "a column that the data has not": (
        {"policy": columns(use=["Sec"])},
        ("data", 3, "no column 'Sec'"),
    ),
    "a file that is not there": ({"data": "nothing.csv"}, ("data", 3, "No such file")),
    "a state folder that nobody can make": (
        {"state": "/proc/coterie/state"},
        ("state", 9, "cannot be written to"),
    ),
    "a state folder that is a file": ({"state": "bank.csv"}, ("state", 9, "is not a folder")),
    "a peer outside of the roster": (
        {"policy": {"peers": ["lender", "card", "crad"]}},
        ("policy", 2, "peers lists 'crad', and the roster of peers does not"),
    ),
    "a column that may leave but not be used": (
        {"policy": columns(release=["Sex"])},
        ("policy", 2, "columns.release lists 'Sex', and columns.use does not"),
    ),
    "a raw column that may not leave": (
        {"policy": columns(use=["Sex"], raw=["Sex"])},
        ("policy", 2, "columns.raw lists 'Sex', and columns.release does not"),
    ),
    "an unknown key": ({"polcy": {}}, ("file", 2, "polcy: unknown key")),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_mistake_is_named(houses, name):
    changes, (subject, code, text) = PROBLEMS[name]
    houses.write("bank", **changes)
    [found] = [c for c in check(houses) if c.state == "failed"]
    assert (found.subject, found.exit_code) == (subject, code)
    assert text in found.detail


def test_a_policy_that_permits_nothing_is_a_warning(houses):
    houses.write("bank", policy={"kinds": [], "coordinators": []})
    found = about(check(houses), "policy")
    assert found.state == "warning"
    assert found.detail == "every job is refused: nothing is listed in coordinators, kinds"


def test_a_certificate_that_ends_soon_is_a_warning(tmp_path):
    houses = Houses(tmp_path)
    houses.authority.issue("bank", days=5)
    found = about(check(houses), "tls")
    assert found.state == "warning"
    assert "(4 days)" in found.detail


def test_the_command_prints_a_line_a_check_and_gives_the_first_exit_code(houses, capsys):
    houses.write("bank", data="nothing.csv")
    path = str(houses.path("bank"))
    assert run(["party", "check", path]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "ok", "ok", "warning", "ok", "ok", "failed", "ok", "warning", "warning"
    ]  # fmt: skip
    assert run(["party", "check", path, "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["exit_code"], len(report["checks"])) == (False, 3, 9)


def test_identifiers_that_may_not_match_are_a_warning_with_the_rule_that_mends_them(houses):
    houses.people("bank", ["p1", "p2 ", "P3", "p4"])
    data = about(check(houses), "data")
    assert (data.state, data.exit_code) == ("warning", 0)
    assert "column 'ID': 1 values have white space at an end" in data.detail
    assert "'normalise: {ID: [lower]}' would mend it" in data.detail
