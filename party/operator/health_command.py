"""`coterie party health`: whether this party's server serves, asked with as little as possible.

The health check of a container starts this command every few seconds. Reading the party file as a
server does would import all kinds of jobs: seconds of a processor each time. So the few keys that
are needed are read plainly; if anything is unusual, or the server does not serve, the question is put
again by the operator's ordinary connection, whose errors name what is wrong.
"""

from __future__ import annotations

from pathlib import Path

import click
import grpc
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc

from coterie.base.addresses import from_this_machine
from coterie.base.errors import UnreachableError
from coterie.party.operator.options import CONFIG, JSON, print_result

_SECONDS = 10.0
_SERVICE = "coterie.v1.Jobs"


@click.command()
@CONFIG
@JSON
def health(config: Path, as_json: bool) -> int:
    """Ask whether this party's server is running: exit code 0 if it is."""
    name = _serving(config) or _asked(config)
    print_result(as_json, {"party": name, "state": "serving"}, "serving")
    return 0


def _serving(path: Path) -> str | None:
    """The party's name if its server says that it serves; None where that is not clear."""
    try:
        file = yaml.safe_load(path.read_text(encoding="utf-8"))
        name, address = str(file["name"]), from_this_machine(str(file["listen"]))
        keys = ("authority", "key", "certificate")
        pems = [(path.absolute().parent / file["tls"][key]).read_bytes() for key in keys]
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        return None
    options = [("grpc.ssl_target_name_override", name)]
    credentials = grpc.ssl_channel_credentials(*pems)
    try:
        with grpc.secure_channel(address, credentials, options) as channel:
            return name if _serves(channel) else None
    except grpc.RpcError:
        return None


def _serves(channel: grpc.Channel) -> bool:
    request = health_pb2.HealthCheckRequest(service=_SERVICE)
    answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=_SECONDS)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _asked(config: Path) -> str:
    """The party's name, of a server that the operator reaches and that serves."""
    from coterie.party.desk.connection import Operator

    with Operator(config) as operator:
        if not operator.call(lambda _: _serves(operator.channel)):
            raise UnreachableError(f"{operator.config.name}: not serving")
        return operator.config.name
