"""A peer that interrupts a job, changes its data and has the job go on, or asks again with other data."""

from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from coterie.base.errors import DataError, PeerLostError, RefusedError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.answers_file import AnswersFile
from coterie.jobs.run.party_run import agree
from coterie.party.history.gate import HistoryGate
from coterie.party.history.releases import History
from coterie.party.policy import Policy
from coterie.party.settings import Repeat
from coterie.protocols.messaging.kept import BEGUN, Answer, Kept, MemoryAnswers, attempts_in
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import encode
from coterie.protos import jobs_pb2 as pb
from tests.party.test_go_on import interrupted, kept, resume
from tests.party.test_policy import JOB, needing

TEXT = "kind: intersect\nname: x\nparties: {a: {}, b: {}}\nid: ID\n"
FIRST = {"ID": b"1" * 32, "Salary": b"2" * 32}
OTHER = {"ID": b"1" * 32, "Salary": b"3" * 32}


def attempt(stores, inputs, on_redrawn=lambda: None, then=lambda channel: None):
    """Both parties begin an attempt with what they have kept, and commit to these inputs."""

    def party(channel):
        channel.kept = Kept(stores[channel.me], on_redrawn)
        agree(channel, parse_job(TEXT, {}), inputs=inputs[channel.me])
        return then(channel)

    return run_parties(dict.fromkeys("ab", party))


@pytest.fixture
def stores():
    return {name: MemoryAnswers() for name in "ab"}


def test_a_peer_with_another_column_ends_the_job_although_it_kept_nothing(stores):
    attempt(stores, {"a": FIRST, "b": FIRST})
    stores["b"].answers = []
    with pytest.raises(PeerLostError, match="b: brings another column 'Salary' than when") as ended:
        attempt(stores, {"a": FIRST, "b": OTHER})
    assert ended.value.for_good
    stores["b"].answers = []
    attempt(stores, {"a": FIRST, "b": FIRST})


def test_a_column_that_is_left_out_or_added_is_another_input(stores):
    attempt(stores, {"a": FIRST, "b": FIRST})
    for changed in ({"ID": FIRST["ID"]}, {**FIRST, "More": b"4" * 32}):
        stores["b"].answers = []
        with pytest.raises(PeerLostError, match="b: brings another column"):
            attempt(stores, {"a": FIRST, "b": changed})


def test_whose_own_column_has_changed_is_told_so(stores):
    attempt(stores, {"a": FIRST, "b": FIRST})
    with pytest.raises((DataError, PeerLostError), match="column 'Salary'"):
        attempt(stores, {"a": OTHER, "b": FIRST})


def test_noise_that_a_peer_may_have_seen_is_not_used_for_other_data(stores):
    drawn = []

    def noise(channel):
        if channel.me == "a":
            drawn.append(channel.drawn("noise", lambda: len(drawn)))

    def charged():
        charges.append(1)

    charges = []
    for _ in range(3):
        attempt(stores, {"a": FIRST, "b": FIRST}, charged, noise)
        stores["b"].answers = []
    assert drawn == [0, 1, 2]
    assert len(charges) == 2


def test_an_interruption_before_anything_was_drawn_costs_nothing(stores):
    charges = []
    for _ in range(3):
        attempt(stores, {"a": FIRST, "b": FIRST}, lambda: charges.append(1))
    assert not charges
    assert attempts_in(stores["a"].answers) == 3


def test_noise_whose_answer_all_have_is_not_drawn_again_and_costs_nothing(stores):
    drawn, charges = [], []

    def answer(channel):
        def noise():
            drawn.append(channel.me)
            return len(drawn)

        return channel.once("answer", lambda: channel.drawn("noise", noise))

    first = attempt(stores, {"a": FIRST, "b": FIRST}, lambda: charges.append(1), answer)
    for _ in range(3):
        again = attempt(stores, {"a": FIRST, "b": FIRST}, lambda: charges.append(1), answer)
        assert again == first
    assert sorted(drawn) == ["a", "b"]
    assert not charges


def test_noise_of_a_third_attempt_is_charged_although_the_second_did_not_come_to_it(stores):
    def noise(channel):
        return channel.drawn("noise", lambda: 7)

    charges = []
    attempt(stores, {"a": FIRST, "b": FIRST}, then=noise)
    attempt(stores, {"a": FIRST, "b": FIRST}, lambda: charges.append(1))
    assert not charges
    attempt(stores, {"a": FIRST, "b": FIRST}, lambda: charges.append(1), noise)
    assert len(charges) == 2  # one at each party


def test_a_budget_that_does_not_pay_for_new_noise_ends_the_attempt_before_it_is_drawn(stores):
    def noise(channel):
        return channel.drawn("noise", lambda: 7)

    def refused():
        raise RefusedError("policy.budget")

    attempt(stores, {"a": FIRST, "b": FIRST}, then=noise)
    with pytest.raises(RefusedError, match=r"policy\.budget"):
        attempt(stores, {"a": FIRST, "b": FIRST}, refused, noise)
    assert [one.what for one in stores["a"].answers if one.what == "noise"] == ["noise"]


@pytest.mark.parametrize(("begun", "taken"), [(20, True), (21, False)])
def test_a_job_is_taken_up_again_so_often_and_no_more(houses, begun, taken):
    _, job_id = interrupted(houses)
    [path] = [path for path in kept(houses) if "state-bank" in str(path)]
    store = AnswersFile(path, b"")
    store.read()
    store.append(Answer(b"", BEGUN, (), b"".join(map(bytes, encode([[begun]])))))
    store.close()
    houses.serve("lender")
    coordinator = houses.coordinator()
    states = resume(coordinator, job_id)
    assert (pb.CANCELLED not in states) == taken
    if not taken:
        said = coordinator.end(job_id, "bank").error
        assert "was taken up again 20 times (policy.repeat.attempts); propose it again" in said
        assert not [path for path in kept(houses) if "state-bank" in str(path)]


