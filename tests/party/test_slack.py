"""`slack: tell` at real servers: refused unless every policy permits it, then told alike to all."""

from coterie.protos import jobs_pb2 as pb
from tests.party.lending import COLUMNS, as_lenders, propose_loans, run_loans
from tests.party.test_receptions import permit


def test_the_slack_is_told_where_every_policy_permits_it_and_nowhere_else(houses):
    as_lenders(houses)
    permit(houses, "bank", slack=True)
    for name in COLUMNS:
        houses.serve(name)
    _, _, decisions = propose_loans(houses, slack="tell")
    assert decisions["bank"].state == pb.ACCEPTED
    assert decisions["lender"].state == pb.REFUSED
    assert decisions["lender"].reason == (
        "policy.slack does not permit 'slack: tell', which the job asks for"
    )
    houses.servers.pop("lender").stop()
    permit(houses, "lender", slack=True)
    houses.serve("lender")
    result = run_loans(houses, slack="tell", name="permitted")
    assert [(entry["permitted"], entry.get("attribute")) for entry in result["slack"]] == [
        (None, None),
        (4, "Salary"),
    ]
