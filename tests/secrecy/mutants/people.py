"""Mutants of who is matched and who is left out: rules of a policy removed, or looking at a part."""

from __future__ import annotations

from tests.secrecy.mutants.form import mutant

_IDENTIFIERS = "tests/chosen_inputs/test_identifiers.py::test_"
_ROWS = "tests/chosen_inputs/test_left_out_rows.py::test_"
_PEER = f"{_IDENTIFIERS}a_peer_above_the_largest_set_is_refused_by_name_before_anything_is_computed"
_SERVED = f"{_IDENTIFIERS}a_server_refuses_a_peer_that_brings_more_than_its_policy_permits"
_KINDS = f"{_IDENTIFIERS}every_kind_that_matches_asks_for_the_identifier"
_BINDING = f"{_IDENTIFIERS}the_announced_number_is_binding"
_ASKED = f"{_ROWS}people_are_left_out_by_a_value_only_where_the_steward_says_so"

MUTANTS = [
    # identifiers
    mutant(
        "the identifiers that a steward names, with columns added",
        "party/policy.py",
        "if not by or frozenset(by) in policy.ids:",
        "if not by or any(one <= set(by) for one in policy.ids):",
        f"{_KINDS}[intersect]",
        f"{_IDENTIFIERS}nothing_is_matched_by_what_the_steward_does_not_call_an_identifier",
    ),
    mutant(
        "the identifiers that a steward names, by a part of one",
        "party/policy.py",
        "if not by or frozenset(by) in policy.ids:",
        "if not by or any(set(by) <= one for one in policy.ids):",
        f"{_KINDS}[count]",
        f"{_IDENTIFIERS}nothing_is_matched_by_what_the_steward_does_not_call_an_identifier",
    ),
    # the size of a peer's set
    mutant(
        "the bound of a peer's set",
        "protocols/intersection/intersect.py",
        "        _bound(channel, plan, most)\n",
        "",
        f"{_PEER}[ring]",
        _SERVED,
    ),
    mutant(
        "the bound of the second peer's set",
        "protocols/intersection/intersect.py",
        "    for peer in channel.peers:\n        announced,",
        "    for peer in channel.peers[:1]:\n        announced,",
        f"{_IDENTIFIERS}with_more_parties_each_peer_is_bounded",
    ),
    mutant(
        "the room of buckets that counts against the bound",
        "protocols/intersection/intersect.py",
        "announced > most or room > most",
        "announced > most",
        f"{_IDENTIFIERS}the_room_of_buckets_counts_because_a_changed_program_could_fill_it",
    ),
    mutant(
        "the bound of a peer's set at a server",
        "party/worker.py",
        "                largest_peer_set=of_table.policy.largest_peer_set,\n",
        "",
        _SERVED,
    ),
    mutant(
        "the announced number of a peer that goes on",
        "protocols/intersection/intersect.py",
        " and kept.sizes == sizes",
        "",
        f"{_IDENTIFIERS}a_peer_that_resumes_with_another_number_begins_anew",
    ),
    mutant(
        "the announced number of elements",
        "protocols/messaging/stream.py",
        "if done > count:",
        "if False:",
        f"{_BINDING}[ring-ring-party1-None]",
        f"{_BINDING}[oprf-compare-party1-22000]",
    ),
    mutant(
        "the announced number of a receiver with room for more",
        "protocols/intersection/vole_intersect.py",
        "if len(rows) > count:",
        "if False:",
        f"{_IDENTIFIERS}a_receiver_has_room_for_the_words_of_its_store_and_may_name_what_it_announced",
    ),
    mutant(
        "the number of records in the error about padding",
        "jobs/matching/identifiers.py",
        '"has {value} records" + f", more',
        'f"has {len(rows)} records, more',
        f"{_IDENTIFIERS}padding_that_is_too_small_tells_no_more_than_the_number_that_is_told_"
        "without_it",
    ),
    # rows that are left out
    mutant(
        "the permission to drop of columns that drop",
        "jobs/kinds/needs.py",
        'return tuple(n for n, a in attributes.items() if n in own and a.missing == "drop")',
        "return ()",
        f"{_ASKED}[count]",
        f"{_ASKED}[aggregate with noise]",
        f"{_ASKED}[regress]",
    ),
    mutant(
        "the permission to drop of measured columns",
        "jobs/kinds/aggregate/kind.py",
        "dropped_of(job.matching, {**job.attributes, **job.measured}, used)",
        "dropped_of(job.matching, job.attributes, used)",
        f"{_ASKED}[aggregate]",
    ),
    mutant(
        "the permission to drop of a column of a joint table",
        "jobs/kinds/integrate/kind.py",
        'if a.missing == "drop" or (a.in_qid and job.max_suppression)',
        "if a.in_qid and job.max_suppression",
        f"{_ASKED}[integrate]",
    ),
    mutant(
        "the permission to drop of a job that suppresses",
        "jobs/kinds/integrate/kind.py",
        'if a.missing == "drop" or (a.in_qid and job.max_suppression)',
        'if a.missing == "drop"',
        f"{_ASKED}[integrate that suppresses]",
    ),
    mutant(
        "the permission to drop of a kept model",
        "party/preflight.py",
        "refusals += judge_drop(config.policy, dropped)",
        "pass",
        f"{_ROWS}a_kept_model_does_not_bring_the_key_along",
    ),
    mutant(
        "the permission to drop of the second column",
        "party/policy.py",
        "        for name in dropped\n        if name not in policy.drop",
        "        for name in list(dropped)[:1]\n        if name not in policy.drop",
        f"{_ROWS}every_column_that_drops_needs_the_permission",
    ),
]
