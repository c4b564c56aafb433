"""What both ends of a connection agree on before anything is said."""

from concurrent import futures

import grpc

from coterie.coordinator.run import client
from coterie.trust.identity import CHANNEL_OPTIONS, SERVER_OPTIONS
from tests.party.authority import Authority
from tests.transport.slow_line import SlowLine


def test_signs_of_life_are_asked_for_often_enough_and_no_oftener_than_servers_permit():
    """A server breaks the connection with a client whose pings come too often."""
    server = dict(SERVER_OPTIONS)
    for options in (dict(CHANNEL_OPTIONS), dict(client._OPTIONS), server):
        every = options["grpc.keepalive_time_ms"]
        assert server["grpc.http2.min_recv_ping_interval_without_data_ms"] < every < 60_000
        assert options["grpc.http2.max_pings_without_data"] == 0


def test_a_connection_comes_about_over_a_line_on_which_every_byte_takes_a_tenth_of_a_second(
    tmp_path,
):
    """Its handshake takes half a second, as on a busy machine or between continents."""
    authority = Authority(tmp_path)
    authority.issue("bank")
    authority.issue("card")
    server = grpc.server(futures.ThreadPoolExecutor(1))
    echo = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("A", {"Echo": echo}),))
    port = server.add_secure_port("127.0.0.1:0", authority.identity("bank").server_credentials())
    server.start()
    try:
        with SlowLine(port, 0.1) as line:
            channel = authority.identity("card").connect("bank", f"127.0.0.1:{line.port}")
            with channel:
                assert channel.unary_unary("/A/Echo")(b"heard", timeout=60) == b"heard"
    finally:
        server.stop(None).wait()
