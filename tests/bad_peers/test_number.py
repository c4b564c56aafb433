"""There are a hundred named cases of bad peers, and no two have one name."""

from tests.bad_peers import test_calls, test_frames, test_releases, test_shares, test_streams


def test_a_hundred_cases_are_named():
    cases = [
        *(f"call: {name}" for name in test_calls.CASES),
        *(f"proposal: {name}" for name in test_calls.PROPOSALS),
        *(f"frame: {name}" for name in test_frames.CASES),
        *(f"release: {name}" for name in test_releases.CASES),
        *(f"share: {name}" for name in test_shares.CASES),
        *(f"stream: {name}" for name in test_streams.FAULTS),
        *(f"stream: {name}" for name in test_streams.REFUSED),
    ]
    assert len(set(cases)) == len(cases)
    assert len(cases) >= 100
