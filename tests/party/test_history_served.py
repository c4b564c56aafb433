"""What several jobs tell together, at real servers: who is refused, asked and warned."""

import csv
import json
import stat
import threading

import grpc
import pytest
import yaml

from coterie.party.history.releases import History
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie, wait_for
from tests.party.houses import Houses

PEOPLE = 40


@pytest.fixture
def houses(tmp_path):
    made = Houses(tmp_path, ("lender", "bank"))
    with made.stack:
        yield made


def people_of(houses, without=()):
    """The lender's table, without some people; the bank has everybody."""
    for name, column in (("lender", "Sex"), ("bank", "Job")):
        rows = [
            (f"p{i}", "fm"[i % 3 == 0] if name == "lender" else "ab"[i // 6 % 2], 20 + i)
            for i in range(PEOPLE)
            if name == "bank" or i not in without
        ]
        with (houses.folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("ID", column, f"{column}Age"), *rows])


def permit(houses, both=(), **policy):
    for name, column in (("lender", "Sex"), ("bank", "Job")):
        used = ["ID", column, f"{column}Age"]
        houses.write(
            name,
            policy={
                "kinds": ["count", "aggregate", "tree", "integrate", "intersect"],
                "columns": {"use": used, "release": used[1:], "raw": used[1:], "class": ["Job"]},
                "smallest_k": 2,
                **dict(both),
                **(policy if name == "lender" else {}),
            },
        )


def counts(houses, **keys):
    job = {
        **yaml.safe_load(houses.job()),
        "kind": "count",
        "attributes": {
            "Sex": {"party": "lender", "values": ["f", "m"]},
            "Job": {"party": "bank", "values": ["a", "b"]},
        },
        "tables": [["Sex", "Job"]],
        "minimum": 2,
        **keys,
    }
    return yaml.safe_dump({k: v for k, v in job.items() if v is not None}, sort_keys=False)


def releases(houses, **keys):
    return counts(
        houses,
        kind="integrate",
        tables=None,
        minimum=None,
        attributes={
            "SexAge": {"party": "lender", "range": [0, 99]},
        },
        **{"class": "Job", "requirement": [{"qid": ["SexAge"], "k": 5}], **keys},
    )


def run(houses, text):
    """The last event of the job at each party."""
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(text)
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    coordinator.start(job_id)
    return job_id, {name: coordinator.end(job_id, name, 240) for name in houses.names}


def audit(houses, event):
    lines = (houses.state("lender") / "audit.log").read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["event"] == event]


def restart(houses):
    for name in houses.names:
        houses.servers.pop(name).stop()
    houses.serve_all()


REPEAT = {"window": "365d", "k": 3, "on": "refuse"}


def test_a_count_of_all_but_one_person_is_refused_after_a_restart_too(houses):
    people_of(houses)
    permit(houses, repeat=REPEAT)
    houses.serve_all()
    first, ends = run(houses, counts(houses))
    assert [end.state for end in ends.values()] == [pb.FINISHED] * 2
    assert run(houses, counts(houses))[1]["lender"].state == pb.FINISHED  # the same again
    people_of(houses, without=[7])
    restart(houses)
    second, ends = run(houses, counts(houses))
    assert ends["lender"].state == pb.FAILED
    assert "policy.repeat: together with earlier jobs" in ends["lender"].error
    assert "person" not in ends["lender"].error
    assert "lender: stopped: policy.repeat" in ends["bank"].error
    # Another kind that counts the attribute is refused, too; one that counts others is not.
    means = counts(
        houses, kind="aggregate", tables=None, by=["Sex"], measures=[{"count": True}], minimum=2,
        attributes={"Sex": {"party": "lender", "values": ["f", "m"]}},
    )  # fmt: skip
    assert run(houses, means)[1]["lender"].state == pb.FAILED
    people_of(houses, without=[7, 8, 9, 10])
    restart(houses)
    assert run(houses, counts(houses))[1]["lender"].state == pb.FINISHED
    [judged, *_] = audit(houses, "judged by earlier jobs")
    assert "numbers by 'Sex' and 'Job' would be told about 1 person" in str(judged)
    entries = History(houses.state("lender")).entries()
    assert [entry.people for entry in entries] == [40, 40, 36]
    assert entries[0].job == first
    assert second not in {entry.job for entry in entries}
    folder = houses.state("lender") / "history"
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not any(b"p7" in path.read_bytes() for path in folder.iterdir())
    config = houses.path("lender")
    shown = coterie("party", "history", "--config", config, "--json").json["jobs"]
    assert [job["people"] for job in shown] == [40, 40, 36]
    assert shown[0]["counted"] == ["Job", "Sex"]
    assert "40 people" in coterie("party", "history", "--config", config).out
    checks = coterie("party", "check", config).out
    assert "3 jobs are remembered" in checks


