"""A partner that invents identifiers, and a coordinator that chooses what counts as one.

The attacker brings any identifiers that it can write down, and the coordinator names the columns
of `id`. What must not follow: a value of a column that the steward does not call an identifier, or
the membership of more people than the policy permits a peer to bring.
"""

import re
from itertools import product

import numpy as np
import pytest
import yaml

from coterie.base.errors import PeerFaultError, RefusedError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.policy import Policy, judge
from coterie.party.steward.plain_words import plain_words
from coterie.protocols.intersection import intersect as module
from coterie.protocols.intersection import vole_intersect
from coterie.protocols.intersection.binned_store import Places
from coterie.protocols.intersection.buckets import capacity
from coterie.protocols.intersection.identifiers import Identifiers
from coterie.protocols.intersection.matching import as_tags
from coterie.protocols.intersection.store_equations import solved
from coterie.protocols.intersection.vole_function import FunctionReceiver, hashed
from coterie.protocols.primitives.store import MemoryStore
from coterie.protos import jobs_pb2 as pb
from tests.protocols.intersection.intersections import NAMES, Tampering, run

VICTIM, ATTACKER = NAMES[:2]
DIAGNOSES = ("flu", "HIV", "none")


def ids(numbers):
    return [str(i).encode() for i in numbers]


# ---- what counts as an identifier


@pytest.fixture
def hospital(houses):
    """A hospital with diagnoses, and a bank that brings every person with every diagnosis."""
    people = [f"p{i}" for i in range(20)]
    of = {"lender": [(p, DIAGNOSES[i % 3]) for i, p in enumerate(people)]}
    of["bank"] = list(product(people, DIAGNOSES))
    for name, rows in of.items():
        text = "".join(f"{person},{what},1970\n" for person, what in rows)
        (houses.folder / f"{name}.csv").write_text("ID,Diagnosis,Born\n" + text)
        houses.write(
            name,
            policy={
                "peers": ["lender", "bank"],
                "columns": {
                    "use": ["Diagnosis", "Born"],
                    "id": ["ID", ["Diagnosis", "ID"]] if name == "bank" else [["ID", "Born"]],
                },
            },
        )
        houses.serve(name)
    return houses


@pytest.mark.parametrize(
    "columns", [["ID", "Diagnosis"], ["ID", "Born", "Diagnosis"], ["Diagnosis"], ["ID"], ["Born"]]
)
def test_nothing_is_matched_by_what_the_steward_does_not_call_an_identifier(hospital, columns):
    """Neither with one column more, nor by a part of the composite."""
    job = yaml.safe_load(hospital.job(parties=["lender", "bank"]))
    coordinator = hospital.coordinator()
    coordinator.stubs = {n: coordinator.stubs[n] for n in ("lender", "bank")}
    _, decisions = coordinator.propose(yaml.safe_dump({**job, "id": columns}))
    assert decisions["lender"].state == pb.REFUSED
    assert "policy.columns.id does not list" in decisions["lender"].reason
    assert decisions["lender"].records == 0


MATCHED = {
    "intersect": "",
    "count": "attributes: {Sex: {party: bank, values: [F, M]}}\ntables: [[Sex]]",
    "tree": "class: Late\nattributes: {Sex: {party: bank, values: [F, M]}}",
    "bayesnet": "class: Late\nattributes: {Sex: {party: bank, values: [F, M]}}",
    "aggregate": "attributes: {Pay: {party: bank, range: [0, 9]}}\nmeasures: [{sum: Pay}]",
    "identify": "attributes: {Sex: {party: bank}, Job: {party: lender}}",
    "rules": "attributes: {Sex: {party: bank}, Job: {party: lender}}\nsupport: 0.5\nconfidence: 0.5",
    "regress": "model: linear\noutcome: Pay\nfeatures: [Age]\nattributes: "
    "{Pay: {party: bank, range: [0, 9]}, Age: {party: lender, range: [0, 99]}}",
    "cluster": "clusters: 2\nattributes: "
    "{Pay: {party: bank, range: [0, 9]}, Age: {party: lender, range: [0, 99]}}",
    "integrate": "attributes: {Sex: {party: bank, flat: true}}\nclass: Late\n"
    "requirement: [{qid: [Sex], k: 5}]",
    "predict": "model: m\nattributes: {Sex: {party: bank}}\nrecipients: [bank]",
}


