"""The party file: what it gives, and errors that name the key and the line."""

import os

import pytest
import yaml

from coterie.base.errors import CertificateError, ExpiredError, UsageError
from coterie.party.config import load_party
from coterie.party.policy import Policy
from coterie.transport.session import Heartbeat
from tests.party.authority import Authority

POLICY = {
    "columns": {
        "id": ["ID", ["First", "Born"]],
        "use": ["Age"],
        "release": ["Sex", "Job"],
        "raw": ["Job"],
        "class": ["Class"],
        "drop": ["Age"],
    },
    "exact": ["lender"],
    "together": "refuse",
    "largest_peer_set": 5000,
    "smallest_k": 4,
    "explain": "rows",
    "examinations": 7,
    "descriptions": 3,
    "predictions": 4,
    "scores": "shown",
    "analysts": {"research": ["analyst"]},
    "reveal": "pairwise",
    "conditions": "holder",
    "slack": True,
    "boxes": "tight",
    "silent": False,
    "servers": ["lender", "card"],
}


def test_a_party_file_is_read(houses):
    peers = houses.party_file("bank")["peers"]
    peers["lender"]["certificate"] = "certs/lender.crt"
    houses.write("bank", peers=peers, memory="64MB", policy=POLICY)
    config = load_party(houses.path("bank"))
    assert config.name == "bank"
    assert config.listen == config.own_address == f"127.0.0.1:{houses.ports['bank']}"
    assert set(config.peers) == {"lender", "card"}
    assert config.peers["card"].address == f"127.0.0.1:{houses.ports['card']}"
    assert config.peers["card"].pin is None
    assert config.peers["lender"].pin.pem == (houses.folder / "certs/lender.crt").read_bytes()
    assert config.state == houses.state("bank")
    assert config.memory == 64_000_000
    assert config.heartbeat == Heartbeat(0.2, 30.0)
    assert config.source.read(["Sex"]).num_rows == 20
    assert config.policy == Policy(
        coordinators=frozenset({"analyst"}),
        kinds=frozenset({"intersect"}),
        peers=frozenset({"lender", "card"}),
        use=frozenset({"Age"}),
        ids=frozenset({frozenset({"ID"}), frozenset({"First", "Born"})}),
        classes=frozenset({"Class"}),
        drop=frozenset({"Age"}),
        exact=frozenset({"lender"}),
        together="refuse",
        largest_peer_set=5000,
        release=frozenset({"Sex", "Job"}),
        raw=frozenset({"Job"}),
        smallest_k=4,
        consent="auto",
        explain="rows",
        examinations=7,
        descriptions=3,
        predictions=4,
        scores="shown",
        analysts=(frozenset({"analyst"}),),
        reveal="pairwise",
        conditions="holder",
        slack=True,
        boxes="tight",
        silent=False,
        servers=frozenset({"lender", "card"}),
    )


def test_what_is_left_out_permits_nothing_and_has_defaults(houses):
    houses.write("bank", policy=None, heartbeat=None, peers=None)
    content = yaml.safe_load(houses.path("bank").read_text())
    content.pop("policy", None)
    houses.path("bank").write_text(yaml.safe_dump(content))
    config = load_party(houses.path("bank"))
    assert config.policy == Policy()
    assert config.policy.consent == "manual"
    assert config.heartbeat == Heartbeat(1, 10)
    assert config.peers == {}
    assert config.memory > 64 << 20


@pytest.mark.parametrize(
    ("listen", "own"),
    [("0.0.0.0:7000", "127.0.0.1:7000"), ("[::]:7000", "[::1]:7000"), ("bank:7", "bank:7")],
)
def test_the_operator_reaches_a_server_that_listens_everywhere(houses, listen, own):
    houses.write("bank", listen=listen)
    assert load_party(houses.path("bank")).own_address == own


