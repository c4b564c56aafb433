"""The standard health service, `grpc.health.v1.Health`: `Check` only.

The servicer of grpcio holds a lock while it sends to watchers, and the thread that serves all calls
waits for that lock: a watcher that reads nothing would make the server hang when it stops. So
`Watch` is not offered, which the protocol permits.
"""

from __future__ import annotations

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_KNOWN = ("", "coterie.v1.Jobs")


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """Reports SERVING from `serve` to `stop`."""

    def __init__(self) -> None:
        self._status = health_pb2.HealthCheckResponse.NOT_SERVING

    def serve(self) -> None:
        self._status = health_pb2.HealthCheckResponse.SERVING

    def stop(self) -> None:
        self._status = health_pb2.HealthCheckResponse.NOT_SERVING

    def Check(  # noqa: N802
        self, request: health_pb2.HealthCheckRequest, context: grpc.ServicerContext
    ) -> health_pb2.HealthCheckResponse:
        if request.service not in _KNOWN:
            context.abort(grpc.StatusCode.NOT_FOUND, "no service of this name")
        return health_pb2.HealthCheckResponse(status=self._status)
