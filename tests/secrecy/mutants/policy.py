"""Mutants of the rules by which a party judges what others choose."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_POLICY = "party/policy.py"
_ROOM = "tests/chosen_inputs"
_RULES = f"{_ROOM}/test_policy_rules.py"
_WORST = f"{_RULES}::test_the_worst_value_of_a_key_needs_a_permission"

_OPERATORS = f"{_ROOM}/test_operators.py"

MUTANTS = [
    mutant(
        "decisions by whoever has the server's key, where people are listed",
        "party/callers/permissions.py",
        "if not self._config.decides(caller):",
        "if not self._config.is_operator(caller):",
        f"{_OPERATORS}::test_the_server_s_own_key_decides_nothing_where_people_are_listed[approve]",
        f"{_OPERATORS}::test_the_server_s_own_key_decides_nothing_where_people_are_listed[prune]",
    ),
    mutant(
        "operators by name alone",
        "party/config.py",
        "return pin is not None and caller.fingerprint in pin.fingerprints",
        "return pin is not None",
        f"{_OPERATORS}::test_a_second_certificate_in_a_listed_name_decides_nothing",
    ),
    mutant(
        "operators under the names of coordinators",
        "party/config.py",
        "taken = {name, *peers, *proposers}",
        "taken = {name, *peers}",
        f"{_OPERATORS}::test_nobody_approves_under_a_name_that_proposes_or_computes[analyst]",
    ),
    mutant(
        "the typed name of whoever approves",
        "party/callers/permissions.py",
        "return Decider(caller.name, caller.fingerprint)",
        "return Decider(typed, caller.fingerprint)",
        f"{_OPERATORS}::test_what_a_person_decides_is_noted_with_the_certificate_whatever_name_is_typed",
    ),
    mutant(
        "servers of others, where the policy names none",
        _POLICY,
        "if not servers or party in servers:",
        "if servers or party in servers:",
        f"{_WORST}[servers]",
    ),
    mutant(
        "the second of two servers",
        _POLICY,
        "others = [name for name in servers if name != party]",
        "others = [name for name in servers if name != party][:1]",
        f"{_WORST}[servers, one of them listed]",
    ),
    mutant(
        "a class that the policy permits as a column",
        _POLICY,
        "if label is None or label in policy.classes:",
        "if label is None or label in policy.classes | policy.release:",
        f"{_WORST}[class]",
    ),
    mutant(
        "an identifier with a column more",
        _POLICY,
        "if not by or frozenset(by) in policy.ids:",
        "if not by or any(frozenset(by) >= one for one in policy.ids):",
        f"{_RULES}::test_a_party_that_brings_no_column_still_answers_for_its_people",
    ),
    mutant(
        "exact answers for all partners where one is named",
        _POLICY,
        "missing = [name for name in others if name not in policy.exact]",
        "missing = [] if policy.exact else [*others]",
        f"{_RULES}::test_exact_answers_with_columns_that_a_partner_wrote_need_its_name",
    ),
    mutant(
        "padding for a larger set than a peer may bring",
        _POLICY,
        "if pad_to is None or pad_to <= policy.largest_peer_set:",
        "if pad_to is None or pad_to <= policy.largest_peer_set << 20:",
        f"{_WORST}[pad_to]",
    ),
    mutant(
        "groups one smaller than permitted",
        _POLICY,
        "policy.smallest_k is not None and smallest >= policy.smallest_k)",
        "policy.smallest_k is not None and smallest >= policy.smallest_k - 1)",
        f"{_WORST}[k]",
    ),
    mutant(
        "epsilon beyond the budget",
        _POLICY,
        "if wanted > most",
        "if wanted > 100 * most",
        f"{_WORST}[noise.epsilon]",
    ),
    mutant(
        "exact counts over rows that a partner invented",
        "jobs/kinds/statistics/common.py",
        "exact=numbers,",
        "exact=numbers and not job.horizontal,",
        f"{_ROOM}/test_invented_rows.py::test_exact_answers_over_rows_of_a_partner_need_its_name",
    ),
    mutant(
        "exact sums over rows that a partner invented",
        "jobs/kinds/aggregate/kind.py",
        "exact=job.exact,",
        "exact=job.matching is not None and job.exact,",
        f"{_ROOM}/test_invented_rows.py::test_exact_answers_over_rows_of_a_partner_need_its_name",
    ),
    mutant(
        "noise before which cells of two parties are compared",
        "jobs/kinds/aggregate/job.py",
        "return self.noise is None or self.mixed or",
        "return self.noise is None or",
        f"{_ROOM}/test_left_out_rows.py::test_where_noise_does_not_hide_gaps_a_partner_needs_its_name",
    ),
    mutant(
        "noise beside an exact number of rows without a gap",
        "jobs/kinds/aggregate/job.py",
        '(self.horizontal and "drop" in gaps)',
        "False",
        f"{_ROOM}/test_left_out_rows.py::test_where_noise_does_not_hide_gaps_a_partner_needs_its_name",
    ),
    mutant(
        "gaps of the first attribute alone",
        "jobs/kinds/aggregate/job.py",
        '(self.horizontal and "drop" in gaps)',
        '(self.horizontal and "drop" in gaps[:1])',
        f"{_ROOM}/test_left_out_rows.py::test_where_noise_does_not_hide_gaps_a_partner_needs_its_name",
    ),
    mutant(
        "files of a job at any place of a recipient",
        "jobs/kinds/job_file.py",
        "named = {_relative(node) for node",
        "named = {node.text() for node",
        f"{_ROOM}/test_names.py::"
        "test_a_file_of_a_job_is_not_written_to_a_place_that_the_coordinator_chose",
    ),
]