BAD = {
    "an unknown key": ({"colour": "red"}, ": colour: unknown key"),
    "a misspelled key": ({"lisen": "x"}, "lisen: unknown key; did you mean 'listen'?"),
    "no port": (
        {"listen": "bank"},
        "listen: must be HOST:PORT with a port from 0 to 65535, not 'bank'",
    ),
    "a port too large": (
        {"listen": "bank:70000"},
        "listen: must be HOST:PORT with a port from 0 to 65535, not 'bank:70000'",
    ),
    "a port of many digits": ({"listen": f"bank:{'9' * 5000}"}, "listen: must be HOST:PORT"),
    "a time of many digits": ({"retention": {"jobs": f"{'9' * 400}d"}}, "must be a time such as"),
    "a file with a zero byte in its name": (
        {"tls": {"certificate": "a\0b", "key": "x", "authority": "y"}},
        "the character U+0000 is not used here",
    ),
    "no listen": ({"listen": None}, "the key 'listen' is missing"),
    "a bad name": ({"name": "the bank"}, "name: 'the bank' is not a name"),
    "a certificate that is not there": (
        {"tls": {"certificate": "no.crt", "key": "x", "authority": "y"}},
        "no.crt: No such file",
    ),
    "tls without a key": ({"tls": {"certificate": "x"}}, "tls: the key 'key' is missing"),
    "a peer without an address": ({"peers": {"card": {}}}, "peers.card: the key 'address'"),
    "a peer that is the party": (
        {"peers": {"Bank": {"address": "x:1"}}},
        "peers.Bank: 'Bank' is taken",
    ),
    "two peers that differ in capitals": (
        {"peers": {"card": {"address": "x:1"}, "Card": {"address": "x:2"}}},
        "capital letters make no difference",
    ),
    "a peer's name with a slash": ({"peers": {"a/b": {"address": "x:1"}}}, "is not a name"),
    "too little memory": ({"memory": "1MB"}, "memory: must be at least 16MB"),
    "memory that is no size": ({"memory": "lots"}, "memory: must be a size such as"),
    "a deadline shorter than the heartbeat": (
        {"heartbeat": {"interval": 2, "deadline": 3}},
        "heartbeat.deadline: the deadline must be at least two intervals",
    ),
    "an unknown kind": ({"policy": {"kinds": ["guess"]}}, "policy.kinds[0]: must be one of"),
    "an unknown consent": ({"policy": {"consent": "maybe"}}, "policy.consent: must be one of"),
    "a k-map of one": (
        {"policy": {"smallest_k_map": 1}},
        "policy.smallest_k_map: must be at least 2",
    ),
    "a k of zero": ({"policy": {"smallest_k": 0}}, "policy.smallest_k: must be at least 1"),
    "an analyst who is no coordinator": (
        {"policy": {"analysts": {"research": ["analyst", "stranger"]}}},
        "policy.analysts.research: 'stranger' is not among the coordinators",
    ),
    "an analyst in two groups": (
        {"policy": {"analysts": {"one": ["analyst"], "two": ["analyst"]}}},
        "policy.analysts.two: 'analyst' belongs to another analyst already",
    ),
    "an unknown explanation": (
        {"policy": {"explain": "values"}},
        "policy.explain: must be one of",
    ),
    "unknown conditions": ({"policy": {"conditions": "all"}}, "policy.conditions: must be one of"),
    "an unknown reveal": ({"policy": {"reveal": "all"}}, "policy.reveal: must be one of"),
    "no examination": ({"policy": {"examinations": 0}}, "policy.examinations: must be at least 1"),
    "an unknown column rule": (
        {"policy": {"columns": {"share": ["ID"]}}},
        "policy.columns.share: unknown key",
    ),
    "data of no kind": ({"data": {"word": "x"}}, "data: must have one of the keys"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_named_with_file_line_and_key(houses, name):
    changes, text = BAD[name]
    houses.write("bank", **changes)
    with pytest.raises(UsageError) as caught:
        load_party(houses.path("bank"))
    message = str(caught.value)
    assert text in message
    assert message.startswith(f"{houses.path('bank')}:")
    assert message.removeprefix(f"{houses.path('bank')}:").split(":")[0].isdigit()


def test_a_file_that_is_not_there_or_no_text_is_an_error(tmp_path):
    with pytest.raises(UsageError, match=r"no\.yaml: No such file"):
        load_party(tmp_path / "no.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_party(tmp_path / "bytes.yaml")


# Certificates and keys.


def test_a_key_that_others_can_read_is_refused(houses):
    os.chmod(houses.folder / "certs/bank.key", 0o640)
    with pytest.raises(CertificateError, match=r"readable by others \(mode 0640\); run chmod 600"):
        load_party(houses.path("bank"))


def test_an_expired_certificate_is_refused(houses):
    houses.authority.issue("bank", days=-1)
    with pytest.raises(ExpiredError, match=r"bank\.crt: the certificate expired on 20"):
        load_party(houses.path("bank"))


def test_a_certificate_that_is_not_valid_yet_is_refused(houses):
    houses.authority.issue("bank", days=30, start=10)
    with pytest.raises(ExpiredError, match="valid only from"):
        load_party(houses.path("bank"))


def test_a_certificate_of_another_name_is_refused(houses):
    houses.authority.issue("mallory", file="bank")
    with pytest.raises(CertificateError, match="is of 'mallory', not of 'bank'"):
        load_party(houses.path("bank"))


def test_a_certificate_of_another_authority_is_refused(houses, tmp_path):
    other = Authority(tmp_path / "other")
    (houses.folder / "certs/bank.crt").write_bytes(other.issue("bank").read_bytes())
    with pytest.raises(CertificateError, match="is not issued by"):
        load_party(houses.path("bank"))


def test_the_key_of_another_certificate_is_refused(houses):
    key = (houses.folder / "certs/card.key").read_bytes()
    (houses.folder / "certs/bank.key").write_bytes(key)
    with pytest.raises(CertificateError, match=r"bank\.key: is not the key of"):
        load_party(houses.path("bank"))


@pytest.mark.parametrize("file", ["bank.crt", "bank.key", "ca.crt"])
def test_a_file_that_is_no_pem_is_refused(houses, file):
    (houses.folder / "certs" / file).write_text("hello")
    with pytest.raises(CertificateError, match=f"{file}: not a"):
        load_party(houses.path("bank"))


def test_a_pinned_certificate_must_be_of_the_peer(houses):
    peers = houses.party_file("bank")["peers"]
    peers["lender"]["certificate"] = "certs/card.crt"
    houses.write("bank", peers=peers)
    with pytest.raises(CertificateError, match="is of 'card', not of 'lender'"):
        load_party(houses.path("bank"))
