"""Errors for people have exit codes of their own; what a caller may act on differs by code."""

from coterie.base import errors


def test_every_error_meant_for_people_has_an_exit_code():
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    assert len(kinds) > 8
    for kind in kinds:
        assert 1 <= kind.exit_code <= 125, kind


def test_a_lost_peer_and_a_faulty_one_are_told_apart():
    lost, fault = (
        errors.PeerLostError("b", "ring", "gone"),
        errors.PeerFaultError("b", "ring", "lied"),
    )
    assert lost.exit_code != fault.exit_code
    assert (lost.peer, lost.step, lost.reason) == ("b", "ring", "gone")
    assert "b" in str(fault)