# ---- what the history says of a second attempt, and of a second job


def gates(history, needs, policy=None):
    digests = np.arange(100, 140, dtype=np.uint64)

    def make(at, inputs=None):
        record = SimpleNamespace(job_id=f"{at:032x}", coordinator="analyst", records=40)
        made = HistoryGate(
            history, policy or Policy(repeat=Repeat(k=3)), needs, record, JOB, "", digests,
            lambda event, **facts: None, None, lambda result: None,
        )  # fmt: skip
        made.commit({"lender": inputs or FIRST})
        return made

    return make


COUNTS = needing(answers={"counted": {"Sex": ""}, "exact": True})
RELEASE = needing(answers={"counted": {"Sex": ""}, "exact": True}, groups={"records": True})


@pytest.mark.parametrize("policy", [None, Policy()])
def test_an_attempt_about_other_people_or_groups_is_refused_whatever_the_policy(tmp_path, policy):
    make = gates(History(tmp_path), RELEASE, policy)
    first = make(1)
    first.people(np.arange(20))
    first.groups(np.arange(20), {"Sex": np.arange(20) // 10})
    again = make(1)
    again.people(np.arange(20))
    again.groups(np.arange(20), {"Sex": 1 - np.arange(20) // 10})  # the same groups, other numbers
    for codes in (np.arange(20) // 5, (np.arange(20) + 3) // 10):
        again = make(1)
        again.people(np.arange(20))
        with pytest.raises(RefusedError, match="about others than before its interruption"):
            again.groups(np.arange(20), {"Sex": codes})
    with pytest.raises(RefusedError, match="about others than before its interruption"):
        make(1).people(np.arange(19))


def test_other_columns_of_repeat_id_are_named_and_no_other_people(tmp_path):
    history = History(tmp_path)
    gates(history, COUNTS)(1).people(np.arange(20))
    policy = Policy(repeat=Repeat(k=3, id=("Name",)))
    with pytest.raises(RefusedError, match=r"^policy\.repeat\.id has changed since the job began"):
        gates(history, COUNTS, policy)(1).people(np.arange(20))


def test_the_same_question_about_other_data_of_a_partner_is_another_question(tmp_path):
    make = gates(History(tmp_path), COUNTS)
    make(1).people(np.arange(20))
    make(2).people(np.arange(20))  # the same again
    with pytest.raises(RefusedError) as refused:
        make(3, OTHER).people(np.arange(20))
    assert "'lender (Salary)' had other data in 'test'" in refused.value.inside
    assert "may be about one person" in refused.value.inside
    assert "Salary" not in str(refused.value)
    make(4, OTHER).people(np.arange(20, 40))  # nobody of these was asked about


def test_an_answer_with_noise_about_other_data_passes(tmp_path):
    make = gates(History(tmp_path), needing(answers={"counted": {"Sex": ""}, "exact": False}))
    for at, inputs in enumerate((FIRST, OTHER), 1):
        make(at, inputs).people(np.arange(20))


def test_ten_changed_people_do_not_hide_the_one_among_them_who_moved():
    """Why no number of changed people makes two exact answers harmless."""
    salaries = np.array([52_000, 171_783, *range(40_000, 40_028)])
    first = np.repeat(np.arange(3), 10)
    second = first.copy()
    second[1], second[10:19] = 1, 2  # one from group 0, nine from group 1 to group 2
    assert np.count_nonzero(first != second) == 10
    before, after = (np.bincount(groups, salaries, 3) for groups in (first, second))
    assert before[0] - after[0] == 171_783


def test_sets_of_people_are_compared_as_a_whole(tmp_path):
    """As the threat model says: ten more people pass, although a cell may have one of them."""
    make = gates(History(tmp_path), COUNTS, Policy(repeat=Repeat(k=10)))
    make(1).people(np.arange(20))
    make(2).people(np.arange(30))
    with pytest.raises(RefusedError):
        make(3).people(np.arange(29))


def test_what_a_party_commits_to_is_the_data_it_reads_under_its_own_key(houses):
    from coterie.party.config import load_party
    from coterie.party.preflight import check_data

    def checked(name):
        job = parse_job(yaml.safe_dump(yaml.safe_load(houses.job())), {})
        return check_data(load_party(houses.path(name)), job)

    def inputs(name):
        return checked(name).inputs

    before = inputs("bank")
    assert list(before) == ["ID"]
    assert inputs("bank") == before
    houses.people("lender", [f"p{i}" for i in range(1, 21)])  # as the bank's
    assert inputs("lender") != before  # under another key
    houses.people("bank", [f"p{i}" for i in range(1, 20)])
    assert inputs("bank") != before


def test_another_order_of_rows_is_no_change_but_answers_of_before_are_not_used_for_it(houses):
    from coterie.party.config import load_party
    from coterie.party.preflight import check_data

    def checked(people):
        houses.people("bank", people)
        return check_data(load_party(houses.path("bank")), parse_job(houses.job(), {}))

    people = [f"p{i}" for i in range(20)]
    one, other, more = (checked(names) for names in (people, people[::-1], [*people, "p99"]))
    assert one.inputs == other.inputs != more.inputs
    assert one.digest != other.digest