def judged(kind, columns):
    """The bank's reasons to refuse such a job, of those that are about identifiers."""
    text = f"kind: {kind}\nname: x\nparties: {{bank: {{}}, lender: {{}}}}\nid: {columns}\n"
    job = parse_job(f"{text}{MATCHED[kind]}\n", {})
    policy = Policy(ids=frozenset({frozenset({"ID"}), frozenset({"First", "Born"})}))
    return [one for one in judge(policy, job, "bank", "analyst") if "columns.id" in one]


@pytest.mark.parametrize("kind", MATCHED)
def test_every_kind_that_matches_asks_for_the_identifier(kind):
    assert set(MATCHED) == set(KINDS)
    assert judged(kind, "ID") == judged(kind, "[Born, First]") == []
    for columns in ("Diagnosis", "[ID, Diagnosis]", "Born", "[First, Born, ID]"):
        assert judged(kind, columns), columns


# ---- how many people a peer may ask about


def announced(victim, attacker, **options):
    return run([ids(range(victim)), ids(range(attacker))], **options)


@pytest.mark.parametrize("protocol", ["ring", "oprf"])
def test_a_peer_above_the_largest_set_is_refused_by_name_before_anything_is_computed(
    protocol, monkeypatch
):
    def never(*_, **__):
        raise AssertionError("something was computed for it")

    own = {VICTIM: {"most": 99}}
    for worker in ("ring_intersect", "vole_intersect", "Buckets"):
        monkeypatch.setattr(module, worker, never)
    with pytest.raises(RefusedError, match=f"{ATTACKER} brings 100 identifiers, and .* is 99$"):
        announced(10, 100, protocol=protocol, own=own)


def test_honest_sets_of_very_different_size_pass():
    few, many = announced(3, 5000, own={VICTIM: {"most": 5000}, ATTACKER: {"most": 3}})
    assert len(few) == len(many) == 3


def test_with_more_parties_each_peer_is_bounded():
    sets = [ids(range(30)), ids(range(30)), ids(range(60))]
    with pytest.raises(RefusedError, match=f"{NAMES[2]} brings 60 identifiers"):
        run(sets, own={VICTIM: {"most": 59}})
    assert len(run(sets, own={VICTIM: {"most": 60}})[0]) == 30


def test_the_room_of_buckets_counts_because_a_changed_program_could_fill_it():
    """The attacker announces little and says that it has hardly any memory: 4,096 buckets."""
    room = 4096 * capacity(10, 4096)
    assert room == 40960

    def no_memory(values):
        return [*values[:2], 1, *values[3:]]

    def wrap(transport):
        return Tampering(transport, ATTACKER, "sizes", 0, no_memory)

    with pytest.raises(RefusedError, match=f"brings 10 .* with room for {room}, .* is {room - 1}"):
        announced(3000, 10, wrap=wrap, own={VICTIM: {"most": room - 1}})


def more(values):
    return [np.concatenate([values[0]] * 3 + [values[0][:1]])]


@pytest.mark.parametrize("memory", [None, 22_000])
@pytest.mark.parametrize(
    ("protocol", "step", "cheater"),
    [("ring", "ring", ATTACKER), ("oprf", "compare", ATTACKER), ("oprf", "function", VICTIM)],
)
def test_the_announced_number_is_binding(protocol, step, cheater, memory):
    """More elements than announced are a fault: in the ring, of a sender and of a receiver."""
    number = 1 if step == "function" else 0  # the first message is the seed of the store

    def wrap(transport):
        return Tampering(transport, cheater, step, number, more)

    sizes = (400, 400) if memory else (40, 40)
    with pytest.raises(PeerFaultError) as caught:
        announced(*sizes, protocol=protocol, memory=memory, wrap=wrap, piece=1000)
    assert caught.value.peer == cheater
    assert "sent more than the" in caught.value.reason


def fitted(places, tags, salt):
    """Words of a store that give as many of the tags their hash as there are words."""
    count = places.shape.words
    units = np.zeros((count, count, 2), np.uint64)
    units[np.arange(count), np.arange(count), 0] = 1
    factors = np.stack([Places(places.shape, places.seed, tags).decode(unit) for unit in units], 1)
    return solved(factors, hashed(tags, salt), np.zeros((count, 2), np.uint64))