def test_other_classes_of_a_value_are_refused_and_the_window_forgets(houses):
    people_of(houses)
    permit(houses, repeat=REPEAT)
    houses.serve_all()
    ages = {"SexAge": {"party": "lender", "cuts": [30, 40]}, "Job": {"party": "bank"}}
    asked = {"tables": [["SexAge", "Job"]], "attributes": ages}
    assert run(houses, counts(houses, **asked))[1]["lender"].state == pb.FINISHED
    ages["SexAge"] = {"party": "lender", "cuts": [31, 40]}
    assert run(houses, counts(houses, **asked))[1]["lender"].state == pb.FAILED
    houses.servers["lender"]._history.clock = lambda: __import__("time").time() + 366 * 86400
    assert run(houses, counts(houses, **asked))[1]["lender"].state == pb.FINISHED


def test_groups_of_two_releases_that_meet_in_few_people_are_refused_before_columns_leave(houses):
    people_of(houses)
    permit(houses, repeat={**REPEAT, "k": 7})
    houses.serve_all()
    _, ends = run(houses, releases(houses))
    assert [end.state for end in ends.values()] == [pb.FINISHED] * 2, ends
    assert run(houses, releases(houses))[1]["lender"].state == pb.FINISHED  # the same release
    other = releases(houses, score="discernibility")  # the same k, and other groups
    second, ends = run(houses, other)
    assert ends["lender"].state == pb.FAILED, ends
    [judged] = audit(houses, "judged by earlier jobs")
    assert "meet in" in str(judged)
    assert list((houses.state("lender") / "jobs" / second / "released").iterdir()) == []
    with pytest.raises(grpc.RpcError, match="FAILED, not FINISHED"):
        houses.coordinator().fetch(second, "bank")  # nor does the other party's part leave


def test_whoever_is_warned_goes_on_and_whoever_is_asked_waits(houses):
    people_of(houses)
    permit(houses, repeat={**REPEAT, "on": "warn"})
    houses.serve_all()
    run(houses, counts(houses))
    people_of(houses, without=[7])
    restart(houses)
    assert run(houses, counts(houses))[1]["lender"].state == pb.FINISHED
    assert audit(houses, "judged by earlier jobs")[0]["on"] == "warn"
    people_of(houses, without=[7, 11])
    permit(houses, repeat={**REPEAT, "on": "ask"})
    restart(houses)
    config = houses.path("lender")

    def answer(*how):
        wait_for(lambda: "waits until" in coterie("party", "jobs", "--config", config).out, "asked")
        shown = coterie("party", "show", "common", "--config", config).out
        assert "for your word on what it tells together with earlier jobs" in shown
        assert "would be told about 1 person" in shown
        assert coterie("party", "approve", "common", "--config", config).code == 2
        assert coterie("party", "approve", "common", "--config", config, "--output").code == 2
        done = coterie("party", "approve", "common", "--config", config, "--repeat", *how)
        assert done.code == 0, done.err

    thread = threading.Thread(target=answer, args=("--no", "--reason", "too near"))
    thread.start()
    ends = run(houses, counts(houses))[1]
    thread.join()
    assert "the operator says no to what it tells together" in ends["lender"].error
    assert ends["lender"].error.endswith("too near")
    thread = threading.Thread(target=answer)
    thread.start()
    assert run(houses, counts(houses))[1]["lender"].state == pb.FINISHED
    thread.join()


