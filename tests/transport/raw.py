"""Peers that write their streams by hand, or read them as they like."""

from __future__ import annotations

import queue
from concurrent import futures

import grpc
import numpy as np

from coterie.protocols.messaging.channel import Message
from coterie.protocols.messaging.wire import encode
from coterie.protos.peers_pb2 import Farewell, Frame, Parting, SessionRef
from coterie.transport.frames import HEARTBEAT, cut
from coterie.transport.session import COLLECT, FAREWELL, PART
from tests.transport.links import GrpcNetwork

SESSION = "0123456789abcdef" * 2


def frame(**fields):
    return Frame(**fields).SerializeToString()


def message(number=0, size=10, **fields):
    values = {"session": SESSION, "step": "one", "sequence": number} | fields
    return cut(Message(**values, body=encode([np.zeros(size, np.uint8)])))


class RawSender(grpc.GenericRpcHandler):
    """The server of a party that sends what it is told to, to whoever asks."""

    def __init__(self, network: GrpcNetwork, name: str) -> None:
        self.frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.parted: queue.SimpleQueue[Parting] = queue.SimpleQueue()
        self.server = grpc.server(futures.ThreadPoolExecutor(8))
        self.server.add_generic_rpc_handlers((self,))
        identity = network.nodes[name].identity
        self.port = self.server.add_secure_port("127.0.0.1:0", identity.server_credentials())
        self.server.start()

    def service(self, details):
        if details.method == COLLECT:
            return grpc.unary_stream_rpc_method_handler(lambda *_: iter(self.frames.get, None))
        return grpc.unary_unary_rpc_method_handler(self._part) if details.method == PART else None

    def _part(self, request, context):
        self.parted.put(Parting.FromString(request))
        return b""

    def send(self, *frames: bytes | None) -> RawSender:
        """None ends the stream."""
        for each in frames:
            self.frames.put(each)
        return self

    def opened(self) -> RawSender:
        return self.send(HEARTBEAT)

    def last_words(self) -> Farewell:
        """What the other end says when it wants nothing more."""
        parting = self.parted.get(timeout=60)
        assert parting.session == SESSION
        return parting.farewell

    def end(self) -> None:
        self.frames.put(None)
        self.server.stop(0)


class RawReceiver:
    """A client that opens a stream by hand."""

    def __init__(self, network: GrpcNetwork, name: str, target: str, request=None) -> None:
        self.channel = network.connect(name, target)
        if request is None:
            request = SessionRef(session=SESSION).SerializeToString()
        self.call = self.channel.unary_stream(COLLECT)(request)

    def next(self) -> Frame:
        return Frame.FromString(next(self.call))

    def status(self):
        """How the sender ended the stream: code and details."""
        try:
            while True:
                next(self.call)
        except (StopIteration, grpc.RpcError):
            return self.call.code(), self.call.details()

    def farewell(self) -> Farewell:
        return Farewell.FromString(dict(self.call.trailing_metadata())[FAREWELL])

    def part(self, farewell=None, session=SESSION):
        request = Parting(session=session, farewell=farewell).SerializeToString()
        return self.channel.unary_unary(PART)(request, timeout=60)

    def end(self) -> None:
        self.channel.close()