def test_a_receiver_has_room_for_the_words_of_its_store_and_may_name_what_it_announced(monkeypatch):
    """It announces two values and asks about 24, which its 26 words hold; the victim has all of them."""
    honest = vole_intersect.store_of
    asked = {}

    def store_of(tags, salt, rng):
        places, _ = honest(tags, salt, rng)
        more = Identifiers.pack(ids(range(24))).digests(salt)
        asked["tags"] = as_tags(more)
        return places, fitted(places, asked["tags"], salt)

    def outputs(self, tags):
        places = self._places
        self._places = Places(places.shape, places.seed, asked["tags"])
        return honest_outputs(self, asked["tags"])

    honest_outputs = FunctionReceiver.outputs
    monkeypatch.setattr(vole_intersect, "store_of", store_of)
    monkeypatch.setattr(FunctionReceiver, "outputs", outputs)
    with pytest.raises(PeerFaultError, match="names 24 common records, more than its 2") as caught:
        run([ids(range(100)), ids(range(2))], protocol="oprf")
    assert caught.value.peer == ATTACKER


def test_a_peer_that_resumes_with_another_number_begins_anew():
    """The number of an earlier attempt does not stand for one that was announced now."""
    stores = {name: MemoryStore() for name in NAMES[:2]}
    own = {name: {"store": store} for name, store in stores.items()}
    sets = [ids(range(400)), ids(range(200, 600))]

    def stop(name):
        def progress(step, *_):
            if "bucket 2" in step:
                raise InterruptedError

        return progress

    with pytest.raises(InterruptedError):
        run(sets, protocol="ring", memory=820_000, own=own, on_progress=stop)
    assert all(store.read("checkpoint") for store in stores.values())

    def less(values):
        assert values[3], "the attempt goes on"
        return [10, *values[1:]]

    def wrap(transport):
        return Tampering(transport, ATTACKER, "sizes", 0, less)

    with pytest.raises(PeerFaultError) as caught:
        run(sets, "again", protocol="ring", memory=820_000, own=own, wrap=wrap)
    assert caught.value.peer in NAMES[:2]


# ---- at real servers


def started(houses):
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(houses.job())
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    coordinator.start(job_id)
    return coordinator, job_id


def test_a_server_refuses_a_peer_that_brings_more_than_its_policy_permits(houses):
    houses.people("card", [f"p{i}" for i in range(300)])
    houses.write("lender", policy={"largest_peer_set": 299})
    houses.serve_all()
    coordinator, job_id = started(houses)
    end = coordinator.end(job_id, "lender")
    assert end.state == pb.FAILED
    assert "card brings 300 identifiers, and policy.largest_peer_set of lender is 299" in str(end)
    assert not (houses.state("lender") / "jobs" / job_id / "kept" / "common.csv").exists()


def test_by_default_sets_of_very_different_size_pass_at_servers(houses):
    houses.people("card", [f"p{i}" for i in range(3000)])
    houses.serve_all()
    coordinator, job_id = started(houses)
    assert coordinator.end(job_id, "lender").state == pb.FINISHED


def test_padding_that_is_too_small_tells_no_more_than_the_number_that_is_told_without_it(houses):
    """The coordinator halves `pad_to`: it finds the number of records, and is given no other."""
    houses.write("bank", policy={"descriptions": 100, "explain": "columns"})
    houses.serve("bank")
    coordinator = houses.coordinator()
    coordinator.stubs = {"bank": coordinator.stubs["bank"]}
    job = yaml.safe_load(houses.job())

    def decision(**keys):
        return coordinator.propose(yaml.safe_dump({**job, **keys}))[1]["bank"]

    plain = decision().records
    low, high = 1, 1000
    while low < high:
        middle = (low + high) // 2
        answer = decision(pad_to=middle)
        assert answer.records in (0, middle)
        assert set(re.findall(r"[0-9]+", answer.reason)) <= {str(middle)}, answer.reason
        low, high = (low, middle) if answer.state == pb.ACCEPTED else (middle + 1, high)
    assert low == plain == 20  # all that it found, it is told by the job without padding


# ---- what the steward is shown


def words(keys="", parties="bank: {}, lender: {}"):
    text = f"kind: intersect\nname: x\nparties: {{{parties}}}\nid: ID\n{keys}"
    job = parse_job(text, {})
    return "\n".join(plain_words(job, "bank", KINDS["intersect"].needs(job, "bank"), 20))


def test_party_show_says_what_invented_identifiers_could_tell():
    assert "lender, by inventing identifiers: whether any person that it can name is in your" in (
        words()
    )
    assert "largest_peer_set" in words()
    three = "bank: {}, lender: {}, card: {}"
    assert "is in the tables of all parties" in words(parties=three)
    assert "is in your table" in words("reveal: pairwise\n", three)
    assert "digits of 'ID' alone" in words("normalise: [trim, digits]\n")
    assert "digits" not in words("normalise: [trim]\n")