def test_a_window_has_room_for_so_many_jobs_and_checks(houses):
    people_of(houses)
    permit(houses, repeat={**REPEAT, "jobs": 1, "examinations": 3})
    houses.serve_all()
    assert run(houses, counts(houses))[1]["lender"].state == pb.FINISHED
    coordinator = houses.coordinator()
    _, decisions = coordinator.propose(counts(houses))
    assert decisions["lender"].state == pb.REFUSED
    assert decisions["lender"].reason.startswith("policy.repeat")
    assert decisions["bank"].state == pb.ACCEPTED
    permit(houses, repeat={**REPEAT, "examinations": 3})
    restart(houses)
    for _ in range(2):
        _, decisions = houses.coordinator().propose(counts(houses))
    assert decisions["lender"].state == pb.REFUSED
    [*_, judged] = audit(houses, "judged by earlier jobs")
    assert "checked 4 times for 'analyst'" in str(judged)


# Every month the same job, as the steward's tutorial says.


def next_month(houses, moved=(), new=()):
    """The bank's table of the next month: in another order, some with another job, some new."""
    path = houses.folder / "bank.csv"
    head, *rows = list(csv.reader(path.open()))
    rows = [[i, "ab"[job == "a"] if i in moved else job, age] for i, job, age in rows]
    rows += [[i, "a", "50"] for i in new]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows[::-1]])
    restart(houses)


def test_every_month_the_same_job_with_noise_passes_until_the_budget_is_spent(houses):
    people_of(houses)
    permit(houses, {"budget": {"epsilon": 1.5, "days": 365}}, repeat=REPEAT)
    houses.serve_all()
    job = counts(
        houses, kind="aggregate", tables=None, by=["Job"], minimum=2, noise={"epsilon": 0.5},
        attributes={
            "Job": {"party": "bank", "values": ["a", "b"]},
            "SexAge": {"party": "lender", "range": [0, 99]},
        },
        measures=[{"count": True}, {"sum": "SexAge"}],
    )  # fmt: skip
    for month in range(3):
        next_month(houses, moved=[f"p{month}"], new=[f"n{month}"])
        ends = run(houses, job)[1]
        assert [end.state for end in ends.values()] == [pb.FINISHED] * 2, ends
    assert not audit(houses, "judged by earlier jobs")
    decisions = houses.coordinator().propose(job)[1]
    assert "policy.budget.epsilon" in decisions["lender"].reason


def test_every_month_the_same_exact_job_is_asked_about_when_the_partner_s_data_has_changed(houses):
    people_of(houses)
    permit(houses, repeat={**REPEAT, "on": "ask"})
    houses.serve_all()
    assert run(houses, counts(houses))[1]["lender"].state == pb.FINISHED
    next_month(houses)  # in another order alone
    assert run(houses, counts(houses))[1]["lender"].state == pb.FINISHED
    assert not audit(houses, "judged by earlier jobs")
    config = houses.path("lender")

    def answer():
        wait_for(lambda: "waits until" in coterie("party", "jobs", "--config", config).out, "asked")
        shown = coterie("party", "show", "common", "--config", config).out
        assert "'bank (Job)' had other data in 'common'" in shown
        assert coterie("party", "approve", "common", "--repeat", "--config", config).code == 0

    next_month(houses, moved=["p7"])
    thread = threading.Thread(target=answer)
    thread.start()
    ends = run(houses, counts(houses))[1]
    thread.join()
    assert ends["lender"].state == pb.FINISHED
