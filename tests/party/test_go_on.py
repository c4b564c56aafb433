"""Jobs that go on after `kill -9`, at real servers; `make kills` tries many more places."""

import stat
import time

import pytest

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.party.books.ledger import Ledger
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import wait_for
from tests.party.mortals import Mortals, release


@pytest.fixture
def mortals(tmp_path):
    houses = Mortals(tmp_path / "houses", "integrate malicious")
    with houses.stack:
        yield houses


def undisturbed(houses, out):
    out.mkdir()
    simulate(load_job(houses.job_file), houses.folder, out)
    return release(out)


def test_a_party_that_is_killed_in_a_round_goes_on_to_the_same_release(mortals, tmp_path):
    out = tmp_path / "out"
    mortals.begin({"bank": ("before", 25)})
    done = mortals.run(out)
    assert done.code == 6
    assert done.json["error"].startswith("bank: broke the connection")
    assert f"'coterie attach {out}' goes on with the job" in done.json["error"]
    assert mortals.bury() == ["bank"]
    assert mortals.last_step("bank").startswith("specialize")
    assert len(mortals.answers()) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in mortals.answers()} == {0o600}
    mortals.begin({})
    assert mortals.attach(out).code == 0
    found, expected = release(out), undisturbed(mortals, tmp_path / "simulated")
    expected["utility"] = found["utility"]  # a simulation measures more
    del expected["alone"]
    assert found == expected
    wait_for(lambda: mortals.answers() == [], "what was kept to be gone")
    steps = (mortals.state("bank") / "steps").read_text().split()
    assert (
        steps.count("intersect/sizes") == 2
    )  # one message sent, one received: in the first attempt
    for me, other in (("lender", "bank"), ("bank", "lender")):
        ledger = Ledger(mortals.state(me), me)
        balance = ledger.balances()[other]
        assert balance.given == round(found["contributions"][me] * (1 << 30))
        assert balance.open == 0
        [job] = ledger._jobs().values()
        marks = [(booking.giver, booking.mark) for booking in job.bookings]
        assert len(marks) == len(set(marks))


def test_a_party_that_is_killed_after_its_last_message_has_finished(mortals, tmp_path):
    mortals.begin({})
    assert mortals.run(tmp_path / "first").code == 0
    count = len((mortals.state("bank") / "steps").read_text().splitlines())
    for number in (count - 1, count - 2):  # the first may have had one message more
        mortals.processes["bank"].kill()
        mortals.processes["bank"].wait()
        mortals.bury()
        mortals.begin({"bank": ("after", number)})
        out = tmp_path / f"out{number}"
        done = mortals.run(out)
        if dead := mortals.bury():
            break
    assert dead == ["bank"]
    mortals.begin({})
    if done.code:  # else the lender had told everything before the bank was missed
        assert mortals.attach(out).code == 0
    assert release(out) == release(tmp_path / "first")
    wait_for(lambda: mortals.answers() == [], "what was kept to be gone")


# In this process: a job that has begun at the lender alone.


def interrupted(houses):
    """The lender's server stops while its job waits for the bank; both are asked to go on."""
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["lender"])
    for event in coordinator.watch(job_id, "lender"):
        if event.step == "agree":
            break
    houses.servers.pop("lender").stop()
    for name in houses.names[1:]:
        assert coordinator.end(job_id, name).state == pb.FAILED
    return coordinator, job_id


def kept(houses):
    return [path for name in houses.names for path in houses.state(name).glob("jobs/*/answers*")]


def resume(coordinator, job_id):
    """What each party says, once none is still ending the first attempt."""
    while True:
        told = {
            name: stub.Resume(pb.JobRef(job_id=job_id), timeout=60)
            for name, stub in coordinator.stubs.items()
        }
        if not any(decision.resumable for decision in told.values()):
            return {decision.state for decision in told.values()}
        time.sleep(0.05)


def test_a_job_that_had_begun_at_one_party_goes_on_at_all(houses):
    _, job_id = interrupted(houses)
    houses.serve("lender")
    coordinator = houses.coordinator()
    assert resume(coordinator, job_id) == {pb.ACCEPTED}
    coordinator.queue(job_id)
    assert {coordinator.end(job_id, name).state for name in houses.names} == {pb.FINISHED}
    wait_for(lambda: kept(houses) == [], "what was kept to be gone")


def test_changed_data_ends_a_job_that_was_interrupted(houses):
    _, job_id = interrupted(houses)
    houses.people("lender", [f"p{i}" for i in range(1, 21)])
    houses.serve("lender")
    coordinator = houses.coordinator()
    assert resume(coordinator, job_id) == {pb.ACCEPTED}
    coordinator.queue(job_id)
    end = coordinator.end(job_id, "lender")
    assert (end.state, end.exit_code) == (pb.FAILED, 3)
    assert "the data has changed since the job began" in end.error
    for name in houses.names:
        assert coordinator.end(job_id, name).state == pb.FAILED
    assert resume(coordinator, job_id) == {pb.FAILED}
    wait_for(lambda: kept(houses) == [], "what was kept to be gone")


@pytest.mark.parametrize("how", ["cancelled", "expired"])
def test_what_an_interrupted_job_has_kept_goes_with_it(houses, how):
    coordinator, job_id = interrupted(houses)
    server = houses.serve("lender")
    assert kept(houses)
    if how == "cancelled":
        coordinator = houses.coordinator()
        for stub in coordinator.stubs.values():
            stub.Cancel(pb.Cancellation(job_id=job_id, reason="enough"), timeout=60)
    else:
        for one in houses.servers.values():
            for record in one._book.all():
                record.since -= 86_401
            one._worker.expire()
    wait_for(lambda: kept(houses) == [], "what was kept to be gone")
    assert server._book.get(job_id).state == pb.CANCELLED
    assert resume(houses.coordinator(), job_id) == {pb.CANCELLED}
