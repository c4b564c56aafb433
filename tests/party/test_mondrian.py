"""`method: mondrian` at real servers: as simulated, and exact ends only where every policy permits them."""

from coterie.protos import jobs_pb2 as pb
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
