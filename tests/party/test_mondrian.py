"""`method: mondrian` at real servers: as simulated, and exact ends only where every policy permits them."""

import pytest

from coterie.party.books.ledger import Ledger
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import wait_for
from tests.party.lending import COLUMNS, as_lenders, propose_loans, run_loans
from tests.party.test_receptions import permit


def test_groups_are_cut_together_and_exact_ends_need_every_policy(houses):
    as_lenders(houses)
    permit(houses, "bank", boxes="tight")
    for name in COLUMNS:
        houses.serve(name)
    result = run_loans(houses, method="mondrian")
    assert [cut["level"] for cut in result["tree"]] == sorted(c["level"] for c in result["tree"])
    assert {cut["party"] for cut in result["tree"]} == {"lender", "bank"}
    assert all(entry["smallest"] >= entry["k"] for entry in result["anonymity"])
    assert sum(result["contributions"].values()) > 1
    _, _, decisions = propose_loans(houses, method="mondrian", boxes="tight", name="exact")
    assert decisions["bank"].state == pb.ACCEPTED
    assert decisions["lender"].state == pb.REFUSED
    assert "policy.boxes does not permit 'boxes: tight'" in decisions["lender"].reason


APART = [{"qid": [name], "k": 2} for name in ("Sex", "Job", "Salary")]


@pytest.mark.parametrize(
    "keys",
    [{"method": "mondrian"}, {"refine": "columns"}, {"refine": "groups"}],
    ids=["mondrian", "columns", "groups"],
)
def test_the_ledger_has_the_contributions_of_all_phases_once(houses, keys):
    as_lenders(houses)
    for name in COLUMNS:
        permit(houses, name, smallest_k=2)
        houses.serve(name)
    result = run_loans(houses, **keys, requirement=APART, adversary="malicious", epsilon=9)
    sums = [result[key] for key in ("contributions", "refine_contributions") if key in result]
    assert len(sums) == 1 + ("refine" in keys)
    assert all(sum(phase.values()) > 0 for phase in sums)
    for me, other in (("lender", "bank"), ("bank", "lender")):
        ledger = Ledger(houses.state(me), me)
        wait_for(ledger.entries, "the end to be booked")
        told = {name: sum(round(phase[name] * (1 << 30)) for phase in sums) for name in COLUMNS}
        [entry] = ledger.entries()
        assert (entry.contributions, entry.open) == (told, False)
        balance = ledger.balances()[other]
        assert (balance.given, balance.received) == (told[me], told[other])
        assert balance.open == 0
        [job] = ledger._jobs().values()
        marks = [(booking.giver, booking.mark) for booking in job.bookings]
        assert len(marks) == len(set(marks)) > 0
