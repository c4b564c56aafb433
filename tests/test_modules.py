"""Every module has a test file of its own name in the mirrored folder, or a reason in one list."""

from fnmatch import fnmatch

import pytest

from tests import ROOT

ROOMS = sorted({path.parent.name for path in ROOT.glob("*/__init__.py")} - {"coterie", "tests"})

# Why modules have no test file of their own name: a reason, the file or folder that tests them, and
# the modules. Prefer a test file; a line here is for what has no meaning apart from its caller.
REASONS = [
    ("compiled inner loops, whose truth is that of the function around them",
     "tests/anonymity/algorithms", ["anonymity/algorithms/*_kernels.py"]),
    ("the searches of one lattice pass one suite", "tests/anonymity/algorithms/test_lattice.py",
     ["anonymity/algorithms/incognito.py", "anonymity/algorithms/samarati.py", "anonymity/table/levels.py"]),
    ("what all algorithms share, tested with each of them",
     "tests/anonymity/algorithms", ["anonymity/algorithms/anonymized.py", "anonymity/algorithms/conditions.py",
                                    "anonymity/algorithms/local_recoding.py", "anonymity/algorithms/methods.py"]),
    ("all privacy models pass one suite against one plain reference",
     "tests/anonymity/models/test_privacy.py", ["anonymity/models/*.py"]),
    ("measures pass one suite against one plain reference",
     "tests/anonymity/utility/test_measures.py", ["anonymity/utility/*.py"]),
    ("parts of one learner, which is compared as a whole with a plain one",
     "tests/anonymity/classifier/test_learner.py", ["anonymity/classifier/*.py"]),
    ("parts of one specialization, which is compared as a whole with a plain one",
     "tests/anonymity/specialization/test_specialize.py", ["anonymity/specialization/*.py"]),
    ("a table for the algorithms, tested with them", "tests/anonymity/algorithms",
     ["anonymity/table/groups.py", "anonymity/table/hierarchy.py", "anonymity/table/table.py"]),
    ("circuits are tested by what is computed with them", "tests/protocols/circuits/test_arithmetic.py",
     ["protocols/circuits/boolean.py"]),
    ("the two halves of garbling", "tests/protocols/circuits/test_garbling.py",
     ["protocols/circuits/half_gates.py", "protocols/circuits/table_messages.py"]),
    ("steps of the joint specialization", "tests/protocols/integration/test_integrate.py",
     ["protocols/integration/hidden_winner.py", "protocols/integration/instructions.py",
      "protocols/integration/plan.py", "protocols/integration/rounds.py",
      "protocols/integration/scores.py", "protocols/integration/spans.py"]),
    ("how conditions on sensitive columns are decided", "tests/protocols/integration/sensitive/test_conditions.py",
     ["protocols/integration/sensitive/holders.py", "protocols/integration/sensitive/proposer_and_holder.py",
      "protocols/integration/sensitive/slots.py"]),
    ("the ways of intersecting pass one suite", "tests/protocols/intersection/test_intersect.py",
     ["protocols/intersection/confirm.py", "protocols/intersection/multiparty_intersect.py",
      "protocols/intersection/identifiers.py", "protocols/intersection/oprf_intersect.py",
      "protocols/intersection/ring.py"]),
    ("parts of the secure logarithm", "tests/protocols/numbers/test_logarithm.py",
     ["protocols/numbers/logarithm_circuits.py", "protocols/numbers/logarithm_settings.py"]),
    ("one suite for both groups and the library under them", "tests/protocols/primitives/test_group.py",
     ["protocols/primitives/cipher.py", "protocols/primitives/sodium.py"]),
    ("base transfers and what extends them", "tests/protocols/transfer/test_oblivious_transfer.py",
     ["protocols/transfer/base_transfer.py"]),
    ("certificates and whom they identify", "tests/trust/test_certificates.py", ["trust/identity.py"]),
    ("seen by a caller over a real connection", "tests/transport/test_session.py",
     ["transport/call_errors.py", "transport/peers.py"]),
    ("one suite for all sources", "tests/jobs/data/test_sources.py",
     ["jobs/data/databases.py", "jobs/data/workspace.py"]),
    ("integrate as a job", "tests/jobs/kinds/integrate/test_integrate.py", ["jobs/kinds/integrate/*.py"]),
    ("the statistics as jobs", "tests/jobs/kinds/statistics/test_statistics.py",
     ["jobs/kinds/statistics/*.py", "jobs/data/domains.py"]),
    ("the face of all kinds", "tests/jobs/kinds/test_kind.py",
     ["jobs/kinds/job_file.py", "jobs/kinds/registry.py"]),
    ("matching as part of a job", "tests/jobs/kinds/test_intersect.py",
     ["jobs/matching/common_records.py", "jobs/matching/executors.py"]),
    ("the steps of one command", "tests/house", ["house/prepare.py", "house/inspect_report.py"]),
    ("keys of the party file, read with what they steer", "tests/party/operator/test_retention.py",
     ["party/operator/settings.py"]),
    ("the server from outside, over its calls", "tests/party/test_server.py",
     ["party/limits.py", "party/records.py", "party/service.py", "party/worker.py"]),
    ("lines of the ledger", "tests/party/books/test_ledger.py", ["party/books/ledger_lines.py"]),
    ("seen at the command line and in the demo", "tests/coordinator",
     ["coordinator/cli/*.py", "coordinator/demo/ports.py",
      "coordinator/simulate/deviation/deviations.py"]),
    ("compared with the figures that the papers print", "tests/papers",
     ["experiments/registry.py", "experiments/secure_data_integration/*.py"]),
    ("every benchmark runs on tiny inputs", "tests/bench", ["bench/*.py"]),
]  # fmt: skip


def modules():
    found = [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return sorted(p for p in found if p.name != "__init__.py" and "_pb2" not in p.name)


@pytest.mark.parametrize("module", modules(), ids=str)
def test_a_module_has_a_test_file_of_its_name_or_a_reason(module):
    own = ROOT / "tests" / module.parent / f"test_{module.name}"
    listed = any(fnmatch(str(module), pattern) for *_, patterns in REASONS for pattern in patterns)
    assert own.exists() or listed, f"write {own.relative_to(ROOT)}, or give a reason in REASONS"


@pytest.mark.parametrize(("reason", "place", "patterns"), REASONS)
def test_a_reason_speaks_of_what_there_is(reason, place, patterns):
    assert (ROOT / place).exists(), place
    for pattern in patterns:
        assert any(fnmatch(str(module), pattern) for module in modules()), f"no {pattern} is left"
