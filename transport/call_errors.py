"""Why a call over gRPC failed, in a few words that a person can act on."""

from __future__ import annotations

from typing import Any

import grpc

from coterie.base.text import one_line
from coterie.trust.reach import problem_in

REVOKED = "the certificate was revoked"  # what a server tells whose certificate that is
HOPELESS = (
    "its certificate has expired",
    "its certificate is not the expected one",
    "its certificate is of another name",
)
_CAUSES = {  # a part of gRPC's text, and its meaning; tests/transport/test_grpc_words.py provokes them
    "certificate is not yet valid": "its certificate is not valid yet; is the clock here behind?",
    "certificate has expired": HOPELESS[0],
    "CERTIFICATE_VERIFY_FAILED": HOPELESS[1],
    "certificate signature failure": HOPELESS[1],  # signed by another authority of the same name
    "Hostname Verification": HOPELESS[2],
    "Connection refused": "connection refused",
    "address lookup failed": "its address has no entry in the name service",
    "No route to host": "no route to host",
    "Network is unreachable": "network unreachable",
    "Timeout": "no answer",
    "Endpoint closing": "no answer",  # the handshake took too long
    "handshaker shutdown": "no answer",
    # Whom a server does not accept learns no more: TLS 1.3 checks a client after its own handshake.
    "last error: UNAVAILABLE": "it closed the connection; does it accept this party's certificate, "
    "and is its clock right?",
}


def failure_reason(call: Any) -> str:
    """Why a call failed, in a few words instead of gRPC's many."""
    details = str(call.details() or "")
    if call.code() == grpc.StatusCode.CANCELLED:
        return "no answer"
    if call.code() == grpc.StatusCode.UNAVAILABLE:
        if problem := problem_in(details):
            return problem
        for sign, cause in _CAUSES.items():
            if sign in details:
                return cause
    return one_line(details) or call.code().name
