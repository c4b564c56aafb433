"""A failed call is explained in a few words that a person can act on."""

import grpc
import pytest

from coterie.transport.call_errors import HOPELESS, failure_reason


class Call:
    def __init__(self, code, details):
        self.code, self.details = lambda: code, lambda: details


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ("tls: certificate has expired: x", HOPELESS[0]),
        ("SSL: CERTIFICATE_VERIFY_FAILED: self signed", HOPELESS[1]),
        ("Hostname Verification Check failed.", HOPELESS[2]),
        ("connect: Connection refused (111)", "connection refused"),
        ("last error: UNKNOWN: ipv4:127.0.0.1:7000: tcp handshaker shutdown", "no answer"),
        (
            "address lookup failed for bank:7000: Domain name not found",
            "its address has no entry in the name service",
        ),
    ],
)
def test_what_a_person_can_mend_is_named(details, reason):
    assert failure_reason(Call(grpc.StatusCode.UNAVAILABLE, details)) == reason


def test_an_unknown_failure_keeps_its_own_text_on_one_line():
    assert failure_reason(Call(grpc.StatusCode.INTERNAL, "a\nb")) == "a b"
    assert failure_reason(Call(grpc.StatusCode.INTERNAL, None)) == "INTERNAL"


def test_a_cancelled_call_is_one_without_an_answer():
    assert failure_reason(Call(grpc.StatusCode.CANCELLED, "Connection refused")) == "no answer"
