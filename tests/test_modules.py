"""Every module has a test file of its own name in the mirrored folder, or a reason in one list."""

from pathlib import Path

import pytest

from tests import ROOT

ROOMS = sorted({path.parent.name for path in ROOT.glob("*/__init__.py")} - {"coterie", "tests"})

# Why a module has no test file of its own name, and the file that tests it. Prefer a test file: an
# entry here is for what has no meaning apart from its caller, or shares one suite with its likes.
REASONS = {
    "anonymity/algorithms/anonymized.py": ("the form of all algorithms' results", "tests/anonymity/small_tables.py"),
    "anonymity/algorithms/cluster_kernels.py": ("the loops of `cluster`", "tests/anonymity/algorithms/test_cluster.py"),
    "anonymity/algorithms/conditions.py": ("what Mondrian and clustering ask of groups", "tests/anonymity/algorithms/test_mondrian.py"),
    "anonymity/algorithms/incognito.py": ("one suite for the searches of a lattice", "tests/anonymity/algorithms/test_lattice.py"),
    "anonymity/algorithms/lattice_kernels.py": ("the loops of `lattice`", "tests/anonymity/algorithms/test_lattice.py"),
    "anonymity/algorithms/local_recoding.py": ("the end of Mondrian and of clustering", "tests/anonymity/algorithms/test_mondrian.py"),
    "anonymity/algorithms/methods.py": ("a table of the algorithms, each run by its name", "tests/house/test_verify.py"),
    "anonymity/algorithms/mondrian_kernels.py": ("the loops of `mondrian`", "tests/anonymity/algorithms/test_mondrian.py"),
    "anonymity/algorithms/mondrian_pieces.py": ("the cuts of a stored table", "tests/anonymity/algorithms/test_stored_recoding.py"),
    "anonymity/algorithms/samarati.py": ("one suite for the searches of a lattice", "tests/anonymity/algorithms/test_lattice.py"),
    "anonymity/classifier/class_error.py": ("measured beside the other measures", "tests/anonymity/utility/test_measures.py"),
    "anonymity/classifier/decision_tree.py": ("what the learner grows", "tests/anonymity/classifier/test_learner.py"),
    "anonymity/classifier/pruning.py": ("the learner's last step", "tests/anonymity/classifier/test_learner.py"),
    "anonymity/models/alpha_anonymity.py": ("one suite for all models against a plain reference", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/closeness.py": ("one suite for all models against a plain reference", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/confidence_bounding.py": ("one suite for all models against a plain reference", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/distinct_diversity.py": ("one suite for all models against a plain reference", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/entropy_diversity.py": ("one suite for all models against a plain reference", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/k_anonymity.py": ("one suite for all models against a plain reference", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/model.py": ("the base class of all models", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/options.py": ("how every test makes its models", "tests/anonymity/models/test_privacy.py"),
    "anonymity/models/recursive_diversity.py": ("one suite for all models against a plain reference", "tests/anonymity/models/test_privacy.py"),
    "anonymity/specialization/generalized.py": ("the table that `specialize` refines", "tests/anonymity/specialization/test_specialize.py"),
    "anonymity/specialization/kernels.py": ("the loops of `partitions`", "tests/anonymity/specialization/test_specialize.py"),
    "anonymity/specialization/partitions.py": ("the groups of `specialize`", "tests/anonymity/specialization/test_specialize.py"),
    "anonymity/specialization/record_suppression.py": ("suppression of `specialize`", "tests/anonymity/specialization/test_specialize.py"),
    "anonymity/specialization/shown_utility.py": ("a figure in the results of integrate jobs", "tests/jobs/kinds/integrate/test_integrate.py"),
    "anonymity/specialization/starting.py": ("the start of a bounded specialization", "tests/anonymity/algorithms/test_top_down.py"),
    "anonymity/table/levels.py": ("the levels of a lattice", "tests/anonymity/algorithms/test_lattice.py"),
    "anonymity/table/stored.py": ("the input of the algorithm for stored tables", "tests/anonymity/algorithms/test_stored_recoding.py"),
    "anonymity/table/table.py": ("the input of all algorithms and measures", "tests/anonymity/utility/test_measures.py"),
    "anonymity/utility/discernibility.py": ("one suite for all measures against a plain reference", "tests/anonymity/utility/test_measures.py"),
    "anonymity/utility/entropy.py": ("one suite for all measures against a plain reference", "tests/anonymity/utility/test_measures.py"),
    "anonymity/utility/precision.py": ("one suite for all measures against a plain reference", "tests/anonymity/utility/test_measures.py"),
    "anonymity/utility/queries.py": ("one suite for all measures against a plain reference", "tests/anonymity/utility/test_measures.py"),
    "anonymity/utility/stored.py": ("equal to the measures of a table in memory", "tests/house/large/test_release.py"),
    "anonymity/utility/width.py": ("one suite for all measures against a plain reference", "tests/anonymity/utility/test_measures.py"),
    "bench/peers/anonymise.py": ("runs other libraries, which tests do not install", "docs/dependencies.md"),
    "bench/_mpyc.py": ("runs other libraries, which tests do not install", "docs/dependencies.md"),
    "bench/peers/psi.py": ("runs other libraries, which tests do not install", "docs/dependencies.md"),
    "bench/_sessions.py": ("processes and connections of the benchmarks", "tests/bench/test_integrate.py"),
    "bench/anonymise.py": ("a benchmark: what it times is tested, its figures are not", "bench/tables.py"),
    "bench/channel.py": ("a benchmark: what it times is tested, its figures are not", "bench/tables.py"),
    "bench/conditions.py": ("how it times on made-up steps", "tests/bench/test_parties.py"),
    "bench/dka.py": ("on a small scale", "tests/bench/test_parties.py"),
    "bench/fair.py": ("its parties on a small scale", "tests/bench/test_parties.py"),
    "bench/intersect.py": ("a benchmark: what it times is tested, its figures are not", "bench/tables.py"),
    "bench/logarithm.py": ("a benchmark: what it times is tested, its figures are not", "bench/tables.py"),
    "bench/models.py": ("a benchmark: what it times is tested, its figures are not", "bench/tables.py"),
    "bench/questions.py": ("its parties on a small scale", "tests/bench/test_parties.py"),
    "bench/scalar_products.py": ("its parties on a small scale", "tests/bench/test_parties.py"),
    "coordinator/cli/authority.py": ("arguments and output of `coterie certs`", "tests/trust/test_certificates.py"),
    "coordinator/cli/certs.py": ("arguments and output of `coterie certs`", "tests/trust/test_certificates.py"),
    "coordinator/cli/demo.py": ("arguments and output of `coterie demo`", "tests/coordinator/demo/test_demo.py"),
    "coordinator/cli/doctor.py": ("arguments and output of `coterie doctor`", "tests/coordinator/run/test_doctor.py"),
    "coordinator/cli/options.py": ("the options that commands share", "tests/coordinator/cli/test_commands.py"),
    "coordinator/cli/run.py": ("arguments and output of `coterie run` and `fetch`", "tests/coordinator/run/test_run_job.py"),
    "coordinator/run/follower.py": ("follows a job that runs", "tests/coordinator/run/test_run_job.py"),
    "coordinator/cli/simulate.py": ("arguments and output of `coterie simulate`", "tests/coordinator/simulate/test_simulation.py"),
    "coordinator/cli/tables.py": ("arguments and output of the commands on one table", "tests/house/test_anonymise.py"),
    "coordinator/cli/verify.py": ("arguments and output of `coterie verify`", "tests/coordinator/results/test_verify.py"),
    "experiments/census.py": ("the table of the experiments that count", "tests/papers/test_quasi_identifiers.py"),
    "experiments/masking_quasi_identifiers/keys.py": ("compared with the paper's tables", "tests/papers/test_quasi_identifiers.py"),
    "experiments/masking_quasi_identifiers/speed.py": ("figures of a benchmark", "tests/papers/test_inspect_speed.py"),
    "experiments/probabilistic_anonymity/figures.py": ("compared with the paper's figure", "tests/papers/test_quasi_identifiers.py"),
    "experiments/secure_data_integration/adult.py": ("compared with the paper's figures", "tests/papers/test_adult.py"),
    "experiments/secure_data_integration/deviation.py": ("compared with the paper's theorem", "tests/papers/test_deviation.py"),
    "experiments/secure_data_integration/deviation_figures.py": ("draws what `deviation` found", "tests/papers/test_deviation.py"),
    "experiments/secure_data_integration/deviation_tables.py": ("prints what `deviation` found", "tests/papers/test_deviation.py"),
    "experiments/secure_data_integration/game.py": ("the runs of `deviation`", "tests/papers/test_deviation.py"),
    "house/advice/suggestion.py": ("what whole advice rests on", "tests/house/advice/test_advise.py"),
    "house/large/stored.py": ("read and prepared for a release", "tests/house/large/test_release.py"),
    "house/inspect_report.py": ("the lines that `coterie inspect` prints", "tests/house/test_inspect.py"),
    "house/prepare.py": ("how every table of `coterie anonymise` is read", "tests/house/test_anonymise.py"),
    "jobs/data/databases.py": ("one suite for all sources", "tests/jobs/data/test_sources.py"),
    "jobs/data/domains.py": ("the columns of statistics jobs", "tests/jobs/kinds/statistics/test_statistics.py"),
    "jobs/data/text_form.py": ("one suite for all sources", "tests/jobs/data/test_sources.py"),
    "jobs/data/attributes.py": ("the keys of attributes, in whole jobs", "tests/jobs/kinds/integrate/test_everyday.py"),
    "jobs/data/own_columns.py": ("the columns of integrate jobs", "tests/jobs/kinds/integrate/test_everyday.py"),
    "jobs/matching/rules.py": ("a name for a rule", "tests/jobs/matching/test_identifiers.py"),
    "jobs/kinds/models/common.py": ("what models have in common, run by each of them", "tests/jobs/kinds/models/test_regress.py"),
    "jobs/kinds/models/regress_report.py": ("a part of the page of a result", "tests/jobs/kinds/models/test_regress.py"),
    "jobs/kinds/models/verify_regress.py": ("results of jobs, changed", "tests/jobs/kinds/models/test_regress.py"),
    "jobs/kinds/integrate/usefulness.py": ("the summary of integrate jobs", "tests/jobs/kinds/integrate/test_everyday.py"),
    "jobs/kinds/integrate/flat.py": ("flat attributes of integrate jobs", "tests/jobs/kinds/integrate/test_everyday.py"),
    "jobs/kinds/integrate/behaviour.py": ("an honest party of every integrate job", "tests/jobs/kinds/integrate/test_integrate.py"),
    "jobs/kinds/integrate/exhibit.py": ("a figure in simulated integrate jobs", "tests/jobs/kinds/integrate/test_integrate.py"),
    "jobs/kinds/integrate/job.py": ("the keys of integrate jobs", "tests/jobs/kinds/integrate/test_integrate_refusals.py"),
    "jobs/kinds/integrate/kind.py": ("whole integrate jobs", "tests/jobs/kinds/integrate/test_integrate.py"),
    "jobs/kinds/integrate/party_side.py": ("whole integrate jobs", "tests/jobs/kinds/integrate/test_integrate.py"),
    "jobs/kinds/integrate/prepared.py": ("data that integrate jobs refuse", "tests/jobs/kinds/integrate/test_integrate_refusals.py"),
    "jobs/kinds/integrate/release_table.py": ("the release of integrate jobs", "tests/jobs/kinds/integrate/test_integrate.py"),
    "jobs/kinds/integrate/verify.py": ("`coterie verify` on spoilt releases", "tests/coordinator/results/test_verify.py"),
    "jobs/kinds/job_file.py": ("how every test reads its jobs", "tests/jobs/file/test_job.py"),
    "jobs/kinds/registry.py": ("a list, to which a kind is added from outside", "tests/jobs/kinds/test_kind.py"),
    "jobs/kinds/statistics/bayesnet.py": ("whole jobs against plain counts", "tests/jobs/kinds/statistics/test_statistics.py"),
    "jobs/kinds/statistics/common.py": ("the beginning of every statistics job", "tests/jobs/kinds/statistics/test_statistics.py"),
    "jobs/kinds/statistics/count.py": ("whole jobs against plain counts", "tests/jobs/kinds/statistics/test_statistics.py"),
    "jobs/kinds/statistics/drawing.py": ("pictures in the results of trees and nets", "tests/jobs/kinds/statistics/test_statistics.py"),
    "jobs/kinds/statistics/tree.py": ("whole jobs against plain counts", "tests/jobs/kinds/statistics/test_statistics.py"),
    "jobs/matching/common_records.py": ("the matching of whole jobs", "tests/jobs/kinds/test_intersect.py"),
    "jobs/matching/executors.py": ("the matching of whole jobs, on a Dask cluster, too", "tests/jobs/kinds/test_intersect.py"),
    "party/books/ledger_lines.py": ("the lines of the ledger", "tests/party/books/test_ledger.py"),
    "party/operator/settings.py": ("keys of the party file, read with what they steer", "tests/party/operator/test_retention.py"),
    "party/job_record.py": ("the lines of the journal", "tests/party/test_journal.py"),
    "party/operator/connection.py": ("how the operator's commands reach the server", "tests/party/test_cli.py"),
    "party/preflight.py": ("what a proposal's checks tell", "tests/party/test_told_data.py"),
    "party/queue/turns.py": ("queues of several servers", "tests/party/queue/test_reservations.py"),
    "party/service.py": ("the server's calls from outside", "tests/party/test_server.py"),
    "party/worker.py": ("the server's jobs from outside", "tests/party/test_server.py"),
    "protocols/circuits/boolean.py": ("circuits, tested by what they compute", "tests/protocols/circuits/test_arithmetic.py"),
    "protocols/circuits/half_gates.py": ("labels and tables of `garbling`", "tests/protocols/circuits/test_garbling.py"),
    "protocols/integration/hidden_winner.py": ("a way to find the winners of a joint run", "tests/protocols/integration/test_participation.py"),
    "protocols/integration/instructions.py": ("messages of a joint run, right and wrong", "tests/protocols/integration/test_integrate_messages.py"),
    "protocols/integration/plan.py": ("the input of a joint run", "tests/protocols/integration/test_integrate.py"),
    "protocols/integration/rounds.py": ("the rounds of a joint run", "tests/protocols/integration/test_integrate.py"),
    "protocols/integration/scores.py": ("the announced scores of a joint run", "tests/protocols/integration/test_integrate_faults.py"),
    "protocols/integration/sensitive/holders.py": ("the paper's way to judge proposals", "tests/protocols/integration/test_integrate_messages.py"),
    "protocols/integration/sensitive/proposer_and_holder.py": ("the two sides of `conditions`", "tests/protocols/integration/sensitive/test_conditions.py"),
    "protocols/integration/sensitive/slots.py": ("the layout of `conditions`", "tests/protocols/integration/sensitive/test_conditions.py"),
    "protocols/integration/spans.py": ("the first messages of a joint run", "tests/protocols/integration/test_integrate_messages.py"),
    "protocols/intersection/confirm.py": ("the end of two of the intersections", "tests/protocols/intersection/test_intersect.py"),
    "protocols/intersection/multiparty_intersect.py": ("one suite for all intersections", "tests/protocols/intersection/test_intersect.py"),
    "protocols/intersection/oprf_intersect.py": ("one suite for all intersections", "tests/protocols/intersection/test_intersect.py"),
    "protocols/intersection/ring.py": ("one suite for all intersections", "tests/protocols/intersection/test_intersect.py"),
    "protocols/numbers/logarithm_circuits.py": ("the circuits of `logarithm`", "tests/protocols/numbers/test_logarithm.py"),
    "protocols/numbers/logarithm_settings.py": ("the settings of `logarithm`", "tests/protocols/numbers/test_logarithm.py"),
    "protocols/primitives/cipher.py": ("one suite for both groups", "tests/protocols/primitives/test_group.py"),
    "protocols/primitives/sodium.py": ("the library under both groups", "tests/protocols/primitives/test_group.py"),
    "protocols/transfer/base_transfer.py": ("the start of all transfers", "tests/protocols/transfer/test_oblivious_transfer.py"),
    "transport/peers.py": ("the calls of good and bad peers", "tests/bad_peers/test_streams.py"),
}  # fmt: skip


def modules():
    found = [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return sorted(p for p in found if p.name != "__init__.py" and "_pb2" not in p.name)


def own_test(module):
    return ROOT / "tests" / module.parent / f"test_{module.name.lstrip('_')}"


@pytest.mark.parametrize("module", modules(), ids=str)
def test_a_module_has_a_test_file_of_its_name_or_a_reason(module):
    own = own_test(module)
    hint = f"write {own.relative_to(ROOT)}, or give a reason in REASONS"
    assert own.exists() or str(module) in REASONS, hint


@pytest.mark.parametrize("module", REASONS)
def test_a_reason_is_needed_and_names_a_file(module):
    assert (ROOT / module).exists(), f"{module} is gone"
    assert not own_test(Path(module)).exists(), f"{module} has a test file of its own"
    assert (ROOT / REASONS[module][1]).is_file()
